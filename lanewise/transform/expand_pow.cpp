// x^y = e^(y * log |x|), and the sign by y. The logarithm is a sum of two parts, good to about
// 2^-32 in f32 and 2^-68 in f64, as its error is multiplied by up to 87 or 746. The coefficients
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
  const Split split = split_positive(x);
  const Expr f = split.f;
  const Expr divisor = f + 2.0;
  const Expr divisor_low = f - (divisor - 2.0);
  const Expr inverse = 1.0 / divisor;
  const Expr s = f * inverse;
  const Expr s_low = fma(-s, divisor_low, fma(-s, divisor, f)) * inverse;
  const Expr z = s * s;
  const Expr z_low = fma(s + s, s_low, fma(s, s, -z));
  const Expr tail = polynomial(
      z, {0x1.9999999999999p-2, 0x1.249249249277ep-2, 0x1.c71c71c6866ffp-3, 0x1.745d17b73480fp-3,
          0x1.3b1382b0f3567p-3, 0x1.111c0aa74c43p-3, 0x1.deeb1c5866ff8p-4, 0x1.e548554496d37p-4});
  const Pair q = fast_sum(x.literal(0x1.5555555555555p-1), z * tail);
  const Expr q_low = q.low + 0x1.5555555555555p-55;
  const Expr p = z * q.high;
  const Expr p_low = fma(z, q_low, fma(z_low, q.high, fma(z, q.high, -p)));
  const Expr cubic = s * p;
  const Expr cubic_low = fma(s, p_low, fma(s_low, p, fma(s, p, -cubic)));
  const Pair log = fast_sum(s + s, cubic);
  const Expr log_low = log.low + fma(s_low, 2.0, cubic_low);
  // The high part of log(2) leaves its product with k exact.
  const Pair sum = fast_sum(split.k * 0x1.62e42fefa38p-1, log.high);
  return {.high = sum.high, .low = sum.low + fma(split.k, 0x1.ef35793c7673p-45, log_low)};
}

Expr pow_double(Expr x, Expr y) {
  const double most = 710;
  const Expr magnitude = abs(x);
  const Pair log = log_pair(magnitude);
  const Expr high = with_limits(magnitude, log.high);
  const Expr product = y * high;
  const Expr product_low = fma(y, log.low, fma(y, high, -product));
  // Beyond the range, and where there is no product, the low part is nothing or NaN.
  const Expr low = select(abs(product) < 800.0, product_low, x.literal(0));
  const Expr exponent = clamped(select(is_one(magnitude, y), x.literal(0), product), -746, most);
  // Rounding down a little, by more than the low part, keeps e^r above 1/2, below which its last
  // place is smaller.
  const Rounded step = round_scaled(exponent - 0x1p-31, most, 0x1.71547652b82fep-1);
  const Expr first = fma(step.n, -0x1.62e42fefa39efp0, exponent);
  const Expr second = fma(step.n, -0x1.abc9e3b39803fp-55, low);
  const Pair r = fast_sum(first, second);
  const Expr rest = fma(r.high * r.high, exp_curve(r.high), fma(r.low, r.high, r.low));
  const Expr value = (r.high + rest) + 1.0;
  return with_sign(x, y, value * step.power * step.power);
}

/// log x for the bits of a normal x > 0 in f32: x = 2^k * m with 9/13 <= m < 18/13. A factor c near
/// 1 / m, of few bits, makes f = c * m - 1 exact and at most 0.135, so that Q needs no low part:
///   log x = k * log(2) - log(c) + f + f^2 * (-1/2 + f * Q(f))
Pair log_pair_single(Expr bits) {
  const Expr exponent = (bits - bits.bits(0x3f313b14)) & bits.bits(-0x800000);
  const Expr m = (bits - exponent).bitcast(DType::F32);
  const Expr k = exponent.convert(DType::F32);
  const Expr is_low = m < 0.89;
  const Expr is_high = m > 1.109;
  const auto choose = [&](double low, double middle, double high) {
    return select(is_low, m.literal(low), select(is_high, m.literal(high), m.literal(middle)));
  };
  const Expr f = fma(m, choose(1.25, 1, 0.8125), -1.0);
  const Expr square = f * f;
  const Expr square_low = fma(f, f, -square);
  const Expr q = polynomial(f, {0x1.55555cp-2, -0x1.000028p-2, 0x1.9986f2p-3, -0x1.551122p-3,
                                0x1.2c02b2p-3, -0x1.0fa6e6p-3});
  const Expr slope = fma(f, q, -0.5);
  const Expr slope_low = fma(f, q, -0.5 - slope);
  const Expr first = fma(square, slope, f);
  const Expr first_low = fma(square, slope, f - first);
  const Expr rest = fma(square_low, slope, fma(square, slope_low, first_low));
  // The high parts of the logarithms leave this exact.
  const Expr unit = fma(k, k_unit(m) * 0x1.62e4p-1, choose(-0x1.c9p-3, 0, 0x1.a94p-3));
  const Expr unit_low =
      fma(k, k_unit(m) * 0x1.7f7d1cp-20, choose(0x1.070cacp-20, 0, -0x1.2c3752p-19));
  const Pair sum = fast_sum(unit, first);
  return {.high = sum.high, .low = sum.low + (rest + unit_low)};
}

/// In f32 where x is positive and normal and the result is normal; elsewhere in f64.
Expr pow_single(Expr x, Expr y) {
  const Pair log = log_pair_single(x.raw_bits(DType::I32));
  const Expr product = y * log.high;
  const Expr product_low = fma(y, log.low, fma(y, log.high, -product));
  const double magic = 0x1.8p23;  // leaves the whole number in the low bits of the sum
  const Expr sum = fma(product, 0x1.715476p0, magic);
  const Expr n = sum - magic;
  const Expr r = fma(n, -0x1.62e43p-1, product) + fma(n, 0x1.05c61p-29, product_low);
  const Expr value =
      polynomial(r, {1, 1, 0.5, 0x1.5554dcp-3, 0x1.5554e8p-5, 0x1.120c28p-7, 0x1.6d4e7p-10});
  const Expr power =
      (value.raw_bits(DType::I32) + (sum.raw_bits(DType::I32) << 23.0)).bitcast(DType::F32);
  const Expr is_common = (x >= 0x1p-126) & (x < kInf) & (abs(product) < 87.0);
  return branch<1>(!is_common, {power}, [&] {
    const Expr wide = pow_double(x.convert(DType::F64), y.convert(DType::F64));
    return std::array{wide.convert(DType::F32)};
  })[0];
}

}  // namespace

Expr expand_pow(Expr x, Expr y) { return is_single(x) ? pow_single(x, y) : pow_double(x, y); }

}  // namespace lw::transform
