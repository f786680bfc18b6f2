#include "lanewise/base/json.h"

#include <gtest/gtest.h>

#include <limits>

namespace lw::base {
namespace {

TEST(BaseJson, ValuesHaveTheirCommasAndQuotes) {
  Json json;
  json.begin_object().member("a", 1).member("b", true).key("c").begin_array();
  json.value("x").value(0.5).begin_object().end_object().end_array();
  json.key("d").number("null").end_object();
  EXPECT_EQ(json.text(), R"({"a":1,"b":true,"c":["x",0.5,{}],"d":null})");
}

TEST(BaseJson, TextIsEscaped) {
  EXPECT_EQ(Json().value("a\"b\\c\nd\te").text(), R"("a\"b\\c\nd\u0009e")");
  EXPECT_EQ(Json().begin_object().member("\"", "ö").end_object().text(), "{\"\\\"\":\"ö\"}");
}

TEST(BaseJson, NumbersThatItDoesNotHaveAreNull) {
  EXPECT_EQ(Json().value(std::numeric_limits<double>::infinity()).text(), "null");
  EXPECT_EQ(Json().value(std::numeric_limits<double>::quiet_NaN()).text(), "null");
  EXPECT_EQ(Json().value(std::int64_t{-9'000'000'000}).text(), "-9000000000");
}

}  // namespace
}  // namespace lw::base
