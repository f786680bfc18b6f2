// The memory that a map uses beyond its inputs and outputs, measured.
#include <gtest/gtest.h>

#include "lanewise/lanewise.h"
#include "lanewise/runtime/compile_queue.h"
#include "tests/support/resident.h"

namespace lw {
namespace {

constexpr std::int64_t kMost = std::int64_t{16} << 20;

class MemoryPeak : public testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override {
    if (test::kIsSanitized) GTEST_SKIP() << "the sanitizer's own memory grows with ours";
    const std::int64_t needed = 10 * GetParam() + (std::int64_t{1} << 30);
    if (test::available_bytes() < needed) {
      GTEST_SKIP() << "needs " << (needed >> 20) << " MB that are available";
    }
    // What a process has after its first compile is not of the next map.
    vectorize([](f64 v) {
      return cos(v) + exp(v);
    }).with({.compile = Compile::Now}, std::vector<double>{1});
    trim_output_pool();
    x_.assign(static_cast<std::size_t>(GetParam()), 1.5f);
  }
  void TearDown() override { trim_output_pool(); }

  std::vector<float> x_;
};

TEST_P(MemoryPeak, OfAWarmFunctionIsSmall) {
  auto wave = vectorize([](f32 x) { return sin(x) + cos(x) * exp(x); });
  std::vector<float> y(x_.size(), 0.0f);
  wave.with({.compile = Compile::Now}, std::span(x_).first(1));
  for (const int threads : {1, 2}) {
    reset_memory_peaks();
    const std::size_t before = memory_info().scratch.live;  // threads keep what other maps needed
    const test::PeakGrowth growth;
    wave.into(y, {.threads = threads}, x_);
    EXPECT_LE(growth.bytes(), kMost) << threads;
    EXPECT_LE(memory_info().scratch.peak - before, std::size_t{1} << 20);
    EXPECT_EQ(y.back(), y.front());
  }
}

TEST_P(MemoryPeak, OfANewResultIsTheResult) {
  auto wave = vectorize([](f32 x) { return sin(x) + cos(x) * exp(x); });
  wave.with({.compile = Compile::Now}, std::span(x_).first(1));
  reset_memory_peaks();
  const std::size_t before = memory_info().outputs.live;
  const test::PeakGrowth growth;
  for (int i = 0; i < 3; ++i) wave(x_);  // each is dropped before the next
  const auto outputs = static_cast<std::int64_t>(memory_info().outputs.peak - before);
  EXPECT_LE(growth.bytes() - outputs, kMost);
  EXPECT_LE(outputs, GetParam() * 4 * 9 / 8 + (1 << 20));
}

TEST_P(MemoryPeak, OfTheTileMachineIsSmall) {
  if (GetParam() > 1'000'000) x_.resize(20'000'000);  // it takes its time
  auto wave = vectorize([](f32 x) { return sin(x) + cos(x) * exp(x); });
  std::vector<float> y(x_.size(), 0.0f);
  wave.with({.compile = Compile::Never}, std::span(x_).first(1));
  const test::PeakGrowth growth;
  wave.into(y, {.threads = 2, .compile = Compile::Never}, x_);
  EXPECT_LE(growth.bytes(), kMost);
}

TEST_P(MemoryPeak, OfStridedArraysIsSmall) {
  auto sum = vectorize([](f32 x, f32 c) { return x + c; });
  const std::int64_t half = std::ssize(x_) / 2;
  std::vector<float> y(x_.size(), 0.0f);
  const float two = 2;
  const auto run = [&](std::int64_t n) {
    sum.into(Strided<float>{y.data() + 2 * n - 1, n, -2}, {.threads = 2, .compile = Compile::Now},
             Strided<const float>{x_.data(), n, 2}, Strided<const float>{&two, n, 0});
  };
  run(1);
  const test::PeakGrowth growth;
  run(half);
  EXPECT_LE(growth.bytes(), kMost);
  EXPECT_EQ(y[1], 3.5f);
}

TEST_P(MemoryPeak, OfANewFunctionIsSmallBesideItsCompile) {
  clear_cache();
  auto wave = vectorize([](f32 x) { return sin(x) + cos(x) * exp(x) * 1.25f; });
  std::vector<float> y(x_.size(), 0.0f);
  reset_memory_peaks();
  const test::PeakGrowth growth;
  for (int call = 0; call < 2; ++call) wave.into(y, {.threads = 2}, x_);
  runtime::wait_for_compiles();
  const auto compiler = static_cast<std::int64_t>(memory_info().compiler.peak);
  RecordProperty("compiler", std::to_string(compiler));
  EXPECT_GT(compiler, 0);
  EXPECT_LE(growth.bytes() - compiler, kMost);
}

INSTANTIATE_TEST_SUITE_P(Elements, MemoryPeak, testing::Values(1'000, 100'000'000));

}  // namespace
}  // namespace lw
