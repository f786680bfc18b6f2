// The ways to run a program on one tier: numbers of threads, chunk sizes, counts around that of the
// lanes, and elements that stand apart.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/fuzz/random.h"

namespace lw::fuzz {

/// One way to run a program.
struct Way {
  static constexpr std::int64_t kInputs = 0;  // as many elements as there are inputs
  static constexpr std::int64_t kMany = -1;   // inputs repeated until threads pay

  int threads = 1;
  std::int64_t chunk = 0;  // 0: everything
  std::int64_t count = kInputs;
  bool strided = false;  // elements of arrays stand apart
  int number = -1;       // among all of them
};

constexpr int kWays = 26;

/// All of them. A packet is what the lanes of all registers hold.
std::vector<Way> all_ways(std::int64_t lanes, std::int64_t packet);

/// One of each kind: many elements on one thread, many on several, a count around that of the
/// lanes, another one around that of a packet, and arrays as they are or elements that stand apart.
std::vector<Way> some_ways(std::int64_t lanes, std::int64_t packet, Random random);

}  // namespace lw::fuzz
