// Which elements of a map are finished, where a map may end before all of them are.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lanewise/kernel/lane.h"
#include "lanewise/runtime/buffers.h"

namespace lw {

/// Elements from `first` on, up to `last`, which is not one of them.
struct ElementRange {
  std::int64_t first = 0;
  std::int64_t last = 0;

  bool operator==(const ElementRange&) const = default;
};

/// Give it to a map in its options: when time is up, or the map is cancelled, the call returns, and
/// this says whose results are written. Given to the same call again, it runs the others only.
/// Elements keep their numbers, so in the end all results are those of one call.
class Finished {
 public:
  std::int64_t count() const { return count_; }
  /// Elements of the map; 0: it has not begun.
  std::int64_t total() const { return total_; }
  bool is_all() const { return has_begun_ && count_ == total_; }
  bool has(std::int64_t element) const;
  /// In order, with others between them.
  std::span<const ElementRange> ranges() const { return ranges_; }
  /// Those that are not finished, likewise.
  std::vector<ElementRange> open() const;

  /// A map of so many elements begins, or goes on. Throws UsageError if it is another one.
  void begin(std::int64_t total);
  /// These, none of which was, are finished.
  void add(ElementRange range);

 private:
  std::vector<ElementRange> ranges_;
  std::int64_t count_ = 0;
  std::int64_t total_ = 0;
  bool has_begun_ = false;
};

namespace runtime {

/// Lets the results of elements that are not finished be NaN, and 0 of integers, in arrays that
/// have their elements together.
void fill_unfinished(const Buffers& buffers, const kernel::Kernel& kernel,
                     const Finished& finished);

}  // namespace runtime
}  // namespace lw
