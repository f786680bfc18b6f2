// GCC makes calls of vector functions of the loops over the operands if glibc declares that there
// are any, which it does under this macro of -ffast-math. Its freedoms themselves are not wanted.
#if defined(__GNUC__) && !defined(__clang__)
#define __FAST_MATH__ 1
#define LW_EACH_ISA __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define LW_EACH_ISA
#endif
#include "tools/accuracy/screen.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <stdexcept>

#include "tools/accuracy/references.h"

namespace lw::accuracy {
namespace {

constexpr std::size_t kPart = 2048;  // both arrays of a part stay in the first-level cache

using Fill = void (*)(const float* operands, double* exact, std::size_t count);

#define LW_ACCURACY(name, arity, low, high, least, reference) LW_FILL_##arity(name, reference)
#define LW_FILL_2(name, reference)
#define LW_FILL_1(name, reference)                                                        \
  LW_EACH_ISA void fill_##name(const float* operands, double* exact, std::size_t count) { \
    for (std::size_t i = 0; i < count; ++i) {                                             \
      const double x = operands[i];                                                       \
      exact[i] = reference;                                                               \
    }                                                                                     \
  }
#include "tools/accuracy/functions.def"
#undef LW_FILL_1

Fill fill_of(std::string_view function) {
#define LW_FILL_1(name, reference) \
  if (function == #name) return fill_##name;
#include "tools/accuracy/functions.def"
#undef LW_FILL_1
#undef LW_FILL_2
#undef LW_ACCURACY
  throw std::invalid_argument("screen: no function of one operand " + std::string(function));
}

/// The error of each result, infinity for the doubtful; gives the bits of the largest, in whose
/// order errors are too.
LW_EACH_ISA std::int32_t errors(const double* exact, const float* got, float least, float* error,
                                std::size_t count) {
  constexpr std::int32_t kInfinity = 0x7f800000;
  std::int32_t most = 0;
  const auto bits_of = [](float x) { return std::bit_cast<std::int32_t>(x); };
  const std::int32_t least_bits = bits_of(std::max(least, 0x1p-126f));
  for (std::size_t i = 0; i < count; ++i) {
    const std::int32_t a = bits_of(got[i]);
    const std::int32_t b = bits_of(static_cast<float>(exact[i]));
    const std::int32_t a_size = a & 0x7fffffff;
    const std::int32_t b_size = b & 0x7fffffff;
    const bool is_same = (a == b) | ((a_size > kInfinity) & (b_size > kInfinity));
    const bool is_ordinary = (a_size < kInfinity) & (b_size < kInfinity) & ((a ^ b) >= 0);
    const std::int32_t size = std::max(b_size, least_bits);
    const float last_place = std::bit_cast<float>(size & kInfinity);  // times 2^23
    const double distance = std::fabs(static_cast<double>(got[i]) - exact[i]);
    const auto ulp = static_cast<float>(distance * 0x1p23 / static_cast<double>(last_place));
    const std::int32_t result = is_same ? 0 : is_ordinary ? bits_of(ulp) : kInfinity;
    error[i] = std::bit_cast<float>(result);
    most = std::max(most, result);
  }
  return most;
}

}  // namespace

Screened screen(std::string_view name, std::span<const float> operands, std::span<const float> got,
                float least) {
  const Fill fill = fill_of(name);
  std::array<double, kPart> exact;
  std::array<float, kPart> error;
  Screened result;
  for (std::size_t first = 0; first < operands.size(); first += kPart) {
    const std::size_t count = std::min(kPart, operands.size() - first);
    fill(operands.data() + first, exact.data(), count);
    const std::int32_t most = errors(exact.data(), got.data() + first, least, error.data(), count);
    if (std::bit_cast<float>(most) <= result.ulp) continue;
    for (std::size_t i = 0; i < count; ++i) {
      if (std::isinf(error[i])) {
        result.doubts.push_back(first + i);
      } else if (error[i] > result.ulp) {
        result.ulp = error[i];
        result.at = first + i;
      }
    }
  }
  return result;
}

}  // namespace lw::accuracy
