// Sine, cosine and tangent: x = n * pi/2 + r with |r| <= pi/4, polynomials in r * r, and the
// quadrant from the low bits of n. Sine and cosine build the same reduction and both polynomials,
// so that those of one argument share them once equal values are merged.
// The coefficients are those of tools/coefficients/trig_f32.sollya and trig_f64.sollya.
#include "lanewise/transform/expand.h"

namespace lw::transform {
namespace {

struct Reduced {
  Expr r;         // in [-pi/4, pi/4]
  Expr quadrant;  // only the two low bits count
};

/// Exact enough for |x| < 2^16 in f32 and 2^30 in f64. An infinity gives NaN.
Reduced reduce(Expr x) {
  const bool narrow = x.type() == DType::F32;
  // Adding 1.5 * 2^(digits - 1) rounds to a whole number and leaves it in the low bits of the sum.
  const Expr magic = x.literal(narrow ? 0x1.8p23 : 0x1.8p52);
  const Expr shifted = fma(x, x.literal(narrow ? 0x1.45f306p-1 : 0x1.45f306dc9c883p-1), magic);
  const Expr n = shifted - magic;
  // For x = -0, n is +0, and as all parts of -pi/2 are negative, r is -0 too.
  Expr r = fma(n, x.literal(narrow ? -0x1.921fb4p0 : -0x1.921fb54442d18p0), x);
  r = fma(n, x.literal(narrow ? -0x1.4442dp-24 : -0x1.1a62633145c06p-54), r);
  r = fma(n, x.literal(narrow ? -0x1.84698ap-48 : -0x1.c1cd129024e09p-107), r);
  return {.r = r, .quadrant = shifted.bitcast(narrow ? DType::I32 : DType::I64)};
}

/// Of |r| <= pi/4.
Expr near_sin(Expr r) {
  const Expr z = r * r;
  const Expr s =
      r.type() == DType::F32
          ? polynomial(z, {-0x1.555556p-3, 0x1.111174p-7, -0x1.a05966p-13, 0x1.7c3548p-19})
          : polynomial(z, {-0x1.5555555555548p-3, 0x1.111111110f76p-7, -0x1.a01a019bf2b7dp-13,
                           0x1.71de355fa4c72p-19, -0x1.ae5e550039429p-26, 0x1.5d8e624f8bd9fp-33});
  // z * s + 0 is +0 where r is a zero, so that r keeps its sign: sin(-0) is -0.
  return fma(r, fma(z, s, z.literal(0)), r);
}

/// Of |r| <= pi/4.
Expr near_cos(Expr r) {
  const Expr z = r * r;
  if (r.type() == DType::F32) {
    return polynomial(z, {1, -0.5, 0x1.55554ap-5, -0x1.6c0c2ep-10, 0x1.99eaaap-16});
  }
  return polynomial(z, {1, -0.5, 0x1.555555555554cp-5, -0x1.6c16c16c15223p-10, 0x1.a01a019cbff9p-16,
                        -0x1.27e4f81336569p-22, 0x1.1ee9f1b06dc6cp-29, -0x1.8fb16360d8b6p-37});
}

Expr is_odd(Expr quadrant) { return (quadrant & 1) != 0; }

/// Minus `value` where the quadrant has its second bit: times 1 or -1, made of that bit. This is
/// cheaper than to look at the bits of `value`, which would have to be those of no NaN.
Expr signed_by(Expr value, Expr quadrant) {
  const bool narrow = value.type() == DType::F32;
  const Expr sign = (quadrant << (narrow ? 30 : 62)) &
                    quadrant.bits(narrow ? std::int64_t{INT32_MIN} : INT64_MIN);
  const Expr one = value.literal(1).bitcast(quadrant.type());
  return value * (sign | one).bitcast(value.type());
}

}  // namespace

Expr expand_sin(Expr x) {
  const auto [r, q] = reduce(x);
  return signed_by(select(is_odd(q), near_cos(r), near_sin(r)), q);
}

Expr expand_cos(Expr x) {
  const auto [r, q] = reduce(x);
  return signed_by(select(is_odd(q), near_sin(r), near_cos(r)), q + 1);
}

}  // namespace lw::transform
