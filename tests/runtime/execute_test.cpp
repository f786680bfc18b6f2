// Maps through both tiers: what is computed by which, and that the swap between them shows nowhere.
#include "lanewise/runtime/execute.h"

#include <gtest/gtest.h>
#include <immintrin.h>

#include <memory>
#include <thread>

#include "lanewise/runtime/compile_queue.h"
#include "tests/support/fork.h"
#include "tests/support/programs.h"

namespace lw::runtime {
namespace {

using test::mandelbrot;
using test::Points;

const Points& shuffled_points() {
  static const Points points =
      test::mandelbrot_points(1000, true);  // it takes longer than a compile
  return points;
}

TEST(RuntimeExecute, ALongMapBeginsOnTierZeroAndMachineCodeFinishesIt) {
  const Points& p = shuffled_points();
  wait_for_compiles();  // those that other tests gave up
  for (const int threads : {1, 2}) {
    // A name of its own, so that it is not in the cache.
    auto f = vectorize(&mandelbrot, {.name = "swap" + std::to_string(threads), .schedule = {}});
    std::vector<std::int32_t> out(p.a.size(), -1);
    const RunStats stats = f.into(out, {.threads = threads}, p.a, p.b);
    EXPECT_GT(stats.tier0_elements, 0);
    EXPECT_GT(stats.tier1_elements, 0);
    EXPECT_EQ(stats.tier0_elements + stats.tier1_elements, std::ssize(out));
    EXPECT_EQ(out, p.steps);
  }
}

TEST(RuntimeExecute, NeverCompilesWhenToldSo) {
  const Points p = test::mandelbrot_points(100, false);
  auto f = vectorize(&mandelbrot, {.name = "never", .schedule = {}});
  std::vector<std::int32_t> out(p.a.size(), -1);
  for (int call = 0; call < 2; ++call) {
    const RunStats stats = f.into(out, {.compile = Compile::Never}, p.a, p.b);
    EXPECT_EQ(stats.tier0_elements, std::ssize(out));
    EXPECT_EQ(stats.tier1_elements, 0);
    EXPECT_EQ(out, p.steps);
    wait_for_compiles();
  }
}

TEST(RuntimeExecute, CompilesFirstWhenToldSo) {
  const Points p = test::mandelbrot_points(100, false);
  auto f = vectorize(&mandelbrot, {.name = "now", .schedule = {}});
  std::vector<std::int32_t> out(p.a.size(), -1);
  const RunStats stats = f.into(out, {.compile = Compile::Now}, p.a, p.b);
  EXPECT_EQ(stats.tier0_elements, 0);
  EXPECT_EQ(stats.tier1_elements, std::ssize(out));
  EXPECT_EQ(out, p.steps);
}

TEST(RuntimeExecute, ASmallMapIsCompiledBesideItForTheNextOne) {
  const std::vector<float> a = {0.1f, 2.0f, -1.0f};
  auto f = vectorize(&mandelbrot, {.name = "beside", .schedule = {}});
  std::vector<std::int32_t> out(3);
  EXPECT_EQ(f.into(out, {}, a, a).tier0_elements, 3);
  const std::vector<std::int32_t> first = out;
  wait_for_compiles();
  EXPECT_EQ(f.into(out, {}, a, a).tier1_elements, 3);
  EXPECT_EQ(out, first);
}

TEST(RuntimeExecute, AShortMapWithoutLoopsIsCompiledOnceItIsCalledAgain) {
  const std::vector<float> xs = {0.1f, 2.0f, -1.0f};
  auto f = vectorize([](f32 x) { return x * 3.25f - x; }, {.name = "again", .schedule = {}});
  std::vector<float> out(3);
  for (int call = 0; call < 2; ++call) {
    const RunStats stats = f.into(out, {}, xs);
    EXPECT_EQ(stats.tier0_elements, 3);
    EXPECT_EQ(stats.load_ms, 0);  // nor is the disk asked
    wait_for_compiles();
    EXPECT_EQ(f.explain(xs).compiled, call == 1);
  }
  const std::vector<float> first = out;
  EXPECT_EQ(f.into(out, {}, xs).tier1_elements, 3);
  EXPECT_EQ(out, first);
}

TEST(RuntimeExecute, ThreadsAndChunksChangeNothing) {
  const Points p = test::mandelbrot_points(150, true);
  for (const Compile compile : {Compile::Never, Compile::Now}) {
    auto f = vectorize(&mandelbrot, {.name = "chunks", .schedule = {}});
    for (const int threads : {1, 2, 3}) {
      for (const std::int64_t chunk : {0, 1, 7, 1000, 100000}) {
        if (chunk == 1 && compile == Compile::Never) continue;
        std::vector<std::int32_t> out(p.a.size(), -1);
        const RunStats stats =
            f.into(out, {.threads = threads, .compile = compile, .chunk = chunk}, p.a, p.b);
        EXPECT_EQ(out, p.steps) << threads << ' ' << chunk;
        if (chunk == 1000) {
          EXPECT_EQ(stats.workers, threads);
        }
        if (chunk == 100000) {
          EXPECT_EQ(stats.workers, 1);
        }
      }
    }
  }
}

TEST(RuntimeExecute, LittleWorkWakesNobody) {
  auto f = vectorize([](f32 x) { return x + 1; });
  const std::vector<float> xs(1000);
  std::vector<float> out(1000);
  EXPECT_EQ(f.into(out, {.threads = 4}, xs).workers, 1);
}

TEST(RuntimeExecute, FiftyFunctionsAreCompiledWhileMapsRun) {
  const std::vector<float> xs = {0, 1, 2.5f, -3, 1e10f};
  const auto make = [](float factor) {
    return vectorize([factor](f32 x) { return x * factor + 1; }, {.name = "many", .schedule = {}});
  };
  std::vector<std::unique_ptr<decltype(make(0))>> functions;
  for (int i = 0; i < 50; ++i) {
    functions.emplace_back(new auto(make(static_cast<float>(i) + 0.5f)));
  }
  const auto check = [&] {
    for (int i = 0; i < 50; ++i) {
      const Tensor out = (*functions[static_cast<std::size_t>(i)])(xs);
      for (std::size_t k = 0; k < xs.size(); ++k) {
        EXPECT_EQ(out.span<float>()[k], xs[k] * (static_cast<float>(i) + 0.5f) + 1);
      }
    }
  };
  check();
  check();
  wait_for_compiles();
  check();
  std::vector<float> out(xs.size());
  for (auto& f : functions) {
    EXPECT_EQ(f->into(out, {}, xs).tier1_elements, std::ssize(xs));
  }
}

TEST(RuntimeExecute, OneFunctionMayBeCalledFromManyThreadsAtOnce) {
  const Points p = test::mandelbrot_points(64, true);
  auto f = vectorize(&mandelbrot, {.name = "shared", .schedule = {}});
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int call = 0; call < 5; ++call) {
        std::vector<std::int32_t> out(p.a.size(), -1);
        f.into(out, {.threads = 1 + t % 3}, p.a, p.b);
        wrong += out != p.steps;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST(RuntimeExecute, WorksInTheChildOfAFork) {
  if (!test::kCanFork) GTEST_SKIP() << "the sanitizer does not follow";
  const Points p = test::mandelbrot_points(100, true);
  auto f = vectorize(&mandelbrot, {.name = "fork", .schedule = {}});
  const auto is_right = [&](Compile compile) {
    std::vector<std::int32_t> out(p.a.size(), -1);
    f.into(out, {.threads = 2, .compile = compile}, p.a, p.b);
    return out == p.steps;
  };
  ASSERT_TRUE(is_right(Compile::Auto));
  EXPECT_TRUE(test::holds_in_child([&] {
    auto fresh = vectorize(&test::kepler);
    const std::vector<double> m = {1, 2};
    return is_right(Compile::Auto) && is_right(Compile::Now) &&
           fresh.with({.compile = Compile::Now}, m, 0.5).at<double>(0) > 1;
  }));
  EXPECT_TRUE(is_right(Compile::Now));
}

TEST(RuntimeExecute, AFlushToZeroStateOfTheCallerChangesNothing) {
  const std::vector<float> tiny(100, 0x1p-126f);
  for (const Compile compile : {Compile::Never, Compile::Now}) {
    auto f = vectorize([](f32 x) { return x * 0.5f; });
    const unsigned before = _mm_getcsr();
    _mm_setcsr(before | 0x8040);  // flush to zero, subnormals are zero
    const Tensor out = f.with({.compile = compile}, tiny);
    const unsigned after = _mm_getcsr();
    _mm_setcsr(before);
    EXPECT_EQ(out.at<float>(99), 0x1p-127f);
    EXPECT_EQ(after & 0x8040, 0x8040u);
  }
}

}  // namespace
}  // namespace lw::runtime
