#include "lanewise/api/vectorize.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/programs.h"

namespace lw {
namespace {

TEST(Vectorize, TakesVectorsSpansTensorsAndSharedNumbers) {
  auto f = vectorize([](f32 x, f32 y) { return x - y; });
  const std::vector<float> xs = {1, 2, 3};
  float ys[] = {10, 20, 30};
  EXPECT_EQ(f(xs, std::span<const float>(ys)).at<float>(2), -27);
  EXPECT_EQ(f(std::span<float>(ys), xs).at<float>(2), 27);
  EXPECT_EQ(f(Tensor(std::span<const float>(xs)), xs).at<float>(0), 0);
  EXPECT_EQ(f(xs, 0.5f).at<float>(0), 0.5f);
  EXPECT_EQ(f(0.5f, xs).at<float>(0), -0.5f);
}

TEST(Vectorize, TakesFunctionPointersAndLambdasThatCapture) {
  const float offset = 2;
  auto f = vectorize([offset](f32 x) { return x + offset; });
  EXPECT_EQ(f(std::vector<float>{1}).at<float>(0), 3);
  auto g = vectorize(&test::mandelbrot);
  EXPECT_EQ(g(std::vector<float>{2}, std::vector<float>{2}).at<std::int32_t>(0), 1);
}

TEST(Vectorize, SeveralResultsComeAsAnArrayOfTensors) {
  auto f = vectorize(
      [](f64 x, i32 n) { return std::tuple<f64, i32, boolean>(-x, n + 1, x < cast<double>(n)); });
  const auto [negative, next, less] =
      f(std::vector<double>{1.5, -2}, std::vector<std::int32_t>{1, 2});
  EXPECT_EQ(negative.type(), DType::F64);
  EXPECT_EQ(next.type(), DType::I32);
  EXPECT_EQ(less.type(), DType::Bool);
  EXPECT_EQ(negative.at<double>(1), 2);
  EXPECT_EQ(next.at<std::int32_t>(0), 2);
  EXPECT_FALSE(less.at<bool>(0));
  EXPECT_TRUE(less.at<bool>(1));
}

TEST(Vectorize, EmptyArraysGiveEmptyResults) {
  for (const Compile compile : {Compile::Auto, Compile::Now, Compile::Never}) {
    auto f = vectorize(&test::mandelbrot);
    const Tensor out = f.with({.compile = compile}, std::vector<float>(), std::vector<float>());
    EXPECT_EQ(out.size(), 0);
    EXPECT_EQ(out.type(), DType::I32);
    const Tensor null = f.with({.compile = compile}, Input(DType::F32, nullptr, 0), 1.0f);
    EXPECT_EQ(null.size(), 0);
  }
}

TEST(Vectorize, OneElementIsEnough) {
  for (const Compile compile : {Compile::Auto, Compile::Now, Compile::Never}) {
    auto f = vectorize([](f64 x) { return sqrt(x); });
    EXPECT_EQ(f.with({.compile = compile}, std::vector<double>{2}).at<double>(0), std::sqrt(2.0));
  }
}

TEST(Vectorize, BoolsAreBytesInAndOut) {
  auto f = vectorize([](boolean a, boolean b) { return a && !b; });
  bool a[] = {true, true, false, false, true};
  bool b[] = {true, false, true, false, false};
  for (const Compile compile : {Compile::Never, Compile::Now}) {
    const Tensor out =
        f.with({.compile = compile}, std::span<const bool>(a), std::span<const bool>(b));
    for (int i = 0; i < 5; ++i) EXPECT_EQ(out.at<bool>(i), a[i] && !b[i]);
  }
}

TEST(Vectorize, AChangedSharedNumberNeedsNoNewTrace) {
  int traces = 0;
  auto f = vectorize([&](f32 x, f32 scale) {
    ++traces;
    return x * scale;
  });
  const std::vector<float> xs = {3};
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(f(xs, static_cast<float>(i)).at<float>(0), 3.0f * static_cast<float>(i));
  }
  EXPECT_EQ(traces, 1);
  f(xs, xs);  // mapped now: another signature
  EXPECT_EQ(traces, 2);
  f(xs, 5.0f);
  EXPECT_EQ(traces, 2);
}

TEST(Vectorize, SizesAndOptionsNeedNoNewTraceButAStepLimitDoes) {
  int traces = 0;
  auto f = vectorize([&](f32 x) {
    ++traces;
    return x + 1;
  });
  f(std::vector<float>(3));
  f(std::vector<float>(3000));
  f.with({.threads = 2, .chunk = 5}, std::vector<float>(7));
  EXPECT_EQ(traces, 1);
  f.with({.max_steps = 5}, std::vector<float>(7));
  f.with({.max_steps = 9}, std::vector<float>(7));
  EXPECT_EQ(traces, 2);
}

TEST(Vectorize, MapsIntoMemoryOfTheCaller) {
  auto f = vectorize([](f32 x) { return x + 1; });
  const std::vector<float> xs = {1, 2, 3};
  std::vector<float> out = {0, 0, 0, 99};
  const auto stats = f.into(std::span<float>(out).first(3), {}, xs);
  EXPECT_EQ(out, (std::vector<float>{2, 3, 4, 99}));
  EXPECT_EQ(stats.tier0_elements + stats.tier1_elements, 3);
  const Tensor tensor(DType::F32, 3);
  f.into(tensor, {}, xs);
  EXPECT_EQ(tensor.at<float>(2), 4);
}

TEST(Vectorize, OutputsThatTouchAnInputWithoutOverlapAreFine) {
  auto f = vectorize([](f32 x) { return -x; });
  std::vector<float> both = {1, 2, 3, 0, 0, 0};
  f.into(std::span(both).last(3), {}, std::span<const float>(both).first(3));
  EXPECT_EQ(both, (std::vector<float>{1, 2, 3, -1, -2, -3}));
}

TEST(Vectorize, ScheduleWishesGiveTheSameResults) {
  const test::Points p = test::mandelbrot_points(40, true);
  for (const bool refill : {false, true}) {
    for (const int interleave : {1, 3}) {
      VectorizeOptions options;
      options.schedule.refill = refill;
      options.schedule.interleave = interleave;
      auto f = vectorize(&test::mandelbrot, options);
      std::vector<std::int32_t> out(p.a.size());
      f.into(out, {.compile = Compile::Now}, p.a, p.b);
      EXPECT_EQ(out, p.steps);
    }
  }
}

TEST(Vectorize, CallsOfOneFunctionMayDifferInAccuracy) {
  auto f = vectorize([](f32 x) { return exp(x); });
  std::vector<float> xs;
  for (int i = 0; i < 2000; ++i) xs.push_back(static_cast<float>(i) * 0x1p-7f);
  std::vector<float> plain(xs.size());
  std::vector<float> high(xs.size());
  std::vector<float> again(xs.size());
  f.into(plain, {}, xs);
  f.into(high, {.accuracy = Accuracy::High}, xs);
  f.into(again, {}, xs);
  EXPECT_EQ(plain, again);
  EXPECT_NE(plain, high);
  for (std::size_t i = 0; i < xs.size(); ++i) {
    EXPECT_EQ(high[i], static_cast<float>(std::exp(static_cast<double>(xs[i]))));
  }
}

TEST(Vectorize, ResultsAreKnownBeforeTheMap) {
  auto f = vectorize([](f32 x) { return std::tuple<f64, i64>(cast<double>(x), 1); });
  const std::vector<float> xs(1);
  const std::array<Input, 1> inputs = {Input(xs)};
  EXPECT_EQ(f.element_function().results(inputs, {}),
            (std::vector<types::Item>{{DType::F64}, {DType::I64}}));
}

}  // namespace
}  // namespace lw
