// Arrays whose elements do not stand together, and results of which only some are stored: kernels
// see a block of them at a time in a buffer.
#pragma once

#include <cstddef>
#include <vector>

#include "lanewise/kernel/lane.h"
#include "lanewise/runtime/buffers.h"
#include "lanewise/runtime/memory.h"

namespace lw::runtime {

/// Bytes from the first element of an array, whose elements have so many, to this one.
std::int64_t offset_of(const Buffers& buffers, std::size_t array, std::int64_t size,
                       std::int64_t element);

class Staging {
 public:
  /// Elements of a block: refilled loops drain at its end, so it is large where there is room.
  static constexpr std::int64_t kBlock = 16 << 10;
  /// Bytes of all blocks where there are no loops: they stay in the nearest cache.
  static constexpr std::int64_t kNearBytes = 16 << 10;
  /// Bytes of all blocks where there are: elements may be images.
  static constexpr std::int64_t kMostBytes = 1 << 20;
  /// The fewest elements of a block: lanes for all of a packet, or one element that is large.
  static std::int64_t least_block(const Buffers& buffers, const kernel::Kernel& kernel);

  Staging(const Buffers& buffers, const kernel::Kernel& kernel, std::int64_t block);

  /// The bytes of a block of array `index`, inputs first; 0: its elements stand together.
  static std::int64_t block_bytes(const Buffers& buffers, std::size_t index, types::Item item,
                                  std::int64_t block);
  /// The bytes of all blocks.
  static std::int64_t bytes(const Buffers& buffers, const kernel::Kernel& kernel,
                            std::int64_t block);
  /// Elements of a block.
  std::int64_t block() const { return block_; }
  /// Bytes that it holds.
  std::int64_t bytes() const;

  /// Brings the inputs of [first, first + count) in, and makes room for its outputs.
  void load(std::int64_t first, std::int64_t count);
  /// Takes its outputs to their places.
  void store(std::int64_t first, std::int64_t count) const;

  /// As Context has them: element 0 of each array, had it the elements all together.
  const void* const* inputs() const { return inputs_.data(); }
  void** outputs() { return outputs_.data(); }  // those that are folded are not set here

 private:
  struct Strided {
    std::size_t index;  // of the array among its kind
    std::size_t array;  // of the array among all
    std::int64_t size;  // bytes of an element
    Block block;
    bool alternates = false;  // its elements and those of the next, as parts of complex numbers
  };
  bool alternate(const Strided& a, const Strided& b, const void* first, const void* second) const;

  const Buffers& buffers_;
  std::int64_t block_;
  std::vector<const void*> inputs_;
  std::vector<void*> outputs_;
  std::vector<const void*> sources_;
  std::vector<void*> targets_;
  std::vector<Strided> strided_inputs_;
  std::vector<Strided> strided_outputs_;
};

}  // namespace lw::runtime
