// What a call is said to take before it runs, what it took, and what is said if it cannot have it.
#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "lanewise/lanewise.h"
#include "tests/support/message_of.h"

namespace lw {
namespace {

constexpr std::uint32_t kRow = 200;
constexpr std::int64_t kRows = 3000;

/// Rows with as many bytes between them.
Input apart(const std::vector<float>& values) {
  Input rows = Input(values).in_rows(kRow);
  rows.stride *= 2;
  rows.size /= 2;
  return rows;
}

/// Explains and runs a function, with options of several kinds; the call itself is `run`.
template <class F, class Run, class... A>
void expect_kept(F& f, const Run& run, const A&... arguments) {
  for (const Compile compile : {Compile::Now, Compile::Never}) {
    for (const int threads : {1, 2}) {
      for (const std::int64_t memory : {std::int64_t{0}, std::int64_t{12} << 20}) {
        std::thread([&] {  // a new thread has no registers yet
          const MapOptions options{.threads = threads, .memory = memory, .compile = compile};
          run(options);  // machine code is there, or never comes
          const Explanation before = f.explain(arguments..., options);
          EXPECT_EQ(before.refusal, "");
          reset_memory_peaks();
          const std::size_t live = memory_info().scratch.live;
          const runtime::RunStats stats = run(options);
          const auto measured = static_cast<std::int64_t>(memory_info().scratch.peak - live);
          EXPECT_EQ(stats.scratch_bytes, before.projected_bytes);
          EXPECT_LE(stats.peak_bytes, stats.scratch_bytes);
          EXPECT_LE(measured, stats.peak_bytes) << threads << ' ' << memory;
          EXPECT_TRUE(memory == 0 || stats.scratch_bytes <= memory);
          const std::string text = f.explain(arguments..., options).str();
          EXPECT_NE(text.find(std::to_string(stats.scratch_bytes) + " projected, " +
                              std::to_string(stats.peak_bytes) + " used"),
                    std::string::npos)
              << text;
        })
            .join();
      }
    }
  }
}

TEST(MemoryProjection, OfRowsThatStandApart) {
  const std::vector<float> x(kRow * 2 * kRows, 1.5f);
  std::vector<float> y(kRow * kRows);
  auto softmax = vectorize([](Row<float> v) {
    const Row<float> powers = exp(v - max(v));
    return powers / sum(powers);
  });
  const auto run = [&](const MapOptions& options) {
    return softmax.into(Output(y).in_rows(kRow), options, apart(x));
  };
  expect_kept(softmax, run, apart(x));
  EXPECT_GT(run({.compile = Compile::Now}).peak_bytes, 0);
}

TEST(MemoryProjection, OfProductsWithSharedWeights) {
  const std::vector<float> x(kRow * 2 * kRows, 1.5f), w(kRow * 16, 0.5f);
  std::vector<float> y(16 * kRows);
  auto layer = vectorize([](Row<float> v, Matrix<float> weights) { return matmul(v, weights); });
  const Input weights = shared(w, {kRow, 16});
  const auto run = [&](const MapOptions& options) {
    return layer.into(Output(y).in_rows(16), options, apart(x), weights);
  };
  expect_kept(layer, run, apart(x), weights);
}

TEST(MemoryProjection, OfAccumulators) {
  const std::vector<float> x(kRow * 20'000, 1.5f);
  RowSum<float> total(kRow);
  Fold<Row<float>> fold([](Row<float> a, Row<float> b) { return a - b; });
  Histogram levels(300);
  auto add = vectorize([&](Row<float> v) {
    total.add(v);
    fold.add(v);
    levels.add(cast<std::int32_t>(v[0]));
  });
  const Input rows = Input(x).in_rows(kRow);
  const auto run = [&](const MapOptions& options) {
    return add.into(std::initializer_list<Output>{}, options, rows);
  };
  expect_kept(add, run, rows);
}

TEST(MemoryProjection, ABudgetThatCannotHoldAnElementIsRefused) {
  constexpr std::uint32_t kPixels = 1 << 20;
  const std::vector<float> x(4 * kPixels, 1.5f);
  std::vector<float> y(2 * kPixels, -1.0f);
  Input images = Input(x).in_rows(kPixels);
  images.stride *= 2;
  images.size = 2;
  auto twice = vectorize([](Row<float> v) { return v * 2.0f; });
  const MapOptions small{.threads = 1, .memory = 1 << 20, .compile = Compile::Now};
  const std::string said = test::message_of<ResourceError>(
      [&] { twice.into(Output(y).in_rows(kPixels), small, images); });
  EXPECT_NE(said.find("map: the memory budget is too small; got 1048576 bytes, expected at least "),
            std::string::npos)
      << said;
  EXPECT_NE(said.find("4194304 for an element of argument 0"), std::string::npos) << said;
  EXPECT_EQ(y, std::vector<float>(2 * kPixels, -1.0f));
  EXPECT_EQ(twice.explain(images, small).refusal, said);
  const runtime::RunStats stats =
      twice.into(Output(y).in_rows(kPixels),
                 {.threads = 1, .memory = 16 << 20, .compile = Compile::Now}, images);
  EXPECT_LE(stats.peak_bytes, 16 << 20);
  EXPECT_EQ(y, std::vector<float>(2 * kPixels, 3.0f));
}

TEST(MemoryProjection, ARefusalNamesWhatElementsAdd) {
  const std::vector<float> x(kRow * 2000, 1.5f);
  RowSum<float> total(kRow);
  auto add = vectorize([&](Row<float> v) { total.add(v); });
  const std::string said = test::message_of<ResourceError>([&] {
    add.with({.threads = 1, .memory = 500'000, .compile = Compile::Now}, Input(x).in_rows(kRow));
  });
  EXPECT_NE(said.find("got 500000 bytes, expected at least "), std::string::npos) << said;
  EXPECT_NE(said.find(" for what 1024 elements add to accumulators"), std::string::npos) << said;
  EXPECT_EQ(total.value(), std::vector<float>(kRow));
}

}  // namespace
}  // namespace lw
