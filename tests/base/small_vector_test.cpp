#include "lanewise/base/small_vector.h"

#include <gtest/gtest.h>

#include <numeric>

namespace lw::base {
namespace {

using Small = SmallVector<int, 2>;

std::vector<int> items(const Small& v) { return {v.begin(), v.end()}; }

TEST(BaseSmallVector, GrowsPastItsInlineRoomAndKeepsItsItems) {
  Small v;
  for (int i = 0; i < 100; ++i) v.push_back(i);
  std::vector<int> expected(100);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(items(v), expected);
  EXPECT_EQ(v.back(), 99);
}

TEST(BaseSmallVector, CopiesAreIndependent) {
  for (const int size : {1, 2, 3, 9}) {
    Small a;
    for (int i = 0; i < size; ++i) a.push_back(i);
    Small b = a;
    b[0] = 7;
    EXPECT_EQ(a[0], 0);
    EXPECT_EQ(b[0], 7);
    EXPECT_EQ(b.size(), static_cast<std::size_t>(size));
    a = b;
    EXPECT_EQ(items(a), items(b));
  }
}

TEST(BaseSmallVector, MovingTakesInlineAndHeapItems) {
  for (const int size : {1, 5}) {
    Small a;
    for (int i = 0; i < size; ++i) a.push_back(i);
    const std::vector<int> expected = items(a);
    const Small b = std::move(a);
    EXPECT_EQ(items(b), expected);
  }
}

TEST(BaseSmallVector, ErasesOneItemAndAppendsARange) {
  Small v = {1, 2, 3};
  v.erase(v.begin() + 1);
  EXPECT_EQ(items(v), (std::vector<int>{1, 3}));
  const int more[] = {4, 5};
  v.append(std::begin(more), std::end(more));
  EXPECT_EQ(items(v), (std::vector<int>{1, 3, 4, 5}));
}

}  // namespace
}  // namespace lw::base
