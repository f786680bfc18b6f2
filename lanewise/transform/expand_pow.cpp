// x^y = e^(y * log |x|) with the logarithm in more bits than the result, and the sign by y.
//   f32: in f64, where nothing is subnormal and the conversion back rounds once;
//   f64: the logarithm in two parts, good to about 2^-68.
// The coefficients are those of tools/coefficients/log.sollya and exp.sollya.
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

Expr pow_single(Expr x, Expr y) {
  const Expr magnitude = abs(x).convert(DType::F64);
  const Split split = split_normal(magnitude);
  const Expr slope =
      polynomial(split.f, {0x1.71547652b58f6p0, -0x1.71547651b708cp-1, 0x1.ec709de33c84bp-2,
                           -0x1.7154788839916p-2, 0x1.2776b6cd0066fp-2, -0x1.ec6f2e01fb931p-3,
                           0x1.a61b7dcca3597p-3, -0x1.7188d301de4edp-3, 0x1.481fad14acf72p-3,
                           -0x1.23d650b8e1721p-3, 0x1.0acdeeb16e191p-3, -0x1.13b88e8ef63b9p-3,
                           0x1.0f628522ef8a5p-3, -0x1.1da6d84418307p-4});
  const Expr log2 = with_limits(magnitude, fma(split.f, slope, split.k));
  const Expr product = y.convert(DType::F64) * log2;
  const Expr exponent = clamped(select(is_one(abs(x), y), product.literal(0), product), -200, 200);
  const Rounded step = round_scaled(exponent, 200, 1);
  const Expr value = polynomial(
      exponent - step.n, {1, 0x1.62e430c8517c9p-1, 0x1.ebfbdd2d695f8p-3, 0x1.c6aed416f800dp-5,
                          0x1.3b2c97bc853e3p-7, 0x1.5f45c2ba8557fp-10, 0x1.4278bfa33b213p-13});
  return with_sign(x, y, (value * step.power).convert(DType::F32));
}

struct Pair {
  Expr high;
  Expr low;
};

/// The sum, exact if |a| is not below |b| or a is 0.
Pair fast_sum(Expr a, Expr b) {
  const Expr high = a + b;
  return {.high = high, .low = b - (high - a)};
}

/// log x = k log(2) + s * (2 + z * (2/3 + z * T(z))), s = f / (2 + f), z = s^2, each in two parts
/// but T.
Pair log_pair(Expr x) {
  const Split split = split_positive(x);
  const Expr f = split.f;
  const Expr divisor = f + 2.0;
  const Expr divisor_low = f - (divisor - 2.0);
  const Expr inverse = 1.0 / divisor;
  const Expr s = f * inverse;
  const Expr s_low = fma(-s, divisor_low, fma(-s, divisor, f)) * inverse;
  const Expr z = s * s;
  const Expr z_low = fma(s + s, s_low, fma(s, s, -z));
  const Expr t =
      z * polynomial(z, {0x1.9999999999999p-2, 0x1.249249249277ep-2, 0x1.c71c71c6866ffp-3,
                         0x1.745d17b73480fp-3, 0x1.3b1382b0f3567p-3, 0x1.111c0aa74c43p-3,
                         0x1.deeb1c5866ff8p-4, 0x1.e548554496d37p-4});
  const Pair q = fast_sum(x.literal(0x1.5555555555555p-1), t);
  const Expr q_low = q.low + 0x1.5555555555555p-55;
  const Expr p = z * q.high;
  const Expr p_low = fma(z, q_low, fma(z_low, q.high, fma(z, q.high, -p)));
  const Expr cubic = s * p;
  const Expr cubic_low = fma(s, p_low, fma(s_low, p, fma(s, p, -cubic)));
  const Pair log = fast_sum(s + s, cubic);
  const Expr log_low = log.low + fma(s_low, 2.0, cubic_low);
  const Pair sum = fast_sum(split.k * 0x1.62e42fefa38p-1, log.high);
  return {.high = sum.high, .low = sum.low + fma(split.k, 0x1.ef35793c7673p-45, log_low)};
}

Expr pow_double(Expr x, Expr y) {
  const Expr magnitude = abs(x);
  const Pair log = log_pair(magnitude);
  const Expr high = with_limits(magnitude, log.high);
  const Expr product = y * high;
  const Expr product_low = fma(y, log.low, fma(y, high, -product));
  // Beyond the range, and where there is no product, the low part is nothing or NaN.
  const Expr low = select(abs(product) < 800.0, product_low, x.literal(0));
  const Expr exponent = clamped(select(is_one(magnitude, y), x.literal(0), product), -746, 710);
  const Rounded step = round_scaled(exponent, 710, 0x1.71547652b82fep-1);
  const Expr first = fma(step.n, -0x1.62e42fefa39efp0, exponent);
  const Expr second = fma(step.n, -0x1.abc9e3b39803fp-55, low);
  const Pair r = fast_sum(first, second);
  const Expr value = fma(exp_slope(r.high), r.high, fma(r.low, r.high, r.low)) + 1.0;
  return with_sign(x, y, value * step.power * step.power);
}

}  // namespace

Expr expand_pow(Expr x, Expr y) { return is_single(x) ? pow_single(x, y) : pow_double(x, y); }

}  // namespace lw::transform
