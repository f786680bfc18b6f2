#include "lanewise/runtime/compile_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "tests/support/fork.h"

namespace lw::runtime {
namespace {

using namespace std::chrono_literals;

TEST(RuntimeCompileQueue, RunsJobsInOrderOnOneThread) {
  std::vector<int> order;
  std::vector<std::thread::id> threads;
  for (int i = 0; i < 50; ++i) {
    submit_compile([&, i] {
      order.push_back(i);
      threads.push_back(std::this_thread::get_id());
    });
  }
  wait_for_compiles();
  ASSERT_EQ(order.size(), 50u);
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
    EXPECT_EQ(threads[static_cast<std::size_t>(i)], threads[0]);
    EXPECT_NE(threads[static_cast<std::size_t>(i)], std::this_thread::get_id());
  }
}

TEST(RuntimeCompileQueue, WaitingCoversTheJobThatIsRunning) {
  std::atomic<bool> ended = false;
  submit_compile([&] {
    std::this_thread::sleep_for(50ms);
    ended = true;
  });
  wait_for_compiles();
  EXPECT_TRUE(ended);
  wait_for_compiles();  // an empty queue is no reason to wait
}

TEST(RuntimeCompileQueue, JobsMayComeFromManyThreads) {
  std::atomic<int> done = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) submit_compile([&] { ++done; });
    });
  }
  for (std::thread& thread : threads) thread.join();
  wait_for_compiles();
  EXPECT_EQ(done.load(), 400);
}

TEST(RuntimeCompileQueue, StartsAnewInTheChildOfAFork) {
  if (!test::kCanFork) GTEST_SKIP() << "the sanitizer does not follow";
  submit_compile([] {});
  EXPECT_TRUE(test::holds_in_child([] {
    bool ran = false;
    submit_compile([&] { ran = true; });
    wait_for_compiles();
    return ran;
  }));
}

}  // namespace
}  // namespace lw::runtime
