#include "lanewise/runtime/budget.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "lanewise/base/error.h"
#include "lanewise/lanewise.h"
#include "lanewise/runtime/memory.h"
#include "tests/support/message_of.h"
#include "tests/support/programs.h"

namespace lw::runtime {
namespace {

constexpr std::int64_t kCount = 100'000;

/// Two strided inputs and a strided output; lanes leave the loop one by one.
struct Orbit {
  test::Points points = test::mandelbrot_points(317, true);
  std::int64_t size = std::ssize(points.a) / 2;
  std::vector<std::int32_t> steps = std::vector<std::int32_t>(points.a.size(), -1);

  RunStats run(const MapOptions& options) {
    auto f = vectorize(&test::mandelbrot, {.name = "mandelbrot", .schedule = {}});
    return f.into(Strided<std::int32_t>{steps.data(), size, 2}, options,
                  Strided<const float>{points.a.data(), size, 2},
                  Strided<const float>{points.b.data() + 1, size, 2});
  }
};

TEST(RuntimeBudget, ResultsAreTheSameOnAnyBudget) {
  for (const Compile compile : {Compile::Never, Compile::Now}) {
    Orbit roomy;
    const RunStats all = roomy.run({.threads = 3, .compile = compile});
    EXPECT_EQ(all.workers, 3);
    for (std::int64_t memory = all.scratch_bytes + 1; memory > all.scratch_bytes / 8;
         memory = memory * 2 / 3) {
      Orbit tight;
      RunStats stats;
      try {
        stats = tight.run({.threads = 3, .memory = memory, .compile = compile});
      } catch (const ResourceError&) {
        continue;  // the text is tested below
      }
      EXPECT_LE(stats.scratch_bytes, memory);
      EXPECT_EQ(tight.steps, roomy.steps) << memory;
    }
  }
}

TEST(RuntimeBudget, AMapKeepsToItsBudget) {
  Orbit first;
  const RunStats all = first.run({.threads = 1, .compile = Compile::Never});
  for (const std::int64_t memory : {all.scratch_bytes, all.scratch_bytes / 2}) {
    std::thread([&] {  // a new thread has no registers yet
      reset_memory_peaks();
      const std::size_t before = memory_info().scratch.live;
      Orbit orbit;
      const RunStats stats = orbit.run({.threads = 1, .memory = memory, .compile = Compile::Never});
      EXPECT_LE(stats.scratch_bytes, memory);
      EXPECT_EQ(memory_info().scratch.peak - before, static_cast<std::size_t>(stats.scratch_bytes));
    })
        .join();
  }
}

TEST(RuntimeBudget, BlocksBecomeSmallerBeforeWorkersBecomeFewer) {
  auto f = vectorize([](f64 x) { return sin(x); });
  const std::vector<double> x(2 * kCount, 1.0);
  std::vector<double> y(kCount);
  const auto run = [&](std::int64_t memory) {
    return f.into(y, {.threads = 2, .memory = memory, .compile = Compile::Now},
                  Strided<const double>{x.data(), kCount, 2});
  };
  EXPECT_EQ(run(0).scratch_bytes, 2 * 8 * (2 << 10));  // what stays near
  EXPECT_EQ(run(20'000).workers, 2);
  EXPECT_EQ(run(20'000).scratch_bytes, 2 * 8 * (1 << 10));
  EXPECT_EQ(run(2 * 8 * 1024).workers, 2);
  EXPECT_EQ(run(2 * 8 * 1024 - 1).workers, 1);
  EXPECT_EQ(run(8 * 1024).scratch_bytes, 8 * 1024);
  EXPECT_EQ(run(8 * 64).scratch_bytes, 8 * 64);
  EXPECT_EQ(y[kCount - 1], y[0]);
  EXPECT_THROW(run(8 * 64 - 1), ResourceError);
}

TEST(RuntimeBudget, MachineCodeOnArraysThatStandTogetherNeedsNothing) {
  auto f = vectorize([](f32 x) { return x * 3; });
  const std::vector<float> x(1000, 1.0f);
  std::vector<float> y(1000);
  EXPECT_EQ(f.into(y, {.memory = 1, .compile = Compile::Now}, x).scratch_bytes, 0);
  EXPECT_EQ(y[999], 3.0f);
}

TEST(RuntimeBudgetErrors, ARefusalNamesWhatIsNeeded) {
  auto f = vectorize(
      [](f32 x, f64 y, f32 c) { return cast<std::int16_t>(x + c) + 0 * cast<std::int16_t>(y); });
  const std::vector<float> x(300, 1.0f);
  const std::vector<double> y(300, 1.0);
  std::vector<std::int16_t> out(300, 7);
  const auto message = [&](const MapOptions& options) {
    return test::message_of<ResourceError>([&] {
      f.into(Strided<std::int16_t>{out.data(), 100, 3}, options,
             Strided<const float>{x.data(), 100, 2}, Strided<const double>{y.data(), 100, 3}, 2.0f);
    });
  };
  EXPECT_EQ(message({.memory = 100, .compile = Compile::Now}),
            "map: the memory budget is too small; got 100 bytes, expected at least 896 for one "
            "worker: 512 for 64 elements of argument 1, 256 for 64 elements of argument 0, 128 for "
            "64 elements of output 0. Raise memory.");
  EXPECT_EQ(out, std::vector<std::int16_t>(300, 7));
  const std::string text = message({.memory = 900, .compile = Compile::Never});
  EXPECT_TRUE(
      text.find(" for registers of the tile machine, 512 for 64 elements of argument 1, 256 "
                "for 64 elements of argument 0 and 1 more. Raise memory, or compile first: "
                "machine code has no such registers.") != std::string::npos)
      << text;
}

TEST(RuntimeBudgetErrors, ANegativeBudgetIsRefused) {
  auto f = vectorize([](f32 x) { return x; });
  EXPECT_EQ(test::message_of<UsageError>([&] { f.with({.memory = -1}, std::vector<float>{1}); }),
            "map: memory is negative; got -1, expected 0 for the default or a number of bytes.");
}

}  // namespace
}  // namespace lw::runtime
