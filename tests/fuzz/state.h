// Where a long run stands, in a file: it goes on from there when it is started again.
#pragma once

#include "tests/fuzz/workers.h"

namespace lw::fuzz {

struct State {
  std::uint64_t next = 1;  // seed
  Tally tally = {};
};

/// That of the file; one that begins with `seed` where there is none. Throws UsageError for what is
/// no such file, or one of a build that counts other things.
State load_state(const std::string& path, std::uint64_t seed);

/// In one step: whoever reads it finds the old one or the new one.
void save_state(const std::string& path, const State& state);

}  // namespace lw::fuzz
