// Arrays whose elements do not stand together: kernels see a block of them at a time in a buffer.
#pragma once

#include <cstddef>
#include <vector>

#include "lanewise/kernel/lane.h"
#include "lanewise/runtime/buffers.h"
#include "lanewise/runtime/memory.h"

namespace lw::runtime {

class Staging {
 public:
  /// Elements of a block: refilled loops drain at its end, so it is large where there is room.
  static constexpr std::int64_t kBlock = 16 << 10;
  static constexpr std::int64_t kLeastBlock = 64;

  Staging(const Buffers& buffers, const kernel::Kernel& kernel, std::int64_t block);

  /// The bytes of a block of array `index`, inputs first; 0: its elements stand together.
  static std::int64_t block_bytes(const Buffers& buffers, std::size_t index, DType type,
                                  std::int64_t block);
  /// The bytes of all blocks.
  static std::int64_t bytes(const Buffers& buffers, const kernel::Kernel& kernel,
                            std::int64_t block);
  /// Elements of a block.
  std::int64_t block() const { return block_; }

  /// Brings the inputs of [first, first + count) in, and makes room for its outputs.
  void load(std::int64_t first, std::int64_t count);
  /// Takes its outputs to their places.
  void store(std::int64_t first, std::int64_t count) const;

  /// As Context has them: element 0 of each array, had it the elements all together.
  const void* const* inputs() const { return inputs_.data(); }
  void* const* outputs() const { return outputs_.data(); }

 private:
  struct Strided {
    std::size_t index;    // of the array
    std::int64_t stride;  // bytes
    int size;             // bytes of an element
    Block block;
  };

  std::int64_t block_;
  std::vector<const void*> inputs_;
  std::vector<void*> outputs_;
  std::vector<const void*> sources_;
  std::vector<void*> targets_;
  std::vector<Strided> strided_inputs_;
  std::vector<Strided> strided_outputs_;
};

}  // namespace lw::runtime
