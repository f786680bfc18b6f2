// Blocks that are left before their end, slots from before a scope, branches that dissolve.
#include <gtest/gtest.h>

#include "lanewise/ir/evaluate.h"
#include "lanewise/ir/print.h"
#include "lanewise/ir/verify.h"
#include "lanewise/trace/trace.h"
#include "lanewise/transform/passes.h"

namespace lw::trace {
namespace {

using ir::ValueId;
using ops::Op;

class TraceBlock : public testing::Test {
 protected:
  ir::Builder& build() { return trace_.builder(); }
  ValueId number(std::int32_t value) { return build().constant(Scalar(value)); }
  ValueId less(ValueId a, std::int32_t b) { return build().op(Op::Lt, {a, number(b)}); }

  /// The program for results, and what it gives for an argument.
  void finish(std::initializer_list<ValueId> results) {
    function_ = transform::slots_to_ssa(trace_.finish({results.begin(), results.size()}));
    ir::verify(function_);
  }
  std::int32_t operator()(std::int32_t x) const {
    return ir::evaluate(function_, std::vector{Scalar(x)}).results[0].as<std::int32_t>();
  }

  Trace trace_{"f"};
  ValueId x_ = build().param("x", DType::I32);
  ir::Function function_;
};

TEST_F(TraceBlock, WhoLeavesABlockSkipsItsRest) {
  trace_.begin_block();
  const std::size_t block = trace_.scope();
  trace_.begin_branch(less(x_, 0));
  const ValueId slot = trace_.slot_before(block, DType::I32);
  trace_.write(slot, number(-1));
  trace_.leave_scope(block);
  trace_.end_branch();
  trace_.write(slot, build().op(Op::Mul, {x_, x_}));
  trace_.end_block(block);
  finish({trace_.read(slot)});
  EXPECT_EQ((*this)(-5), -1);
  EXPECT_EQ((*this)(5), 25);
}

TEST_F(TraceBlock, ABlockInsideOfAnotherStaysWhereItBegan) {
  trace_.begin_block();
  const std::size_t outer = trace_.scope();
  const ValueId before = build().op(Op::Add, {x_, number(100)});
  trace_.begin_block();
  const std::size_t inner = trace_.scope();
  trace_.begin_branch(less(before, 100));  // below 0: leaves both
  const ValueId slot = trace_.slot_before(outer, DType::I32);
  trace_.write(slot, number(1));
  trace_.leave_scope(outer);
  trace_.end_branch();
  trace_.begin_branch(less(before, 110));  // 0 to 9: leaves the inner one
  trace_.leave_scope(inner);
  trace_.end_branch();
  trace_.write(slot, number(2));
  trace_.leave_scope(outer);
  trace_.end_block(inner);
  trace_.write(slot, before);
  trace_.end_block(outer);
  finish({trace_.read(slot)});
  EXPECT_EQ((*this)(-3), 1);
  EXPECT_EQ((*this)(4), 104);
  EXPECT_EQ((*this)(50), 2);
}

TEST_F(TraceBlock, ASlotFromBeforeABranchHasTheValueOfThoseWhoDoNotTakeIt) {
  trace_.begin_branch(less(x_, 0));
  const ValueId slot = trace_.slot_before(trace_.scope(), DType::I64, x_);
  trace_.write(slot, build().constant(Scalar(std::int64_t{7})));
  trace_.end_branch();
  finish({build().convert(trace_.read(slot), DType::I32)});
  EXPECT_EQ((*this)(-5), 7);
  EXPECT_EQ((*this)(5), 5);
}

TEST_F(TraceBlock, ABranchOfOperationsDissolves) {
  trace_.begin_branch(less(x_, 0));
  const ValueId negative = build().op(Op::Neg, {x_});
  EXPECT_TRUE(trace_.dissolve_branch());
  finish({build().op(Op::Select, {less(x_, 0), negative, x_})});
  EXPECT_EQ((*this)(-5), 5);
  EXPECT_EQ(ir::print(function_).find("loop"), std::string::npos);
}

TEST_F(TraceBlock, ABranchThatCanFailDoesNotDissolve) {
  trace_.begin_branch(less(x_, 0));
  const ValueId slot = trace_.slot_before(trace_.scope(), Scalar(std::int32_t{3}));
  trace_.write(slot, build().op(Op::Div, {number(60), x_}));
  EXPECT_FALSE(trace_.dissolve_branch());
  trace_.end_branch();
  finish({trace_.read(slot)});
  EXPECT_EQ((*this)(-5), -12);
  EXPECT_EQ((*this)(0), 3);
}

TEST_F(TraceBlock, ADiscardedLoopLeavesNothingBehind) {
  trace_.begin_loop();
  const std::size_t loop = trace_.scope();
  trace_.begin_branch(less(x_, 0));
  build().op(Op::Neg, {x_});
  trace_.discard_scope(loop);
  finish({x_});
  EXPECT_EQ(ir::print(function_), "function f(%0: i32) -> (i32) {\n  return (%0)\n}\n");
}

TEST_F(TraceBlock, ABreakLeavesALoopFromInsideOfAnotherBlock) {
  const ValueId n = trace_.new_slot(number(0));
  trace_.begin_loop();
  const std::size_t loop = trace_.scope();
  trace_.begin_body();
  trace_.begin_block();
  const std::size_t block = trace_.scope();
  trace_.begin_branch(build().op(Op::Ge, {trace_.read(n), x_}));
  trace_.break_scope(loop);
  trace_.end_branch();
  trace_.begin_branch(less(trace_.read(n), 3));
  trace_.leave_scope(block);
  trace_.end_branch();
  trace_.write(n, build().op(Op::Add, {trace_.read(n), number(10)}));
  trace_.end_block(block);
  trace_.write(n, build().op(Op::Add, {trace_.read(n), number(1)}));
  trace_.end_body();
  trace_.end_loop();
  finish({trace_.read(n)});
  EXPECT_EQ((*this)(2), 2);
  EXPECT_EQ((*this)(20), 25);
}

}  // namespace
}  // namespace lw::trace
