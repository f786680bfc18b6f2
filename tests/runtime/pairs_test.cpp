#include "lanewise/runtime/pairs.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <vector>

namespace lw::runtime {
namespace {

/// Splits and joins pairs of every small number, at every distance from a line of the cache.
template <class T>
void check_moves() {
  const PairMoves moves = pair_moves(sizeof(T));
  for (std::size_t count = 0; count < 70; ++count) {
    for (std::size_t skip = 0; skip < 64; skip += 3) {
      std::vector<T> numbers(2 * count);
      std::iota(numbers.begin(), numbers.end(), T{1});
      const std::size_t bytes = numbers.size() * sizeof(T);
      std::vector<std::byte> pairs(bytes + 128), back(bytes + 128);
      if (bytes > 0) std::memcpy(pairs.data() + skip, numbers.data(), bytes);
      std::vector<T> first(count + 1), second(count + 1);
      auto* const a = reinterpret_cast<std::byte*>(first.data());
      auto* const b = reinterpret_cast<std::byte*>(second.data());
      const auto n = static_cast<std::int64_t>(count);
      moves.split(a, b, pairs.data() + skip, n);
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(first[i], numbers[2 * i]);
        ASSERT_EQ(second[i], numbers[2 * i + 1]);
      }
      EXPECT_EQ(first[count], 0u);
      EXPECT_EQ(second[count], 0u);
      moves.join(back.data() + skip, a, b, n);
      EXPECT_EQ(back, pairs);
    }
  }
}

TEST(RuntimePairs, AreSplitAndJoinedAtAnyAddress) {
  check_moves<std::uint32_t>();
  check_moves<std::uint64_t>();
}

}  // namespace
}  // namespace lw::runtime
