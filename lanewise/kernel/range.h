// What is known of the integers in a program: between which bounds an index lies, so that it need
// not be checked.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "lanewise/ir/function.h"

namespace lw::kernel {

struct Range {
  std::int64_t low = INT64_MIN;
  std::int64_t high = INT64_MAX;

  bool is_within(std::int64_t least, std::int64_t most) const {
    return low >= least && high <= most;
  }
};

/// Answers for a walk through the program in order, which tells what it passes: behind a test, its
/// outcome is known.
class Ranges {
 public:
  explicit Ranges(const ir::Function& function) : f_(function) {}

  /// The bounds of an integer. `always`: those that hold whatever has been tested, as in lanes that
  /// only run along.
  Range of(ir::ValueId id, bool always = false) const { return of(id, always, 0); }
  /// True when the integer is known to be less than the size of the table.
  bool is_below_size(ir::ValueId id, ir::ValueId table) const;

  /// From here on the bool has this value.
  void assume(ir::ValueId condition, bool holds);
  /// Takes back what was assumed after `mark` was taken.
  std::size_t mark() const { return facts_.size(); }
  void forget(std::size_t mark) { facts_.resize(mark); }

 private:
  struct Fact {
    ir::ValueId value;
    Range range;
    ir::ValueId below = ir::kNone;  // a table whose size it is less than
  };
  Range of(ir::ValueId id, bool always, int depth) const;
  Range made_by(const ir::Instruction& in, bool always, int depth) const;
  Range is_less(const ir::Instruction& in, Range a, Range b, bool sense) const;
  Range argument(ir::ValueId id) const;
  Range counter(ir::BlockId block, ir::ValueId id, std::size_t position) const;
  Range carried(ir::BlockId block, ir::ValueId id, std::size_t position) const;
  Range result(const ir::Instruction& in, int depth) const;
  /// How many positions the block of an `each` is for; 0: it is no such block.
  std::uint32_t positions_of(const ir::Block& block) const;
  bool ends_before_it_wraps(ir::BlockId block, ir::ValueId counter, std::int64_t step) const;
  /// The value is not less than `range.low`, and less than the size of `below`.
  void add(ir::ValueId value, Range range, ir::ValueId below);

  const ir::Function& f_;
  std::vector<Fact> facts_;
  mutable std::map<ir::ValueId, Range> carried_;  // by argument
  bool asks_for_counters_ = true;  // or a counter would be asked for while it is looked at
};

}  // namespace lw::kernel
