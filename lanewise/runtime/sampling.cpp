#include "lanewise/runtime/sampling.h"

#include <algorithm>
#include <cmath>

namespace lw::runtime {

/// One in each of equal parts, at a place in it that differs from part to part, or rows of an image
/// would all be looked at in the same column.
std::int64_t sample_start(std::int64_t n, int i) {
  const std::int64_t part = n / kSampleRuns;
  const double place = std::fmod(0.5 + 0.618033988749895 * i, 1.0);
  const auto within = static_cast<std::int64_t>(place * static_cast<double>(part));
  return std::max<std::int64_t>(0, std::min(part * i + within, n - kSampleRun));
}

}  // namespace lw::runtime
