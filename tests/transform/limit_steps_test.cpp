#include <gtest/gtest.h>

#include "lanewise/ir/evaluate.h"
#include "lanewise/transform/passes.h"
#include "tests/support/expect_pass.h"

namespace lw::transform {
namespace {

using test::expect_pass;

constexpr const char* kTriangle = R"(
function f(%0: i32) -> (i32) {
  %1 = constant i32 1
  %2 = loop (%3: i32 = %0) {
    %4 = lt bool %3, %1
    break_if %4 (%3)
    %5 = loop (%6: i32 = %3) {
      %7 = lt bool %6, %1
      break_if %7 (%6)
      %8 = sub i32 %6, %1
      next (%8)
    }
    %9 = sub i32 %3, %1
    next (%9)
  }
  %10 = result i32 %2 0
  return (%10)
}
)";

TEST(TransformLimitSteps, ACounterGoesThroughTheLoopAndFailsBeyondTheLimit) {
  expect_pass([](const ir::Function& f) { return limit_steps(f, DType::I32); }, R"(
function f(%0: i32) -> (i32) {
  %1 = loop (%2: i32 = %0) {
    %3 = lt bool %2, %0
    break_if %3 (%2)
    next (%0)
  }
  %4 = result i32 %1 0
  return (%4)
}
)",
              R"(
function f(%0: i32, %1: i32 step_limit) -> (i32) {
  %2 = constant i32 0
  %3 = loop (%4: i32 = %0, %5: i32 = %2) {
    %6 = lt bool %4, %0
    break_if %6 (%4, %5)
    %7 = constant i32 1
    %8 = add i32 %5, %7
    %9 = gt bool %8, %1
    fail_if %9 1
    next (%0, %8)
  }
  %10 = result i32 %3 1
  %11 = result i32 %3 0
  return (%11)
}
)");
}

TEST(TransformLimitSteps, TheProgramFailsExactlyWhereTheEvaluatorsLimitIs) {
  const ir::Function f = ir::parse(kTriangle);
  for (const DType counter : {DType::I32, DType::I64}) {
    const ir::Function limited = limit_steps(f, counter);
    for (std::int32_t n = 0; n < 6; ++n) {
      for (int limit = 1; limit < 25; ++limit) {
        const std::array<Scalar, 1> plain = {n};
        const std::array<Scalar, 2> with_limit = {n, types::scalar_of(counter, limit)};
        const auto expected = ir::evaluate(f, plain, {.max_steps = limit});
        const auto got = ir::evaluate(limited, with_limit);
        EXPECT_EQ(got.failure.has_value(), expected.failure.has_value()) << n << ' ' << limit;
        EXPECT_EQ(got.results, expected.results);
        if (got.failure) {
          EXPECT_EQ(got.failure->kind, ir::FailKind::StepLimit);
        }
      }
    }
  }
}

TEST(TransformLimitSteps, AProgramWithoutLoopsOnlyGetsTheParameter) {
  expect_pass([](const ir::Function& f) { return remove_dead(limit_steps(f, DType::I64)); },
              "function f(%0: f32) -> (f32) {\n  return (%0)\n}\n",
              "function f(%0: f32, %1: i64 step_limit) -> (f32) {\n  return (%0)\n}\n");
}

TEST(TransformLimitSteps, WhatNeverGoesRoundCountsNothingAndHandsTheCountOn) {
  expect_pass([](const ir::Function& f) { return limit_steps(f, DType::I32); }, R"(
function f(%0: i32, %1: bool) -> (i32) {
  %2 = constant bool true
  %3 = loop (%4: i32 = %0) {
    %5 = loop () {
      break_if %1 ()
      break_if %1 up 1 (%4)
      break_if %2 ()
      next ()
    }
    next (%4)
  }
  %6 = result i32 %3 0
  return (%6)
}
)",
              R"(
function f(%0: i32, %1: bool, %2: i32 step_limit) -> (i32) {
  %3 = constant i32 0
  %4 = constant bool true
  %5 = loop (%6: i32 = %0, %7: i32 = %3) {
    %8 = loop (%9: i32 = %7) {
      break_if %1 (%9)
      break_if %1 up 1 (%6, %9)
      break_if %4 (%9)
      next (%9)
    }
    %10 = result i32 %8 0
    %11 = constant i32 1
    %12 = add i32 %10, %11
    %13 = gt bool %12, %2
    fail_if %13 1
    next (%6, %12)
  }
  %14 = result i32 %5 1
  %15 = result i32 %5 0
  return (%15)
}
)");
}

TEST(TransformLimitSteps, IsExactWithExitsOutOfSeveralLoops) {
  const ir::Function f = ir::parse(R"(
function f(%0: i32) -> (i32) {
  %1 = constant i32 0
  %2 = constant i32 1
  %3 = constant i32 3
  %4 = constant bool true
  %5 = loop (%6: i32 = %1, %7: i32 = %1) {
    %8 = rem i32 %6, %3
    %9 = eq bool %8, %2
    %10 = loop (%11: i32 = %7) {
      break_if %9 (%11)
      %12 = loop (%13: i32 = %1) {
        %14 = gt bool %13, %6
        break_if %14 (%13)
        %15 = add i32 %13, %6
        %16 = ge bool %15, %0
        break_if %16 up 2 (%6, %15)
        %17 = add i32 %13, %2
        next (%17)
      }
      %18 = result i32 %12 0
      break_if %4 (%18)
      next (%11)
    }
    %19 = result i32 %10 0
    %20 = add i32 %6, %2
    next (%20, %19)
  }
  %21 = result i32 %5 1
  return (%21)
}
)");
  const ir::Function limited = limit_steps(f, DType::I32);
  for (std::int32_t n = 0; n < 14; ++n) {
    const std::array<Scalar, 1> plain = {n};
    const std::int64_t steps = ir::evaluate(f, plain).steps;
    for (std::int64_t limit = std::max<std::int64_t>(1, steps - 2); limit < steps + 2; ++limit) {
      const std::array<Scalar, 2> with_limit = {n, static_cast<std::int32_t>(limit)};
      EXPECT_EQ(ir::evaluate(limited, with_limit).failure.has_value(), limit < steps)
          << n << ", limit " << limit;
    }
  }
}

}  // namespace
}  // namespace lw::transform
