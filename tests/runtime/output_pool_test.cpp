#include "lanewise/runtime/output_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <random>
#include <set>
#include <thread>

#include "lanewise/lanewise.h"
#include "tests/support/fork.h"

namespace lw::runtime {
namespace {

constexpr std::size_t kMegabyte = std::size_t{1} << 20;

class RuntimeOutputPool : public testing::Test {
 protected:
  RuntimeOutputPool() {
    trim_output_pool();
    set_output_pool_bytes(64 * kMegabyte);
  }
  ~RuntimeOutputPool() override { trim_output_pool(); }
};

TEST_F(RuntimeOutputPool, WhatIsGivenBackServesTheNext) {
  void* const first = take_output(10 * kMegabyte);
  ASSERT_NE(first, nullptr);
  std::memset(first, 1, 10 * kMegabyte);
  return_output(first);
  EXPECT_EQ(take_output(10 * kMegabyte - 100), first);  // of the same class
  void* const second = take_output(10 * kMegabyte);
  EXPECT_NE(second, first);  // which is held
  return_output(first);
  void* const other = take_output(3 * kMegabyte);
  EXPECT_NE(other, first);
  for (void* memory : {second, other}) return_output(memory);
}

TEST_F(RuntimeOutputPool, ABlockHoldsWhatWasAskedForAndLittleMore) {
  for (std::size_t bytes = kPooledBytes; bytes < 40 * kMegabyte; bytes += bytes / 9 + 1) {
    void* const memory = take_output(bytes);
    ASSERT_NE(memory, nullptr);
    EXPECT_GE(output_bytes(memory), bytes);
    EXPECT_LE(output_bytes(memory), bytes + bytes / 8 + 4096);
    const std::size_t page = bytes >= 2 * kMegabyte ? 2 * kMegabyte : 4096;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % page, 0u);
    static_cast<char*>(memory)[bytes - 1] = 1;
    return_output(memory);
  }
}

TEST_F(RuntimeOutputPool, KeepsNoMoreThanItsBoundAndFreesTheLongestUnused) {
  set_output_pool_bytes(10 * kMegabyte);
  void* blocks[4];
  for (void*& block : blocks) block = take_output(4 * kMegabyte);
  EXPECT_EQ(memory_info().pool.live, 0u);
  for (void* block : blocks) {
    return_output(block);
    EXPECT_LE(memory_info().pool.live, 10 * kMegabyte);
  }
  EXPECT_EQ(memory_info().pool.live, 8 * kMegabyte);
  EXPECT_EQ(take_output(4 * kMegabyte), blocks[3]);
  EXPECT_EQ(take_output(4 * kMegabyte), blocks[2]);
  return_output(blocks[2]);
  return_output(blocks[3]);
  set_output_pool_bytes(5 * kMegabyte);
  EXPECT_EQ(memory_info().pool.live, 4 * kMegabyte);
  EXPECT_EQ(take_output(4 * kMegabyte), blocks[3]);
  return_output(blocks[3]);
  return_output(take_output(20 * kMegabyte));  // more than all of it
  EXPECT_LE(memory_info().pool.live, 5 * kMegabyte);
  set_output_pool_bytes(0);
  EXPECT_EQ(memory_info().pool.live, 0u);
}

TEST_F(RuntimeOutputPool, OldBlocksGoAndYoungOnesStay) {
  return_output(take_output(kMegabyte));
  EXPECT_FALSE(trim_output_pool(60));
  EXPECT_EQ(memory_info().pool.live, kMegabyte);
  EXPECT_TRUE(trim_output_pool());
  EXPECT_EQ(memory_info().pool.live, 0u);
}

TEST_F(RuntimeOutputPool, IsGivenBackWhenNothingRuns) {
  return_output(take_output(kMegabyte));
  for (int i = 0; i < 400 && memory_info().pool.live > 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_EQ(memory_info().pool.live, 0u);
}

TEST_F(RuntimeOutputPool, CountsWhatCallersHold) {
  const std::size_t before = memory_info().outputs.live;
  void* const memory = take_output(kMegabyte);
  EXPECT_EQ(memory_info().outputs.live, before + kMegabyte);
  return_output(memory);
  EXPECT_EQ(memory_info().outputs.live, before);
  EXPECT_EQ(memory_info().pool.live, kMegabyte);
}

TEST_F(RuntimeOutputPool, AWishBeyondAllMemoryIsRefused) {
  EXPECT_EQ(take_output(std::size_t{1} << 60), nullptr);
  EXPECT_EQ(take_output(~std::size_t{0}), nullptr);
}

TEST_F(RuntimeOutputPool, ThreadsNeverShareABlock) {
  constexpr int kThreads = 8;
  set_output_pool_bytes(3 * kMegabyte);  // frees all the time
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      std::vector<std::pair<unsigned char*, std::size_t>> held;
      for (int i = 0; i < 400; ++i) {
        if (held.size() > 3 || (!held.empty() && random() % 2 == 0)) {
          const auto [memory, bytes] = held.back();
          held.pop_back();
          if (memory[0] != t + 1 || memory[bytes - 1] != t + 1) ++wrong;
          return_output(memory);
        } else {
          const std::size_t bytes = kPooledBytes << random() % 3;
          auto* memory = static_cast<unsigned char*>(take_output(bytes));
          memory[0] = memory[bytes - 1] = static_cast<unsigned char>(t + 1);
          held.emplace_back(memory, bytes);
        }
      }
      for (const auto& block : held) return_output(block.first);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(memory_info().pool.live, 3 * kMegabyte);
}

TEST_F(RuntimeOutputPool, WorksInTheChildOfAForkWhileOthersUseIt) {
  if (!test::kCanFork) GTEST_SKIP() << "the sanitizer does not follow";
  void* const held = take_output(kMegabyte);
  std::memset(held, 7, kMegabyte);
  return_output(take_output(2 * kMegabyte));
  std::atomic<bool> stop{false};
  std::thread other([&] {
    while (!stop) return_output(take_output(kPooledBytes));
  });
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(test::holds_in_child([&] {
      void* const mine = take_output(2 * kMegabyte);
      std::memset(mine, 9, 2 * kMegabyte);
      const bool is_kept = static_cast<char*>(held)[kMegabyte - 1] == 7;
      return_output(held);
      return_output(mine);
      return is_kept && trim_output_pool();
    }));
  }
  stop = true;
  other.join();
  EXPECT_EQ(static_cast<char*>(held)[0], 7);
  return_output(held);
}

TEST_F(RuntimeOutputPool, ResultsOfMapsComeFromItAndGoBack) {
  auto f = vectorize([](f32 x) { return x + 1; });
  const std::vector<float> x(1'000'000, 1.0f);
  const std::size_t before = memory_info().outputs.live;
  Tensor a = f(x);
  EXPECT_GE(memory_info().outputs.live, before + 4'000'000);
  Tensor copy = a;
  Tensor b = f(a);
  EXPECT_NE(a.data(), b.data());
  const void* const memory = a.data();
  a = {};
  EXPECT_NE(f(b).data(), memory);  // the copy holds it
  copy = {};
  a = f(b);
  EXPECT_EQ(a.data(), memory);
  EXPECT_EQ(b.at<float>(999'999), 3.0f);
  EXPECT_EQ(a.at<float>(999'999), 4.0f);
  a = b = {};
  EXPECT_EQ(memory_info().outputs.live, before);
}

TEST_F(RuntimeOutputPool, SmallResultsDoNotComeFromIt) {
  const std::size_t before = memory_info().outputs.live;
  const Tensor small(DType::F32, 1000);
  EXPECT_EQ(memory_info().outputs.live, before);
}

}  // namespace
}  // namespace lw::runtime
