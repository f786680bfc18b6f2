// How often sampled elements went round a loop, in few numbers: what stays of a sample when the
// schedule is chosen.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lanewise/plan/choose.h"

namespace lw::plan {

struct TripCounts {
  std::int64_t samples = 0;  // elements that were counted; 0: none were
  double mean = 0;
  std::int64_t most = 0;
  double occupancy = 1;  // share of lane steps that are useful, where packets wait for the slowest
  /// Elements that went round 0 times, once, 2 to 3, 4 to 7 times, and so on.
  std::vector<std::int64_t> histogram = {};
};

/// For packets of so many elements.
TripCounts count_trips(const Sample& sample, int lanes);

/// One line, as it is kept beside machine code.
std::string print_trips(const TripCounts& trips);
/// Reads it; nothing was counted if it is no such line.
TripCounts parse_trips(const std::string& line);

}  // namespace lw::plan
