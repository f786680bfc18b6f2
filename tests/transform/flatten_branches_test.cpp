#include <gtest/gtest.h>

#include "lanewise/ir/evaluate.h"
#include "lanewise/transform/passes.h"
#include "tests/support/expect_pass.h"

namespace lw::transform {
namespace {

using test::expect_pass;

TEST(TransformFlattenBranches, AShortBranchIsComputedForAllAndChosen) {
  expect_pass(flatten_branches, R"(
function f(%0: f32, %1: f32) -> (f32) {
  %2 = constant bool true
  %3 = lt bool %0, %1
  %4 = loop (%5: f32 = %0) {
    %6 = not bool %3
    break_if %6 (%5)
    %7 = mul f32 %5, %1
    break_if %2 (%7)
    next (%5)
  }
  %8 = result f32 %4 0
  return (%8)
}
)",
              R"(
function f(%0: f32, %1: f32) -> (f32) {
  %2 = constant bool true
  %3 = lt bool %0, %1
  %4 = not bool %3
  %5 = not bool %4
  %6 = mul f32 %0, %1
  %7 = select f32 %5, %6, %0
  return (%7)
}
)");
}

TEST(TransformFlattenBranches, AnExitInsideOfItLeavesWhereTheBranchIsTakenToo) {
  expect_pass(flatten_branches, R"(
function f(%0: i32, %1: i32, %2: bool) -> (i32) {
  %3 = constant i32 1
  %4 = constant bool true
  %5 = loop (%6: i32 = %0) {
    %7 = gt bool %6, %1
    %8 = loop (%9: i32 = %6) {
      %10 = not bool %7
      break_if %10 (%9)
      %11 = add i32 %9, %1
      break_if %2 up 1 (%11)
      break_if %4 (%11)
      next (%9)
    }
    %12 = result i32 %8 0
    %13 = add i32 %12, %3
    next (%13)
  }
  %14 = result i32 %5 0
  return (%14)
}
)",
              R"(
function f(%0: i32, %1: i32, %2: bool) -> (i32) {
  %3 = constant i32 1
  %4 = constant bool true
  %5 = loop (%6: i32 = %0) {
    %7 = gt bool %6, %1
    %8 = not bool %7
    %9 = not bool %8
    %10 = add i32 %6, %1
    %11 = and bool %9, %2
    break_if %11 (%10)
    %12 = select i32 %9, %10, %6
    %13 = add i32 %12, %3
    next (%13)
  }
  %14 = result i32 %5 0
  return (%14)
}
)");
}

TEST(TransformFlattenBranches, ABranchThatOnlyLeavesIsTheConditionOfTheExit) {
  expect_pass(flatten_branches, R"(
function f(%0: i32, %1: i32) -> (i32) {
  %2 = constant i32 1
  %3 = constant bool true
  %4 = loop (%5: i32 = %0) {
    %6 = gt bool %5, %1
    %7 = loop () {
      %8 = not bool %6
      break_if %8 ()
      break_if %3 up 1 (%5)
      break_if %3 ()
      next ()
    }
    %9 = add i32 %5, %2
    next (%9)
  }
  %10 = result i32 %4 0
  return (%10)
}
)",
              R"(
function f(%0: i32, %1: i32) -> (i32) {
  %2 = constant i32 1
  %3 = constant bool true
  %4 = loop (%5: i32 = %0) {
    %6 = gt bool %5, %1
    %7 = not bool %6
    %8 = not bool %7
    break_if %8 (%5)
    %9 = add i32 %5, %2
    next (%9)
  }
  %10 = result i32 %4 0
  return (%10)
}
)");
}

TEST(TransformFlattenBranches, ABranchInABranch) {
  expect_pass(flatten_branches, R"(
function f(%0: i32, %1: bool, %2: bool) -> (i32) {
  %3 = constant bool true
  %4 = constant i32 2
  %5 = loop (%6: i32 = %0) {
    %7 = not bool %1
    break_if %7 (%6)
    %8 = add i32 %6, %4
    %9 = loop (%10: i32 = %8) {
      %11 = not bool %2
      break_if %11 (%10)
      %12 = mul i32 %10, %4
      break_if %3 (%12)
      next (%10)
    }
    %13 = result i32 %9 0
    break_if %3 (%13)
    next (%6)
  }
  %14 = result i32 %5 0
  return (%14)
}
)",
              R"(
function f(%0: i32, %1: bool, %2: bool) -> (i32) {
  %3 = constant bool true
  %4 = constant i32 2
  %5 = not bool %1
  %6 = not bool %5
  %7 = add i32 %0, %4
  %8 = not bool %2
  %9 = not bool %8
  %10 = and bool %6, %9
  %11 = mul i32 %7, %4
  %12 = select i32 %9, %11, %7
  %13 = select i32 %6, %12, %0
  return (%13)
}
)");
}

/// A branch with these lines in it, which make %20 of %5, the i32 that it may change.
ir::Function branch_with(const std::string& lines, const std::string& loop = "loop") {
  return ir::parse(
      "function f(%0: i32, %1: bool, %2: f32, %3: i32 table) -> (i32) {\n"
      "  %10 = constant bool true\n  %11 = constant i32 1\n  %12 = array i32 %0 4\n  %4 = " +
      loop + " (%5: i32 = %0) {\n    %6 = not bool %1\n    break_if %6 (%5)\n" + lines +
      "    break_if %10 (%20)\n    next (%5)\n  }\n  %7 = result i32 %4 0\n  return (%7)\n}\n");
}

/// So many additions, from %5 to %20.
std::string additions(int count) {
  std::string lines;
  for (int i = 1; i <= count; ++i) {
    const std::string from = i == 1 ? "5" : std::to_string(28 + i);
    const std::string to = i == count ? "20" : std::to_string(29 + i);
    lines += "    %" + to + " = add i32 %" + from + ", %11\n";
  }
  return lines;
}

TEST(TransformFlattenBranches, LongOnesStay) {
  // The condition's own `not` counts too.
  EXPECT_TRUE(has_short_branches(branch_with(additions(1))));
  EXPECT_TRUE(has_short_branches(branch_with(additions(15))));
  EXPECT_FALSE(has_short_branches(branch_with(additions(16))));
  const auto divisions = [](int count) {
    std::string lines;
    for (int i = 0; i < count; ++i) {
      lines += "    %" + std::to_string(80 + i) + " = div f32 %2, %2\n";
    }
    return lines + additions(1);
  };
  EXPECT_TRUE(has_short_branches(branch_with(divisions(2)))) << "a division counts as six";
  EXPECT_FALSE(has_short_branches(branch_with(divisions(3))));
}

TEST(TransformFlattenBranches, WhatCanFailTouchesMemoryGoesRoundOrIsRareStays) {
  const std::string end = additions(1);
  EXPECT_TRUE(has_short_branches(branch_with(end)));
  EXPECT_FALSE(has_short_branches(branch_with("    %13 = div i32 %5, %0\n" + end)));
  EXPECT_FALSE(has_short_branches(branch_with("    fail_if %1 2\n" + end)));
  EXPECT_FALSE(has_short_branches(branch_with("    %13 = table_read i32 %3, %0 clip\n" + end)));
  EXPECT_FALSE(has_short_branches(branch_with("    %13 = array_read i32 %12, %0 clip\n" + end)));
  EXPECT_FALSE(has_short_branches(branch_with("    array_write %12, %0, %0 clip\n" + end)));
  EXPECT_FALSE(has_short_branches(branch_with("    %13 = element u32 0\n" + end)));
  EXPECT_FALSE(has_short_branches(
      branch_with("    %13 = loop () {\n      break_if %1 ()\n      next ()\n    }\n" + end)));
  EXPECT_FALSE(has_short_branches(branch_with(end, "loop rare")));
}

TEST(TransformFlattenBranches, WhatStaysStaysAsItIs) {
  for (const ir::Function& f : {branch_with(additions(16)), branch_with(additions(1), "loop rare"),
                                branch_with("    array_write %12, %0, %0 clip\n" + additions(1))}) {
    EXPECT_EQ(ir::print(flatten_branches(f)), ir::print(f));
  }
}

TEST(TransformFlattenBranches, AShortBranchInALongOneGoesAlone) {
  const std::string inner =
      "    %21 = loop (%22: i32 = %5) {\n      break_if %1 (%22)\n"
      "      %23 = mul i32 %22, %22\n      break_if %10 (%23)\n      next (%22)\n    }\n"
      "    %24 = result i32 %21 0\n    array_write %12, %24, %24 clip\n";
  const ir::Function f = flatten_branches(branch_with(inner + additions(1)));
  EXPECT_NO_THROW(ir::verify(f));
  int loops = 0;
  int selects = 0;
  ir::for_each(f, [&](ir::ValueId id, int) {
    loops += f[id].op == ir::Op::Loop;
    selects += f[id].op == ir::Op::Select;
  });
  EXPECT_EQ(loops, 1);
  EXPECT_EQ(selects, 1);
}

TEST(TransformFlattenBranches, KeepsTheMeaning) {
  // A branch that leaves two loops, or one, in one that leaves the function.
  const ir::Function f = ir::parse(R"(
function f(%0: i32, %1: i32) -> (i32) {
  %2 = constant bool true
  %3 = constant i32 1
  %4 = constant i32 3
  %5 = loop (%6: i32 = %0) {
    %7 = loop (%8: i32 = %3) {
      %9 = gt bool %8, %1
      %10 = loop (%11: i32 = %8) {
        %12 = not bool %9
        break_if %12 (%11)
        %13 = rem i32 %11, %4
        %14 = eq bool %13, %3
        %15 = loop () {
          %16 = not bool %14
          break_if %16 ()
          %17 = gt bool %6, %4
          break_if %17 up 3 (%11)
          break_if %2 up 2 (%6)
          break_if %2 ()
          next ()
        }
        %18 = add i32 %11, %6
        break_if %2 (%18)
        next (%11)
      }
      %19 = result i32 %10 0
      %20 = add i32 %19, %3
      next (%20)
    }
    %21 = result i32 %7 0
    %22 = add i32 %6, %21
    %23 = add i32 %22, %3
    next (%23)
  }
  %24 = result i32 %5 0
  return (%24)
}
)");
  const ir::Function flat = flatten_branches(f);
  EXPECT_NO_THROW(ir::verify(flat));
  EXPECT_FALSE(has_short_branches(flat));
  for (std::int32_t a = 0; a < 12; ++a) {
    for (std::int32_t b = 0; b < 12; ++b) {
      const std::array<Scalar, 2> arguments = {a, b};
      const ir::Evaluation expected = ir::evaluate(f, arguments, {.max_steps = 1000});
      const ir::Evaluation got = ir::evaluate(flat, arguments, {.max_steps = 1000});
      EXPECT_EQ(got.results, expected.results) << a << ", " << b;
      EXPECT_EQ(got.steps, expected.steps) << a << ", " << b;
    }
  }
}

}  // namespace
}  // namespace lw::transform
