// The logarithms: x = 2^k * (1 + f), log x = k * log(2) + log(1 + f), with
// sqrt(1/2) <= 1 + f < sqrt(2), and log(1 + f) = f + rest.
//   f32: rest = f^2 * (-1/2 + f * P(f)), without a division;
//   f64: 2 atanh(s) with s = f / (2 + f), written as rest = s * (z * R(z) - f) with z = s^2, so
//   that
//        the rounding of s hardly counts.
// The coefficients are those of tools/coefficients/log.sollya.
#include <limits>

#include "lanewise/transform/expand_parts.h"

namespace lw::transform {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Fields {
  Expr mantissa;  // as a float
  Expr k;         // times k_unit
  Expr inverse;   // 2^(1-k)
};

Fields fields(Expr x, Expr bits) {
  if (is_single(x)) {
    // The bits of sqrt(1/2) are subtracted, so that the exponent changes there.
    const Expr exponent = (bits - bits.bits(0x3f3504f3)) & bits.bits(-0x800000);
    return {.mantissa = (bits - exponent).bitcast(x.type()),
            .k = exponent.convert(x.type()),
            .inverse = (bits.bits(0x40000000) - exponent).bitcast(x.type())};
  }
  // The biased exponent, put behind the leading bit of 2^52. The mask makes the shift unsigned.
  const std::int64_t half_root = 0x3fe6a09e667f3bcd;
  const std::int64_t one = 0x3ff0000000000000;
  const Expr moved = bits + bits.bits(one - half_root);
  const Expr exponent = (moved >> 52.0) & bits.bits(0x7ff);
  const Expr mantissa = (moved & bits.bits(0xfffffffffffff)) + bits.bits(half_root);
  return {.mantissa = mantissa.bitcast(x.type()),
          .k = (exponent | bits.bits(0x4330000000000000)).bitcast(x.type()) - (0x1p52 + 1023),
          .inverse = (bits.bits(0x7ff0000000000000) - (moved & bits.bits(0x7ff0000000000000)))
                         .bitcast(x.type())};
}

/// (log(1 + f) - f) / f^2, for f32.
Expr log_curve(Expr f) {
  return polynomial(f, {-0.5, 0x1.55555p-2, -0x1.0000bcp-2, 0x1.99a3f8p-3, -0x1.54dc64p-3,
                        0x1.2292bp-3, -0x1.0903aap-3, 0x1.0663eap-3, -0x1.5536ecp-4});
}

/// log(1 + f) - f.
Expr log_rest(Expr f) {
  if (is_single(f)) return f * f * log_curve(f);
  const Expr s = f / (f + 2.0);
  const Expr z = s * s;
  const Expr r = polynomial(
      z, {0x1.555555555555ap-1, 0x1.99999999944d7p-2, 0x1.2492492edf195p-2, 0x1.c71c620c52f77p-3,
          0x1.7462e4f505851p-3, 0x1.39f938b8f7b98p-3, 0x1.2b8e76b5d3ee1p-3});
  return s * fma(z, r, -f);
}

/// The logarithm to a base b: scale = 1 / log(b), unit = log(2) / log(b), each in two parts.
struct Base {
  double scale;
  double scale_low;
  double unit;
  double unit_low;
};

Expr log_to_base(Split x, Base base) {
  const Expr f = x.f;
  const double u = k_unit(f);
  const Expr rest = log_rest(f);
  // The small parts first: the rest, and the low parts of f * scale and of k * unit.
  Expr low = fma(rest, base.scale, f * base.scale_low);
  if (base.unit_low != 0) low = fma(x.k, base.unit_low * u, low);
  return fma(x.k, base.unit * u, fma(f, base.scale, low));
}

/// `formula` of x taken apart. What is not a positive normal number is rare.
template <class Formula>
Expr log_by(Expr x, Formula formula) {
  const bool single = is_single(x);
  const Expr bits = x.raw_bits(single ? DType::U32 : DType::U64);
  const Expr above = bits - bits.bits(single ? 0x800000 : 0x10000000000000);
  const Expr is_rare = above >= bits.bits(single ? 0x7f000000 : 0x7fe0000000000000);
  const Fields parts = fields(x, x.raw_bits(integer_of(x)));
  const Split common{.f = parts.mantissa - 1.0, .k = parts.k, .low = std::nullopt};
  return branch(is_rare, std::array{formula(common)},
                [&] { return std::array{with_log_specials(x, formula(split_positive(x)))}; })[0];
}

}  // namespace

Expr with_log_specials(Expr x, Expr result) {
  // Below every logarithm for finite x, and infinite with x; taken for a NaN too.
  const Expr beyond = is_single(x) ? fma(x, 0x1p-126, -200.0) : fma(x, 0x1p-1022, -1100.0);
  const Expr finite = select(result > beyond, result, beyond);
  const Expr not_positive = select(x == 0.0, x.literal(-kInf), x.literal(kNan));
  return select(x > 0.0, finite, not_positive);
}

Split split_positive(Expr x) {
  const bool single = is_single(x);
  const double least = single ? 0x1p-149 : 0x1p-1074;
  // This bound tells LLVM that there is no NaN, of which a bitcast would have to make the canonical
  // one.
  const Expr positive = select(x > least, x, x.literal(least));
  const Expr is_small = x < (single ? 0x1p-126 : 0x1p-1022);
  const Expr normal = select(is_small, positive * (single ? 0x1p24 : 0x1p54), positive);
  const Fields parts = fields(normal, normal.bitcast(integer_of(x)));
  const Expr shift = select(is_small, x.literal(single ? -24 * 0x1p23 : -54), x.literal(0));
  return {.f = parts.mantissa - 1.0, .k = parts.k + shift, .low = std::nullopt};
}

Split split_pair(Expr x, Expr low) {
  const Fields parts = fields(x, x.bitcast(integer_of(x)));
  const Expr first = parts.mantissa - 1.0;
  const Expr second = low * 0.5 * parts.inverse;
  const Expr f = first + second;
  return {.f = f, .k = parts.k, .low = second - (f - first)};
}

Expr log_of(Split x) {
  const Expr f = x.f;
  if (is_single(f)) {
    const Expr curve = log_curve(f);
    const Expr log = x.low ? f + fma(f * f, curve, *x.low) : fma(f * f, curve, f);
    return fma(x.k, 0x1.62e43p-1 * 0x1p-23, log);  // the error of log(2) is 2^-30: no second part
  }
  const Expr rest = x.low ? log_rest(f) + *x.low : log_rest(f);
  return fma(x.k, 0x1.62e42fefa38p-1, f + fma(x.k, 0x1.ef35793c7673p-45, rest));
}

Expr expand_log(Expr x) {
  return log_by(x, [](Split parts) { return log_of(parts); });
}

Expr expand_log2(Expr x) {
  const Base base = is_single(x) ? Base{0x1.715476p0, 0x1.4ae0cp-26, 1, 0}
                                 : Base{0x1.71547652b82fep0, 0x1.777d0ffda0d24p-56, 1, 0};
  return log_by(x, [&](Split parts) { return log_to_base(parts, base); });
}

Expr expand_log10(Expr x) {
  const Base base = is_single(x)
                        ? Base{0x1.bcb7b2p-2, -0x1.5b235ep-27, 0x1.344136p-2, -0x1.ec10cp-27}
                        : Base{0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57, 0x1.34413509f78p-2,
                               0x1.fef311f12b358p-46};
  return log_by(x, [&](Split parts) { return log_to_base(parts, base); });
}

// log of 1 + x and of what its rounding lost; the two make up x exactly where k is 0.
Expr expand_log1p(Expr x) {
  const Expr sum = x + 1.0;
  const Expr lost = x - (sum - 1.0);
  return select(abs(x) < 0x1p-60, x, with_log_specials(sum, log_of(split_pair(sum, lost))));
}

}  // namespace lw::transform
