#include "lanewise/transform/in_step.h"

#include <gtest/gtest.h>

#include "lanewise/ir/parse.h"
#include "lanewise/ir/print.h"
#include "lanewise/ir/verify.h"
#include "lanewise/transform/passes.h"

namespace lw::transform {
namespace {

/// A row times a table, with `lines` in the loop over its terms.
ir::Function product(const std::string& lines, int positions = 512) {
  return ir::parse("function f(%0: f32[100], %1: f32 table) -> (f32[" + std::to_string(positions) +
                   "]) {\n  %2 = constant i32 100\n  %3 = constant i32 0\n  %4 = constant f32 0\n"
                   "  %5 = constant i32 1\n  %6 = each " +
                   std::to_string(positions) +
                   " (%7: i32) {\n    %8 = loop (%9: f32 = %4, %10: i32 = %3) {\n"
                   "      %11 = ge bool %10, %2\n      break_if %11 (%9, %10)\n" +
                   lines +
                   "      %30 = add i32 %10, %5\n      next (%29, %30)\n    }\n"
                   "    %31 = result f32 %8 0\n    collect keep %31\n  }\n"
                   "  %32 = result f32 %6 0\n  return (%32)\n}\n");
}

const std::string kTerms =
    "      %20 = mul i32 %7, %2\n      %21 = add i32 %20, %10\n"
    "      %22 = table_read f32 %1, %21 unchecked\n"
    "      %23 = table_read f32 %0, %10 unchecked\n"
    "      %29 = fma f32 %22, %23, %9\n";

ir::ValueId each_of(const ir::Function& f) {
  ir::ValueId found = ir::kNone;
  ir::for_each(f, [&](ir::ValueId id, int) {
    if (f[id].op == ir::Op::Each) found = id;
  });
  return found;
}

bool goes_in_step(const ir::Function& f) { return !find_own_values(f, each_of(f)).empty(); }

int count(const ir::Function& f, ir::Op op) {
  int found = 0;
  ir::for_each(f, [&](ir::ValueId id, int) { found += f[id].op == op; });
  return found;
}

TEST(InStep, APositionOwnsWhatDependsOnIt) {
  const ir::Function f = product(kTerms);
  const std::vector<bool> own = find_own_values(f, each_of(f));
  ASSERT_FALSE(own.empty());
  ir::for_each(f, [&](ir::ValueId id, int) {
    const ir::Instruction& in = f[id];
    if (in.op == ir::Op::Fma || in.op == ir::Op::Mul) {
      EXPECT_TRUE(own[id]);
    } else if (in.op == ir::Op::Ge) {
      EXPECT_FALSE(own[id]) << "all leave the loop together";
    } else if (in.op == ir::Op::TableRead) {
      EXPECT_EQ(own[id], f.params[f[in.operands[0]].index].is_table());
    }
  });
}

TEST(InStep, WhatPositionsShareIsReadOnce) {
  const ir::Function f = serialize(product(kTerms), {.in_step = 4});
  ir::verify(f);
  EXPECT_EQ(count(f, ir::Op::Fma), 4);
  EXPECT_EQ(count(f, ir::Op::TableRead), 4) << "of the table";
  EXPECT_EQ(count(f, ir::Op::ArrayRead), 1) << "of the row, which is an array now";
  EXPECT_EQ(count(f, ir::Op::Loop), 2);
}

TEST(InStep, WhatIsLeftOverHasCodeOfItsOwn) {
  const ir::Function f = serialize(product(kTerms, 514), {.in_step = 4});
  ir::verify(f);
  EXPECT_EQ(count(f, ir::Op::Fma), 4 + 2);
  EXPECT_EQ(count(f, ir::Op::ArrayWrite), 4 + 2);
}

TEST(InStep, TermsOfALongProductAreTakenInBlocks) {
  ir::Function f = product(kTerms);
  for (ir::Instruction& in : f.values) {
    if (in.op == ir::Op::Constant && in.constant == Scalar(std::int32_t{100})) {
      in.constant = Scalar(std::int32_t{1000});
    }
  }
  f.params[0].size = 1000;
  const ir::Function blocked = serialize(f, {.in_step = 4});
  ir::verify(blocked);
  EXPECT_EQ(count(blocked, ir::Op::Loop), 3 + 1) << "blocks, positions, terms; then the results";
  EXPECT_EQ(count(blocked, ir::Op::Fma), 4);
  EXPECT_EQ(count(blocked, ir::Op::Min), 1) << "the last block may be shorter";
}

TEST(InStep, PositionsThatLeaveAtDifferentTimesDoNot) {
  EXPECT_TRUE(goes_in_step(product(kTerms)));
  EXPECT_FALSE(goes_in_step(product("      %20 = gt bool %10, %7\n      break_if %20 (%9, %10)\n" +
                                    std::string("      %29 = add f32 %9, %4\n"))));
}

TEST(InStep, WhatMayFailIsDonePositionByPosition) {
  std::string checked = kTerms;
  checked.replace(checked.find("unchecked"), 9, "check");
  EXPECT_FALSE(goes_in_step(product(checked)));
}

TEST(InStep, WithoutALoopThatCarriesSomethingOfTheirOwnThereIsNothingToShare) {
  EXPECT_FALSE(goes_in_step(product("      %29 = add f32 %9, %4\n")));
}

}  // namespace
}  // namespace lw::transform
