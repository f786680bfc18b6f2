// Rows of different lengths: their order by length, and numbers of rows for all their values.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace lw::runtime {

/// Writes number i to the places from offsets[i] to offsets[i + 1], counted from `low`, as far as
/// they are in `out`. There is one offset more than numbers, and they ascend.
///
/// Most rows are short: they are filled by whole registers, beyond their end too, where the next
/// row follows.
template <class Number, class Offset>
void spread(std::span<const Number> numbers, const Offset* offsets, std::int64_t low,
            std::span<Number> out) {
  using Register [[gnu::vector_size(16)]] = Number;
  constexpr std::int64_t kRegister = 16 / sizeof(Number);
  const auto size = static_cast<std::int64_t>(out.size());
  const auto place = [&](std::size_t i) {
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(offsets[i]) - low, 0, size);
  };
  const bool has_room = size >= 4 * kRegister;
  const Number* const last = out.data() + (has_room ? size - 4 * kRegister : 0);
  std::int64_t begin = place(0);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::int64_t end = std::max(begin, place(i + 1));
    const Register all = Register{} + numbers[i];
    Number* to = out.data() + begin;
    Number* const behind = out.data() + end;
    for (; has_room && to < behind && to <= last; to += 4 * kRegister) {
      std::memcpy(to, &all, sizeof(all));
      std::memcpy(to + kRegister, &all, sizeof(all));
      std::memcpy(to + 2 * kRegister, &all, sizeof(all));
      std::memcpy(to + 3 * kRegister, &all, sizeof(all));
    }
    if (to < behind) std::fill(to, behind, numbers[i]);
    begin = end;
  }
}

constexpr std::uint64_t kExactLengths = 512;  // shorter ones have a bucket each, an octave has 64
constexpr std::size_t kLengthBuckets = kExactLengths + 55 * 64;

/// What `order_by_length` needs for so many rows beside the order.
constexpr std::int64_t ordering_bytes(std::int64_t rows) {
  return rows * static_cast<std::int64_t>(sizeof(std::uint16_t)) +
         static_cast<std::int64_t>((kLengthBuckets + 1) * sizeof(std::uint32_t));
}

/// Writes the rows from shorter to longer ones, so that lanes side by side have like lengths; rows
/// of the same length stay in their order, and of long ones a few percent make no difference.
/// False, and nothing written, where packets of rows as they stand would wait little.
template <class Offset>
bool order_by_length(std::span<const Offset> offsets, std::span<std::uint32_t> order) {
  constexpr std::size_t kPacket = 64;
  constexpr std::size_t kLooks = 16;  // packets that stand for all
  const std::size_t rows = order.size();
  const auto length = [&](std::size_t i) {
    return static_cast<std::uint64_t>(offsets[i + 1] - offsets[i]);
  };
  std::uint64_t steps = 0;
  std::uint64_t total = 0;
  const std::size_t stride = std::max<std::size_t>(rows / (kLooks * kPacket), 1) * kPacket;
  for (std::size_t begin = 0; begin + kPacket <= rows; begin += stride) {
    std::uint64_t longest = 0;
    for (std::size_t i = begin; i < begin + kPacket; ++i) longest = std::max(longest, length(i));
    steps += longest * kPacket;
    total += static_cast<std::uint64_t>(offsets[begin + kPacket] - offsets[begin]);
  }
  if (10 * steps <= 13 * total) return false;
  std::vector<std::uint16_t> buckets(rows);
  std::vector<std::uint32_t> places(kLengthBuckets + 1);
  for (std::size_t i = 0; i < rows; ++i) {
    std::uint64_t bucket = length(i);
    if (bucket >= kExactLengths) {
      const std::uint64_t octave = std::bit_width(bucket) - 10;  // 0 for 512 to 1023
      bucket = kExactLengths + octave * 64 + ((bucket >> (octave + 3)) & 63);
    }
    buckets[i] = static_cast<std::uint16_t>(bucket);
    ++places[bucket + 1];
  }
  for (std::size_t b = 1; b < places.size(); ++b) places[b] += places[b - 1];
  for (std::size_t i = 0; i < rows; ++i)
    order[places[buckets[i]]++] = static_cast<std::uint32_t>(i);
  return true;
}

}  // namespace lw::runtime
