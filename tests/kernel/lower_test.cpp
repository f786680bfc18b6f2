// From element programs to lane form, text in, text out.
#include "lanewise/kernel/lower.h"

#include <gtest/gtest.h>

#include "lanewise/ir/parse.h"
#include "tests/support/programs.h"

namespace lw::kernel {
namespace {

void expect_lowering(const char* program, std::string_view expected, LowerOptions options = {}) {
  const Kernel kernel = lower(ir::parse(program), options);
  EXPECT_NO_THROW(verify(kernel));
  if (expected.starts_with('\n')) expected.remove_prefix(1);
  EXPECT_EQ(print(kernel), expected);
}

constexpr const char* kMandelbrot = R"(
function mandelbrot(%0: f32, %1: f32) -> (i32) {
  %2 = constant f32 0
  %3 = constant i32 0
  %4 = loop (%5: f32 = %2, %6: f32 = %2, %7: i32 = %3) {
    %8 = mul f32 %6, %6
    %9 = mul f32 %5, %5
    %10 = add f32 %8, %9
    %11 = constant f32 4
    %12 = le bool %10, %11
    %13 = constant i32 1000
    %14 = lt bool %7, %13
    %15 = and bool %12, %14
    %16 = not bool %15
    break_if %16 (%5, %6, %7)
    %17 = sub f32 %8, %9
    %18 = add f32 %17, %0
    %19 = constant f32 2
    %20 = mul f32 %19, %6
    %21 = mul f32 %20, %5
    %22 = add f32 %21, %1
    %23 = constant i32 1
    %24 = add i32 %7, %23
    next (%22, %18, %24)
  }
  %25 = result i32 %4 2
  return (%25)
}
)";

TEST(KernelLower, InPacketsTheLimitIsABranchOnAUniformCounterAndOnlyTheCountIsBlended) {
  expect_lowering(kMandelbrot, test::program_text("mandelbrot_packets.lane"));
}

TEST(KernelLower, ForRefillTheLimitIsAMaskAsLanesAreAtDifferentSteps) {
  expect_lowering(kMandelbrot, test::program_text("mandelbrot_refill.lane"), {.refill = true});
}

TEST(KernelLower, ALoopThatNeverGoesRoundIsABranch) {
  expect_lowering(R"(
function f(%0: f32) -> (f32) {
  %1 = constant f32 2
  %2 = constant bool true
  %3 = gt bool %0, %1
  %4 = loop (%5: f32 = %0) {
    %6 = not bool %3
    break_if %6 (%5)
    %7 = sqrt f32 %5
    break_if %2 (%7)
    next (%5)
  }
  %8 = result f32 %4 0
  return (%8)
}
)",
                  R"(
kernel f(f32; ) -> (f32) {
  u1: f32 = constant 2
  v0: f32 = load 0
  v3: bool = gt v0, u1
  v4: f32 = copy v0
  v6: bool = copy v3
  branch v6 {
    v7: f32 = sqrt v0
    v4: f32 = select v6, v7, v4
  }
  store 0 v4
}
)");
}

TEST(KernelLower, StraightCodeNeedsNoMask) {
  expect_lowering(R"(
function f(%0: f32, %1: f32 shared) -> (f32) {
  %2 = constant f32 2
  %3 = mul f32 %1, %2
  %4 = add f32 %0, %3
  return (%4)
}
)",
                  R"(
kernel f(f32; f32) -> (f32) {
  u2: f32 = constant 2
  v0: f32 = load 0
  u1: f32 = shared 0
  u3: f32 = mul u1, u2
  v4: f32 = add v0, u3
  store 0 v4
}
)");
}

TEST(KernelLower, ALoopThatAllLanesLeaveTogetherHasNoMask) {
  expect_lowering(R"(
function f(%0: f32, %1: i32 shared) -> (f32) {
  %2 = constant i32 0
  %3 = loop (%4: f32 = %0, %5: i32 = %2) {
    %6 = ge bool %5, %1
    break_if %6 (%4, %5)
    %7 = add f32 %4, %0
    %8 = constant i32 1
    %9 = add i32 %5, %8
    next (%7, %9)
  }
  %10 = result f32 %3 0
  return (%10)
}
)",
                  R"(
kernel f(f32; i32) -> (f32) {
  u2: i32 = constant 0
  u7: i32 = constant 1
  v0: f32 = load 0
  u1: i32 = shared 0
  v3: f32 = copy v0
  u4: i32 = copy u2
  loop {
    u5: bool = ge u4, u1
    exit_if u5
    v6: f32 = add v3, v0
    u8: i32 = add u4, u7
    v3: f32 = copy v6
    u4: i32 = copy u8
  }
  store 0 v3
}
)");
}

TEST(KernelLower, ValuesThatAreSwappedAreCopiedFirst) {
  expect_lowering(R"(
function f(%0: f32, %1: f32, %2: bool shared) -> (f32) {
  %3 = loop (%4: f32 = %0, %5: f32 = %1) {
    break_if %2 (%4, %5)
    next (%5, %4)
  }
  %6 = result f32 %3 0
  return (%6)
}
)",
                  R"(
kernel f(f32, f32; bool) -> (f32) {
  v0: f32 = load 0
  v1: f32 = load 1
  u2: bool = shared 0
  v3: f32 = copy v0
  v4: f32 = copy v1
  loop {
    exit_if u2
    v5: f32 = copy v4
    v6: f32 = copy v3
    v3: f32 = copy v5
    v4: f32 = copy v6
  }
  store 0 v3
}
)");
}

TEST(KernelLower, ADivisionByZeroFailsInLiveLanesAndDeadOnesDivideByOne) {
  expect_lowering(R"(
function f(%0: i32, %1: i32) -> (i32) {
  %2 = div i32 %0, %1  # user.cpp:3
  return (%2)
}
)",
                  R"(
kernel f(i32, i32; ) -> (i32) {
  site 0 0  # user.cpp:3
  u3: i32 = constant 0
  u7: i32 = constant 1
  v0: bool = active
  v1: i32 = load 0
  v2: i32 = load 1
  v4: bool = eq v2, u3
  v5: bool = copy v0
  v6: bool = not v4
  v0: bool = and v0, v6
  v8: i32 = select v4, u7, v2
  v9: i32 = div v1, v8
  v10: bool = not v0
  v11: bool = and v5, v10
  fail 0 v11, v0
  store 0 v9
}
)");
}

TEST(KernelLower, ADivisionByALiteralNeedsNoGuard) {
  expect_lowering(R"(
function f(%0: i32) -> (i32) {
  %1 = constant i32 7
  %2 = rem i32 %0, %1
  return (%2)
}
)",
                  R"(
kernel f(i32; ) -> (i32) {
  u2: i32 = constant 7
  v1: i32 = load 0
  v3: i32 = rem v1, u2
  store 0 v3
}
)");
}

TEST(KernelLower, AnExitWithValuesOfItsOwnBlendsThemForLiveLanesOnly) {
  const Kernel kernel = lower(ir::parse(R"(
function f(%0: f32) -> (f32) {
  %1 = loop (%2: f32 = %0) {
    %3 = neg f32 %2
    %4 = lt bool %2, %3
    break_if %4 (%3)
    %5 = sub f32 %2, %0
    next (%5)
  }
  %6 = result f32 %1 0
  return (%6)
}
)"));
  EXPECT_EQ(print(kernel), R"(kernel f(f32; ) -> (f32) {
  v0: bool = active
  v1: f32 = load 0
  v2: f32 = copy v1
  v3: bool = copy v0
  loop v3 {
    v4: f32 = neg v2
    v5: bool = lt v2, v4
    v6: bool = and v3, v5
    v2: f32 = select v6, v4, v2
    v7: bool = not v5
    v3: bool = and v3, v7
    v8: f32 = sub v2, v1
    v2: f32 = select v3, v8, v2
  }
  store 0 v2
}
)");
}

TEST(KernelLower, NestedMasksClearTheInnerOneFromTheOuter) {
  const Kernel kernel = lower(ir::parse(R"(
function f(%0: i32) -> (i32) {
  %1 = constant i32 0
  %2 = constant i32 1
  %3 = loop (%4: i32 = %1) {
    %5 = ge bool %4, %0
    break_if %5 (%4)
    %6 = loop (%7: i32 = %1) {
      %8 = ge bool %7, %4
      break_if %8 (%7)
      %9 = add i32 %7, %2
      next (%9)
    }
    %10 = add i32 %4, %2
    next (%10)
  }
  %11 = result i32 %3 0
  return (%11)
}
)"));
  EXPECT_EQ(print(kernel), R"(kernel f(i32; ) -> (i32) {
  u2: i32 = constant 0
  u3: i32 = constant 1
  v0: bool = active
  v1: i32 = load 0
  u4: i32 = copy u2
  v5: i32 = copy u2
  v6: bool = copy v0
  loop v6 {
    v7: bool = ge u4, v1
    v8: bool = not v7
    v6: bool = and v6, v8
    u9: i32 = copy u2
    v10: bool = copy v6
    loop v10 {
      u11: bool = ge u9, u4
      exit_if u11
      u12: i32 = add u9, u3
      u9: i32 = copy u12
    }
    u13: i32 = add u4, u3
    v14: i32 = add v5, u3
    v5: i32 = select v6, v14, v5
    u4: i32 = copy u13
  }
  store 0 v5
}
)");
}

TEST(KernelLower, OnlyOneDivergingTopLevelLoopCanBeRefilled) {
  EXPECT_TRUE(is_refillable(test::mandelbrot_program()));
  EXPECT_TRUE(is_refillable(test::kepler_program()));
  EXPECT_FALSE(is_refillable(ir::parse("function f(%0: f32) -> (f32) {\n  return (%0)\n}\n")));
  const std::string loop = "  %{} = loop () {\n    break_if %0 ()\n    next ()\n  }\n";
  const auto program = [&](const std::string& type, int loops) {
    std::string text = "function f(%0: bool" + type + ") -> (bool) {\n";
    for (int i = 1; i <= loops; ++i) {
      std::string one = loop;
      text += one.replace(one.find("{}"), 2, std::to_string(i));
    }
    return ir::parse(text + "  return (%0)\n}\n");
  };
  EXPECT_TRUE(is_refillable(program("", 1)));
  EXPECT_FALSE(is_refillable(program("", 2)));
  EXPECT_FALSE(is_refillable(program(" shared", 1)));
}

TEST(KernelLower, ALoopInAPartDoesNotStandBesideOneThatIsRefilled) {
  const ir::Function f = ir::parse(R"(function f(%0: bool, %1: bool shared) -> (bool) {
  %2 = constant bool true
  %3 = loop () {
    %4 = loop () {
      break_if %1 ()
      next ()
    }
    break_if %2 ()
    next ()
  }
  %5 = loop () {
    break_if %0 ()
    next ()
  }
  return (%0)
}
)");
  EXPECT_TRUE(is_refillable(f));
  EXPECT_NO_THROW(verify(lower(f, {.refill = true})));
}

TEST(KernelLower, ALoopBeforeTheTestOfABranchDoesNotStandBesideOneThatIsRefilled) {
  const ir::Function f = ir::parse(R"(function f(%0: bool, %1: bool) -> (bool) {
  %2 = constant bool true
  %3 = loop () {
    %4 = loop () {
      break_if %1 ()
      next ()
    }
    break_if %0 ()
    break_if %2 ()
    next ()
  }
  %5 = loop () {
    break_if %0 ()
    next ()
  }
  return (%0)
}
)");
  EXPECT_TRUE(is_refillable(f));
  EXPECT_NO_THROW(verify(lower(f, {.refill = true})));
}

TEST(KernelLower, ARefilledLoopStandsInNoBranchWhateverElseIsAroundIt) {
  // Between the exits and the loop stand others: a part, and blocks that are left early.
  const ir::Function f = ir::parse(R"(function f(%0: bool, %1: bool) -> (bool) {
  %2 = constant bool true
  %3 = loop () {
    break_if %0 ()
    break_if %1 ()
    %4 = loop () {
      break_if %2 ()
      next ()
    }
    %5 = loop () {
      break_if %0 ()
      break_if %1 ()
      %6 = loop () {
        break_if %0 ()
        next ()
      }
      break_if %2 ()
      next ()
    }
    break_if %2 ()
    next ()
  }
  return (%0)
}
)");
  EXPECT_TRUE(is_refillable(f));
  EXPECT_NO_THROW(verify(lower(f, {.refill = true})));
}

TEST(KernelLower, AUniformBranchIsTakenByAllOrNoneWithoutAMask) {
  expect_lowering(R"(
function f(%0: f32, %1: i32 shared) -> (f32) {
  %2 = constant i32 3
  %3 = gt bool %1, %2
  %4 = constant bool true
  %5 = loop (%6: f32 = %0) {
    %7 = not bool %3
    break_if %7 (%6)
    %8 = sqrt f32 %6
    break_if %4 (%8)
    next (%6)
  }
  %9 = result f32 %5 0
  return (%9)
}
)",
                  R"(
kernel f(f32; i32) -> (f32) {
  u2: i32 = constant 3
  v0: f32 = load 0
  u1: i32 = shared 0
  u3: bool = gt u1, u2
  v5: f32 = copy v0
  branch u3 {
    v7: f32 = sqrt v0
    v5: f32 = copy v7
  }
  store 0 v5
}
)");
}

TEST(KernelLower, WhatSeveralExitsLeaveOnceHasAMaskThatTheyNarrow) {
  expect_lowering(R"(
function f(%0: i32, %1: i32) -> (i32) {
  %2 = constant bool true
  %3 = constant i32 5
  %4 = loop (%5: i32 = %0) {
    %6 = lt bool %0, %3
    break_if %6 (%3)
    %7 = mul i32 %0, %1
    %8 = gt bool %7, %3
    break_if %8 (%7)
    break_if %2 (%1)
    next (%5)
  }
  %9 = result i32 %4 0
  return (%9)
}
)",
                  R"(
kernel f(i32, i32; ) -> (i32) {
  u4: i32 = constant 5
  v0: bool = active
  v1: i32 = load 0
  v2: i32 = load 1
  v5: i32 = copy v1
  v6: bool = copy v0
  v7: bool = lt v1, u4
  v8: bool = and v6, v7
  v5: i32 = select v8, u4, v5
  v9: bool = not v7
  v6: bool = and v6, v9
  v10: i32 = mul v1, v2
  v11: bool = gt v10, u4
  v12: bool = and v6, v11
  v5: i32 = select v12, v10, v5
  v13: bool = not v11
  v6: bool = and v6, v13
  v5: i32 = select v6, v2, v5
  store 0 v5
}
)");
}

TEST(KernelLower, WhatAllLeaveTogetherOnceIsABranchWithExits) {
  expect_lowering(R"(
function f(%0: i32, %1: i32 shared) -> (i32) {
  %2 = constant bool true
  %3 = constant i32 5
  %4 = loop (%5: i32 = %0) {
    %6 = lt bool %1, %3
    break_if %6 (%3)
    %7 = gt bool %1, %3
    break_if %7 (%1)
    break_if %2 (%0)
    next (%5)
  }
  %9 = result i32 %4 0
  return (%9)
}
)",
                  R"(
kernel f(i32; i32) -> (i32) {
  u2: bool = constant true
  u3: i32 = constant 5
  v0: i32 = load 0
  u1: i32 = shared 0
  v4: i32 = copy v0
  branch u2 {
    u5: bool = lt u1, u3
    v4: i32 = select u5, u3, v4
    exit_if u5
    u6: bool = gt u1, u3
    v4: i32 = select u6, u1, v4
    exit_if u6
    v4: i32 = copy v0
  }
  store 0 v4
}
)");
}

TEST(KernelLower, AnExitOutOfTwoLoopsTakesLanesOutOfBoth) {
  expect_lowering(R"(
function f(%0: i32) -> (i32) {
  %1 = constant i32 0
  %2 = constant i32 1
  %3 = loop (%4: i32 = %1) {
    %5 = loop (%6: i32 = %1) {
      %7 = eq bool %6, %0
      break_if %7 up 1 (%6)
      %8 = gt bool %6, %4
      break_if %8 (%6)
      %9 = add i32 %6, %2
      next (%9)
    }
    %10 = add i32 %4, %2
    next (%10)
  }
  %11 = result i32 %3 0
  return (%11)
}
)",
                  R"(
kernel f(i32; ) -> (i32) {
  u2: i32 = constant 0
  u3: i32 = constant 1
  v0: bool = active
  v1: i32 = load 0
  u4: i32 = copy u2
  v5: i32 = copy u2
  v6: bool = copy v0
  loop v6 {
    u7: i32 = copy u2
    v8: bool = copy v6
    loop v8 {
      v9: bool = eq u7, v1
      v10: bool = and v8, v9
      v5: i32 = select v10, u7, v5
      v11: bool = not v10
      v8: bool = and v8, v11
      v6: bool = and v6, v11
      u12: bool = gt u7, u4
      exit_if u12
      u13: i32 = add u7, u3
      u7: i32 = copy u13
    }
    u14: i32 = add u4, u3
    v15: i32 = add v5, u3
    v5: i32 = select v6, v15, v5
    u4: i32 = copy u14
  }
  store 0 v5
}
)");
}

TEST(KernelLower, AUniformExitOutOfTwoLoopsIsAJump) {
  expect_lowering(R"(
function f(%0: i32, %1: i32 shared) -> (i32) {
  %2 = constant i32 0
  %3 = constant i32 1
  %4 = loop (%5: i32 = %2, %6: i32 = %0) {
    %7 = loop (%8: i32 = %2) {
      %9 = eq bool %8, %1
      break_if %9 up 1 (%8, %6)
      %10 = gt bool %8, %5
      break_if %10 (%8)
      %11 = add i32 %8, %3
      next (%11)
    }
    %12 = add i32 %5, %3
    %13 = add i32 %6, %0
    next (%12, %13)
  }
  %14 = result i32 %4 1
  return (%14)
}
)",
                  R"(
kernel f(i32; i32) -> (i32) {
  u2: i32 = constant 0
  u3: i32 = constant 1
  v0: i32 = load 0
  u1: i32 = shared 0
  u4: i32 = copy u2
  v5: i32 = copy v0
  loop {
    u6: i32 = copy u2
    loop {
      u7: bool = eq u6, u1
      exit_if u7 up 1
      u8: bool = gt u6, u4
      exit_if u8
      u9: i32 = add u6, u3
      u6: i32 = copy u9
    }
    u10: i32 = add u4, u3
    v11: i32 = add v5, v0
    u4: i32 = copy u10
    v5: i32 = copy v11
  }
  store 0 v5
}
)");
}

TEST(KernelLower, ACheckedReadFailsOutsideAndReadsForTheOthers) {
  expect_lowering(R"(
function f(%0: i32, %1: f32 table) -> (f32) {
  %2 = table_read f32 %1, %0 check  # user.cpp:3
  return (%2)
}
)",
                  R"(
kernel f(i32; ; tables f32) -> (f32) {
  site 0 3  # user.cpp:3
  u4: i64 = table_size 0
  u5: i64 = constant 2147483648
  u6: i64 = min u4, u5
  u7: u32 = convert u6
  v0: bool = active
  v1: i32 = load 0
  v3: u32 = bitcast v1
  v8: bool = ge v3, u7
  v9: bool = copy v0
  v10: bool = not v8
  v0: bool = and v0, v10
  v11: f32 = table_read 0 v1, v0
  v12: bool = not v0
  v13: bool = and v9, v12
  fail 0 v13, v0
  store 0 v11
}
)");
}

TEST(KernelLower, AnUncheckedReadIsJustARead) {
  expect_lowering(R"(
function f(%0: i32, %1: f32 table) -> (f32) {
  %2 = table_read f32 %1, %0 unchecked
  return (%2)
}
)",
                  R"(
kernel f(i32; ; tables f32) -> (f32) {
  v0: bool = active
  v1: i32 = load 0
  v3: f32 = table_read 0 v1, v0
  store 0 v3
}
)");
}

TEST(KernelLower, AClippedIndexIsNearestInside) {
  expect_lowering(R"(
function f(%0: i32, %1: f32 table) -> (f32) {
  %2 = table_read f32 %1, %0 clip
  return (%2)
}
)",
                  R"(
kernel f(i32; ; tables f32) -> (f32) {
  u2: i32 = constant 0
  u3: i64 = constant 1
  u4: i64 = table_size 0
  u5: i64 = sub u4, u3
  u6: i64 = constant 2147483647
  u7: i64 = min u5, u6
  u8: i32 = convert u7
  v0: bool = active
  v1: i32 = load 0
  v9: i32 = min v1, u8
  v10: i32 = max v9, u2
  v11: f32 = table_read 0 v10, v0
  store 0 v11
}
)");
}

TEST(KernelLower, AWrappedIndexIsARemainder) {
  expect_lowering(R"(
function f(%0: i64, %1: f32 table) -> (f32) {
  %2 = table_read f32 %1, %0 wrap
  return (%2)
}
)",
                  R"(
kernel f(i64; ; tables f32) -> (f32) {
  u3: i64 = table_size 0
  v0: bool = active
  v1: i64 = load 0
  v4: i64 = rem v1, u3
  v5: f32 = table_read 0 v4, v0
  store 0 v5
}
)");
}

TEST(KernelLower, AFilledReadReadsNothingOutside) {
  expect_lowering(R"(
function f(%0: i64, %1: f32 table) -> (f32) {
  %2 = constant f32 9
  %3 = table_read f32 %1, %0, %2 fill
  return (%3)
}
)",
                  R"(
kernel f(i64; ; tables f32) -> (f32) {
  u2: f32 = constant 9
  u4: i64 = constant 1
  u5: i64 = table_size 0
  u6: i64 = sub u5, u4
  v0: bool = active
  v1: i64 = load 0
  u7: u64 = bitcast u6
  v8: u64 = bitcast v1
  v9: bool = gt v8, u7
  v10: bool = not v9
  v11: bool = and v0, v10
  v12: f32 = table_read 0 v1, v11
  v13: f32 = select v9, u2, v12
  store 0 v13
}
)");
}

TEST(KernelLower, AUniformIndexIsCheckedForAllAtOnceAndClamped) {
  expect_lowering(R"(
function f(%0: f32, %1: i32 shared, %2: f32 table) -> (f32) {
  %3 = table_read f32 %2, %1 check
  %4 = add f32 %0, %3
  return (%4)
}
)",
                  R"(
kernel f(f32; i32; tables f32) -> (f32) {
  site 0 3
  u3: i32 = constant 0
  u4: i64 = constant 1
  u5: i64 = table_size 0
  u6: i64 = sub u5, u4
  u7: i64 = constant 2147483647
  u8: i64 = min u6, u7
  u9: i32 = convert u8
  v0: bool = active
  v1: f32 = load 0
  u2: i32 = shared 0
  u10: u32 = bitcast u9
  u11: u32 = bitcast u2
  u12: bool = gt u11, u10
  v13: bool = copy v0
  u14: bool = not u12
  v0: bool = and v0, u14
  u15: i32 = select u12, u3, u2
  u16: f32 = table_read 0 u15
  v17: f32 = add v1, u16
  v18: bool = not v0
  v19: bool = and v13, v18
  fail 0 v19, v0
  store 0 v17
}
)");
}

TEST(KernelLower, AnUncheckedUniformIndexIsInsideForLanesThatRunAlongToo) {
  expect_lowering(R"(
function f(%0: f32, %1: i64 shared, %2: f32 table) -> (f32) {
  %3 = table_read f32 %2, %1 unchecked
  %4 = add f32 %0, %3
  return (%4)
}
)",
                  R"(
kernel f(f32; i64; tables f32) -> (f32) {
  u3: i64 = constant 0
  u4: i64 = constant 1
  u5: i64 = table_size 0
  u6: i64 = sub u5, u4
  v1: f32 = load 0
  u2: i64 = shared 0
  u7: u64 = bitcast u6
  u8: u64 = bitcast u2
  u9: bool = gt u8, u7
  u10: i64 = select u9, u3, u2
  u11: f32 = table_read 0 u10
  v12: f32 = add v1, u11
  store 0 v12
}
)");
}

TEST(KernelLower, ACounterBelowTheSizeOfItsTableNeedsNoCheck) {
  expect_lowering(R"(
function f(%0: f32, %1: f32 table) -> (f32) {
  %2 = constant i64 0
  %3 = constant i64 1
  %4 = table_size i64 %1
  %5 = loop (%6: i64 = %2, %7: f32 = %0) {
    %8 = ge bool %6, %4
    break_if %8 (%6, %7)
    %9 = table_read f32 %1, %6 check
    %10 = add f32 %7, %9
    %11 = add i64 %6, %3
    next (%11, %10)
  }
  %12 = result f32 %5 1
  return (%12)
}
)",
                  R"(
kernel f(f32; ; tables f32) -> (f32) {
  u2: i64 = constant 0
  u3: i64 = constant 1
  u4: i64 = table_size 0
  u9: i64 = sub u4, u3
  v0: bool = active
  v1: f32 = load 0
  u5: i64 = copy u2
  v6: f32 = copy v1
  v7: bool = copy v0
  loop v7 {
    u8: bool = ge u5, u4
    exit_if u8
    u10: u64 = bitcast u9
    u11: u64 = bitcast u5
    u12: bool = gt u11, u10
    u13: i64 = select u12, u2, u5
    u14: f32 = table_read 0 u13
    v15: f32 = add v6, u14
    u16: i64 = add u5, u3
    u5: i64 = copy u16
    v6: f32 = copy v15
  }
  store 0 v6
}
)");
}

TEST(KernelLower, AnIndexThatIsKnownToBeInsideNeedsNoCheck) {
  expect_lowering(R"(
function f(%0: i32, %1: f32) -> (f32) {
  %2 = constant i32 7
  %3 = array f32 %1 8
  %4 = and i32 %0, %2
  %5 = array_read f32 %3, %4 check
  array_write %3, %4, %1 check
  return (%5)
}
)",
                  R"(
kernel f(i32, f32; ; arrays f32 8) -> (f32) {
  u3: i32 = constant 7
  v0: bool = active
  v1: i32 = load 0
  v2: f32 = load 1
  array 0 v2
  v4: i32 = and v1, u3
  v6: f32 = array_read 0 v4, v0
  array_write 0 v4, v2, v0
  store 0 v6
}
)");
}

TEST(KernelLower, AnIndexThatMayBeTheSizeIsChecked) {
  expect_lowering(R"(
function f(%0: i32, %1: f32) -> (f32) {
  %2 = constant i32 7
  %3 = array f32 %1 7
  %4 = and i32 %0, %2
  %5 = array_read f32 %3, %4 check
  array_write %3, %0, %1 fill
  return (%5)
}
)",
                  R"(
kernel f(i32, f32; ; arrays f32 7) -> (f32) {
  site 0 3
  u3: i32 = constant 7
  u7: u32 = constant 7
  u12: i32 = constant 6
  v0: bool = active
  v1: i32 = load 0
  v2: f32 = load 1
  array 0 v2
  v4: i32 = and v1, u3
  v6: u32 = bitcast v4
  v8: bool = ge v6, u7
  v9: bool = copy v0
  v10: bool = not v8
  v0: bool = and v0, v10
  v11: f32 = array_read 0 v4, v0
  u13: u32 = bitcast u12
  v14: u32 = bitcast v1
  v15: bool = gt v14, u13
  v16: bool = not v15
  v17: bool = and v0, v16
  array_write 0 v1, v2, v17
  v18: bool = not v0
  v19: bool = and v9, v18
  fail 0 v19, v0
  store 0 v11
}
)");
}

TEST(KernelLower, BehindATestAnIndexNeedsNoCheck) {
  expect_lowering(R"(
function f(%0: i32, %1: i32) -> (i32) {
  %2 = constant bool true
  %3 = constant i32 0
  %4 = constant i32 4
  %5 = array i32 %3 4
  %6 = ge bool %0, %3
  %7 = lt bool %0, %4
  %8 = and bool %6, %7
  %9 = loop (%10: i32 = %1) {
    %11 = not bool %8
    break_if %11 (%10)
    %12 = array_read i32 %5, %0 check
    break_if %2 (%12)
    next (%10)
  }
  %13 = result i32 %9 0
  return (%13)
}
)",
                  R"(
kernel f(i32, i32; ; arrays i32 4) -> (i32) {
  u4: i32 = constant 0
  u5: i32 = constant 4
  v0: bool = active
  v1: i32 = load 0
  v2: i32 = load 1
  array 0 u4
  v6: bool = ge v1, u4
  v7: bool = lt v1, u5
  v8: bool = and v6, v7
  v9: i32 = copy v2
  v11: bool = and v0, v8
  branch v11 {
    v12: i32 = array_read 0 v1, v11
    v9: i32 = select v11, v12, v9
  }
  store 0 v9
}
)");
}

TEST(KernelLower, BehindARefilledLoopMasksFromBeforeAreThoseOfLanesThatAreDone) {
  expect_lowering(R"(
function f(%0: i32, %1: i32) -> (i32) {
  %2 = constant i32 0
  %3 = constant i32 1
  %4 = constant bool true
  %5 = loop (%6: i32 = %2) {
    %7 = lt bool %0, %2
    break_if %7 (%3)
    %8 = loop (%9: i32 = %0) {
      %10 = le bool %9, %2
      break_if %10 (%9)
      %11 = sub i32 %9, %1
      next (%11)
    }
    %12 = result i32 %8 0
    %13 = eq bool %12, %2
    break_if %13 (%1)
    break_if %4 (%12)
    next (%6)
  }
  %14 = result i32 %5 0
  return (%14)
}
)",
                  R"(
kernel f(i32, i32; ) -> (i32) refill {
  u3: i32 = constant 0
  u4: i32 = constant 1
  v0: bool = active
  v1: i32 = load 0
  v2: i32 = load 1
  v6: i32 = copy u3
  v7: bool = copy v0
  v8: bool = lt v1, u3
  v9: bool = and v7, v8
  v6: i32 = select v9, u4, v6
  v10: bool = not v8
  v7: bool = and v7, v10
  v11: i32 = copy v1
  v12: bool = copy v7
  loop v12 {
    v13: bool = le v11, u3
    v14: bool = not v13
    v12: bool = and v12, v14
    v15: i32 = sub v11, v2
    v11: i32 = select v12, v15, v11
  }
  v16: bool = copy v0
  v17: bool = and v16, v7
  v18: bool = eq v11, u3
  v19: bool = and v17, v18
  v6: i32 = select v19, v2, v6
  v20: bool = not v18
  v17: bool = and v17, v20
  v6: i32 = select v17, v11, v6
  store 0 v6
}
)",
                  {.refill = true});
}

TEST(KernelLower, ChecksOfAPartAreLookedAtInIt) {
  // Those behind it are others, though the indices have one root.
  const ir::Function f = ir::parse(R"(function f(%0: i32, %1: f32 table) -> (f32) {
  %2 = constant bool true
  %3 = constant f32 0
  %4 = constant i32 1
  %5 = loop (%6: f32 = %3) {
    %7 = table_read f32 %1, %0 check
    break_if %2 (%7)
    next (%6)
  }
  %8 = result f32 %5 0
  %9 = add i32 %0, %4
  %10 = table_read f32 %1, %9 check
  %11 = add f32 %8, %10
  return (%11)
}
)");
  const Kernel kernel = lower(f);
  EXPECT_NO_THROW(verify(kernel));
  int failures = 0;
  for_each(kernel, [&](const Instruction& in, int) { failures += in.kind == Kind::Fail; });
  EXPECT_EQ(failures, 2);
}

}  // namespace
}  // namespace lw::kernel
