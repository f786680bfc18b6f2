// Large arguments of the trigonometric functions. They are rare, and exact: three native ops do
// what would be hundreds of instructions in every program with a sine.
#include "lanewise/transform/expand_trig.h"

namespace lw::transform {

Reduced reduce_large(Expr single_or_double) {
  using ops::Op;
  const bool single = is_single(single_or_double);
  const Expr x = single_or_double.convert(DType::F64);
  const Expr r = x.op(Op::AngleRest);
  const Expr rest = x.op(Op::AngleLost);
  const Expr quadrant = x.op(Op::AngleQuadrant).convert(integer_of(single_or_double));
  if (!single) return {.r = r, .rest = rest, .quadrant = quadrant};
  const Expr rounded = (r - rest).convert(DType::F32);
  return {.r = rounded,
          .rest = (rounded.convert(DType::F64) - (r - rest)).convert(DType::F32),
          .quadrant = quadrant};
}

}  // namespace lw::transform
