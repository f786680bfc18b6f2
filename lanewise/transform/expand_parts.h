// What the formulas of several families share: exponents and whole numbers by bits. Nothing here
// converts floats to integers, which is slow: adding a large number rounds, and leaves the
// whole number in the low bits of the sum.
#pragma once

#include <cstdint>
#include <optional>

#include "lanewise/transform/expand.h"

namespace lw::transform {

inline bool is_single(Expr x) { return x.type() == DType::F32; }
inline DType integer_of(Expr x) { return is_single(x) ? DType::I32 : DType::I64; }
inline int fraction_bits(Expr x) { return is_single(x) ? 23 : 52; }

// Bounds in these forms are one instruction each, and a NaN stays.
inline Expr at_least(Expr x, double low) { return select(x < low, x.literal(low), x); }
inline Expr at_most(Expr x, double high) { return select(x > high, x.literal(high), x); }
inline Expr clamped(Expr x, double low, double high) { return at_most(at_least(x, low), high); }

/// A polynomial with even and odd terms apart from the fourth on: for one more product the chain of
/// dependent operations is half as long as Horner's. The first terms decide about the rounding.
inline Expr split_polynomial(Expr x, std::initializer_list<double> c) {
  constexpr std::size_t kHead = 3;
  const Expr square = x * x;
  const auto part = [&](std::size_t first) {
    std::size_t i = first + (c.size() - 1 - first) / 2 * 2;
    Expr sum = x.literal(c.begin()[i]);
    while (i > first) sum = fma(sum, square, x.literal(c.begin()[i -= 2]));
    return sum;
  };
  Expr sum = fma(part(kHead + 1), x, part(kHead));
  for (std::size_t i = kHead; i-- > 0;) sum = fma(sum, x, x.literal(c.begin()[i]));
  return sum;
}

/// 2^n for the exponents of normal numbers; n is an integer of the float's size.
inline Expr power_of_two(Expr n, DType type) {
  const bool single = type == DType::F32;
  return ((n + (single ? 127.0 : 1023.0)) << (single ? 23.0 : 52.0)).bitcast(type);
}

/// The bits of a * 2^up as of a normal number: `up` is 0 unless a is subnormal.
struct Normalised {
  Expr bits;
  Expr up;
};
inline Normalised normalised(Expr a) {
  const bool single = is_single(a);
  const Expr small = abs(a) < (single ? 0x1p-126 : 0x1p-1022);
  const Expr bits = select(small, a * (single ? 0x1p25 : 0x1p54), a).raw_bits(integer_of(a));
  return {.bits = bits, .up = select(small, bits.literal(single ? 25 : 54), bits.literal(0))};
}

struct Rounded {
  Expr n;      // a whole number
  Expr power;  // 2 ^ (n + shift)
  Expr field;  // its bits
};

/// The whole number nearest to min(x, high) * scale, and a power of two; a NaN counts as `high`.
/// The low bits of the sum hold the biased exponent, which a shift takes to its place.
inline Rounded round_scaled(Expr x, double high, double scale, int shift = 0) {
  const double magic = (is_single(x) ? 0x1.8p23 + 127 : 0x1.8p52 + 1023) + shift;
  const Expr inside = select(x < high, x, x.literal(high));
  const Expr sum = fma(inside, scale, magic);
  const Expr field = sum.raw_bits(integer_of(x)) << fraction_bits(x);
  return {.n = sum - magic, .power = field.bitcast(x.type()), .field = field};
}

/// x + x * z * series, z = x * x. The sum with 0 makes x = -0 give -0 for any series.
inline Expr odd_series(Expr x, std::initializer_list<double> series) {
  const Expr z = x * x;
  return fma(x, fma(z, polynomial(z, series), 0.0), x);
}

struct Split {
  Expr f;                   // x = 2^k * (1 + f)
  Expr k;                   // times k_unit, see below
  std::optional<Expr> low;  // to be added to f
};

/// The unit of Split::k: for f32 the exponent is converted where it stands in the bits.
inline double k_unit(Expr x) { return is_single(x) ? 0x1p-23 : 1; }

/// Takes a positive x apart, subnormal or not.
Split split_positive(Expr x);
/// Takes x + low apart, for x at least 2^-100 and `low` below its last place.
Split split_pair(Expr x, Expr low);
/// log(1 + f + low) + k * log(2).
Expr log_of(Split x);
/// (e^r - 1 - r) / r^2 for |r| <= log(2).
Expr exp_curve(Expr r);
/// `result` for positive finite x, and the logarithm of the others.
Expr with_log_specials(Expr x, Expr result);

}  // namespace lw::transform
