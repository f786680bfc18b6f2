// Two arrays whose elements alternate in memory, as the parts of complex numbers do.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lw::runtime {

/// Moves `count` pairs of elements of 4 or 8 bytes, at any address.
struct PairMoves {
  void (*split)(std::byte* first, std::byte* second, const std::byte* from, std::int64_t count);
  void (*join)(std::byte* to, const std::byte* first, const std::byte* second, std::int64_t count);
};

/// Those for elements of this size, with the widest registers that the machine has.
PairMoves pair_moves(std::int64_t size);

}  // namespace lw::runtime
