#include "lanewise/kernel/step_test.h"

namespace lw::kernel {
namespace {

using ir::Op;
using ir::ValueId;

std::optional<std::int64_t> integer_literal(const ir::Function& f, ValueId id) {
  if (f[id].op != Op::Constant) return std::nullopt;
  if (f[id].type != DType::I32 && f[id].type != DType::I64) return std::nullopt;
  return types::to_int64(f[id].constant);
}

bool is_increment_of(const ir::Function& f, ValueId id, ValueId counter) {
  return f[id].op == Op::Add && f[id].operands[0] == counter &&
         integer_literal(f, f[id].operands[1]) == 1;
}

}  // namespace

std::optional<StepTest> analyse_step_test(const ir::Function& f, ValueId loop, ValueId condition,
                                          bool negated) {
  const ir::Instruction& test = f[condition];
  const bool is_less = test.op == Op::Lt && negated;
  const bool is_less_equal = test.op == Op::Le && negated;
  const bool is_reached = (test.op == Op::Ge || test.op == Op::Eq) && !negated;
  const bool is_unequal = test.op == Op::Ne && negated;
  if (!is_less && !is_less_equal && !is_reached && !is_unequal) return std::nullopt;
  const auto limit = integer_literal(f, test.operands[1]);
  if (!limit) return std::nullopt;

  const ir::Block& body = f.blocks[f[loop].block];
  const ir::Instruction& next = f[body.body.back()];
  for (std::size_t i = 0; i < body.arguments.size(); ++i) {
    const ValueId counter = body.arguments[i];
    if (!is_increment_of(f, next.operands[i], counter)) continue;
    const bool at_end = test.operands[0] == next.operands[i];
    if (test.operands[0] != counter && !at_end) continue;
    const auto start = integer_literal(f, f[loop].operands[i]);
    // Far from the ends of the type, so that nothing wraps.
    if (!start || *start < -(1 << 30) || *start > 1 << 30 || *limit > 1 << 30) continue;
    const std::int64_t period = *limit + is_less_equal - *start;
    if (period > 0) return StepTest{period, at_end};
  }
  return std::nullopt;
}

std::optional<StepTest> find_step_test(const ir::Function& f, ValueId loop) {
  std::optional<StepTest> found;
  for (const ValueId id : f.blocks[f[loop].block].body) {
    if (f[id].op != Op::BreakIf || f[id].index != 0) continue;
    for_each_exit(f, f[id].operands[0], false, [&](ValueId condition, bool negated) {
      if (!found) found = analyse_step_test(f, loop, condition, negated);
    });
  }
  return found;
}

}  // namespace lw::kernel
