// The 16-bit floating-point types. They are stored as such and computed with as f32; results are
// rounded to nearest, ties to even, and every NaN becomes the canonical one.
#pragma once

#include <bit>
#include <cstdint>

namespace lw {

/// IEEE 754 binary16.
struct Half {
  std::uint16_t bits;

  Half() = default;
  constexpr explicit Half(float value) : bits(rounded(value)) {}
  static constexpr Half of_bits(std::uint16_t bits) {
    Half h{};
    h.bits = bits;
    return h;
  }

  constexpr operator float() const {  // NOLINT: implicit, it is exact
    const std::uint32_t magnitude = (bits & 0x7fffu) << 13;
    // The exponent's bias differs by 112; the product is exact for subnormals too.
    const std::uint32_t finite =
        std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112f);
    const std::uint32_t value = magnitude >= 0x0f800000u ? magnitude | 0x7f800000u : finite;
    return std::bit_cast<float>(value | (bits & 0x8000u) << 16);
  }

 private:
  static constexpr std::uint16_t rounded(float value) {
    const std::uint32_t all = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t magnitude = all & 0x7fffffffu;
    const std::uint32_t sign = (all >> 16) & 0x8000u;
    // Below 2^-14 adding a half rounds at the last place of a subnormal and leaves it in the bits.
    const std::uint32_t small =
        std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000u;
    const std::uint32_t normal =
        (magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
    std::uint32_t result = magnitude < 0x38800000u ? small : normal;
    if (magnitude >= 0x47800000u) result = 0x7c00u;
    if (magnitude > 0x7f800000u) return 0x7e00u;
    return static_cast<std::uint16_t>(result | sign);
  }
};

/// The upper half of an f32.
struct BFloat16 {
  std::uint16_t bits;

  BFloat16() = default;
  constexpr explicit BFloat16(float value) : bits(rounded(value)) {}
  static constexpr BFloat16 of_bits(std::uint16_t bits) {
    BFloat16 b{};
    b.bits = bits;
    return b;
  }

  constexpr operator float() const {  // NOLINT: implicit, it is exact
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  }

 private:
  static constexpr std::uint16_t rounded(float value) {
    const std::uint32_t all = std::bit_cast<std::uint32_t>(value);
    if (value != value) return 0x7fc0u;
    return static_cast<std::uint16_t>((all + 0x7fffu + ((all >> 16) & 1u)) >> 16);
  }
};

/// A double rounded to an f32 so that rounding once more to 16 bits gives what rounding at once
/// would: toward zero, with the last bit set where something was lost.
constexpr float rounded_to_odd(double value) {
  const float nearest = static_cast<float>(value);
  const double back = nearest;
  if (back == value || value != value) return nearest;
  std::uint32_t bits = std::bit_cast<std::uint32_t>(nearest);
  if ((back < 0 ? -back : back) > (value < 0 ? -value : value)) --bits;
  return std::bit_cast<float>(bits | 1u);
}

}  // namespace lw
