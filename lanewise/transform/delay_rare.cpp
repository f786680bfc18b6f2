#include "lanewise/transform/passes.h"

namespace lw::transform {
namespace {

using ir::Instruction;
using ir::Op;
using ir::ValueId;

bool is_rare(const Instruction& in) { return in.op == Op::Loop && in.index != 0; }

/// True for what may be computed earlier, by all elements.
bool is_free(const Instruction& in) {
  return in.op == Op::Constant || (ops::is_elementwise(in.op) && !ops::can_fail(in.op, in.type));
}

/// Takes what does not need the rare branch from behind it to before it, up to the next branch.
void delay_in(ir::Function& f, ir::Block& block, std::vector<bool>& waits) {
  std::vector<ValueId> order;
  std::vector<ValueId> behind;  // a rare branch, and what has to stay there
  const auto flush = [&] {
    order.insert(order.end(), behind.begin(), behind.end());
    behind.clear();
  };
  for (const ValueId id : block.body) {
    const Instruction& in = f[id];
    bool is_moved = is_free(in);
    for (const ValueId operand : in.operands) is_moved = is_moved && !waits[operand];
    if (is_rare(in) || !(is_free(in) || in.op == Op::Result)) flush();
    if (is_rare(in) || (!behind.empty() && !is_moved)) {
      waits[id] = true;
      behind.push_back(id);
    } else {
      order.push_back(id);
    }
  }
  flush();
  block.body = std::move(order);
}

}  // namespace

ir::Function delay_rare(ir::Function function) {
  std::vector<bool> waits(function.values.size());
  for (ir::Block& block : function.blocks) delay_in(function, block, waits);
  return function;
}

}  // namespace lw::transform
