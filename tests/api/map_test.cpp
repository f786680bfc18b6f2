#include "lanewise/api/map.h"

#include <gtest/gtest.h>

#include "lanewise/lanewise.h"
#include "tests/support/message_of.h"
#include "tests/support/programs.h"

namespace lw {
namespace {

const std::vector<float> kThree = {1, 2, 3};

TEST(Map, TakesWhatAVectorizedFunctionTakes) {
  const auto difference = [](f32 x, f32 y) { return x - y; };
  const Tensor tensor{std::span<const float>(kThree)};
  EXPECT_EQ(map(difference, kThree, tensor).at<float>(2), 0);
  EXPECT_EQ(map(difference, std::span<const float>(kThree), 0.5f).at<float>(2), 2.5f);
  EXPECT_EQ(map(difference, Strided<const float>{kThree.data() + 2, 3, -1}, kThree).at<float>(0),
            2);
  EXPECT_EQ(map(&test::mandelbrot, kThree, kThree).at<std::int32_t>(0), 2);
}

TEST(Map, OptionsComeLast) {
  const CancelToken cancelled;
  CancelToken(cancelled).cancel();
  const auto next = [](f32 x) { return x + 1; };
  EXPECT_EQ(map(next, kThree, MapOptions{.threads = 1, .compile = Compile::Now}).at<float>(2), 4);
  EXPECT_EQ(
      test::message_of<Cancelled>([&] { map(next, kThree, MapOptions{.cancel = cancelled}); }),
      "map: cancelled before it began.");
}

TEST(Map, SeveralResultsComeAsAnArrayOfTensors) {
  const auto [half, is_large] =
      map([](f32 x) { return std::tuple<f32, boolean>(x / 2, x > 2); }, kThree);
  EXPECT_EQ(half.at<float>(0), 0.5f);
  EXPECT_FALSE(is_large.at<bool>(1));
  EXPECT_TRUE(is_large.at<bool>(2));
}

TEST(Map, IntoMemoryOfTheCaller) {
  std::vector<float> out(3);
  const auto stats = map_into(out, [](f32 x) { return x * x; }, kThree, MapOptions{.threads = 1});
  EXPECT_EQ(out, (std::vector<float>{1, 4, 9}));
  EXPECT_EQ(stats.tier0_elements + stats.tier1_elements, 3);
  std::vector<float> negative(6, 7);
  std::vector<std::int32_t> whole(3);
  map_into(
      {Strided<float>{negative.data(), 3, 2}, whole},
      [](f32 x) { return std::tuple<f32, i32>(-x, cast<std::int32_t>(x)); }, kThree);
  EXPECT_EQ(negative, (std::vector<float>{-1, 7, -2, 7, -3, 7}));
  EXPECT_EQ(whole, (std::vector<std::int32_t>{1, 2, 3}));
}

int traces = 0;

TEST(Map, AFunctionWithoutCapturesIsRecordedOncePerSignature) {
  traces = 0;
  const auto counted = [](f32 x, f32 y) {
    ++traces;
    return x + y;
  };
  for (int i = 0; i < 5; ++i) map(counted, kThree, static_cast<float>(i));
  EXPECT_EQ(traces, 1);
  map(counted, kThree, kThree);
  EXPECT_EQ(traces, 2);
}

TEST(Map, WhatAFunctionCapturesIsReadAtEveryCall) {
  for (float offset = 0; offset < 3; ++offset) {
    EXPECT_EQ(map([offset](f32 x) { return x + offset; }, kThree).at<float>(0), 1 + offset);
    EXPECT_EQ(map([&](f32 x) { return x - offset; }, kThree).at<float>(0), 1 - offset);
  }
}

f32 twice(f32 x) { return 2 * x; }
f32 thrice(f32 x) { return 3 * x; }

TEST(Map, FunctionsOfOneTypeAreToldApart) {
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(map(&twice, kThree).at<float>(1), 4);
    EXPECT_EQ(map(&thrice, kThree).at<float>(1), 6);
  }
}

TEST(Map, ARecordedProgramIsFoundByItsContent) {
  const float factor = 1.25f;
  const auto scaled = [factor](f32 x) { return x * factor; };
  map(scaled, kThree);
  const CacheInfo before = cache_info();
  map(scaled, kThree);
  EXPECT_EQ(cache_info().hits, before.hits + 1);
  EXPECT_EQ(cache_info().misses, before.misses);
}

Tensor map_itself() {
  return map([](f32 x) { return x + map_itself().at<float>(0); }, kThree);
}

TEST(Map, AFunctionThatMapsItselfIsRefused) {
  const std::string words =
      "trace: a function is being traced on this thread already. "
      "Call the plain function, not its vectorized form, inside another.";
  EXPECT_EQ(test::message_of<UsageError>([] { map_itself(); }), words);
  EXPECT_EQ(test::message_of<UsageError>([] { map_itself(); }), words) << "again";
}

}  // namespace
}  // namespace lw
