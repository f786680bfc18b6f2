#include "lanewise/kernel/step_test.h"

#include <gtest/gtest.h>

#include "lanewise/ir/parse.h"
#include "tests/support/programs.h"

namespace lw::kernel {
namespace {

/// The step test of a loop with a counter from `start`; `test` compares %5, the counter, or %6, the
/// counter after its increment, with %3, the limit, into %7; `exit` makes %8, the condition.
std::optional<StepTest> find(const std::string& start, const std::string& limit,
                             const std::string& test, const std::string& exit,
                             const std::string& step = "1") {
  const ir::Function f =
      ir::parse("function f(%0: bool) -> (i32) {\n  %1 = constant i32 " + start +
                "\n  %2 = constant i32 " + step + "\n  %3 = constant i32 " + limit +
                "\n  %4 = loop (%5: i32 = %1) {\n    %6 = add i32 %5, %2\n"
                "    %7 = " +
                test + "\n    %8 = " + exit +
                "\n    break_if %8 (%5)\n    next (%6)\n  }\n"
                "  %9 = result i32 %4 0\n  return (%9)\n}\n");
  ir::ValueId loop = ir::kNone;
  ir::for_each(f, [&](ir::ValueId id, int) {
    if (f[id].op == ir::Op::Loop) loop = id;
  });
  return find_step_test(f, loop);
}

std::string text(const std::optional<StepTest>& test) {
  return test ? std::to_string(test->period) + (test->at_end ? " last" : " first") : "none";
}

TEST(KernelStepTest, ALimitOnACounterIsReachedAfterAKnownNumberOfSteps) {
  EXPECT_EQ(text(find("0", "1000", "lt bool %5, %3", "not bool %7")), "1000 first");
  EXPECT_EQ(text(find("10", "1000", "lt bool %5, %3", "not bool %7")), "990 first");
  EXPECT_EQ(text(find("0", "1000", "le bool %5, %3", "not bool %7")), "1001 first");
  EXPECT_EQ(text(find("0", "1000", "ge bool %5, %3", "or bool %7, %0")), "1000 first");
  EXPECT_EQ(text(find("0", "50", "eq bool %5, %3", "or bool %0, %7")), "50 first");
  EXPECT_EQ(text(find("-5", "50", "ne bool %5, %3", "not bool %7")), "55 first");
}

TEST(KernelStepTest, ATestAfterTheIncrementHoldsAtTheEndOfAStep) {
  EXPECT_EQ(text(find("0", "1000", "ge bool %6, %3", "or bool %7, %0")), "1000 last");
}

TEST(KernelStepTest, ConditionsAreTakenApart) {
  EXPECT_EQ(text(find("0", "8", "lt bool %5, %3", "and bool %7, %0")), "none");
  std::vector<bool> negations;
  const ir::Function f = ir::parse(R"(
function f(%0: bool, %1: bool, %2: bool) -> (bool) {
  %3 = and bool %0, %1
  %4 = not bool %2
  %5 = and bool %3, %4
  %6 = not bool %5
  return (%6)
}
)");
  std::vector<ir::ValueId> conditions;
  for_each_exit(f, 6, false, [&](ir::ValueId condition, bool negated) {
    conditions.push_back(condition);
    negations.push_back(negated);
  });
  EXPECT_EQ(conditions, (std::vector<ir::ValueId>{0, 1, 2}));
  EXPECT_EQ(negations, (std::vector<bool>{true, true, false}));
}

TEST(KernelStepTest, WhatMayWrapOrNeverHoldsIsNotAStepTest) {
  EXPECT_EQ(text(find("0", "1000", "lt bool %5, %3", "not bool %7", "2")), "none");
  EXPECT_EQ(text(find("0", "2147483647", "lt bool %5, %3", "not bool %7")), "none");
  EXPECT_EQ(text(find("-2147483648", "5", "lt bool %5, %3", "not bool %7")), "none");
  EXPECT_EQ(text(find("0", "0", "lt bool %5, %3", "not bool %7")), "none");
  EXPECT_EQ(text(find("7", "5", "eq bool %5, %3", "or bool %7, %0")), "none");
  EXPECT_EQ(text(find("0", "5", "gt bool %5, %3", "or bool %7, %0")), "none");
}

TEST(KernelStepTest, MandelbrotAndKeplerHaveOne) {
  const auto of = [](const ir::Function& f) {
    for (const ir::ValueId id : f.body().body) {
      if (f[id].op == ir::Op::Loop) return text(find_step_test(f, id));
    }
    return std::string("no loop");
  };
  EXPECT_EQ(of(test::mandelbrot_program()), "1000 first");
  EXPECT_EQ(of(test::kepler_program()), "50 first");
}

}  // namespace
}  // namespace lw::kernel
