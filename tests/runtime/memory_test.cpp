#include "lanewise/runtime/memory.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "lanewise/base/error.h"
#include "lanewise/lanewise.h"
#include "lanewise/runtime/compile_queue.h"
#include "tests/support/message_of.h"

namespace lw::runtime {
namespace {

TEST(RuntimeMemory, ABlockIsCountedWhileItLivesAndThePeakStays) {
  reset_memory_peaks();
  const MemoryUse before = memory_info().scratch;
  {
    const Block block(Purpose::Scratch, 1 << 20);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block.data()) % 64, 0u);
    EXPECT_EQ(memory_info().scratch.live, before.live + (1 << 20));
  }
  EXPECT_EQ(memory_info().scratch.live, before.live);
  EXPECT_EQ(memory_info().scratch.peak, before.live + (1 << 20));
  reset_memory_peaks();
  EXPECT_EQ(memory_info().scratch.peak, before.live);
}

TEST(RuntimeMemory, AMovedBlockIsCountedOnce) {
  const std::size_t before = memory_info().scratch.live;
  Block a(Purpose::Scratch, 100);
  Block b = std::move(a);
  a = Block(Purpose::Scratch, 10);
  EXPECT_EQ(memory_info().scratch.live, before + 110);
  b = {};
  a = {};
  EXPECT_EQ(memory_info().scratch.live, before);
}

TEST(RuntimeMemory, ThreadsLoseNoByte) {
  const std::size_t before = memory_info().scratch.live;
  reset_memory_peaks();
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 1000; ++i) const Block block(Purpose::Scratch, 64);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(memory_info().scratch.live, before);
  EXPECT_GE(memory_info().scratch.peak, before + 64);
  EXPECT_LE(memory_info().scratch.peak, before + 8 * 64);
}

TEST(RuntimeMemory, ProgramsAndTheirCodeAreCounted) {
  const std::size_t before = memory_info().code.live;
  auto f = vectorize([](f64 x) { return sin(x) * 1234.5; });
  const std::vector<double> x(4, 1.0);
  f.with({.compile = Compile::Never}, x);
  const std::size_t tables = memory_info().code.live;
  EXPECT_GT(tables, before);
  reset_memory_peaks();
  f.with({.compile = Compile::Now}, x);
  EXPECT_GT(memory_info().code.live, tables + 1000);
  wait_for_compiles();  // of other tests too
  EXPECT_EQ(memory_info().compiler.live, 0u);
  clear_cache();
  EXPECT_LE(memory_info().code.live, tables);
}

TEST(RuntimeMemory, PrintsALineForEachPurpose) {
  EXPECT_EQ(to_string(MemoryInfo{.outputs = {.live = 1, .peak = 1 << 20}, .pool = {.peak = 7}}),
            "outputs               1 bytes, at most       1048576\n"
            "pool                  0 bytes, at most             7\n"
            "scratch               0 bytes, at most             0\n"
            "code                  0 bytes, at most             0\n"
            "compiler              0 bytes, at most             0\n");
}

// Whichever allocation fails, the caller hears of it, nothing is lost, and the next call works.
TEST(RuntimeMemoryFailures, EachAllocationOfAMapMayFail) {
  constexpr std::int64_t kCount = 300'000;
  const std::vector<float> x(2 * kCount, 2.0f);
  const auto square = [](f32 v) { return v * v + 4321.0f; };
  for (const int threads : {1, 3}) {
    for (const bool strided : {false, true}) {
      std::int64_t failures = 0;
      for (std::int64_t n = 1;; ++n) {
        Tensor y;
        std::string message = "none";
        std::thread([&] {  // new threads have no scratch yet
          auto f = vectorize(square);
          const MapOptions options{.threads = threads, .compile = Compile::Never};
          fail_allocation(n);
          message = test::message_of<ResourceError>([&] {
            y = strided ? f.with(options, Strided<const float>{x.data(), kCount, 2})
                        : f.with(options, std::span(x).first(kCount));
          });
          fail_allocation(0);
        })
            .join();
        if (message == "[nothing was thrown]") break;
        ++failures;
        EXPECT_TRUE(message.starts_with("Tensor: no memory; got a wish for 300000 elements") ||
                    message.starts_with("map: no memory for scratch; got a refusal of "))
            << message;
        ASSERT_LT(n, 100);
      }
      // The result, a block for each worker, and registers unless others have done all before.
      EXPECT_GE(failures, 1 + (strided ? threads : 0) + (threads == 1 ? 1 : 0));
    }
  }
  auto f = vectorize(square);
  EXPECT_EQ(f(x).at<float>(kCount), 4325.0f);
}

}  // namespace
}  // namespace lw::runtime
