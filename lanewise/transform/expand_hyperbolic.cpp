// Hyperbolic functions. The coefficients are those of tools/coefficients/exp.sollya.
#include "lanewise/transform/expand_parts.h"

namespace lw::transform {

// Near zero an odd series; else 1 - 2 / (e^(2 |x|) + 1), which damps the errors of the exponential.
// So one product is enough for its remainder.
Expr expand_tanh(Expr x) {
  const bool single = is_single(x);
  const Expr small =
      single ? odd_series(
                   x, {-0x1.555554p-2, 0x1.110f2p-3, -0x1.b9613cp-5, 0x1.5a3d52p-6, -0x1.9cb942p-8})
             : odd_series(x, {-0x1.5555555555555p-2, 0x1.1111111110fdbp-3, -0x1.ba1ba1b9f913ep-5,
                              0x1.664f4875b215fp-6, -0x1.226e32c0d3e23p-7, 0x1.d6d3319209a29p-9,
                              -0x1.7d976c819850fp-10, 0x1.34c27587b62f7p-11, -0x1.ebf01b132d356p-13,
                              0x1.64a1213119dc8p-14, -0x1.58c63517e976bp-16});
  const Expr magnitude = abs(x);
  const double high = single ? 10 : 20;
  const Expr inside = select(magnitude < high, magnitude, x.literal(high));
  const Rounded step = round_scaled(magnitude, high, 0x1.71547652b82fep1);  // 2 log2(e)
  const Expr r = fma(step.n, -0x1.62e42fefa39efp-2, inside);
  const Expr slope =
      single ? polynomial(
                   r, {2, 0x1.fffff8p0, 0x1.55548ep0, 0x1.555b9cp-1, 0x1.123bfep-2, 0x1.684e12p-4})
             : polynomial(r, {2, 0x1.000000000000cp1, 0x1.5555555555517p0, 0x1.555555554fe27p-1,
                              0x1.111111112096bp-2, 0x1.6c16c185ffe68p-4, 0x1.a01a0150944f3p-6,
                              0x1.a01995c7c728ap-8, 0x1.71ded09c062cfp-10, 0x1.28b0f27bc6c9p-12,
                              0x1.ae04de6ebac36p-15});
  // 2^n * (1 + r * slope) + 1
  const Expr large = 1.0 - 2.0 / fma(r * slope, step.power, step.power + 1.0);
  // A NaN goes with the small ones.
  return select(magnitude >= (single ? 0.6 : 0.55), select(x < 0.0, -large, large), small);
}

namespace {

// With |x| = n * log(2) + r: cosh x = 2^(n-1) * e^r + 2^(-n-1) * e^-r, and e^r is cosh r + sinh r,
// so that no division is needed. All is halved: 2^(n-1) may be out of range where the result is
// not.
struct Parts {
  Expr cosh;     // of r, minus 1
  Expr sinh;     // of r
  Expr power;    // 2^(n-2)
  Expr inverse;  // 2^(-n-2) * e^-r
};

Parts hyperbolic_parts(Expr x) {
  const bool single = is_single(x);
  const double limit = single ? 89.7 : 710.6;
  const Expr inside = at_most(abs(x), limit);
  const Rounded step = round_scaled(inside, limit, 0x1.71547652b82fep0, -2);
  const Expr high = fma(step.n, single ? -0x1.62e43p-1 : -0x1.62e42fefa39efp-1, inside);
  const Expr r = fma(step.n, single ? 0x1.05c61p-29 : -0x1.abc9e3b39803fp-56, high);
  const Expr z = r * r;
  const Expr even = z * (single ? polynomial(z, {0.5, 0x1.555502p-5, 0x1.6d2e22p-10})
                                : polynomial(z, {0.5, 0x1.5555555555556p-5, 0x1.6c16c16c15ff5p-10,
                                                 0x1.a01a01a81c7dep-16, 0x1.27e4d809ecbbep-22,
                                                 0x1.1f7900d265abdp-29}));
  const Expr odd =
      single ? odd_series(r, {0x1.555556p-3, 0x1.110f86p-7, 0x1.a367f8p-13})
             : odd_series(r, {0x1.5555555555555p-3, 0x1.11111111114a9p-7, 0x1.a01a019d7249cp-13,
                              0x1.71de470fde2c2p-19, 0x1.ae2f125c23b84p-26, 0x1.b24ea1c40b9ebp-33});
  // The exponents of the two powers add up to that of 1/16; beyond the range the second is 0.
  const Expr both = step.field.bits(single ? std::int64_t{250} << 23 : std::int64_t{2042} << 52);
  const Expr inverse = max(both - step.field, both.bits(0)).bitcast(x.type());
  return {
      .cosh = even, .sinh = odd, .power = step.power, .inverse = inverse * ((even - odd) + 1.0)};
}

}  // namespace

Expr expand_sinh(Expr x) {
  const Expr small =
      is_single(x)
          ? odd_series(x, {0x1.555556p-3, 0x1.111102p-7, 0x1.a005bcp-13, 0x1.7a8e7cp-19})
          : odd_series(x, {0x1.5555555555555p-3, 0x1.1111111111192p-7, 0x1.a01a01a00bfb9p-13,
                           0x1.71de3a602d99ep-19, 0x1.ae644e04d9542p-26, 0x1.6127f90a218adp-33,
                           0x1.acee3f0f7c40cp-41, 0x1.ddde8cf461f2bp-49});
  const Parts p = hyperbolic_parts(x);
  const Expr half = p.power + fma(p.power, p.sinh, fma(p.power, p.cosh, -p.inverse));
  const Expr large = half + half;
  return select(abs(x) < 1.25, small, select(x < 0.0, -large, large));
}

Expr expand_cosh(Expr x) {
  const Parts p = hyperbolic_parts(x);
  const Expr half = p.power + fma(p.power, p.sinh, fma(p.power, p.cosh, p.inverse));
  return half + half;
}

}  // namespace lw::transform
