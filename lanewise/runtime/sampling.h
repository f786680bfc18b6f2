// Which elements are counted, on the tile machine, before a loop is planned and compiled.
#pragma once

#include <cstdint>

namespace lw::runtime {

inline constexpr std::int64_t kSampleAt = 2048;  // smaller maps are counted whole
inline constexpr std::int64_t kSampleRun = 64;   // elements side by side
inline constexpr int kSampleRuns = 16;
inline constexpr std::uint32_t kSampleTrips = 4096;  // at most, of an element

/// Where run `i` of the sample begins, of `n` elements.
std::int64_t sample_start(std::int64_t n, int i);

}  // namespace lw::runtime
