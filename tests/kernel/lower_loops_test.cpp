// Lowering of loops, branches and what leaves them.
#include "tests/kernel/expect_lowering.h"
#include "tests/support/programs.h"

namespace lw::kernel {
namespace {

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

TEST(KernelLowerLoops, InPacketsTheLimitIsABranchOnAUniformCounterAndOnlyTheCountIsBlended) {
  expect_lowering(kMandelbrot, test::program_text("mandelbrot_packets.lane"));
}

TEST(KernelLowerLoops, ForRefillTheLimitIsAMaskAsLanesAreAtDifferentSteps) {
  expect_lowering(kMandelbrot, test::program_text("mandelbrot_refill.lane"), {.refill = true});
}

TEST(KernelLowerLoops, ALoopThatNeverGoesRoundIsABranch) {
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

TEST(KernelLowerLoops, ALoopThatAllLanesLeaveTogetherHasNoMask) {
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

TEST(KernelLowerLoops, ValuesThatAreSwappedAreCopiedFirst) {
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

TEST(KernelLowerLoops, AnExitWithValuesOfItsOwnBlendsThemForLiveLanesOnly) {
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

TEST(KernelLowerLoops, NestedMasksClearTheInnerOneFromTheOuter) {
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
    branch v6 {
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
  }
  store 0 v5
}
)");
}

TEST(KernelLowerLoops, OnlyOneDivergingTopLevelLoopCanBeRefilled) {
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

TEST(KernelLowerLoops, ALoopInAPartDoesNotStandBesideOneThatIsRefilled) {
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

TEST(KernelLowerLoops, ALoopBeforeTheTestOfABranchDoesNotStandBesideOneThatIsRefilled) {
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

TEST(KernelLowerLoops, ARefilledLoopStandsInNoBranchWhateverElseIsAroundIt) {
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

TEST(KernelLowerLoops, AUniformBranchIsTakenByAllOrNoneWithoutAMask) {
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

TEST(KernelLowerLoops, WhatSeveralExitsLeaveOnceHasAMaskThatTheyNarrow) {
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

TEST(KernelLowerLoops, WhatAllLeaveTogetherOnceIsABranchWithExits) {
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

TEST(KernelLowerLoops, AnExitOutOfTwoLoopsTakesLanesOutOfBoth) {
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

TEST(KernelLowerLoops, AUniformExitOutOfTwoLoopsIsAJump) {
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

TEST(KernelLowerLoops, BehindARefilledLoopMasksFromBeforeAreThoseOfLanesThatAreDone) {
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

TEST(KernelLowerLoops, WhatFollowsTheExitOfALoopIsRunIfAnyLaneStays) {
  expect_lowering(R"(
function f(%0: i32, %1: f32 table) -> (f32) {
  %2 = constant i32 0
  %3 = constant f32 0
  %4 = constant i32 1
  %5 = loop (%6: i32 = %2, %7: f32 = %3) {
    %8 = ge bool %6, %0
    break_if %8 (%6, %7)
    %9 = sub i32 %0, %6
    %10 = table_read f32 %1, %9 unchecked
    %11 = table_read f32 %1, %0 unchecked
    %12 = mul f32 %10, %11
    %13 = add f32 %7, %12
    %14 = add i32 %6, %4
    next (%14, %13)
  }
  %15 = result f32 %5 1
  return (%15)
}
)",
                  R"(
kernel f(i32; ; tables f32) -> (f32) {
  u2: i32 = constant 0
  u3: f32 = constant 0
  u4: i32 = constant 1
  v0: bool = active
  v1: i32 = load 0
  u5: i32 = copy u2
  v6: f32 = copy u3
  v7: bool = copy v0
  loop v7 {
    v8: bool = ge u5, v1
    v9: bool = not v8
    v7: bool = and v7, v9
    branch v7 {
      v10: i32 = sub v1, u5
      v11: f32 = table_read 0 v10, v7
      v12: f32 = table_read 0 v1, v7
      v13: f32 = mul v11, v12
      v14: f32 = add v6, v13
      u15: i32 = add u5, u4
      u5: i32 = copy u15
      v6: f32 = select v7, v14, v6
    }
  }
  store 0 v6
}
)");
}

}  // namespace
}  // namespace lw::kernel
