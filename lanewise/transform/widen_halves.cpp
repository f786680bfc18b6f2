// f16 and bf16 are computed with as f32, each result rounded. After this pass they are only stored,
// selected, cast to bits, and, f16, converted from and to f32.
#include "lanewise/transform/expand.h"
#include "lanewise/transform/passes.h"

namespace lw::transform {
namespace {

using ops::Op;

Expr to_f32(Expr a) {
  if (a.type() != DType::BF16) return a.convert(DType::F32);
  return (a.raw_bits(DType::U16).convert(DType::U32) << 16.0).bitcast(DType::F32);
}

/// As types/half.h says: a rounding to 16 bits after this one is as good as one at once.
Expr rounded_to_odd(Expr a) {
  const Expr nearest = a.convert(DType::F32);
  const Expr back = nearest.convert(DType::F64);
  const Expr bits = nearest.raw_bits(DType::U32);
  const Expr toward_zero = bits - (abs(back) > abs(a)).convert(DType::U32);
  return select((back == a) | (a != a), nearest, (toward_zero | 1.0).bitcast(DType::F32));
}

Expr from_f32(Expr a, DType half) {
  if (half == DType::F16) return a.convert(DType::F16);
  const Expr bits = a.raw_bits(DType::U32);
  const Expr rounded = (bits + 32767.0 + ((bits >> 16.0) & 1.0)) >> 16.0;
  return select(a != a, bits.literal(0x7fc0), rounded).convert(DType::U16).bitcast(DType::BF16);
}

Expr to_half(Expr a, DType half) {
  return from_f32(a.type() == DType::F64 ? rounded_to_odd(a) : a.convert(DType::F32), half);
}

std::optional<ir::ValueId> widen(ir::Builder& build, const ir::Instruction& in) {
  if (in.op != Op::Convert && ops::is_of_halves(in.op)) return std::nullopt;
  const Expr first(build, in.operands[0]);
  const DType from = first.type();
  if (in.op == Op::Convert) {
    if (from == in.type) return first.id();
    if (types::is_half(from)) {
      const Expr wide = to_f32(first);
      return (types::is_half(in.type) ? from_f32(wide, in.type) : wide.convert(in.type)).id();
    }
    if (types::is_half(in.type)) return to_half(first, in.type).id();
    return std::nullopt;
  }
  if (!types::is_half(from)) return std::nullopt;
  ir::Operands wide;
  for (const ir::ValueId operand : in.operands) {
    const Expr value(build, operand);
    wide.push_back(types::is_half(value.type()) ? to_f32(value).id() : operand);
  }
  const Expr result(build, build.op(in.op, wide, in.type));
  return (types::is_half(in.type) ? from_f32(result, in.type) : result).id();
}

}  // namespace

ir::Function widen_halves(const ir::Function& function) {
  bool found = false;
  ir::for_each(function, [&](ir::ValueId id, int) {
    found = found || (ir::has_value(function[id]) && types::is_half(function[id].type));
  });
  return found ? rewrite(function, widen) : function;
}

}  // namespace lw::transform
