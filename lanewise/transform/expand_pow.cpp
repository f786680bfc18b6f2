// x^y = e^(y * log |x|), and the sign by y. The logarithm is a sum of two parts, good to about
// 2^-33 in f32 and 2^-68 in f64, as its error is multiplied by up to 104 or 746. The coefficients
// are those of tools/coefficients/log.sollya and exp.sollya.
#include <limits>

#include "lanewise/transform/expand_parts.h"

namespace lw::transform {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// The logarithm of |x| at 0, infinity and NaN; `log` elsewhere.
Expr with_limits(Expr magnitude, Expr log) {
  return select(magnitude == 0.0, log.literal(-kInf), select(magnitude < kInf, log, magnitude));
}

/// The result from that for |x|: negative for odd y, NaN for y that are not whole.
Expr with_sign(Expr x, Expr y, Expr power) {
  const Expr half = y * 0.5;
  const Expr is_whole = floor(y) == y;
  const Expr is_odd = is_whole & (floor(half) != half);
  const Expr is_negative = (x < 0.0) & (x > -kInf);
  const Expr signed_power = select(is_odd & signbit(x), -power, power);
  return select(is_negative & !is_whole, x.literal(kNan), signed_power);
}

/// 1^y and x^0 are 1, even for NaNs.
Expr is_one(Expr x, Expr y) { return (x == 1.0) | (y == 0.0); }

struct Pair {
  Expr high;
  Expr low;
};

/// The sum, exact if |a| is not below |b| or a is 0.
Pair fast_sum(Expr a, Expr b) {
  const Expr high = a + b;
  return {.high = high, .low = b - (high - a)};
}

/// log x = k log(2) + s * (2 + z * (2/3 + z * T(z))), s = f / (2 + f), z = s^2, all in two parts
/// but T.
Pair log_pair(Expr x) {
  const bool single = is_single(x);
  const Split split = split_positive(x);
  const Expr f = split.f;
  const Expr divisor = f + 2.0;
  const Expr divisor_low = f - (divisor - 2.0);
  const Expr inverse = 1.0 / divisor;
  const Expr s = f * inverse;
  const Expr s_low = fma(-s, divisor_low, fma(-s, divisor, f)) * inverse;
  const Expr z = s * s;
  const Expr z_low = fma(s + s, s_low, fma(s, s, -z));
  const Expr tail =
      single ? polynomial(z, {0x1.9999aap-2, 0x1.2476d6p-2, 0x1.d8bdc4p-3})
             : polynomial(z, {0x1.9999999999999p-2, 0x1.249249249277ep-2, 0x1.c71c71c6866ffp-3,
                              0x1.745d17b73480fp-3, 0x1.3b1382b0f3567p-3, 0x1.111c0aa74c43p-3,
                              0x1.deeb1c5866ff8p-4, 0x1.e548554496d37p-4});
  const Pair q = fast_sum(x.literal(single ? 0x1.555556p-1 : 0x1.5555555555555p-1), z * tail);
  const Expr q_low = q.low + (single ? -0x1.555556p-26 : 0x1.5555555555555p-55);
  const Expr p = z * q.high;
  const Expr p_low = fma(z, q_low, fma(z_low, q.high, fma(z, q.high, -p)));
  const Expr cubic = s * p;
  const Expr cubic_low = fma(s, p_low, fma(s_low, p, fma(s, p, -cubic)));
  const Pair log = fast_sum(s + s, cubic);
  const Expr log_low = log.low + fma(s_low, 2.0, cubic_low);
  // The high part of log(2) leaves its product with k exact.
  const double unit = k_unit(x) * (single ? 0x1.62e4p-1 : 0x1.62e42fefa38p-1);
  const double unit_low = k_unit(x) * (single ? 0x1.7f7d1cp-20 : 0x1.ef35793c7673p-45);
  const Pair sum = fast_sum(split.k * unit, log.high);
  return {.high = sum.high, .low = sum.low + fma(split.k, unit_low, log_low)};
}

}  // namespace

Expr expand_pow(Expr x, Expr y) {
  const bool single = is_single(x);
  const double least = single ? -104 : -746;
  const double most = single ? 89 : 710;
  const Expr magnitude = abs(x);
  const Pair log = log_pair(magnitude);
  const Expr high = with_limits(magnitude, log.high);
  const Expr product = y * high;
  const Expr product_low = fma(y, log.low, fma(y, high, -product));
  // Beyond the range, and where there is no product, the low part is nothing or NaN.
  const Expr low = select(abs(product) < (single ? 128 : 800), product_low, x.literal(0));
  const Expr exponent = clamped(select(is_one(magnitude, y), x.literal(0), product), least, most);
  // Rounding down a little, by more than the low part, keeps e^r above 1/2, below which its last
  // place is smaller.
  const Rounded step =
      round_scaled(exponent - (single ? 0x1p-12 : 0x1p-31), most, 0x1.71547652b82fep-1);
  const Expr first = fma(step.n, single ? -0x1.62e43p0 : -0x1.62e42fefa39efp0, exponent);
  const Expr second = fma(step.n, single ? 0x1.05c61p-28 : -0x1.abc9e3b39803fp-55, low);
  const Pair r = fast_sum(first, second);
  const Expr rest = fma(r.high * r.high, exp_curve(r.high), fma(r.low, r.high, r.low));
  const Expr value = (r.high + rest) + 1.0;
  return with_sign(x, y, value * step.power * step.power);
}

}  // namespace lw::transform
