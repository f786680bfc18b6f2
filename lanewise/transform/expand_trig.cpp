// Sine, cosine and tangent: x = n * pi/2 + r with |r| <= pi/4, polynomials in r * r, and the
// quadrant from the low bits of n. Sine and cosine build the same reduction and both polynomials,
// so that those of one argument share them once equal values are merged.
// The coefficients are those of tools/coefficients/trig_f32.sollya and trig_f64.sollya.
#include "lanewise/transform/expand_trig.h"

namespace lw::transform {
namespace {

/// Beyond this, the reductions here are not exact enough.
Expr is_large(Expr x) { return abs(x) > (is_single(x) ? 0x1p16 : 0x1p30); }

/// The nearest multiple n of pi/2. Adding 1.5 * 2^(digits - 1) rounds to a whole number and leaves
/// it in the low bits of the sum.
struct Multiple {
  Expr n;
  Expr quadrant;
};
Multiple nearest_multiple(Expr x) {
  const bool single = is_single(x);
  const Expr magic = x.literal(single ? 0x1.8p23 : 0x1.8p52);
  const Expr shifted = fma(x, single ? 0x1.45f306p-1 : 0x1.45f306dc9c883p-1, magic);
  return {.n = shifted - magic, .quadrant = shifted.raw_bits(integer_of(x))};
}

// pi/2 in three positive parts.
Expr first_part(Expr x) { return x.literal(is_single(x) ? 0x1.921fb4p0 : 0x1.921fb54442d18p0); }
Expr second_part(Expr x) { return x.literal(is_single(x) ? 0x1.4442dp-24 : 0x1.1a62633145c06p-54); }
Expr third_part(Expr x) {
  return x.literal(is_single(x) ? 0x1.84698ap-48 : 0x1.c1cd129024e09p-107);
}

/// Without `rest`. For x = -0, n is +0, and as all parts are subtracted, r is -0 too.
Reduced reduce(Expr x) {
  const auto [n, quadrant] = nearest_multiple(x);
  Expr r = fma(n, -first_part(x), x);  // exact
  r = fma(n, -second_part(x), r);
  r = fma(n, -third_part(x), r);
  return {.r = r, .rest = x.literal(0), .quadrant = quadrant};
}

/// Of |x| <= 1, with the same bits: n is -1, 0 or 1, and the third part is lost in rounding.
Reduced reduce_small(Expr x) {
  const auto [n, quadrant] = nearest_multiple(x);
  const Expr r = fma(n, -second_part(x), fma(n, -first_part(x), x));
  return {.r = r, .rest = x.literal(0), .quadrant = quadrant};
}

/// With `rest`, which is +0 for x = -0, so that tan(-0) is -0.
Reduced reduce_precisely(Expr x) {
  const auto [n, quadrant] = nearest_multiple(x);
  const Expr first = fma(n, -first_part(x), x);
  const Expr product = n * second_part(x);
  const Expr r = first - product;
  const Expr lost = (first - r) - product;
  const Expr rest = fma(n, third_part(x), fma(n, second_part(x), -product)) - lost;
  return {.r = r, .rest = rest, .quadrant = quadrant};
}

/// Of |r| <= pi/4.
Expr near_sin(Expr r) {
  const Expr z = r * r;
  const Expr s =
      is_single(r)
          ? polynomial(z, {-0x1.555556p-3, 0x1.110e9ep-7, -0x1.9be1fep-13})
          : polynomial(z, {-0x1.5555555555548p-3, 0x1.111111110f76p-7, -0x1.a01a019bf2b7dp-13,
                           0x1.71de355fa4c72p-19, -0x1.ae5e550039429p-26, 0x1.5d8e624f8bd9fp-33});
  // z * s + 0 is +0 where r is a zero, so that r keeps its sign: sin(-0) is -0.
  return fma(r, fma(z, s, z.literal(0)), r);
}

/// Of |r| <= pi/4.
Expr near_cos(Expr r) {
  const Expr z = r * r;
  if (is_single(r)) {
    return polynomial(z, {1, -0.5, 0x1.55554ap-5, -0x1.6c0c2ep-10, 0x1.99eaaap-16});
  }
  return polynomial(z, {1, -0.5, 0x1.555555555554cp-5, -0x1.6c16c16c15223p-10, 0x1.a01a019cbff9p-16,
                        -0x1.27e4f81336569p-22, 0x1.1ee9f1b06dc6cp-29, -0x1.8fb16360d8b6p-37});
}

Expr is_odd(Expr quadrant) { return (quadrant & 1) != 0; }

/// Minus `value` where the quadrant has its second bit, which in f32 is taken to the sign.
Expr signed_by(Expr value, Expr quadrant) {
  if (!is_single(value)) return select((quadrant & 2.0) != 0.0, -value, value);
  const Expr sign = (quadrant << 30.0) & quadrant.bits(INT32_MIN);
  return (value.raw_bits(quadrant.type()) ^ sign).bitcast(value.type());
}

/// What the quadrant chooses from.
struct Turned {
  Expr sin;
  Expr cos;
  Expr quadrant;
};
Turned turned(const Reduced& x) {
  return {.sin = near_sin(x.r), .cos = near_cos(x.r), .quadrant = x.quadrant};
}

Expr sin_of(const Turned& x) {
  return signed_by(select(is_odd(x.quadrant), x.cos, x.sin), x.quadrant);
}

Expr cos_of(const Turned& x) {
  return signed_by(select(is_odd(x.quadrant), x.sin, x.cos), x.quadrant + 1.0);
}

/// Of r - rest or, in odd quadrants, minus its reciprocal: one division serves both.
Expr tan_of(const Reduced& reduced) {
  const auto& [r, rest, q] = reduced;
  const Expr odd = is_odd(q);
  const Expr z = r * r;
  const Expr t =
      is_single(r)
          ? polynomial(z, {0x1.55556p-2, 0x1.110d9ap-3, 0x1.badae4p-5, 0x1.5cb21p-6, 0x1.6323fp-7,
                           0x1.5d7f2cp-14, 0x1.1f17c4p-8})
          : polynomial(z, {0x1.55555555554f2p-2, 0x1.11111111182c5p-3, 0x1.ba1ba1b46c378p-5,
                           0x1.664f49a847872p-6, 0x1.226e125e7ca5dp-7, 0x1.d6d9332925cep-9,
                           0x1.7d5b6342af6c4p-10, 0x1.37fa5353dfb19p-11, 0x1.d273583e7e191p-13,
                           0x1.1e23c8c16b2d8p-13, -0x1.b8bc48903f5fep-16, 0x1.76bef8d855a13p-14,
                           -0x1.77f9b5e0e8389p-15, 0x1.5dccaa5e63a4cp-16});
  const Expr zt = z * t;
  const Expr rough = fma(r, zt, r);
  const Expr slope = fma(rough, rough, r.literal(1));
  const Expr more = fma(r, zt, -(rest * slope));
  const Expr tangent = r + more;
  const Expr quotient = select(odd, r.literal(-1), tangent) / select(odd, tangent, r.literal(1));
  if (!is_single(r)) return quotient;
  // What the sum lost counts double in a reciprocal just below a power of two. With it goes what
  // the division left over.
  const Expr lost = (r - tangent) + more;
  const Expr left = fma(-quotient, tangent, r.literal(-1));
  return select(odd, fma(quotient, fma(quotient, lost, -left), quotient), quotient);
}

/// Of any argument.
Reduced reduce_any(Expr x, const Reduced& common) {
  const auto [r, rest, quadrant] =
      branch(is_large(x), std::array{common.r, common.rest, common.quadrant}, [&] {
        const Reduced large = reduce_large(x);
        return std::array{large.r, large.rest, large.quadrant};
      });
  return {.r = r, .rest = rest, .quadrant = quadrant};
}

/// Of large floats, of which there are so many, the rounding of r is taken back.
Turned turn_any(Expr x) {
  if (!is_single(x)) return turned(reduce_any(x, reduce(x)));
  const Turned common = turned(reduce(x));
  const auto [sin, cos, quadrant] =
      branch(is_large(x), std::array{common.sin, common.cos, common.quadrant}, [&] {
        const Reduced reduced = reduce_large(x);
        const Turned large = turned(reduced);
        return std::array{fma(-reduced.rest, large.cos, large.sin),
                          fma(reduced.rest, large.sin, large.cos), large.quadrant};
      });
  return {.sin = sin, .cos = cos, .quadrant = quadrant};
}

}  // namespace

Expr expand_sin(Expr x) { return sin_of(turn_any(x)); }
Expr expand_cos(Expr x) { return cos_of(turn_any(x)); }
Expr expand_sin_small(Expr x) { return sin_of(turned(reduce_small(x))); }
Expr expand_cos_small(Expr x) { return cos_of(turned(reduce_small(x))); }
Expr expand_tan(Expr x) { return tan_of(reduce_any(x, reduce_precisely(x))); }

}  // namespace lw::transform
