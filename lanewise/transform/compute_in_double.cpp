// For accuracy = high: the mathematical functions of f32 are those of f64, rounded.
#include "lanewise/transform/expand.h"
#include "lanewise/transform/passes.h"

namespace lw::transform {
namespace {

std::optional<ir::ValueId> widen(ir::Builder& build, const ir::Instruction& in) {
  if (in.type != DType::F32 || !is_approximate(in.op)) return std::nullopt;
  ir::Operands wide;
  for (const ir::ValueId operand : in.operands) wide.push_back(build.convert(operand, DType::F64));
  return build.convert(build.op(in.op, wide), DType::F32);
}

}  // namespace

ir::Function compute_in_double(const ir::Function& function) { return rewrite(function, widen); }

}  // namespace lw::transform
