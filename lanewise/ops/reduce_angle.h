// x modulo pi/2 for any finite double: x * 2/pi modulo 4 from those bits of 2/pi that count. Bits
// whose product with x is a multiple of 4 are left out, so their place follows the exponent of x.
// Must be compiled with -ffp-contract=off.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace lw::ops::meaning {
inline namespace LW_ISA {

/// x = n * pi/2 + (r - rest) with |r| <= pi/4; `quadrant` is n modulo 4.
struct ReducedAngle {
  double r;
  double rest;
  double quadrant;
};

/// For |x| of at least 2^16; NaN for infinities and NaN, and something for smaller ones.
inline ReducedAngle reduce_angle(double x) {
  __extension__ using Wide = unsigned __int128;
  // 2/pi behind 24 zero bits.
  constexpr std::uint64_t kWords[] = {
      0x000000a2f9836e4eu, 0x441529fc2757d1f5u, 0x34ddc0db6295993cu, 0x439041fe5163abdeu,
      0xbbc561b7246e3a42u, 0x4dd2e006492eea09u, 0xd1921cfe1deb1cb1u, 0x29a73ee88235f52eu,
      0xbb4484e99c7026b4u, 0x5f7e413991d63983u, 0x5339f49c845f8bbdu, 0xf9283b1ff897ffdeu,
      0x05980fef2f118b5au, 0x0a6d1f6d367ecf27u, 0xcb09b74f463f669eu, 0x5fea2d7527bac7ebu,
      0xe5f17b3d0739f78au, 0x5292ea6bfb5fb11fu, 0x8d5d0856033046fcu};
  if (!(std::fabs(x) < std::numeric_limits<double>::infinity()) || std::fabs(x) < 0x1p16) {
    return {x - x, x - x, 0};
  }
  // x = m * 2^e; the first bit that counts has twice the weight of the last bit of m. For x below
  // 2^30 that lies before the words, where there are zeros.
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(std::fabs(x));
  const std::uint64_t m = (bits & 0xfffffffffffffu) | 0x10000000000000u;
  const int start = static_cast<int>(bits >> 52) - 1075 + 22;
  const auto word = [&](int at) -> std::uint64_t {  // 64 bits from bit `at` on
    const int index = at < 0 ? -1 : at / 64;
    const int shift = at < 0 ? at + 64 : at % 64;
    const std::uint64_t high = index < 0 ? 0 : kWords[index];
    return shift == 0 ? high : high << shift | kWords[index + 1] >> (64 - shift);
  };
  // m times 192 bits of 2/pi, modulo 4 turns of a quarter.
  Wide sum = Wide{m} * word(start + 128);
  const auto low = static_cast<std::uint64_t>(sum);
  sum = Wide{m} * word(start + 64) + (sum >> 64);
  const auto middle = static_cast<std::uint64_t>(sum);
  const std::uint64_t high = m * word(start) + static_cast<std::uint64_t>(sum >> 64);
  // Two bits of quadrant, then a fraction; rounded to the nearest quadrant, it has a sign.
  std::uint64_t quadrant = high >> 62;
  std::uint64_t first = high << 2 | middle >> 62;
  std::uint64_t second = middle << 2 | low >> 62;
  double sign = x < 0 ? -1 : 1;
  if (first >> 63 != 0) {
    ++quadrant;
    sign = -sign;
    first = ~first;
    second = ~second;
  }
  const auto number = [](std::uint64_t integer, double unit) {
    return static_cast<double>(integer) * unit;
  };
  const double a = number(first >> 32, 0x1p-32);
  const double b = number(first & 0xffffffffu, 0x1p-64);
  const double c = number(second >> 32, 0x1p-96);
  const double d = number(second & 0xffffffffu, 0x1p-128);
  const double whole = a + b;
  const double tail = ((a - whole) + b) + (c + d);
  const double turn = whole + tail;
  const double turn_rest = (whole - turn) + tail;
  constexpr double kHalfPi = 0x1.921fb54442d18p0;
  constexpr double kHalfPiRest = 0x1.1a62633145c07p-54;
  const double product = turn * kHalfPi;
  const double more =
      std::fma(turn, kHalfPi, -product) + std::fma(turn, kHalfPiRest, turn_rest * kHalfPi);
  const double r = product + more;
  const double rest = (r - product) - more;
  const std::uint64_t n = x < 0 ? 0 - quadrant : quadrant;
  return {r * sign, rest * sign, static_cast<double>(n & 3)};
}

}  // namespace LW_ISA
}  // namespace lw::ops::meaning
