// Seeds over processes. Each takes the next one that nobody has taken; what they found is added up
// in a way that does not depend on who found it.
#pragma once

#include <functional>
#include <optional>

#include "tests/fuzz/checker.h"
#include "tests/fuzz/coverage.h"

namespace lw::fuzz {

/// Of any number of programs.
struct Tally {
  std::int64_t programs = 0;
  std::int64_t failures = 0;
  std::uint64_t digest = 0;  // the same in any order
  Coverage coverage = {};

  void add(std::uint64_t seed, const Outcome& outcome);
  void add(const Tally& other);
};

struct Seeds {
  std::uint64_t first = 1;
  std::int64_t count = 0;
  std::int64_t most_failures = 5;  // after which nobody takes another one
  double seconds = 0;              // after which, too; 0: any number
};

/// A process that dies in `job` counts as a failure of its seed; another one goes on behind it.
Tally run_workers(const Seeds& seeds, int jobs, const std::function<Outcome(std::uint64_t)>& job);

}  // namespace lw::fuzz
