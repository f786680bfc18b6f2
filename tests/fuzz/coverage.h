// What has been looked at so far, to see that nothing is left out. Plain numbers, so that processes
// can share them.
#pragma once

#include <array>
#include <iosfwd>
#include <string>

#include "lanewise/ir/function.h"
#include "tests/fuzz/ways.h"

namespace lw::fuzz {

struct Trial;

enum class Counter : std::uint8_t {
  // Runs.
  Runs,
  SeveralWorkers,
  Failing,  // with a failing element
  Folded,   // with results that are folded
  FoldedRows,
  Keyed,
  Places,    // of least and greatest ones
  Combined,  // by a function of the user's
  Passes,    // compared
  // Trials.
  Compiled,
  Refilled,
  Inner,    // with positions in lanes
  Batched,  // with positions in step
  Limited,  // with a step limit
  // Programs.
  Branches,
  Rare,
  Blocks,  // that never go round, with several exits
  Exits,   // out of several loops
  Arrays,
  Tables,
  Numbers,  // of elements
  Draws,
  Rows,  // as parameters
  Each,
  Nested,    // an `each` inside of another, of a branch or of a loop
  Counted,   // an `each` whose elements differ in their positions
  Extremes,  // the place of the least or greatest one of the positions
  Ragged,    // rows of lengths of their own in a table
  Written,   // rows of such lengths as results
  Linear,    // tables of bits
  Kinds,     // failures of the newer kinds
};
constexpr std::size_t kCounters = static_cast<std::size_t>(Counter::Kinds) + 1;

class Coverage {
 public:
  void count(Counter counter, bool has = true) {
    counts_[static_cast<std::size_t>(counter)] += has ? 1 : 0;
  }
  void count(const ir::Function& program);
  std::int64_t operator[](Counter counter) const {
    return counts_[static_cast<std::size_t>(counter)];
  }
  /// The combination of instruction set, lanes and schedule, and that of schedule and registers.
  void count(const Trial& trial);
  /// The combination of tier and way.
  void count(const Trial& trial, const Way& way);
  void add(const Coverage& other);

  /// As numbers, how many there are first.
  void save(std::ostream& out) const;
  /// False: there are others.
  bool load(std::istream& in);

  /// All there is to know, in a few lines.
  std::string to_string() const;

 private:
  template <class Use>
  static void for_each_number(auto& self, const Use& use);

  static constexpr int kSchedules = 5, kSets = 3, kWidths = 3, kRegisters = 4, kTiers = 3;

  std::array<std::int64_t, kCounters> counts_ = {};
  std::array<std::int64_t, kSchedules * kSets * kWidths> shapes_ = {};
  std::array<std::int64_t, kSchedules * kRegisters> registers_ = {};
  std::array<std::int64_t, kTiers * kWays> ways_ = {};
};

/// Of this process.
Coverage& coverage();

}  // namespace lw::fuzz
