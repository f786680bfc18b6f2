// Elements that fail while the others go on. A kernel says which ones do, some of them more than
// once; a failing lane goes no further, and what it stores is anything. So each worker marks them
// while it runs a piece of its chunk, and fills their results when the piece is done: with what the
// caller wants of those that are stored, and of those that are folded with what changes no total.
#pragma once

#include <span>
#include <vector>

#include "lanewise/kernel/lane.h"
#include "lanewise/runtime/buffers.h"

namespace lw::runtime {

/// What a result of this number and type is where an element fails. `values` are those that the
/// caller wants: one for each result or one for all; none: NaN and 0.
Scalar filling_of(DType type, std::span<const Scalar> values, std::size_t number);

/// What the results of failed elements are.
class Filling {
 public:
  /// `values`: of the results that are stored.
  Filling(const Buffers& buffers, const kernel::Kernel& kernel, std::span<const Scalar> values);

  /// `outputs` as Context has them.
  void fill(void* const* outputs, std::int64_t element) const;

 private:
  struct Column {
    Scalar value;
    std::int64_t values;  // of an element
    std::int64_t bytes;   // likewise
  };
  std::vector<Column> columns_;
};

/// Those of one worker.
class Failing {
 public:
  /// Elements of a piece at most: refilled loops drain at its end.
  static constexpr std::int64_t kPiece = 64 << 10;

  /// `most`: how many are remembered.
  explicit Failing(std::int64_t most) : most_(most), marks_(kPiece / 64) {}

  /// From now on the elements from `first` on run; others are not marked.
  void begin(std::int64_t first, std::int64_t count) {
    first_ = first;
    size_ = count;
  }
  /// Marks the elements first + ids[lane] of these lanes.
  void mark(std::uint64_t lanes, const std::int32_t* ids, std::int64_t first);
  /// The piece is done. `failed`: what is said of each element, if anybody asks.
  void end(const Filling& filling, void* const* outputs, bool* failed);

  std::int64_t count() const { return count_; }
  /// The first ones, in order: a worker's pieces come in the order of elements.
  std::span<const std::int64_t> first() const { return lowest_; }

 private:
  std::int64_t most_;
  std::vector<std::uint64_t> marks_;  // a bit for each element of the piece
  bool has_marks_ = false;
  std::int64_t first_ = 0;
  std::int64_t size_ = 0;
  std::int64_t count_ = 0;
  std::vector<std::int64_t> lowest_;
};

}  // namespace lw::runtime
