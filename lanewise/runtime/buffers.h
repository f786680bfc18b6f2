// The arrays of one call.
#pragma once

#include <cstdint>
#include <span>

#include "lanewise/types/table.h"

namespace lw::runtime {

struct Buffers {
  std::span<const void* const> inputs;    // mapped, in order
  std::span<const std::uint64_t> shared;  // bits; without what comes from options
  std::span<void* const> outputs;
  std::int64_t count = 0;
  /// Bytes from one element to the next, of the inputs and then of the outputs; none: all arrays
  /// have their elements together.
  std::span<const std::int64_t> strides;
  std::span<const types::Table> tables;
};

}  // namespace lw::runtime
