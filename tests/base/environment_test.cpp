#include "lanewise/base/environment.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace lw::base {
namespace {

class BaseEnvironment : public testing::Test {
 protected:
  void TearDown() override { unsetenv("LANEWISE_DUMP"); }
};

TEST_F(BaseEnvironment, AMissingVariableGivesTheFallback) {
  unsetenv("LANEWISE_TEST_VARIABLE");
  EXPECT_EQ(environment("LANEWISE_TEST_VARIABLE", "fallback"), "fallback");
  setenv("LANEWISE_TEST_VARIABLE", "value", 1);
  EXPECT_EQ(environment("LANEWISE_TEST_VARIABLE", "fallback"), "value");
  unsetenv("LANEWISE_TEST_VARIABLE");
}

TEST_F(BaseEnvironment, NumbersAreWholeOrTheFallback) {
  const auto number = [](const char* text) {
    setenv("LANEWISE_TEST_VARIABLE", text, 1);
    return environment_number("LANEWISE_TEST_VARIABLE", 7);
  };
  EXPECT_EQ(number("0"), 0u);
  EXPECT_EQ(number("18446744073709551615"), ~std::uint64_t{0});
  for (const char* text : {"", "x", "-1", "1x", " 1", "1.5", "18446744073709551616"}) {
    EXPECT_EQ(number(text), 7u) << text;
  }
  unsetenv("LANEWISE_TEST_VARIABLE");
  EXPECT_EQ(environment_number("LANEWISE_TEST_VARIABLE", 7), 7u);
}

TEST_F(BaseEnvironment, StagesAreWholeWordsOfTheList) {
  EXPECT_FALSE(is_dumped("plan"));
  setenv("LANEWISE_DUMP", "trace,plan", 1);
  EXPECT_TRUE(is_dumped("trace"));
  EXPECT_TRUE(is_dumped("plan"));
  EXPECT_FALSE(is_dumped("pla"));
  EXPECT_FALSE(is_dumped("code"));
  setenv("LANEWISE_DUMP", "all", 1);
  EXPECT_TRUE(is_dumped("code"));
}

TEST_F(BaseEnvironment, TextIsMadeOnlyForDumpedStages) {
  setenv("LANEWISE_DUMP", "plan", 1);
  int made = 0;
  const auto text = [&] {
    ++made;
    return std::string("the text");
  };
  testing::internal::CaptureStderr();
  dump("code", text);
  dump("plan", text);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "=== lanewise plan ===\nthe text\n");
  EXPECT_EQ(made, 1);
}

}  // namespace
}  // namespace lw::base
