// Cube root, reciprocal square root and the length of a vector.
// The coefficients are those of tools/coefficients/roots.sollya.
#include <limits>

#include "lanewise/transform/expand_parts.h"

namespace lw::transform {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// About x^(-1/3), for normal x > 0: exponent and fraction, read as one number, times -1/3.
Expr guess_inverse_cbrt(Expr x) {
  const bool single = is_single(x);
  const DType integer = integer_of(x);
  // Whole numbers below 2^22 go in and out of the low bits of a float by adding 2^23 (2^52).
  const Expr magic = x.literal(single ? 0x1p23 : 0x1p52);
  const double dropped = single ? 9 : 42;
  const Expr upper = ((x.bitcast(integer) >> dropped) | magic.bitcast(integer)).bitcast(x.type());
  const Expr third = fma(upper - magic, -1.0 / 3, magic + (single ? 2773300.0 : 1396670.0));
  return (third.bitcast(integer) << dropped).bitcast(x.type());
}

}  // namespace

/// |x| * y^2 for y near |x|^(-1/3), with one more correction of the result.
Expr expand_cbrt(Expr x) {
  const bool single = is_single(x);
  const Expr ax = abs(x);
  const Expr one = x.literal(1);
  // Subnormal numbers have no exponent to start from.
  const Expr is_small = ax < (single ? 0x1p-126 : 0x1p-1022);
  const Expr a = ax * select(is_small, x.literal(single ? 0x1p24 : 0x1p54), one);
  const Expr guess = guess_inverse_cbrt(a);
  const Expr e = fma(-(a * guess), guess * guess, one);
  const Expr series = single ? polynomial(e, {0x1.55588p-2, 0x1.c9cc72p-3, 0x1.5dcc3ep-3})
                             : polynomial(e, {0x1.55542dd425c19p-2, 0x1.c7269e4cc4a5fp-3,
                                              0x1.65665417b4078p-3, 0x1.230b6e6cd32cbp-3});
  const Expr y = fma(guess * e, series, guess);
  const Expr c = a * y * y;
  const Expr left = fma(-c, y, one);
  const Expr root = fma(c * left, single ? x.literal(2.0 / 3) : fma(left, 5.0 / 9, 2.0 / 3), c);
  const Expr scaled = root * select(is_small, x.literal(single ? 0x1p-8 : 0x1p-18), one);
  return copysign(select(ax < kInfinity, scaled, ax), x);
}

Expr expand_rsqrt(Expr x) { return x.literal(1) / sqrt(x); }

Expr expand_hypot(Expr a, Expr b) {
  const Expr x = abs(a);
  const Expr y = abs(b);
  const Expr infinity = x.literal(kInfinity);
  const Expr is_infinite = (x == infinity) | (y == infinity);
  if (is_single(x)) {  // squares of f32 are exact in f64, and never too large or small
    const Expr u = x.convert(DType::F64);
    const Expr v = y.convert(DType::F64);
    return select(is_infinite, infinity, sqrt(fma(u, u, v * v)).convert(DType::F32));
  }
  const Expr high = select(x > y, x, y);
  const Expr low = select(x > y, y, x);
  const Expr is_large = high > 0x1p500;
  const Expr is_small = high < 0x1p-450;
  const auto scaled = [&](double large, double small) {
    return select(is_large, x.literal(large), select(is_small, x.literal(small), x.literal(1)));
  };
  const Expr scale = scaled(0x1p-600, 0x1p600);
  const Expr u = high * scale;
  const Expr v = low * scale;
  return select(is_infinite, infinity, sqrt(fma(u, u, v * v)) * scaled(0x1p600, 0x1p-600));
}

}  // namespace lw::transform
