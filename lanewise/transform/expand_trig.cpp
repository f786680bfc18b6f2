// Sine and cosine in f64: x = n * pi/2 + r with |r| <= pi/4, polynomials in r * r, and the quadrant
// from the low bits of n. Within 2 ULP for |x| < 2^30; an infinity gives NaN. An f32 is computed in
// f64 and rounded. Both functions build the same reduction and both polynomials, so that the sine
// and cosine of one argument share them once equal values are merged.
// The coefficients are those of tools/coefficients/trig_f64.sollya.
#include "lanewise/transform/expand.h"

namespace lw::transform {
namespace {

struct Reduced {
  Expr sin;       // of the remainder
  Expr cos;       // of the remainder
  Expr quadrant;  // i64; only the two low bits count
};

Reduced reduce(Expr x) {
  // Adding 1.5 * 2^52 rounds to a whole number and leaves it in the low bits of the sum.
  const Expr magic = x.literal(0x1.8p52);
  const Expr shifted = fma(x, x.literal(0x1.45f306dc9c883p-1), magic);
  // For x = -0 this is -0, and as all parts of pi/2 are positive, r is -0 too.
  const Expr n = -(shifted - magic);
  Expr r = fma(n, x.literal(0x1.921fb54442d18p0), x);
  r = fma(n, x.literal(0x1.1a62633145c06p-54), r);
  r = fma(n, x.literal(0x1.c1cd129024e09p-107), r);
  const Expr z = r * r;
  const Expr s =
      polynomial(z, {-0x1.5555555555548p-3, 0x1.111111110f76p-7, -0x1.a01a019bf2b7dp-13,
                     0x1.71de355fa4c72p-19, -0x1.ae5e550039429p-26, 0x1.5d8e624f8bd9fp-33});
  const Expr c =
      polynomial(z, {0x1.555555555554cp-5, -0x1.6c16c16c15223p-10, 0x1.a01a019cbff9p-16,
                     -0x1.27e4f81336569p-22, 0x1.1ee9f1b06dc6cp-29, -0x1.8fb16360d8b6p-37});
  // z * s + 0 is +0 where r is a zero, so that r keeps its sign: sin(-0) is -0.
  return {.sin = fma(r, fma(z, s, x.literal(0)), r),
          .cos = fma(z * z, c, fma(z, x.literal(-0.5), x.literal(1))),
          .quadrant = shifted.bitcast(DType::I64)};
}

Expr signed_by(Expr value, Expr quadrant, double bit) {
  return select((quadrant & quadrant.literal(bit)) != quadrant.literal(0), -value, value);
}

}  // namespace

Expr expand_sin(Expr x) {
  if (x.type() == DType::F32) return expand_sin(x.convert(DType::F64)).convert(DType::F32);
  const Reduced r = reduce(x);
  const Expr q = r.quadrant;
  const Expr odd = (q & q.literal(1)) != q.literal(0);
  return signed_by(select(odd, r.cos, r.sin), q, 2);
}

Expr expand_cos(Expr x) {
  if (x.type() == DType::F32) return expand_cos(x.convert(DType::F64)).convert(DType::F32);
  const Reduced r = reduce(x);
  const Expr q = r.quadrant;
  const Expr odd = (q & q.literal(1)) != q.literal(0);
  return signed_by(select(odd, r.sin, r.cos), q + q.literal(1), 2);
}

}  // namespace lw::transform
