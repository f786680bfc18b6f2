// The arrays of one call.
#pragma once

#include <cstdint>
#include <span>

namespace lw::runtime {

struct Buffers {
  std::span<const void* const> inputs;    // mapped, in order
  std::span<const std::uint64_t> shared;  // bits; without the step limit
  std::span<void* const> outputs;
  std::int64_t count = 0;
  /// Bytes from one element to the next, of the inputs and then of the outputs; none: all arrays
  /// have their elements together.
  std::span<const std::int64_t> strides;
};

}  // namespace lw::runtime
