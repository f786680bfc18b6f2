#include <gtest/gtest.h>

#include "lanewise/transform/passes.h"
#include "tests/support/expect_pass.h"

namespace lw::transform {
namespace {

using test::expect_pass;

TEST(TransformDelayRare, WhatDoesNotNeedARareBranchStandsBeforeIt) {
  expect_pass(delay_rare, R"(
function f(%0: f32) -> (f32) {
  %1 = constant f32 8
  %2 = gt bool %0, %1
  %3 = loop rare (%4: f32 = %0) {
    %5 = not bool %2
    break_if %5 (%4)
    %6 = constant bool true
    break_if %6 (%1)
    next (%4)
  }
  %7 = result f32 %3 0
  %8 = neg f32 %7
  %9 = sqrt f32 %0
  %10 = add f32 %9, %8
  return (%10)
}
)",
              R"(
function f(%0: f32) -> (f32) {
  %1 = constant f32 8
  %2 = gt bool %0, %1
  %3 = sqrt f32 %0
  %4 = loop rare (%5: f32 = %0) {
    %6 = not bool %2
    break_if %6 (%5)
    %7 = constant bool true
    break_if %7 (%1)
    next (%5)
  }
  %8 = result f32 %4 0
  %9 = neg f32 %8
  %10 = add f32 %3, %9
  return (%10)
}
)");
}

TEST(TransformDelayRare, WhatMayFailAndWhatStandsBehindOtherBranchesStays) {
  const char* const text = R"(
function f(%0: i32, %1: i32) -> (i32) {
  %2 = constant i32 8
  %3 = gt bool %0, %2
  %4 = loop rare (%5: i32 = %0) {
    %6 = not bool %3
    break_if %6 (%5)
    %7 = constant bool true
    break_if %7 (%2)
    next (%5)
  }
  %8 = result i32 %4 0
  %9 = div i32 %0, %1
  %10 = loop (%11: i32 = %8) {
    %12 = gt bool %11, %2
    break_if %12 (%11)
    %13 = add i32 %11, %2
    next (%13)
  }
  %14 = result i32 %10 0
  %15 = neg i32 %1
  %16 = add i32 %14, %15
  %17 = add i32 %16, %9
  return (%17)
}
)";
  expect_pass(delay_rare, text, text);
}

}  // namespace
}  // namespace lw::transform
