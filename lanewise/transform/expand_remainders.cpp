// Remainders of floats, exact for every pair. A step takes away as many of the divisor, scaled up
// by a power of two, as a quotient holds exactly; one step is enough unless the operands are more
// than 2^51 (2^22 in f32) apart.
#include <array>
#include <limits>

#include "lanewise/transform/expand_parts.h"

namespace lw::transform {
namespace {

/// The exponent, as of a normal number, of a positive value.
Expr exponent_of(Expr a) {
  const auto [bits, up] = normalised(a);
  return (bits >> double(fraction_bits(a))) - up;
}

/// What is left of `rest` without `scaled`, at most its quotient's last place often.
Expr reduce(Expr rest, Expr scaled) {
  const Expr left = fma(-trunc(rest / scaled), scaled, rest);
  return select(left < 0.0, left + scaled, left);  // the quotient had been rounded up
}

}  // namespace

Expr expand_fmod(Expr a, Expr b) {
  const Expr infinity = a.literal(std::numeric_limits<double>::infinity());
  const Expr is_defined = (abs(a) < infinity) & (b == b) & (b != 0.0);
  const Expr divisor = select(is_defined, abs(b), infinity);
  const Expr start = select(is_defined, abs(a), a.literal(0));
  const Expr base = exponent_of(divisor);

  ir::Builder& build = a.builder();
  const ir::ValueId loop = build.begin_loop(std::array{start.id()});
  const Expr rest(build, build.arguments(loop)[0]);
  build.break_if((!(rest >= divisor)).id(), std::array{rest.id()});
  const Expr apart = exponent_of(rest) - base - double(fraction_bits(a) - 1);
  const Expr up = max(apart, apart.literal(0));
  const Expr half = up >> 1.0;  // the whole power may be out of range
  const Expr scaled = divisor * power_of_two(half, a.type()) * power_of_two(up - half, a.type());
  build.end_loop(std::array{reduce(rest, scaled).id()});
  const Expr result(build, build.result(loop, 0));
  return select(is_defined, copysign(result, a),
                a.literal(std::numeric_limits<double>::quiet_NaN()));
}

Expr expand_mod(Expr a, Expr b) {
  const Expr rest = fmod(a, b);
  const Expr opposite = (rest < 0.0) != (b < 0.0);
  const Expr moved = select(opposite, rest + b, rest);
  return select(rest == 0.0, copysign(rest, b), moved);
}

// The rest of twice the divisor, from which the divisor is taken once or twice.
Expr expand_remainder(Expr a, Expr b) {
  const bool single = is_single(a);
  const Expr divisor = abs(b);
  const Expr is_large = divisor > (single ? 0x1p127 : 0x1p1023);
  const Expr doubled = select(is_large, divisor.literal(1), divisor + divisor);
  const Expr whole = select(is_large, abs(a), fmod(abs(a), doubled));
  // Half the divisor is exact unless it is tiny; then twice the rest is.
  const Expr is_tiny = divisor < (single ? 0x1p-124 : 0x1p-1020);
  const auto left = [&](Expr x) { return select(is_tiny, x + x, x); };
  const Expr right = select(is_tiny, divisor, divisor * 0.5);
  const Expr is_more = left(whole) > right;
  const Expr once = select(is_more, whole - divisor, whole);
  const Expr twice = select(is_more & (left(once) >= right), once - divisor, once);
  const Expr is_defined = (b == b) & (abs(a) < a.literal(std::numeric_limits<double>::infinity()));
  const Expr result = select(signbit(a), -twice, twice);
  return select(is_defined & (b != 0.0), select(twice == 0.0, copysign(twice, a), result),
                a.literal(std::numeric_limits<double>::quiet_NaN()));
}

}  // namespace lw::transform
