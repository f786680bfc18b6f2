// The accumulators of a call while it runs: workers have a buffer for the partials of some elements
// and fold them when these are done; runtime/fold.h has the order.
#pragma once

#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "lanewise/kernel/lane.h"
#include "lanewise/runtime/buffers.h"
#include "lanewise/runtime/fold_combine.h"
#include "lanewise/runtime/fold_loops.h"
#include "lanewise/runtime/fold_tree.h"
#include "lanewise/runtime/memory.h"

namespace lw::runtime {

/// How many results of the program are folded.
std::size_t folded_results(std::span<const Fold> folds);
/// Lets all totals say that there was no element.
void clear_totals(std::span<const Fold> folds);

class Folding {
 public:
  /// Elements that a buffer has room for at most: loops that are refilled drain at its end.
  static constexpr std::int64_t kMost = 16 << 10;
  /// Bytes of it where there are no loops: it stays in the nearest cache.
  static constexpr std::int64_t kNearBytes = 8 << 10;

  Folding(const Buffers& buffers, const kernel::Kernel& kernel, std::int64_t first_element);

  /// Bytes of the partials of so many elements, and of the tables that a worker has.
  static std::int64_t bytes(const Buffers& buffers, const kernel::Kernel& kernel,
                            std::int64_t elements);
  static std::int64_t table_bytes(const Buffers& buffers);
  /// Bytes that a worker needs to fold so many.
  static std::int64_t work_bytes(const Buffers& buffers, const kernel::Kernel& kernel,
                                 std::int64_t elements);
  /// True when the more partials there are the cheaper they are folded: where workers wait for one
  /// another, or a function is called for many of them.
  static bool prefers_many(const Buffers& buffers);

  /// Where the block ends, or the last of several from the element on, that has room in `elements`.
  std::int64_t end_of_blocks(std::int64_t first, std::int64_t elements) const;
  /// True when partials must be folded in the order of the elements too.
  bool is_ordered() const { return is_ordered_; }

  /// What a worker has of its own.
  class Share {
   public:
    /// Lets results of the elements from `first` on go to the buffer.
    void aim(std::int64_t first, void** outputs) const;
    /// What it holds.
    std::int64_t bytes() const;

   private:
    friend Folding;
    std::vector<Block> columns_;
    std::vector<std::int64_t> sizes_;  // bytes of an element
    std::size_t first_output_ = 0;
    std::vector<Block> tables_;   // of keyed ones that may be added in any order
    Block stripes_;               // of rows
    std::int64_t combining_ = 0;  // bytes, at most, while a function of the user's is called
    std::optional<FoldStack> stack_;
    std::vector<FoldCell> best_;                   // so far, of what gives a place, by cell
    std::vector<std::vector<FoldCell>> combined_;  // of the blocks at hand, by function
  };
  /// One with room for so many elements.
  Share share(std::int64_t elements) const;

  /// Folds the partials of [first, first + count), which is all that the buffer has.
  void fold(Share& share, std::int64_t first, std::int64_t count) const;
  /// The same for those that go in the order of the elements: one call at a time.
  void fold_in_order(const Share& share, std::int64_t count) const;
  /// Lets others see what a share has folded of neighbouring blocks, so that little waits.
  void pass_on(Share& share);
  /// Sets the totals from all shares.
  void finish(std::span<Share* const> shares);

 private:
  /// How one of them is folded.
  struct Way {
    const Fold* fold;
    std::size_t column;  // the first one
    std::size_t cell;    // likewise
    FoldBlock block = nullptr;
    FoldMany many = nullptr;
    Scalar neutral;
    bool is_ordered = false;
    std::vector<types::Item> items;  // that a function of the user's combines

    std::size_t cells() const;  // none: it has a table
    std::size_t stripe_bytes() const;
    std::size_t table_bytes() const;
  };
  static Way way(const Fold& fold);
  void fold_blocks(Share& share, std::int64_t first, std::int64_t count) const;
  void fold_cells(Share& share, std::int64_t at, std::int64_t count, std::int64_t number,
                  FoldCell* cells) const;
  static void fold_rows(const Way& way, const Block& stripes, const std::byte* rows,
                        std::int64_t count, std::int64_t number, FoldCell* cells);
  void combine_all(Share& share, std::int64_t first, std::int64_t count) const;
  void combine(FoldCell* left, const FoldCell* right) const;

  std::vector<Way> ways_;
  std::vector<types::Item> items_;  // of the results that are folded
  std::size_t first_output_;
  std::int64_t first_element_;
  std::size_t width_ = 0;  // cells of a block
  bool is_ordered_ = false;
  std::optional<FoldTree> tree_;
  std::mutex mutex_;
};

}  // namespace lw::runtime
