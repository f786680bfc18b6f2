#include "lanewise/transform/expand.h"

#include <algorithm>

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

/// True for the functions of f32 that are better computed in f64: all but those that are exact.
bool gains_by_width(const ir::Instruction& in, DType operand) {
  const ops::Row& row = ops::row(in.op);
  if (row.kind != ops::Kind::Expand || operand != DType::F32) return false;
  if (row.accepts != ops::Accepts::Float || row.gives != ops::Gives::Same) return false;
  const ops::Op exact[] = {ops::Op::Fmin,  ops::Op::Fmax,          ops::Op::RoundAway,
                           ops::Op::Ldexp, ops::Op::FrexpMantissa, ops::Op::Nextafter,
                           ops::Op::Fmod,  ops::Op::Mod,           ops::Op::Remainder};
  return std::find(std::begin(exact), std::end(exact), in.op) == std::end(exact);
}

std::optional<ir::ValueId> compute_in_double(ir::Builder& build, const ir::Instruction& in) {
  if (in.operands.empty() || !gains_by_width(in, build.type(in.operands[0]))) return std::nullopt;
  ir::Operands wide;
  for (const ir::ValueId operand : in.operands) wide.push_back(build.convert(operand, DType::F64));
  return build.convert(build.op(in.op, wide), DType::F32);
}

bool has_expandable(const ir::Function& f) {
  bool found = false;
  ir::for_each(f,
               [&](ir::ValueId id, int) { found |= ops::row(f[id].op).kind == ops::Kind::Expand; });
  return found;
}

}  // namespace

ir::Function expand(const ir::Function& function, Accuracy accuracy) {
  ir::Function f = widen_halves(function);
  if (accuracy == Accuracy::High) f = rewrite(f, compute_in_double);
  while (has_expandable(f)) f = rewrite(f, expand_one);  // formulas may use other expansions
  return f;
}

}  // namespace lw::transform
