#include "lanewise/transform/partials.h"

namespace lw::transform {

std::vector<Expr> partials(ops::Op op, std::span<const Expr> operands, Expr y) {
  const auto operand = [&](std::size_t i) { return operands[std::min(i, operands.size() - 1)]; };
  const Expr a = operand(0);
  const Expr b = operand(1);
  [[maybe_unused]] const Expr c = operand(2);
  const Expr zero = y.literal(0);
  const Expr one = y.literal(1);
  switch (op) {
#define LW_OP(id, name, form, arity, accepts, gives, kind, meaning, partials, domain, doc) \
  case ops::Op::id:                                                                        \
    return {LW_LIST partials};
#define LW_LIST(...) __VA_ARGS__
#include "lanewise/ops/ops.def"
#undef LW_OP
  }
  return {};
}

}  // namespace lw::transform
