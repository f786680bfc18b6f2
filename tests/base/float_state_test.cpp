#include "lanewise/base/float_state.h"

#include <gtest/gtest.h>

namespace lw::base {
namespace {

constexpr unsigned kFlushToZero = 1u << 15;
constexpr unsigned kRoundDown = 1u << 13;

TEST(BaseFloatState, ASubnormalIsKeptWhileItLivesAndTheCallersStateComesBack) {
  const unsigned before = _mm_getcsr();
  _mm_setcsr((before | kFlushToZero) & ~0x3fu);
  volatile float tiny = 0x1p-126f;
  const float flushed = tiny * 0.5f;
  float kept = 0;
  {
    const FloatState state;
    kept = tiny * 0.5f;
  }
  const unsigned after = _mm_getcsr();
  _mm_setcsr(before);
  EXPECT_EQ(flushed, 0.0f);
  EXPECT_EQ(kept, 0x1p-127f);
  EXPECT_NE(after & kFlushToZero, 0u);
}

TEST(BaseFloatState, RoundsToNearestWhileItLives) {
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | kRoundDown);
  volatile double one = 1;
  volatile double three = 3;
  const double down = -one / three;
  double nearest = 0;
  {
    const FloatState state;
    nearest = -one / three;
  }
  _mm_setcsr(before);
  EXPECT_LT(down, nearest);
  EXPECT_EQ(nearest, -0x1.5555555555555p-2);
}

}  // namespace
}  // namespace lw::base
