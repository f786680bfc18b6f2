// The option `math`.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "lanewise/lanewise.h"

namespace lw {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// 1 + 2^-12 squared has a last term that a product rounds away.
const std::vector<float> kX = {1 + 0x1p-12f, 3, -0.0f, kInf, kNan};

f32 square_minus_one(f32 x) { return x * x - 1; }

TEST(Math, StrictIsTheDefaultAndRoundsTheProduct) {
  auto f = vectorize(&square_minus_one);
  for (const Compile compile : {Compile::Never, Compile::Now}) {
    EXPECT_EQ(f.with({.compile = compile}, kX).at<float>(0), 0x1p-11f);
  }
}

TEST(Math, FastRoundsOnceOnBothTiers) {
  auto f = vectorize(&square_minus_one);
  for (const Compile compile : {Compile::Never, Compile::Now}) {
    const Tensor y = f.with({.compile = compile, .math = Math::Fast}, kX);
    EXPECT_EQ(y.at<float>(0), std::fma(kX[0], kX[0], -1.0f));
    EXPECT_NE(y.at<float>(0), 0x1p-11f);
    EXPECT_EQ(y.at<float>(1), 8);
    EXPECT_EQ(y.at<float>(2), -1);
    EXPECT_EQ(y.at<float>(3), kInf);
    EXPECT_TRUE(std::isnan(y.at<float>(4)));
  }
}

TEST(Math, FastKeepsNanInfinitiesAndSignedZeros) {
  const auto f = [](f32 x) {
    return std::tuple<boolean, f32, f32, boolean>(isnan(x), x * 0 + x, x / 3, x == x);
  };
  const std::vector<float> x = {kNan, kInf, -kInf, 0.0f, -0.0f};
  for (const Compile compile : {Compile::Never, Compile::Now}) {
    const auto [is_nan, sum, third, is_equal] =
        map(f, x, MapOptions{.compile = compile, .math = Math::Fast});
    EXPECT_TRUE(is_nan.at<bool>(0));
    EXPECT_FALSE(is_equal.at<bool>(0));
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(std::isnan(sum.at<float>(i))) << i;
    EXPECT_EQ(third.at<float>(1), kInf);
    EXPECT_EQ(third.at<float>(2), -kInf);
    EXPECT_FALSE(std::signbit(third.at<float>(3)));
    EXPECT_TRUE(std::signbit(third.at<float>(4)));
  }
}

TEST(Math, StrictAndFastOfOneFunctionAreKeptApart) {
  int traces = 0;
  auto f = vectorize([&](f32 x) {
    ++traces;
    return x * x - 1;
  });
  const CacheInfo before = cache_info();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(f.with({.math = Math::Strict}, kX).at<float>(0), 0x1p-11f);
    EXPECT_NE(f.with({.math = Math::Fast}, kX).at<float>(0), 0x1p-11f);
  }
  EXPECT_EQ(traces, 2);
  EXPECT_LE(cache_info().misses, before.misses + 2);
}

}  // namespace
}  // namespace lw
