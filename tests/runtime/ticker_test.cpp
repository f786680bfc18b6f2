#include "lanewise/runtime/ticker.h"

#include <gtest/gtest.h>

#include <chrono>
#include <list>
#include <memory>
#include <thread>

namespace lw::runtime {
namespace {

using namespace std::chrono_literals;

bool becomes_set(const std::atomic<std::int32_t>& attention) {
  const auto end = std::chrono::steady_clock::now() + 20s;
  while (attention.load() == 0) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

TEST(RuntimeTicker, SetsAttentionAgainAndAgain) {
  std::atomic<std::int32_t> attention = 0;
  const Ticking ticking(attention);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(becomes_set(attention));
    attention = 0;
  }
}

TEST(RuntimeTicker, ServesManyAtOnce) {
  std::list<std::atomic<std::int32_t>> attentions(100);
  std::list<Ticking> tickings;
  for (auto& attention : attentions) tickings.emplace_back(attention);
  for (const auto& attention : attentions) EXPECT_TRUE(becomes_set(attention));
}

TEST(RuntimeTicker, MoreThanItHasRoomForDoNoHarm) {
  std::list<std::atomic<std::int32_t>> attentions(300);
  std::list<Ticking> tickings;
  for (auto& attention : attentions) tickings.emplace_back(attention);
  EXPECT_TRUE(becomes_set(attentions.front()));
}

TEST(RuntimeTicker, LeavesTheWordAloneOnceItIsGone) {
  std::atomic<std::int32_t> attention = 0;
  {
    const Ticking ticking(attention);
    EXPECT_TRUE(becomes_set(attention));
  }
  attention = 0;
  std::this_thread::sleep_for(130ms);
  EXPECT_EQ(attention.load(), 0);
}

TEST(RuntimeTicker, ManyThreadsMayComeAndGo) {
  std::vector<std::thread> threads;
  std::atomic<int> done = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20000; ++i) {
        std::atomic<std::int32_t> attention = 0;
        const Ticking ticking(attention);
      }
      ++done;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(done.load(), 4);
}

}  // namespace
}  // namespace lw::runtime
