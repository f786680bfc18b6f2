// The logarithm of the gamma function and its derivative, in f64; an f32 is computed in f64.
// Arguments below 0.3 are reflected: gamma(x) * gamma(1 - x) = pi / sin(pi * x).
// The coefficients are those of tools/coefficients/gamma.sollya and of Stirling's series.
#include <limits>

#include "lanewise/transform/expand_parts.h"

namespace lw::transform {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kPi = 0x1.921fb54442d18p1;

/// x less the nearest whole number: sin(pi * x) is +-sin(pi * fraction(x)). That of -0 is -0.
Expr fraction(Expr x) { return select(abs(x) < 0.5, x, x - round(x)); }

/// cot(pi * f) for |f| <= 1/2, from whichever of f and 1/2 - |f| is the smaller: its angle has a
/// small error.
Expr cotangent(Expr f) {
  const Expr size = abs(f);
  const Expr is_small = size < 0.25;
  const Expr tangent = tan(select(is_small, size, 0.5 - size) * kPi);
  return copysign(select(is_small, 1.0 / tangent, tangent), f);
}

/// For a >= 0.3. Up to 9.5 by lgamma(2 + t), -0.7 <= t < 1/2: lgamma(a + 1) = lgamma(a) + log(a).
/// Above by Stirling's series.
Expr lgamma_of(Expr a) {
  const Expr one = a.literal(1);
  const Expr is_low = a < 1.3;
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
      polynomial(t, {0x1.b0ee6072093cep-2,   0x1.4a34cc4a60fa6p-2,   -0x1.13e001a5575b7p-4,
                     0x1.51322ac7d876fp-6,   -0x1.e404fc21a3bfep-8,  0x1.7add6ead5d763p-9,
                     -0x1.38ac5c22786b4p-10, 0x1.0b36afb0ab725p-11,  -0x1.d3fd513f592a3p-13,
                     0x1.a1279a029e346p-14,  -0x1.78dda91c40a73p-15, 0x1.581191368db97p-16,
                     -0x1.3ccbc5b61e856p-17, 0x1.25355201dd779p-18,  -0x1.110555266e1a6p-19,
                     0x1.069f639edc31dp-20,  -0x1.e6338fdcf734ap-22, 0x1.4fa940c9e070fp-23,
                     -0x1.007f7b669b605p-23, 0x1.fb8a8be68097ep-24,  0x1.d032d6c71fe7dp-26,
                     -0x1.79088a961d5a3p-26, -0x1.5bd5804b87672p-25});
  const Expr logarithm = log(select(is_low | is_high, a, factors));
  const Expr near = fma(t, s, select(is_low, -logarithm, logarithm));
  const Expr w = one / a;
  const Expr series = polynomial(w * w, {1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680, 1.0 / 1188,
                                         -691.0 / 360360, 1.0 / 156});
  // (a - 1/2) * log(a) - a + log(2 * pi) / 2
  const Expr stirling = fma(a - 0.5, logarithm - 1.0, fma(w, series, 0.41893853320467274));
  return select(is_high, stirling, near);
}

/// For a >= 0.3. Up to 9.5 by digamma(2 + t), -0.7 <= t < 1/2: digamma(a + 1) = digamma(a) + 1 / a.
/// Above by the asymptotic series.
Expr digamma_of(Expr a) {
  const Expr one = a.literal(1);
  const Expr is_low = a < 1.3;
  Expr above = select(is_low, -one, a.literal(0));  // a sum of reciprocals as one fraction
  Expr below = select(is_low, a, one);
  Expr z = a;
  for (int i = 0; i < 7; ++i) {
    const Expr go = z >= 2.5;
    const Expr next = z - 1.0;
    above = select(go, fma(above, next, below), above);
    below = select(go, below * next, below);
    z = select(go, next, z);
  }
  const Expr t = select(is_low, a - 1.0, z - 2.0);
  const Expr d =
      polynomial(t, {0x1.b0ee6072093cep-2,   0x1.4a34cc4a60fa6p-1,   -0x1.9dd00278030d9p-3,
                     0x1.51322ac7d85dbp-4,   -0x1.2e831d94fd656p-5,  0x1.1c2613023576cp-6,
                     -0x1.1196d0a454p-7,     0x1.0b36af8faeccp-8,    -0x1.073e7bada016fp-9,
                     0x1.04b8cbd5363bcp-10,  -0x1.0318bf577d156p-11, 0x1.020adefb85d83p-12,
                     -0x1.015cea2061f4bp-13, 0x1.00d48ccc45286p-14,  -0x1.0053bed7002bep-15,
                     0x1.01af85da0e29p-16,   -0x1.0320ce8e8bb5ap-17, 0x1.dea3d23e60a82p-19,
                     -0x1.e30a018fa5fd1p-20, 0x1.8307c4b883f25p-20,  -0x1.f7a15e1679ab8p-22,
                     -0x1.0a5b9a23e17d7p-22, -0x1.0d3f769e43b74p-22, 0x1.ec4ecc32d3e67p-23});
  const Expr near = d + above / below;
  const Expr w = one / a;
  const Expr v = w * w;
  const Expr series = polynomial(
      v, {1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240, 1.0 / 132, -691.0 / 32760, 1.0 / 12});
  return select(a > 9.5, log(a) - fma(v, series, w * 0.5), near);
}

/// For a >= 0.3.
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
  const Expr is_reflected = x < 0.3;
  const Expr value = lgamma_of(select(is_reflected, 1.0 - x, x));
  // log(pi / |sin(pi * x)|), which is infinite at 0, -1, -2, ...
  const Expr reflection = -log(abs(sin(fraction(x) * kPi)) * (1 / kPi));
  const Expr is_infinite = is_reflected & ((reflection == kInf) | (x == -kInf));
  return select(is_infinite, x.literal(kInf), select(is_reflected, reflection - value, value));
}

Expr expand_digamma(Expr x) {
  if (is_single(x)) return digamma(x.convert(DType::F64)).convert(DType::F32);
  const Expr is_reflected = x < 0.3;
  const Expr mirrored = 1.0 - x;
  const Expr value = digamma_of(select(is_reflected, mirrored, x));
  // What the rounding of 1 - x lost, times the slope there, which is nearly 1 / (1 - x - 1/2).
  const Expr lost = ((1.0 - mirrored) - x) / (mirrored - 0.5);
  const Expr f = fraction(x);
  const Expr result = select(is_reflected, fma(cotangent(f), -kPi, value) + lost, value);
  const Expr is_pole = (x < 0.0) & (f == 0.0);
  return select(is_pole, x.literal(kNan), result);
}

Expr trigamma(Expr x) {
  if (is_single(x)) return trigamma(x.convert(DType::F64)).convert(DType::F32);
  const Expr is_reflected = x < 0.3;
  const Expr value = trigamma_of(select(is_reflected, 1.0 - x, x));
  const Expr s = kPi / sin(fraction(x) * kPi);
  return select(is_reflected, s * s - value, value);
}

}  // namespace lw::transform
