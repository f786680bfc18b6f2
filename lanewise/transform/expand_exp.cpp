// The exponential family. e^x = 2^(2 n) * e^r with |r| <= log(2): the power of two is multiplied in
// as two equal halves, so that neither is ever out of range and subnormal results are rounded once.
// The coefficients are those of tools/coefficients/exp.sollya.
#include "lanewise/transform/expand_parts.h"

namespace lw::transform {
namespace {

struct Scaled {
  Expr r;
  Expr low;    // what the rounding of r lost
  Expr slope;  // (e^r - 1) / r
  Expr value;  // e^r
  Expr half;   // e^x is value * half * half
};

/// For x not below the exponents of the type. Above them r grows with x, and the result is
/// infinite.
Scaled scaled_exp(Expr x) {
  const bool single = is_single(x);
  const Rounded step = round_scaled(x, single ? 89 : 710, 0x1.71547652b82fep-1);  // log2(e) / 2
  // The first product leaves no error: all bits of the difference fit.
  const Expr high = fma(step.n, single ? -0x1.62e43p0 : -0x1.62e42fefa39efp0, x);
  const double second = single ? 0x1.05c61p-28 : -0x1.abc9e3b39803fp-55;
  const Expr r = fma(step.n, second, high);
  const Expr slope = fma(exp_curve(r), r, 1.0);
  return {.r = r,
          .low = fma(step.n, second, high - r),
          .slope = slope,
          .value = fma(slope, r, 1.0),
          .half = step.power};
}

}  // namespace

Expr exp_curve(Expr r) {
  if (is_single(r)) {
    return polynomial(r, {0.5, 0x1.55555ep-3, 0x1.55553ep-5, 0x1.110aacp-7, 0x1.6c247cp-10,
                          0x1.a59c1p-13, 0x1.9e3582p-16});
  }
  return polynomial(r, {0x1.fffffffffffeep-2, 0x1.55555555555a4p-3, 0x1.5555555556d1fp-5,
                        0x1.1111111109d6ep-7, 0x1.6c16c1697f13dp-10, 0x1.a01a01aebbafbp-13,
                        0x1.a01a05c088d45p-16, 0x1.71de2d4643e37p-19, 0x1.27e1ae09eb481p-22,
                        0x1.ae6e54b1ee1bcp-26, 0x1.21840db4f22efp-29, 0x1.5f614d77c541fp-33});
}

Expr expand_exp(Expr x) {
  const Scaled e = scaled_exp(at_least(x, is_single(x) ? -104 : -746));
  return e.value * e.half * e.half;
}

Expr expand_exp2(Expr x) {
  const Expr inside = at_least(x, is_single(x) ? -151 : -1076);
  const Rounded step = round_scaled(inside, is_single(x) ? 129 : 1025, 0.5);
  const Expr r = fma(step.n, -2.0, inside);
  const Expr value =
      is_single(x)
          ? polynomial(r, {1, 0x1.62e432p-1, 0x1.ebfbfep-3, 0x1.c6af96p-5, 0x1.3b1ed8p-7,
                           0x1.5dc04ap-10, 0x1.484a5cp-13, 0x1.f4291ap-17})
          : polynomial(r, {1, 0x1.62e42fefa39efp-1, 0x1.ebfbdff82c57dp-3, 0x1.c6b08d704a164p-5,
                           0x1.3b2ab6fba64b6p-7, 0x1.5d87fe789a62p-10, 0x1.430912f61ade9p-13,
                           0x1.ffcbfc6e7e20ap-17, 0x1.62c025c38493bp-20, 0x1.b5252af5b5f9cp-24,
                           0x1.e4c9e442f16acp-28, 0x1.e8d822218ad53p-32, 0x1.c7d1b0dfb3226p-36,
                           0x1.7ee6254b9b10ep-40});
  return value * step.power * step.power;
}

// e^x - 1 = 2^n * (r + r^2 * Q(r)) + (2^n - 1), in halves because of 2^128. The rounding error of r
// is carried along: near x = log(1.5) the terms cancel.
Expr expand_expm1(Expr x) {
  const bool single = is_single(x);
  const Expr inside = single ? clamped(x, -20, 89) : clamped(x, -40, 710);
  const Rounded step = round_scaled(inside, single ? 89 : 710, 0x1.71547652b82fep0, -1);
  const double ln2_low = single ? -0x1.05c61p-29 : 0x1.abc9e3b39803fp-56;
  const Expr high = fma(step.n, single ? -0x1.62e43p-1 : -0x1.62e42fefa39efp-1, inside);
  const Expr r = fma(step.n, -ln2_low, high);
  const Expr low = fma(step.n, -ln2_low, high - r);
  const Expr q =
      single ? polynomial(r, {0.5, 0x1.5554dcp-3, 0x1.5554e8p-5, 0x1.120c28p-7, 0x1.6d4e7p-10})
             : polynomial(r, {0.5, 0x1.5555555555557p-3, 0x1.5555555555557p-5, 0x1.1111111110049p-7,
                              0x1.6c16c16c1569fp-10, 0x1.a01a01ac242e1p-13, 0x1.a01a01ab9c475p-16,
                              0x1.71de0195b0e52p-19, 0x1.27e4cfa33f74dp-22, 0x1.af4effa82775bp-26,
                              0x1.1f87082aeb03fp-29});
  const Expr rest = fma(r * r, q, low);
  const Expr half = fma(step.power, rest, fma(step.power, r, step.power - 0.5));
  return select(abs(x) < (single ? 0x1p-26 : 0x1p-55), x, half + half);
}

// F / (1 + F) with F = e^-|x|, or 1 minus that. What the roundings of F, of 1 + F and of the
// quotient lost is put right in the end; F is scaled last, as it may be subnormal.
Expr expand_sigmoid(Expr x) {
  const Scaled e = scaled_exp(-at_most(abs(x), is_single(x) ? 104 : 746));
  const Expr part = e.value * e.half;
  const Expr sum = fma(part, e.half, 1.0);
  const Expr quotient = e.value / sum;
  const Expr lost_of_sum = fma(part, e.half, 1.0 - sum);
  const Expr lost_of_slope = fma(exp_curve(e.r), e.r, 1.0 - e.slope);
  const Expr lost_of_value = fma(lost_of_slope, e.r, fma(e.slope, e.r, 1.0 - e.value));
  const Expr lost = lost_of_value + fma(-quotient, sum, e.value);
  // Relative to the value, for which 1 - r is near enough to e^-r.
  const Expr correction = fma(lost, 1.0 - e.r, e.low - lost_of_sum);
  const Expr value = fma(quotient, correction, quotient) * e.half * e.half;
  return select(x < 0.0, value, 1.0 - value);
}

}  // namespace lw::transform
