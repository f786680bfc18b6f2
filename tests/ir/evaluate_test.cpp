#include "lanewise/ir/evaluate.h"

#include <gtest/gtest.h>

#include "lanewise/base/error.h"
#include "lanewise/ir/parse.h"
#include "tests/support/message_of.h"

namespace lw::ir {
namespace {

using I = std::int32_t;

Evaluation run(const char* text, std::vector<Scalar> arguments, EvaluateOptions options = {}) {
  return evaluate(parse(text), arguments, options);
}

/// Counts from 0 to n; the sum of 0 ... n - 1 beside it.
constexpr const char* kCount = R"(function count(%0: i32) -> (i32, i32) {
  %1 = constant i32 0
  %2 = constant i32 1
  %3 = loop (%4: i32 = %1, %5: i32 = %1) {
    %6 = ge bool %4, %0
    break_if %6 (%4, %5)
    %7 = add i32 %5, %4
    %8 = add i32 %4, %2
    next (%8, %7)
  }
  %9 = result i32 %3 0
  %10 = result i32 %3 1
  return (%9, %10)
}
)";

/// For i in 0 ... n - 1, for j in 0 ... i - 1: adds 1.
constexpr const char* kTriangle = R"(function triangle(%0: i32) -> (i32) {
  %1 = constant i32 0
  %2 = constant i32 1
  %3 = loop (%4: i32 = %1, %5: i32 = %1) {
    %6 = ge bool %4, %0
    break_if %6 (%4, %5)
    %7 = loop (%8: i32 = %1, %9: i32 = %5) {
      %10 = ge bool %8, %4
      break_if %10 (%8, %9)
      %11 = add i32 %8, %2
      %12 = add i32 %9, %2
      next (%11, %12)
    }
    %13 = result i32 %7 1
    %14 = add i32 %4, %2
    next (%14, %13)
  }
  %15 = result i32 %3 1
  return (%15)
}
)";

TEST(IrEvaluate, ALoopCarriesAllItsValuesAtOnce) {
  const Evaluation e = run(kCount, {I{5}});
  EXPECT_EQ(e.results, (std::vector<Scalar>{I{5}, I{10}}));
  EXPECT_EQ(e.steps, 5);
  EXPECT_FALSE(e.failure);
}

TEST(IrEvaluate, ALoopThatIsLeftAtOnceTakesNoStep) {
  const Evaluation e = run(kCount, {I{-3}});
  EXPECT_EQ(e.results, (std::vector<Scalar>{I{0}, I{0}}));
  EXPECT_EQ(e.steps, 0);
}

TEST(IrEvaluate, NestedLoopsCountTheirStepsTogether) {
  const Evaluation e = run(kTriangle, {I{4}});
  EXPECT_EQ(e.results, (std::vector<Scalar>{I{0 + 1 + 2 + 3}}));
  EXPECT_EQ(e.steps, 4 + 6);
}

TEST(IrEvaluate, AnExitHandsOverItsOwnValues) {
  const Evaluation e = run(R"(function f(%0: i32) -> (i32) {
  %1 = constant i32 2
  %2 = loop (%3: i32 = %0) {
    %4 = mul i32 %3, %1
    %5 = constant i32 100
    %6 = gt bool %4, %5
    break_if %6 (%4)
    %7 = lt bool %3, %1
    break_if %7 (%5)
    next (%4)
  }
  %8 = result i32 %2 0
  return (%8)
}
)",
                           {I{3}});
  EXPECT_EQ(e.results, (std::vector<Scalar>{I{192}}));
  EXPECT_EQ(e.steps, 5);
}

TEST(IrEvaluate, CarriedValuesMaySwap) {
  const Evaluation e = run(R"(function f(%0: i32, %1: i32) -> (i32, i32) {
  %2 = constant i32 0
  %3 = loop (%4: i32 = %0, %5: i32 = %1, %6: i32 = %2) {
    %7 = constant i32 3
    %8 = eq bool %6, %7
    break_if %8 (%4, %5, %6)
    %9 = constant i32 1
    %10 = add i32 %6, %9
    next (%5, %4, %10)
  }
  %11 = result i32 %3 0
  %12 = result i32 %3 1
  return (%11, %12)
}
)",
                           {I{1}, I{2}});
  EXPECT_EQ(e.results, (std::vector<Scalar>{I{2}, I{1}}));
}

TEST(IrEvaluate, ADivisionByZeroNamesItsLineAndValues) {
  const char* text = R"(function f(%0: i64, %1: i64) -> (i64) {
  %2 = rem i64 %0, %1  # user.cpp:34
  return (%2)
}
)";
  const Evaluation e = run(text, {std::int64_t{7}, std::int64_t{0}});
  ASSERT_TRUE(e.failure);
  EXPECT_EQ(e.failure->kind, FailKind::DivisionByZero);
  EXPECT_EQ(base::to_string(e.failure->location), "user.cpp:34");
  EXPECT_EQ(e.failure->values, (std::vector<Scalar>{std::int64_t{7}, std::int64_t{0}}));
  EXPECT_TRUE(e.results.empty());
  EXPECT_EQ(run(text, {std::int64_t{7}, std::int64_t{4}}).results,
            (std::vector<Scalar>{std::int64_t{3}}));
}

TEST(IrEvaluate, AFailureInALoopStopsTheElementThere) {
  const Evaluation e = run(R"(function f(%0: i32) -> (i32) {
  %1 = constant i32 1
  %2 = loop (%3: i32 = %0) {
    %4 = constant i32 100
    %5 = div i32 %4, %3
    %6 = eq bool %5, %4
    fail_if %6 2  # user.cpp:8
    %7 = sub i32 %3, %1
    next (%7)
  }
  %8 = result i32 %2 0
  return (%8)
}
)",
                           {I{3}});
  ASSERT_TRUE(e.failure);
  EXPECT_EQ(e.failure->kind, FailKind::Check);
  EXPECT_EQ(e.failure->location.line, 8);
  EXPECT_EQ(e.failure->values, (std::vector<Scalar>{}));
  EXPECT_EQ(e.steps, 2);
}

TEST(IrEvaluate, TheStepLimitIsExact) {
  EXPECT_FALSE(run(kCount, {I{5}}, {.max_steps = 5}).failure);
  const Evaluation e = run(kCount, {I{5}}, {.max_steps = 4});
  ASSERT_TRUE(e.failure);
  EXPECT_EQ(e.failure->kind, FailKind::StepLimit);
  EXPECT_FALSE(run(kTriangle, {I{4}}, {.max_steps = 10}).failure);
  EXPECT_TRUE(run(kTriangle, {I{4}}, {.max_steps = 9}).failure);
}

TEST(IrEvaluate, ACancelledEvaluationThrows) {
  const std::atomic<int> cancel = 1;
  EXPECT_EQ(test::message_of<Cancelled>([&] { run(kCount, {I{5}}, {.cancel = &cancel}); }),
            "evaluate: cancelled.");
}

}  // namespace
}  // namespace lw::ir
