#include "lanewise/runtime/ragged.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace lw::runtime {
namespace {

template <class Number>
std::vector<Number> spread_by_hand(const std::vector<Number>& numbers,
                                   const std::vector<std::int32_t>& offsets, std::int64_t low,
                                   std::size_t size) {
  std::vector<Number> out(size);
  for (std::size_t row = 0; row < numbers.size(); ++row) {
    for (std::int64_t at = offsets[row]; at < offsets[row + 1]; ++at) {
      if (at >= low && at < low + static_cast<std::int64_t>(size)) {
        out[static_cast<std::size_t>(at - low)] = numbers[row];
      }
    }
  }
  return out;
}

template <class Number>
void expect_spread() {
  const std::vector<std::int32_t> offsets = {3, 3, 4, 20, 20, 150, 151, 300};
  const std::vector<Number> numbers = {1, 2, 3, 4, 5, 6, 7};
  for (const std::int64_t low : {3, 4, 10, 149, 160, 299}) {
    for (const std::int64_t size : {0, 1, 5, 63, 64, 65, 140}) {
      if (low + size > 300) continue;
      std::vector<Number> out(static_cast<std::size_t>(size) + 1, 99);  // one that stays
      spread<Number, std::int32_t>(numbers, offsets.data(), low,
                                   std::span(out).first(static_cast<std::size_t>(size)));
      EXPECT_EQ(out.back(), 99) << low << " " << size;
      out.pop_back();
      EXPECT_EQ(out, spread_by_hand(numbers, offsets, low, out.size())) << low << " " << size;
    }
  }
}

TEST(Ragged, NumbersOfRowsGoToTheirValuesAndNowhereElse) {
  expect_spread<std::uint8_t>();
  expect_spread<std::uint16_t>();
  expect_spread<std::uint32_t>();
  expect_spread<std::uint64_t>();
}

std::vector<std::int64_t> offsets_of(const std::vector<std::int64_t>& lengths) {
  std::vector<std::int64_t> offsets = {0};
  for (const std::int64_t length : lengths) offsets.push_back(offsets.back() + length);
  return offsets;
}

TEST(Ragged, RowsAreOrderedByLengthAndOtherwiseStayInOrder) {
  std::vector<std::int64_t> lengths;
  for (std::int64_t i = 0; i < 1000; ++i) lengths.push_back(i * 7919 % 500);
  const auto offsets = offsets_of(lengths);
  std::vector<std::uint32_t> order(lengths.size());
  ASSERT_TRUE(order_by_length<std::int64_t>(offsets, order));
  std::vector<std::uint32_t> expected(lengths.size());
  std::iota(expected.begin(), expected.end(), 0U);
  std::ranges::sort(expected, {}, [&](std::uint32_t row) { return std::pair(lengths[row], row); });
  EXPECT_EQ(order, expected);
}

TEST(Ragged, LongRowsAreOrderedToAFewPercent) {
  std::vector<std::int64_t> lengths;
  for (std::int64_t i = 0; i < 640; ++i) lengths.push_back((i * 7919 % 640 + 1) * 1'000'003);
  std::vector<std::uint32_t> order(lengths.size());
  ASSERT_TRUE(order_by_length<std::int64_t>(offsets_of(lengths), order));
  std::int64_t longest = 0;
  std::vector<bool> seen(lengths.size());
  for (const std::uint32_t row : order) {
    EXPECT_GE(lengths[row] * 65, longest * 64);
    longest = std::max(longest, lengths[row]);
    seen[row] = true;
  }
  EXPECT_TRUE(std::ranges::all_of(seen, [](bool is_there) { return is_there; }));
}

TEST(Ragged, RowsOfLikeLengthsStayAsTheyAre) {
  std::vector<std::uint32_t> order(130, 7);
  EXPECT_FALSE(order_by_length<std::int64_t>(offsets_of(std::vector<std::int64_t>(130, 9)), order));
  EXPECT_FALSE(order_by_length<std::int64_t>(offsets_of(std::vector<std::int64_t>(130, 0)), order));
  EXPECT_EQ(order, std::vector<std::uint32_t>(130, 7));
}

}  // namespace
}  // namespace lw::runtime
