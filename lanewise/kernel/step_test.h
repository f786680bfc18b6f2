// Exit tests that can only hold at known steps. A counter that starts at a literal and goes up by
// one reaches a literal limit after a known number of steps; looked at every so many steps, the
// test is needed only where a multiple of that can fall.
#pragma once

#include <optional>

#include "lanewise/ir/function.h"

namespace lw::kernel {

struct StepTest {
  std::int64_t period = 0;  // steps until the test holds for the first time
  bool at_end = false;      // it looks at the counter after its increment, else before
};

/// What is known of an exit of `loop` that is taken when `condition` (or its opposite) holds.
std::optional<StepTest> analyse_step_test(const ir::Function& function, ir::ValueId loop,
                                          ir::ValueId condition, bool negated);

/// The step test of some exit of the loop, if it has one.
std::optional<StepTest> find_step_test(const ir::Function& function, ir::ValueId loop);

/// Takes an exit condition apart: calls `visit(condition, negated)` for the conditions any of which
/// makes the exit happen. not (a and b) is not a, or not b.
template <class Visit>
void for_each_exit(const ir::Function& f, ir::ValueId condition, bool negated, const Visit& visit) {
  const ir::Instruction& in = f[condition];
  if (in.op == ir::Op::Not && in.type == DType::Bool) {
    return for_each_exit(f, in.operands[0], !negated, visit);
  }
  if (in.op == (negated ? ir::Op::And : ir::Op::Or) && in.type == DType::Bool) {
    for_each_exit(f, in.operands[0], negated, visit);
    return for_each_exit(f, in.operands[1], negated, visit);
  }
  visit(condition, negated);
}

}  // namespace lw::kernel
