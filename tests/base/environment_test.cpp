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
