// Large arguments of the trigonometric functions: x * 2/pi modulo 4 from those bits of 2/pi that
// count. Bits whose product with x is a multiple of 4 are left out, so their place follows the
// exponent of x. There is no table lookup: constants are selected by comparisons.
#include <array>
#include <vector>

#include "lanewise/transform/expand_trig.h"

namespace lw::transform {
namespace {

constexpr double kHalfPi = 0x1.921fb54442d18p0;
constexpr double kHalfPiRest = 0x1.1a62633145c07p-54;

/// 1/4 of 2/pi in parts of 28 bits: their products with an f32 are exact in f64, in turns.
constexpr std::array kParts = {0x1.45f306cp-3,   0x1.c9c882ap-31, 0x1.4fe13a8p-61, 0x1.f47d4dp-88,
                               0x1.bb81b6cp-115, 0x1.4acc9ep-145, 0x1.0e4107cp-172};

Reduced reduce_single(Expr single) {
  const Expr x = single.convert(DType::F64);
  const Expr ax = abs(x);
  // Four parts from the first whose product is not a whole number of turns.
  const auto part = [&](std::size_t i) {
    Expr value = x.literal(kParts[i]);
    double limit = 0x1p53;
    for (std::size_t skip = 1; skip < 4; ++skip, limit *= 0x1p28) {
      value = select(ax >= limit, x.literal(kParts[i + skip]), value);
    }
    return value;
  };
  const auto fraction = [](Expr turns) { return turns - round(turns); };
  const Expr first = fraction(x * part(0));
  const Expr second = fraction(x * part(1));
  const Expr small = fma(x, part(2), x * part(3));
  // The exact sum of the first two, as either may be the larger.
  const Expr sum = first + second;
  const Expr back = sum - first;
  const Expr lost = (first - (sum - back)) + (second - back);
  const Expr magic = x.literal(0x1.8p52);
  const Expr shifted = fma(sum + small, x.literal(4), magic);
  const Expr turns = fma(shifted - magic, -0.25, sum) + (lost + small);
  const Expr r = turns * (4 * kHalfPi);
  const Expr rounded = r.convert(DType::F32);
  return {.r = rounded,
          .rest = (rounded.convert(DType::F64) - r).convert(DType::F32),
          .quadrant = shifted.bitcast(DType::I64).convert(DType::I32)};
}

/// 2/pi behind 24 zero bits.
constexpr std::array<std::uint64_t, 19> kWords = {
    0x000000a2f9836e4eu, 0x441529fc2757d1f5u, 0x34ddc0db6295993cu, 0x439041fe5163abdeu,
    0xbbc561b7246e3a42u, 0x4dd2e006492eea09u, 0xd1921cfe1deb1cb1u, 0x29a73ee88235f52eu,
    0xbb4484e99c7026b4u, 0x5f7e413991d63983u, 0x5339f49c845f8bbdu, 0xf9283b1ff897ffdeu,
    0x05980fef2f118b5au, 0x0a6d1f6d367ecf27u, 0xcb09b74f463f669eu, 0x5fea2d7527bac7ebu,
    0xe5f17b3d0739f78au, 0x5292ea6bfb5fb11fu, 0x8d5d0856033046fcu};

/// 192 bits from bit `start` of kWords on, in six parts of 32, the lowest first.
std::vector<Expr> window(Expr start) {
  std::vector<Expr> words;
  for (const std::uint64_t word : kWords)
    words.push_back(start.bits(static_cast<std::int64_t>(word)));
  for (const std::size_t step : {8u, 4u, 2u, 1u}) {  // of the words' index, bit by bit
    const Expr skip = (start & static_cast<double>(step * 64)) != 0.0;
    for (std::size_t i = 0; i < step + 3; ++i) words[i] = select(skip, words[i + step], words[i]);
  }
  const Expr shift = start & 63.0;
  const Expr mask = (start.bits(1) << shift) - 1.0;
  const Expr low = start.bits(0xffffffff);
  std::vector<Expr> parts;
  for (std::size_t i = 3; i-- > 0;) {
    const Expr word = (words[i] << shift) | ((words[i + 1] >> (64.0 - shift)) & mask);
    parts.push_back(word & low);
    parts.push_back((word >> 32.0) & low);
  }
  return parts;
}

/// The upper five digits, of 32 bits each, of a * b modulo 2^192 for a < 2^53; the lowest first.
std::vector<Expr> product(Expr a, const std::vector<Expr>& b) {
  const Expr mask = a.bits(0xffffffff);
  const auto low = [&](Expr v) { return v & mask; };
  const auto high = [&](Expr v) { return (v >> 32.0) & mask; };
  std::vector<Expr> lower;  // products with the two digits of a
  std::vector<Expr> upper;
  for (const Expr& digit : b) {
    lower.push_back(low(a) * digit);
    upper.push_back((a >> 32.0) * digit);
  }
  std::vector<Expr> digits;
  Expr carry = high(lower[0]);
  for (std::size_t k = 1; k < b.size(); ++k) {
    Expr sum = low(lower[k]) + low(upper[k - 1]) + carry;
    digits.push_back(low(sum));
    carry = high(sum) + high(lower[k]) + high(upper[k - 1]);
  }
  return digits;
}

Reduced reduce_double(Expr x) {
  const Expr bits = abs(x).bitcast(DType::I64);
  // x = m * 2^e; the first bit of 2/pi that counts has twice the weight of the last bit of m.
  const Expr e = (bits >> 52.0) - 1075.0;
  const Expr m = (bits & bits.bits(0xfffffffffffff)) | bits.bits(0x10000000000000);
  const std::vector<Expr> digits = product(m, window(e + 22.0));
  const Expr mask = bits.bits(0xffffffff);
  // Two bits of quadrant, then a fraction; rounded to the nearest quadrant, it has a sign.
  const Expr top = (digits[4] << 32.0) | digits[3];
  const Expr quadrant = ((top >> 61.0) + 1.0) >> 1.0;
  const auto number = [](Expr integer, double unit) { return integer.convert(DType::F64) * unit; };
  const Expr fraction = (top << 2.0) | (digits[2] >> 30.0);
  const Expr a = number(fraction >> 32.0, 0x1p-32);
  const Expr b = number(fraction & mask, 0x1p-64);
  const Expr c = number(((digits[2] << 2.0) & mask) | (digits[1] >> 30.0), 0x1p-96);
  const Expr d = number(((digits[1] << 2.0) & mask) | (digits[0] >> 30.0), 0x1p-128);
  const Expr sum = a + b;
  const Expr tail = ((a - sum) + b) + (c + d);
  const Expr turn = sum + tail;
  const Expr turn_rest = (sum - turn) + tail;
  const Expr product = turn * kHalfPi;
  const Expr more =
      fma(turn, x.literal(kHalfPi), -product) + fma(turn, kHalfPiRest, turn_rest * kHalfPi);
  const Expr r = product + more;
  const Expr rest = (r - product) - more;
  const Expr sign = copysign(x.literal(1), x) + (x - x);  // NaN for infinities
  return {.r = r * sign, .rest = rest * sign, .quadrant = select(x < 0.0, -quadrant, quadrant)};
}

}  // namespace

Reduced reduce_large(Expr x) { return is_single(x) ? reduce_single(x) : reduce_double(x); }

}  // namespace lw::transform
