// The arrays of one call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "lanewise/runtime/fold.h"
#include "lanewise/types/table.h"

namespace lw::runtime {

struct Buffers {
  std::span<const void* const> inputs;    // mapped, in order
  std::span<const std::uint64_t> shared;  // bits; without what comes from options
  std::span<void* const> outputs;         // of the results that are stored
  std::int64_t count = 0;
  /// Bytes from one element to the next along each dimension of `shape`, of the inputs and then of
  /// the outputs; none: all arrays have their elements together.
  std::span<const std::int64_t> strides;
  std::span<const types::Table> tables;
  /// The dimensions of the arrays, the last one fastest; none: there is one, of `count`.
  std::span<const std::int64_t> shape;
  /// The input of bools that says which results are stored; -1: all are.
  int where = -1;
  /// What becomes of the results behind those that are stored.
  std::span<const Fold> folds;

  std::size_t rank() const { return shape.empty() ? 1 : shape.size(); }
  std::span<const std::int64_t> strides_of(std::size_t array) const {
    return strides.subspan(array * rank(), rank());
  }
  bool is_staged() const { return !strides.empty() || where >= 0; }
};

}  // namespace lw::runtime
