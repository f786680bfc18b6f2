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

  /// Lays the arrays out anew, each ending where memory ends; strided: with room between elements.
  void set_layout(std::int64_t count, bool strided);
  /// Fills outputs, and a stretch before them, with a pattern, and targets with what they had.
  void poison();
  /// Tables begin where memory begins or end where it ends, by turns.
  runtime::Buffers buffers() const {
    return {.inputs = input_pointers_,
            .shared = shared_,
            .outputs = output_pointers_,
            .count = count_,
            .strides = strided_ ? std::span<const std::int64_t>(strides_)
                                : std::span<const std::int64_t>(),
            .tables = tables().list(),
            .shape = {}};
  }
  /// The same with the last results folded.
  runtime::Buffers folding(const runtime::Fold& fold) const {
    runtime::Buffers all = buffers();
    all.outputs = all.outputs.first(all.outputs.size() - fold.columns);
    all.folds = std::span(&fold, 1);
    return all;
  }
  /// What value `position` of a result has to be.
  Scalar truth(std::size_t result, std::int64_t element, std::int64_t position) const {
    const Array& array = outputs_[result];
    const auto size = static_cast<std::int64_t>(types::size_of(array.item.type));
    return Scalar::load(array.item.type, array.value(element % period_) + position * size);
  }
  /// What differs from the truth in the outputs, or nothing.
  std::string mismatch() const;

 private:
  /// One input or output.
  struct Array {
    types::Item item;
    std::vector<std::byte> values;  // of one period
    std::deque<Guarded> memory = {};
    std::int64_t capacity = 0;  // bytes
    std::byte* start = nullptr;
    std::int64_t stride = 0;
    std::int64_t bytes = 0;

    std::byte* at(std::int64_t element) const { return start + element * stride; }
    const std::byte* value(std::int64_t place) const {
      return values.data() + place * item.bytes();
    }
    std::int64_t size() const { return item.is_row() ? item.size : 1; }
  };

  const Tables& tables() const { return count_ % 2 == 0 ? tables_at_begin_ : tables_at_end_; }
  void lay_out(Array& array);
  template <class T>
  std::string differs(std::size_t r) const;

  std::int64_t period_;
  std::span<const ir::Evaluation> truth_;
  std::deque<Array> inputs_, outputs_;
  std::vector<std::uint64_t> shared_;
  Tables tables_at_begin_, tables_at_end_;
  std::vector<const void*> input_pointers_;
  std::vector<void*> output_pointers_;
  std::vector<std::int64_t> strides_;
  std::int64_t count_ = 0;
  bool strided_ = false;
};

}  // namespace lw::fuzz
