// The memory a map works on in a trial: inputs repeated to any count, outputs with fences.
#pragma once

#include <cstring>
#include <deque>

#include "lanewise/ir/evaluate.h"
#include "lanewise/runtime/execute.h"
#include "tests/fuzz/tables.h"

namespace lw::fuzz {

/// Element i gets the values of input i mod `inputs.count`, and must give its results.
class Arrays {
 public:
  Arrays(const ir::Function& function, const Inputs& inputs, std::span<const ir::Evaluation> truth);

  /// Lays the arrays out anew, each ending where memory ends.
  void set_count(std::int64_t count);
  /// Fills outputs, and a stretch before them, with a pattern.
  void poison();
  /// Tables begin where memory begins or end where it ends, by turns.
  runtime::Buffers buffers() const {
    const Tables& tables = count_ % 2 == 0 ? tables_at_begin_ : tables_at_end_;
    return {input_pointers_, shared_, output_pointers_, count_, {}, tables.list()};
  }
  /// What differs from the truth in the outputs, or nothing.
  std::string mismatch() const;
  std::uint64_t digest() const;

 private:
  void allocate(std::int64_t count);
  std::size_t bytes(std::size_t r) const {
    return types::size_of(results_[r]) * static_cast<std::size_t>(count_);
  }
  std::byte* start(std::size_t r) const { return static_cast<std::byte*>(output_pointers_[r]); }
  template <class T>
  std::string differs(std::size_t r) const;

  std::vector<DType> results_;
  std::int64_t period_;
  std::vector<std::vector<std::byte>> inputs_, expected_;
  std::vector<std::size_t> input_sizes_;
  std::vector<std::uint64_t> shared_;
  Tables tables_at_begin_, tables_at_end_;
  std::deque<Guarded> input_memory_, output_memory_;
  std::vector<const void*> input_pointers_;
  std::vector<void*> output_pointers_;
  std::int64_t count_ = 0;
  std::int64_t capacity_ = 0;
};

}  // namespace lw::fuzz
