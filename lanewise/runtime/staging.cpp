#include "lanewise/runtime/staging.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "lanewise/runtime/pairs.h"

namespace lw::runtime {
namespace {

template <int size>
void copy_sized(std::byte* to, std::int64_t to_stride, const std::byte* from,
                std::int64_t from_stride, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    std::memcpy(to + i * to_stride, from + i * from_stride, size);
  }
}

void copy(void* to, std::int64_t to_stride, const void* from, std::int64_t from_stride,
          std::int64_t size, std::int64_t count) {
  auto* const dst = static_cast<std::byte*>(to);
  const auto* const src = static_cast<const std::byte*>(from);
  if (from_stride == size && to_stride == size) {
    std::memcpy(to, from, static_cast<std::size_t>(size * count));
    return;
  }
  switch (size) {
    case 1:
      return copy_sized<1>(dst, to_stride, src, from_stride, count);
    case 2:
      return copy_sized<2>(dst, to_stride, src, from_stride, count);
    case 4:
      return copy_sized<4>(dst, to_stride, src, from_stride, count);
    case 8:
      return copy_sized<8>(dst, to_stride, src, from_stride, count);
    default:
      for (std::int64_t i = 0; i < count; ++i) {
        std::memcpy(dst + i * to_stride, src + i * from_stride, static_cast<std::size_t>(size));
      }
  }
}

/// Where element 0 would be if element `first` were at `block`. Never followed outside the block.
std::byte* element_zero(const Block& block, std::int64_t first, std::int64_t size) {
  const auto address = reinterpret_cast<std::uintptr_t>(block.data());
  return reinterpret_cast<std::byte*>(address - static_cast<std::uintptr_t>(first * size));
}

/// Calls visit(bytes from the first element, elements, bytes from one to the next) for the pieces
/// of [first, first + count) that lie along the last dimension.
template <class Visit>
void for_each_run(const Buffers& buffers, std::size_t array, std::int64_t size, std::int64_t first,
                  std::int64_t count, const Visit& visit) {
  if (buffers.strides.empty()) return visit(first * size, count, size);
  const std::span<const std::int64_t> strides = buffers.strides_of(array);
  if (buffers.shape.empty()) return visit(first * strides[0], count, strides[0]);
  const std::int64_t length = buffers.shape.back();
  while (count > 0) {
    const std::int64_t run = std::min(length - first % length, count);
    visit(offset_of(buffers, array, size, first), run, strides.back());
    first += run;
    count -= run;
  }
}

/// Copies the elements for which `where` holds.
void copy_where(const bool* where, void* to, std::int64_t to_stride, const std::byte* from,
                std::int64_t size, std::int64_t count) {
  auto* const dst = static_cast<std::byte*>(to);
  for (std::int64_t i = 0; i < count; ++i) {
    if (where[i]) std::memcpy(dst + i * to_stride, from + i * size, static_cast<std::size_t>(size));
  }
}

/// True when the elements stand in their order, without a byte between.
bool is_together(const Buffers& buffers, std::size_t array, std::int64_t size) {
  if (buffers.strides.empty()) return true;
  const std::span<const std::int64_t> strides = buffers.strides_of(array);
  for (std::size_t d = buffers.rank(); d-- > 0;) {
    const std::int64_t length = buffers.shape.empty() ? buffers.count : buffers.shape[d];
    if (strides[d] != size && length != 1) return false;
    size *= length;
  }
  return true;
}

}  // namespace

std::int64_t offset_of(const Buffers& buffers, std::size_t array, std::int64_t size,
                       std::int64_t element) {
  if (buffers.strides.empty()) return element * size;
  const std::span<const std::int64_t> strides = buffers.strides_of(array);
  std::int64_t offset = 0;
  for (std::size_t d = buffers.rank(); d-- > 1;) {
    offset += element % buffers.shape[d] * strides[d];
    element /= buffers.shape[d];
  }
  return offset + element * strides[0];
}

std::int64_t Staging::block_bytes(const Buffers& buffers, std::size_t index, types::Item item,
                                  std::int64_t block) {
  const std::int64_t size = item.bytes();
  const bool is_partly_stored = buffers.where >= 0 && index >= buffers.inputs.size();
  return is_together(buffers, index, size) && !is_partly_stored ? 0 : block * size;
}

std::int64_t Staging::bytes(const Buffers& buffers, const kernel::Kernel& kernel,
                            std::int64_t block) {
  if (!buffers.is_staged()) return 0;
  std::int64_t sum = 0;
  std::size_t index = 0;
  for (const types::Item& item : kernel.inputs) sum += block_bytes(buffers, index++, item, block);
  for (std::size_t i = 0; i < buffers.outputs.size(); ++i) {
    sum += block_bytes(buffers, index++, kernel.outputs[i], block);
  }
  return sum;
}

std::int64_t Staging::least_block(const Buffers& buffers, const kernel::Kernel& kernel) {
  constexpr std::int64_t kLeast = 64, kLeastBytes = 64 << 10;
  return std::clamp<std::int64_t>(
      kLeastBytes / std::max<std::int64_t>(bytes(buffers, kernel, 1), 1), 1, kLeast);
}

std::int64_t Staging::bytes() const {
  std::size_t sum = 0;
  for (const auto* list : {&strided_inputs_, &strided_outputs_}) {
    for (const Strided& s : *list) sum += s.block.bytes();
  }
  return static_cast<std::int64_t>(sum);
}

Staging::Staging(const Buffers& buffers, const kernel::Kernel& kernel, std::int64_t block)
    : buffers_(buffers),
      block_(block),
      inputs_(buffers.inputs.begin(), buffers.inputs.end()),
      outputs_(buffers.outputs.begin(), buffers.outputs.end()),
      sources_(inputs_),
      targets_(outputs_) {
  std::size_t array = 0;
  const auto add = [&](std::vector<Strided>& list, std::size_t index, types::Item item) {
    const std::size_t number = array++;
    const auto bytes = static_cast<std::size_t>(block_bytes(buffers, number, item, block));
    if (bytes == 0) return;
    list.push_back({index, number, item.bytes(), Block(Purpose::Scratch, bytes)});
  };
  for (std::size_t i = 0; i < inputs_.size(); ++i) add(strided_inputs_, i, kernel.inputs[i]);
  for (std::size_t i = 0; i < outputs_.size(); ++i) add(strided_outputs_, i, kernel.outputs[i]);
  outputs_.resize(kernel.outputs.size());
  for (std::size_t i = 1; i < strided_inputs_.size(); ++i) {
    Strided& s = strided_inputs_[i - 1];
    s.alternates =
        alternate(s, strided_inputs_[i], sources_[s.index], sources_[strided_inputs_[i].index]);
  }
  for (std::size_t i = 1; i < strided_outputs_.size() && buffers.where < 0; ++i) {
    Strided& s = strided_outputs_[i - 1];
    s.alternates =
        alternate(s, strided_outputs_[i], targets_[s.index], targets_[strided_outputs_[i].index]);
  }
}

bool Staging::alternate(const Strided& a, const Strided& b, const void* first,
                        const void* second) const {
  if (buffers_.strides.empty() || a.size != b.size || (a.size != 4 && a.size != 8)) return false;
  const std::span<const std::int64_t> strides = buffers_.strides_of(a.array);
  return strides.back() == 2 * a.size &&
         std::ranges::equal(strides, buffers_.strides_of(b.array)) &&
         static_cast<const std::byte*>(first) + a.size == second;
}

void Staging::load(std::int64_t first, std::int64_t count) {
  for (std::size_t i = 0; i < strided_inputs_.size(); ++i) {
    const Strided& s = strided_inputs_[i];
    auto* to = static_cast<std::byte*>(s.block.data());
    const auto* from = static_cast<const std::byte*>(sources_[s.index]);
    inputs_[s.index] = element_zero(s.block, first, s.size);
    if (s.alternates) {
      const Strided& next = strided_inputs_[++i];
      auto* second = static_cast<std::byte*>(next.block.data());
      inputs_[next.index] = element_zero(next.block, first, s.size);
      const PairMoves moves = pair_moves(s.size);
      for_each_run(buffers_, s.array, s.size, first, count,
                   [&](std::int64_t offset, std::int64_t run, std::int64_t) {
                     moves.split(to, second, from + offset, run);
                     to += run * s.size;
                     second += run * s.size;
                   });
      continue;
    }
    for_each_run(buffers_, s.array, s.size, first, count,
                 [&](std::int64_t offset, std::int64_t run, std::int64_t stride) {
                   copy(to, s.size, from + offset, stride, s.size, run);
                   to += run * s.size;
                 });
  }
  for (const Strided& s : strided_outputs_) {
    outputs_[s.index] = element_zero(s.block, first, s.size);
    if (!s.alternates) continue;
    // The memory is on its way while the kernel runs.
    const auto* to = static_cast<const std::byte*>(targets_[s.index]);
    for_each_run(buffers_, s.array, s.size, first, count,
                 [&](std::int64_t offset, std::int64_t run, std::int64_t stride) {
                   for (std::int64_t at = 0; at < run * stride; at += 64) {
                     __builtin_prefetch(to + offset + at, 1);
                   }
                 });
  }
}

void Staging::store(std::int64_t first, std::int64_t count) const {
  for (std::size_t i = 0; i < strided_outputs_.size(); ++i) {
    const Strided& s = strided_outputs_[i];
    const auto* from = static_cast<const std::byte*>(s.block.data());
    auto* to = static_cast<std::byte*>(targets_[s.index]);
    if (s.alternates) {
      const auto* second = static_cast<const std::byte*>(strided_outputs_[++i].block.data());
      const PairMoves moves = pair_moves(s.size);
      for_each_run(buffers_, s.array, s.size, first, count,
                   [&](std::int64_t offset, std::int64_t run, std::int64_t) {
                     moves.join(to + offset, from, second, run);
                     from += run * s.size;
                     second += run * s.size;
                   });
      continue;
    }
    const auto* where =
        buffers_.where >= 0
            ? static_cast<const bool*>(inputs_[static_cast<std::size_t>(buffers_.where)]) + first
            : nullptr;
    for_each_run(buffers_, s.array, s.size, first, count,
                 [&](std::int64_t offset, std::int64_t run, std::int64_t stride) {
                   if (where == nullptr) {
                     copy(to + offset, stride, from, s.size, s.size, run);
                   } else {
                     copy_where(where, to + offset, stride, from, s.size, run);
                     where += run;
                   }
                   from += run * s.size;
                 });
  }
}

}  // namespace lw::runtime
