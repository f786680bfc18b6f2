// How a map is divided, decided before it begins: how many workers, what memory they have
// (runtime/budget.h), and how many elements each takes at a time.
#pragma once

#include "lanewise/runtime/budget.h"
#include "lanewise/runtime/folding.h"

namespace lw::runtime {

struct Division {
  Room room;  // with the workers
  std::int64_t small_chunk = 0;
  /// Chunks are so many elements, or a multiple: whole cache lines of any type, so that chunks of
  /// aligned arrays are aligned too.
  std::int64_t grain = 64;
  std::int64_t most_chunk = kMaxChunk;  // of files that are larger than the budget

  int workers() const { return room.workers; }
};

/// Throws ResourceError if the budget is too small.
Division divide(const Program& program, const Buffers& buffers, const ExecuteOptions& options);

/// The chunks of a map that is divided.
class Chunks {
 public:
  /// `folding`: those with accumulators end where blocks of them do; null: there are none, or their
  /// partials are folded all together.
  Chunks(const Division& division, std::int64_t count, std::int64_t wanted, const Folding* folding)
      : division_(division), count_(count), wanted_(wanted), folding_(folding) {}

  /// Elements of the chunk that begins at `first`. A refilled loop drains at the end of a chunk, so
  /// chunks are large; they become smaller towards the end, where workers have to even out.
  std::int64_t size_at(std::int64_t first) const;

 private:
  std::int64_t whole_blocks(std::int64_t first, std::int64_t count) const;

  Division division_;
  std::int64_t count_;   // of elements
  std::int64_t wanted_;  // of a chunk; 0: chosen
  const Folding* folding_;
};

}  // namespace lw::runtime
