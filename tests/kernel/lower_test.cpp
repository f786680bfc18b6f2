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

}  // namespace
}  // namespace lw::kernel
