// A check that crashes or hangs is run again in processes of their own, where it can be reduced:
// the process becomes one that does so.
#pragma once

#include <cstdint>

namespace lw::fuzz {

/// From now on. `reduce_seconds` is handed on.
void catch_crashes(double reduce_seconds);

/// The seed that is run again, which may take so many seconds.
void expect_crash_of(std::uint64_t seed, unsigned seconds);

}  // namespace lw::fuzz
