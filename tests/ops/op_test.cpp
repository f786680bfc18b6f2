#include "lanewise/ops/op.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/support/edge_values.h"

namespace lw::ops {
namespace {

std::optional<DType> give(Op op, std::initializer_list<DType> operands,
                          DType stated = DType::Bool) {
  return result_type(op, std::span(operands.begin(), operands.size()), stated);
}

TEST(OpsTable, RowsStandInTheOrderOfTheEnumUnderUniqueNames) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < rows().size(); ++i) {
    const Row& r = rows()[i];
    EXPECT_EQ(static_cast<std::size_t>(r.op), i);
    EXPECT_EQ(&row(r.op), &r);
    EXPECT_EQ(op_named(r.name), r.op);
    EXPECT_TRUE(names.insert(r.name).second) << r.name;
    EXPECT_TRUE(r.doc.ends_with(".")) << r.name;
  }
  EXPECT_FALSE(op_named("addition"));
}

TEST(OpsTable, StructuralRowsAreNotElementwise) {
  for (const Row& r : rows()) EXPECT_EQ(is_elementwise(r.op), r.kind != Kind::Structural) << r.name;
  EXPECT_TRUE(is_elementwise(Op::Sin));
  EXPECT_FALSE(is_elementwise(Op::Loop));
}

TEST(OpsResultType, EveryRowAcceptsExactlyTheTypesItSays) {
  for (const Row& r : rows()) {
    if (!is_elementwise(r.op) || r.op == Op::Select || r.op == Op::Ldexp) continue;
    for (const DType type : test::all_types()) {
      const std::vector<DType> operands(static_cast<std::size_t>(r.arity), type);
      const auto result = result_type(r.op, operands, type);
      // A bool is never the stated type of a bitcast.
      const bool accepted =
          is_accepted(r.accepts, type) && !(r.op == Op::Bitcast && type == DType::Bool);
      ASSERT_EQ(result.has_value(), accepted) << r.name << ' ' << types::name_of(type);
      if (result) {
        EXPECT_EQ(*result, r.gives == Gives::Bool  ? DType::Bool
                           : r.gives == Gives::I32 ? DType::I32
                                                   : type)
            << r.name;
      }
    }
  }
}

TEST(OpsResultType, TheNumberOfOperandsIsThatOfTheRow) {
  for (const Row& r : rows()) {
    if (!is_elementwise(r.op)) continue;
    const DType type = is_accepted(r.accepts, DType::F32) ? DType::F32 : DType::I32;
    for (const int count : {0, r.arity - 1, r.arity + 1}) {
      if (count == r.arity) continue;
      const std::vector<DType> operands(static_cast<std::size_t>(count), type);
      EXPECT_FALSE(result_type(r.op, operands, type)) << r.name << ' ' << count;
    }
  }
}

TEST(OpsResultType, OperandsHaveOneType) {
  EXPECT_FALSE(give(Op::Add, {DType::F32, DType::F64}));
  EXPECT_FALSE(give(Op::Lt, {DType::I32, DType::I64}));
  EXPECT_FALSE(give(Op::Fma, {DType::F32, DType::F32, DType::F64}));
}

TEST(OpsResultType, SelectTakesABoolAndTwoOfOneType) {
  EXPECT_EQ(give(Op::Select, {DType::Bool, DType::I64, DType::I64}), DType::I64);
  EXPECT_EQ(give(Op::Select, {DType::Bool, DType::Bool, DType::Bool}), DType::Bool);
  EXPECT_FALSE(give(Op::Select, {DType::I32, DType::I64, DType::I64}));
  EXPECT_FALSE(give(Op::Select, {DType::Bool, DType::I64, DType::I32}));
}

TEST(OpsResultType, ConversionsGoFromEveryTypeToEveryType) {
  for (const DType from : test::all_types()) {
    for (const DType to : test::all_types()) EXPECT_EQ(give(Op::Convert, {from}, to), to);
  }
}

TEST(OpsResultType, ABitcastKeepsTheSizeAndIsNeverToOrFromBool) {
  EXPECT_EQ(give(Op::Bitcast, {DType::F32}, DType::I32), DType::I32);
  EXPECT_EQ(give(Op::Bitcast, {DType::I64}, DType::F64), DType::F64);
  EXPECT_FALSE(give(Op::Bitcast, {DType::F32}, DType::I64));
  EXPECT_FALSE(give(Op::Bitcast, {DType::F64}, DType::Bool));
  EXPECT_FALSE(give(Op::Bitcast, {DType::Bool}, DType::I32));
}

TEST(OpsTable, OnlyIntegerDivisionsCanFail) {
  for (const Row& r : rows()) {
    for (const DType type : test::all_types()) {
      if (!is_elementwise(r.op) || !is_accepted(r.accepts, type)) continue;
      const bool expected = (r.op == Op::Div || r.op == Op::Rem) && types::is_integer(type);
      EXPECT_EQ(can_fail(r.op, type), expected) << r.name;
    }
  }
}

}  // namespace
}  // namespace lw::ops
