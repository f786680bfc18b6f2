// For accuracy = high: the mathematical functions of f32 are those of f64, rounded.
#include <algorithm>
#include <iterator>

#include "lanewise/transform/passes.h"

namespace lw::transform {
namespace {

using ops::Op;

/// All that expand into approximations; the results of the others are exact.
bool is_approximate(Op op) {
  const ops::Row& row = ops::row(op);
  if (row.kind != ops::Kind::Expand || row.accepts != ops::Accepts::Float ||
      row.gives != ops::Gives::Same) {
    return false;
  }
  const Op exact[] = {Op::Fmin,      Op::Fmax, Op::RoundAway, Op::Ldexp,    Op::FrexpMantissa,
                      Op::Nextafter, Op::Fmod, Op::Mod,       Op::Remainder};
  return std::find(std::begin(exact), std::end(exact), op) == std::end(exact);
}

std::optional<ir::ValueId> widen(ir::Builder& build, const ir::Instruction& in) {
  if (in.type != DType::F32 || !is_approximate(in.op)) return std::nullopt;
  ir::Operands wide;
  for (const ir::ValueId operand : in.operands) wide.push_back(build.convert(operand, DType::F64));
  return build.convert(build.op(in.op, wide), DType::F32);
}

}  // namespace

ir::Function compute_in_double(const ir::Function& function) { return rewrite(function, widen); }

}  // namespace lw::transform
