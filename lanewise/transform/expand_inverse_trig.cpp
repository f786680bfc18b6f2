// Arc tangent, arc sine and arc cosine. All give (offset + t) + t * z * P(z) with a polynomial P on
// a small argument t, z = t * t, and an offset of 0, pi/2 or pi in two parts.
// The coefficients are those of tools/coefficients/inverse_trig_f32.sollya and _f64.sollya.
#include "lanewise/transform/expand_parts.h"

namespace lw::transform {
namespace {

Expr half_pi(Expr x) { return x.literal(is_single(x) ? 0x1.921fb6p0 : 0x1.921fb54442d18p0); }
/// What is missing in half_pi.
Expr half_pi_rest(Expr x) {
  return x.literal(is_single(x) ? -0x1.777a5cp-25 : 0x1.1a62633145c07p-54);
}

/// atan(q) / q - 1 for |q| <= 1.
Expr atan_series(Expr q) {
  const Expr z = q * q;
  if (is_single(q)) {
    return z * polynomial(
                   z, {-0x1.555556p-2, 0x1.999924p-3, -0x1.24828ep-3, 0x1.c5a96ap-4, -0x1.6b6cf2p-4,
                       0x1.19965p-4, -0x1.7cc7eap-5, 0x1.8952f2p-6, -0x1.05ad04p-7, 0x1.45f9dp-10});
  }
  return z *
         split_polynomial(z, {-0x1.555555555544cp-2, 0x1.999999998411p-3, -0x1.2492491fa2135p-3,
                              0x1.c71c709e19f6ap-4, -0x1.745d02310537cp-4, 0x1.3b12b2e8e2d49p-4,
                              -0x1.11089d02de0f7p-4, 0x1.e1781735b8a87p-5, -0x1.ad32ba4e0d4f4p-5,
                              0x1.7ee3f62d7bc64p-5, -0x1.4f4521ca5cfb6p-5, 0x1.1715db01ab93fp-5,
                              -0x1.a726a91b98786p-6, 0x1.162c3d9848504p-6, -0x1.2cf76bf2b3bb3p-7,
                              0x1.f96cc735b95bbp-9, -0x1.312a3f0f4be7ep-10, 0x1.d3bb114308665p-13,
                              -0x1.53e5c945a5972p-16});
}

/// offset + rest + atan(q). In f32 a product that is rounded by itself would be too much.
Expr atan_from(Expr offset, Expr rest, Expr q) {
  const Expr series = atan_series(q);
  if (is_single(q)) return offset + (fma(q, series, q) + rest);
  return offset + (q + fma(q, series, rest));
}

/// asin(t) / t - 1 for z = t * t <= 1/4.
Expr asin_series(Expr z) {
  if (is_single(z)) {
    return z * polynomial(
                   z, {0x1.5555c8p-3, 0x1.330206p-4, 0x1.747b72p-5, 0x1.8c415ap-6, 0x1.5959aap-5});
  }
  return z *
         split_polynomial(z, {0x1.555555555539p-3, 0x1.333333336e80fp-4, 0x1.6db6db427a4f9p-5,
                              0x1.f1c72c38fb295p-6, 0x1.6e89f4401af12p-6, 0x1.1c6be1a66c286p-6,
                              0x1.c6fdc1ad0a76dp-7, 0x1.8ec2fc9502512p-7, 0x1.abcf5d71aea63p-8,
                              0x1.3ff4a924fe512p-6, -0x1.09d327898dbebp-6, 0x1.056d6c4746a55p-5});
}

/// The argument of the arc sine that is small: |x| or sqrt((1 - |x|) / 2).
struct Halved {
  Expr is_large;  // |x| > 1/2
  Expr root;
  Expr series;
};
Halved halve(Expr x) {
  const Expr ax = abs(x);
  const Expr is_large = ax > 0.5;
  const Expr z = select(is_large, fma(ax, -0.5, 0.5), x * x);
  return {.is_large = is_large, .root = sqrt(z), .series = asin_series(z)};
}

}  // namespace

Expr expand_atan(Expr x) {
  const Expr ax = abs(x);
  const Expr one = x.literal(1);
  const Expr zero = x.literal(0);
  const Expr is_large = ax > one;
  // -1 / |x| where that is small; written so that a NaN is the divisor.
  const Expr q = select(is_large, -one, ax) / select(one > ax, one, ax);
  const Expr offset = select(is_large, half_pi(x), zero);
  const Expr rest = select(is_large, half_pi_rest(x), zero);
  return copysign(atan_from(offset, rest, q), x);
}

Expr expand_atan2(Expr y, Expr x) {
  const Expr ax = abs(x);
  const Expr ay = abs(y);
  const Expr zero = x.literal(0);
  const Expr one = x.literal(1);
  const Expr is_steep = ay > ax;
  // The smaller by the larger; a NaN on either side stays.
  const Expr low = select(ay < ax, ay, ax);
  const Expr high = select(ax > ay, ax, ay);
  // Two zeros give 0, two infinities 1.
  const Expr t = select(low == high, select(high > zero, one, zero), low / high);
  // With s, the sign of x: pi/2 - s * t where steep, else (pi/2 - s * pi/2) + s * t.
  const Expr s = copysign(one, x);
  const Expr turn = s * select(is_steep, zero, x.literal(2));
  const Expr q = t * (turn - s);
  const Expr offset = fma(turn, half_pi(x) * -0.5, half_pi(x));
  const Expr rest = fma(turn, half_pi_rest(x) * -0.5, half_pi_rest(x));
  return copysign(atan_from(offset, rest, q), y);
}

Expr expand_asin(Expr x) {
  const auto [is_large, root, series] = halve(x);
  const Expr zero = x.literal(0);
  // pi/2 - 2 asin(root) where large, the difference in two parts.
  const Expr t = select(is_large, root * -2, abs(x));
  const Expr offset = select(is_large, half_pi(x), zero);
  const Expr rest = select(is_large, half_pi_rest(x), zero);
  const Expr sum = offset + t;
  const Expr lost = select(is_large, (offset - sum) + t, zero);
  return copysign(sum + (fma(t, series, rest) + lost), x);
}

Expr expand_acos(Expr x) {
  const auto [is_large, root, series] = halve(x);
  const Expr zero = x.literal(0);
  const Expr is_negative = x < zero;
  // 2 asin(root), pi - 2 asin(root) or pi/2 - asin(x).
  const Expr twice = root + root;
  const Expr t = select(is_large, select(is_negative, -twice, twice), -x);
  const auto offset = [&](Expr half) {
    return select(is_large, select(is_negative, half + half, zero), half);
  };
  return (offset(half_pi(x)) + t) + fma(t, series, offset(half_pi_rest(x)));
}

}  // namespace lw::transform
