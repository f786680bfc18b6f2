#include "lanewise/transform/expand.h"

#include "lanewise/transform/passes.h"

namespace lw::transform {
namespace {

std::optional<ir::ValueId> expand_one(ir::Builder& build, const ir::Instruction& in) {
  if (ops::row(in.op).kind != ops::Kind::Expand) return std::nullopt;
  const auto operand = [&](std::size_t i) {
    return Expr(build, in.operands[std::min(i, in.operands.size() - 1)]);
  };
  const Expr a = operand(0);
  [[maybe_unused]] const Expr b = operand(1);
  [[maybe_unused]] const Expr c = operand(2);
  switch (in.op) {
#define LW_OP(id, name, form, arity, accepts, gives, kind, meaning, partials, domain, doc) \
  LW_EXPAND_##kind(id, meaning)
#define LW_EXPAND_Native(op, meaning)
#define LW_EXPAND_Structural(op, meaning)
#define LW_EXPAND_Expand(op, meaning) \
  case ops::Op::op:                   \
    return (meaning).id();
#include "lanewise/ops/ops.def"
#undef LW_OP
    default:
      return std::nullopt;
  }
}

bool has_expandable(const ir::Function& f) {
  bool found = false;
  ir::for_each(f,
               [&](ir::ValueId id, int) { found |= ops::row(f[id].op).kind == ops::Kind::Expand; });
  return found;
}

}  // namespace

ir::Function expand(const ir::Function& function) {
  ir::Function f = widen_halves(function);
  while (has_expandable(f)) f = rewrite(f, expand_one);  // formulas may use other expansions
  return f;
}

}  // namespace lw::transform
