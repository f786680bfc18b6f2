// Functions that take numbers apart or look at their bits; exact all of them.
#include <limits>

#include "lanewise/transform/expand_parts.h"

namespace lw::transform {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Expr unsigned_bits(Expr a) { return a.bitcast(types::integer_of(types::size_of(a.type()), false)); }

struct Parts {
  Expr mantissa;  // of magnitude 0.5 to 1, with the sign
  Expr exponent;  // an integer of the float's size
  Expr is_plain;  // neither zero, infinite nor NaN
};

Parts take_apart(Expr a) {
  const auto [bits, up] = normalised(a);
  const int width = fraction_bits(a);
  const std::int64_t ones = is_single(a) ? 0xff : 0x7ff;
  const Expr field = (bits >> double(width)) & double(ones);
  const Expr mantissa = (bits & bits.bits(~(ones << width))) | bits.bits((ones / 2 - 1) << width);
  return {.mantissa = mantissa.bitcast(a.type()),
          .exponent = field - up - double(ones / 2 - 1),
          .is_plain = (a != 0.0) & (abs(a) < kInfinity)};
}

}  // namespace

Expr expand_signbit(Expr a) { return a.bitcast(integer_of(a)) < 0.0; }

Expr expand_sign(Expr a) {
  const Expr zero = a.literal(0);
  // A NaN stays.
  const Expr rest = types::is_float(a.type()) ? select(a == zero, zero, a) : zero;
  return select(a > zero, a.literal(1), select(a < zero, a.literal(-1), rest));
}

Expr expand_isinf(Expr a) { return abs(a) == kInfinity; }
Expr expand_isfinite(Expr a) { return abs(a) < kInfinity; }

Expr expand_round_away(Expr a) {
  const Expr whole = trunc(a);
  const Expr next = whole + copysign(a.literal(1), a);
  return copysign(select(abs(a - whole) >= 0.5, next, whole), a);  // -0.3 gives -0
}

Expr expand_nextafter(Expr a, Expr b) {
  const Expr bits = a.raw_bits(integer_of(a));
  const Expr outward = (a < b) == (a > 0.0);
  const Expr neighbour =
      (bits + select(outward, bits.literal(1), bits.literal(-1))).bitcast(a.type());
  const Expr smallest = copysign(bits.literal(1).bitcast(a.type()), b);
  const Expr moved = select(a == 0.0, smallest, neighbour);
  return select((a != a) | (b != b), a + b, select(a == b, b, moved));
}

// Three factors reach from the largest number to the smallest. All but the last leave room for the
// whole fraction, so that a subnormal result is rounded once.
Expr expand_ldexp(Expr a, Expr n) {
  const bool single = is_single(a);
  Expr left = n.convert(integer_of(a));
  const Expr high = left.literal(single ? 127 : 1023);
  Expr value = a;
  for (int i = 0; i < 3; ++i) {
    const double low = i < 2 ? (single ? -102 : -969) : (single ? -126 : -1022);
    const Expr part = min(max(left, left.literal(low)), high);
    value = value * power_of_two(part, a.type());
    left = left - part;
  }
  return value;
}

Expr expand_frexp_mantissa(Expr a) {
  const Parts parts = take_apart(a);
  return select(parts.is_plain, parts.mantissa, a);
}

Expr expand_frexp_exponent(Expr a) {
  const Parts parts = take_apart(a);
  return select(parts.is_plain, parts.exponent, parts.exponent.literal(0)).convert(DType::I32);
}

// Sums of neighbouring groups of bits, in parallel.
Expr expand_popcount(Expr a) {
  Expr x = unsigned_bits(a);
  const int size = static_cast<int>(types::size_of(a.type()));
  const auto repeated = [&](std::uint64_t byte) {
    return x.bits(static_cast<std::int64_t>(byte * 0x0101010101010101u));
  };
  x = x - ((x >> 1.0) & repeated(0x55));
  x = (x & repeated(0x33)) + ((x >> 2.0) & repeated(0x33));
  x = (x + (x >> 4.0)) & repeated(0x0f);
  for (int bits = 8; bits < 8 * size; bits *= 2) x = x + (x >> double(bits));
  return (x & (size == 1 ? 15.0 : 127.0)).bitcast(a.type());
}

Expr expand_clz(Expr a) {
  Expr x = unsigned_bits(a);
  const int size = static_cast<int>(types::size_of(a.type()));
  for (int bits = 1; bits < 8 * size; bits *= 2) x = x | (x >> double(bits));
  return popcount((~x).bitcast(a.type()));
}

Expr expand_ctz(Expr a) { return popcount(~a & (a - 1.0)); }

}  // namespace lw::transform
