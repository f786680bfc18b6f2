// The logarithm of the gamma function and its derivative, in f64; an f32 is computed in f64.
// Arguments below 1/2 are reflected: gamma(x) * gamma(1 - x) = pi / sin(pi * x).
// The coefficients are those of tools/coefficients/gamma.sollya and of Stirling's series.
#include <limits>

#include "lanewise/transform/expand_parts.h"

namespace lw::transform {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kPi = 0x1.921fb54442d18p1;

/// x less the nearest whole number: sin(pi * x) is +-sin(pi * fraction(x)).
Expr fraction(Expr x) { return x - round(x); }

/// For a >= 1/2. Up to 9.5 by lgamma(2 + t), |t| <= 1/2: lgamma(a + 1) = lgamma(a) + log(a).
/// Above by Stirling's series.
Expr lgamma_of(Expr a) {
  const Expr one = a.literal(1);
  const Expr is_low = a < 1.5;
  const Expr is_high = a > 9.5;
  Expr factors = one;
  Expr z = a;
  for (int i = 0; i < 7; ++i) {
    const Expr go = z >= 2.5;
    const Expr next = z - 1.0;
    factors = select(go, factors * next, factors);
    z = select(go, next, z);
  }
  const Expr t = select(is_low, a - 1.0, z - 2.0);
  const Expr s =
      polynomial(t, {0x1.b0ee6072093cep-2,   0x1.4a34cc4a60fa6p-2,   -0x1.13e001a5575b3p-4,
                     0x1.51322ac7d881p-6,    -0x1.e404fc21a5a55p-8,  0x1.7add6ead41cfap-9,
                     -0x1.38ac5c214a298p-10, 0x1.0b36afbebd6a3p-11,  -0x1.d3fd51eaaf484p-13,
                     0x1.a12792d5dc4a6p-14,  -0x1.78dd90ea9e1adp-15, 0x1.5812943a31284p-16,
                     -0x1.3ccd599af1e51p-17, 0x1.2521356bde086p-18,  -0x1.10ffb0682a30bp-19,
                     0x1.0756191cb09dbp-20,  -0x1.e5941e882e588p-22, 0x1.5198e4f27804p-23,
                     -0x1.f0da859ccb64cp-24, 0x1.b681e8a6582dap-24});
  const Expr logarithm = log(select(is_low | is_high, a, factors));
  const Expr near = fma(t, s, select(is_low, -logarithm, logarithm));
  const Expr w = one / a;
  const Expr series = polynomial(w * w, {1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680, 1.0 / 1188,
                                         -691.0 / 360360, 1.0 / 156});
  // (a - 1/2) * log(a) - a + log(2 * pi) / 2
  const Expr stirling = fma(a - 0.5, logarithm - 1.0, fma(w, series, 0.41893853320467274));
  return select(is_high, stirling, near);
}

/// For a >= 1/2: log(y) and the asymptotic series at y = a or a + 10, less 1/a + ... + 1/(a + 9).
Expr digamma_of(Expr a) {
  const Expr is_low = a < 10.0;
  const Expr y = select(is_low, a + 10.0, a);
  const Expr w = a.literal(1) / y;
  const Expr z = w * w;
  const Expr series = polynomial(
      z, {1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240, 1.0 / 132, -691.0 / 32760, 1.0 / 12});
  // The derivative of a * (a + 1) * ... * (a + 9) by itself is the sum.
  const Expr low = select(is_low, a, a.literal(1));
  const Expr sum =
      polynomial(low, {362880, 2053152, 3518100, 2894720, 1346625, 379638, 66150, 6960, 405, 10}) /
      (low * polynomial(low, {362880, 1026576, 1172700, 723680, 269325, 63273, 9450, 870, 45, 1}));
  const Expr rest = fma(z, series, w * 0.5);
  return (log(y) - select(is_low, sum, a.literal(0))) - rest;
}

/// For a >= 1/2.
Expr trigamma_of(Expr a) {
  Expr sum = a.literal(0);
  for (int i = 0; i < 8; ++i) {
    const Expr term = a + static_cast<double>(i);
    sum = sum + 1.0 / (term * term);
  }
  const Expr w = 1.0 / (a + 8.0);
  const Expr z = w * w;
  const Expr series = polynomial(z, {1.0 / 6, -1.0 / 30, 1.0 / 42, -1.0 / 30, 5.0 / 66});
  return sum + fma(z * w, series, fma(z, 0.5, w));
}

}  // namespace

Expr expand_lgamma(Expr x) {
  if (is_single(x)) return lgamma(x.convert(DType::F64)).convert(DType::F32);
  const Expr is_reflected = x < 0.5;
  const Expr value = lgamma_of(select(is_reflected, 1.0 - x, x));
  // log(pi / |sin(pi * x)|), which is infinite at 0, -1, -2, ...
  const Expr reflection = -log(abs(sin(fraction(x) * kPi)) * (1 / kPi));
  const Expr result = select(is_reflected, reflection - value, value);
  return select(x == -kInf, x.literal(kInf), result);
}

Expr expand_digamma(Expr x) {
  if (is_single(x)) return digamma(x.convert(DType::F64)).convert(DType::F32);
  const Expr is_reflected = x < 0.5;
  const Expr value = digamma_of(select(is_reflected, 1.0 - x, x));
  const Expr f = fraction(x);
  const Expr result = select(is_reflected, value - kPi / tan(f * kPi), value);
  const Expr is_pole = (x < 0.0) & (f == 0.0);
  return select(is_pole, x.literal(kNan), result);
}

Expr trigamma(Expr x) {
  if (is_single(x)) return trigamma(x.convert(DType::F64)).convert(DType::F32);
  const Expr is_reflected = x < 0.5;
  const Expr value = trigamma_of(select(is_reflected, 1.0 - x, x));
  const Expr s = kPi / sin(fraction(x) * kPi);
  return select(is_reflected, s * s - value, value);
}

}  // namespace lw::transform
