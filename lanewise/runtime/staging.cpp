#include "lanewise/runtime/staging.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace lw::runtime {
namespace {

template <int size>
void copy_sized(std::byte* to, std::int64_t to_stride, const std::byte* from,
                std::int64_t from_stride, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    std::memcpy(to + i * to_stride, from + i * from_stride, size);
  }
}

void copy(void* to, std::int64_t to_stride, const void* from, std::int64_t from_stride, int size,
          std::int64_t count) {
  auto* const dst = static_cast<std::byte*>(to);
  const auto* const src = static_cast<const std::byte*>(from);
  switch (size) {
    case 1:
      return copy_sized<1>(dst, to_stride, src, from_stride, count);
    case 2:
      return copy_sized<2>(dst, to_stride, src, from_stride, count);
    case 4:
      return copy_sized<4>(dst, to_stride, src, from_stride, count);
    default:
      return copy_sized<8>(dst, to_stride, src, from_stride, count);
  }
}

/// Where element 0 would be if element `first` were at `block`. Never followed outside the block.
std::byte* element_zero(const Block& block, std::int64_t first, int size) {
  const auto address = reinterpret_cast<std::uintptr_t>(block.data());
  return reinterpret_cast<std::byte*>(address - static_cast<std::uintptr_t>(first * size));
}

}  // namespace

std::int64_t Staging::block_bytes(const Buffers& buffers, std::size_t index, DType type,
                                  std::int64_t block) {
  const auto size = static_cast<std::int64_t>(types::size_of(type));
  return buffers.strides[index] == size ? 0 : block * size;
}

std::int64_t Staging::bytes(const Buffers& buffers, const kernel::Kernel& kernel,
                            std::int64_t block) {
  if (buffers.strides.empty()) return 0;
  std::int64_t sum = 0;
  std::size_t index = 0;
  for (const DType type : kernel.inputs) sum += block_bytes(buffers, index++, type, block);
  for (const DType type : kernel.outputs) sum += block_bytes(buffers, index++, type, block);
  return sum;
}

Staging::Staging(const Buffers& buffers, const kernel::Kernel& kernel, std::int64_t block)
    : block_(block),
      inputs_(buffers.inputs.begin(), buffers.inputs.end()),
      outputs_(buffers.outputs.begin(), buffers.outputs.end()),
      sources_(inputs_),
      targets_(outputs_) {
  std::size_t array = 0;
  const auto add = [&](std::vector<Strided>& list, std::size_t index, DType type) {
    const auto bytes = static_cast<std::size_t>(block_bytes(buffers, array, type, block));
    const std::int64_t stride = buffers.strides[array++];
    if (bytes == 0) return;
    list.push_back(
        {index, stride, static_cast<int>(types::size_of(type)), Block(Purpose::Scratch, bytes)});
  };
  for (std::size_t i = 0; i < inputs_.size(); ++i) add(strided_inputs_, i, kernel.inputs[i]);
  for (std::size_t i = 0; i < outputs_.size(); ++i) add(strided_outputs_, i, kernel.outputs[i]);
}

void Staging::load(std::int64_t first, std::int64_t count) {
  for (const Strided& s : strided_inputs_) {
    const auto* from = static_cast<const std::byte*>(sources_[s.index]) + first * s.stride;
    copy(s.block.data(), s.size, from, s.stride, s.size, count);
    inputs_[s.index] = element_zero(s.block, first, s.size);
  }
  for (const Strided& s : strided_outputs_) {
    outputs_[s.index] = element_zero(s.block, first, s.size);
  }
}

void Staging::store(std::int64_t first, std::int64_t count) const {
  for (const Strided& s : strided_outputs_) {
    auto* to = static_cast<std::byte*>(targets_[s.index]) + first * s.stride;
    copy(to, s.stride, s.block.data(), s.size, s.size, count);
  }
}

}  // namespace lw::runtime
