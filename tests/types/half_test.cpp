#include "lanewise/types/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace lw {
namespace {

/// Every value of the type survives the way through f32, and between neighbours the nearer one
/// wins, the even one at a tie.
template <class T>
void expect_nearest(std::uint16_t infinity) {
  for (int bits = 0; bits < infinity; ++bits) {
    const T low = T::of_bits(static_cast<std::uint16_t>(bits));
    EXPECT_EQ(T(float(low)).bits, low.bits);
    EXPECT_EQ(T(-float(low)).bits, low.bits | 0x8000);
    const T high = T::of_bits(static_cast<std::uint16_t>(bits + 1));
    const double a = float(low);
    const double b = bits + 1 == infinity ? a + (a - float(T::of_bits(infinity - 2))) : float(high);
    const double middle = (a + b) / 2;
    const std::uint16_t even = bits % 2 == 0 ? low.bits : high.bits;
    EXPECT_EQ(T(rounded_to_odd(middle)).bits, even) << bits;
    EXPECT_EQ(T(rounded_to_odd(std::nextafter(middle, 0.0))).bits, low.bits) << bits;
    EXPECT_EQ(T(rounded_to_odd(std::nextafter(middle, 1e300))).bits, high.bits) << bits;
    EXPECT_EQ(T(static_cast<float>(middle)).bits, even) << bits;
  }
}

TEST(TypesHalf, RoundsToNearestEven) { expect_nearest<Half>(0x7c00); }
TEST(TypesHalf, BFloat16RoundsToNearestEven) { expect_nearest<BFloat16>(0x7f80); }

TEST(TypesHalf, SpecialValues) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(Half(nan).bits, 0x7e00);
  EXPECT_EQ(Half(-nan).bits, 0x7e00);
  EXPECT_EQ(BFloat16(-nan).bits, 0x7fc0);
  EXPECT_EQ(Half(infinity).bits, 0x7c00);
  EXPECT_EQ(BFloat16(-infinity).bits, 0xff80);
  EXPECT_EQ(float(Half::of_bits(0xfc00)), -infinity);
  EXPECT_TRUE(std::isnan(float(Half::of_bits(0x7c01))));
  EXPECT_EQ(float(Half::of_bits(1)), 0x1p-24f);
  EXPECT_EQ(Half(1e9f).bits, 0x7c00);
  EXPECT_TRUE(std::signbit(float(Half(-0.0f))));
}

}  // namespace
}  // namespace lw
