#include "lanewise/runtime/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>

#include "tests/support/fork.h"

namespace lw::runtime {
namespace {

using namespace std::chrono_literals;

void nothing() {}

/// True once all `count` have come; false when some did not come in time.
class Meeting {
 public:
  explicit Meeting(int count) : missing_(count) {}
  bool arrive() {
    missing_.fetch_sub(1);
    const auto end = std::chrono::steady_clock::now() + 20s;
    while (missing_.load() > 0) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::yield();
    }
    return true;
  }

 private:
  std::atomic<int> missing_;
};

TEST(RuntimeThreadPool, AllWorkersTakePartAtOnceAndTheCallerIsTheFirst) {
  for (const int workers : {1, 2, 3, 5, 2}) {
    Meeting meeting(workers);
    std::atomic<int> met = 0;
    std::mutex mutex;
    std::set<int> numbers;
    std::thread::id first;
    parallel(
        workers,
        [&](int number) {
          met += meeting.arrive();
          const std::lock_guard lock(mutex);
          EXPECT_TRUE(numbers.insert(number).second);
          if (number == 0) first = std::this_thread::get_id();
        },
        nothing);
    EXPECT_EQ(met.load(), workers);
    EXPECT_EQ(numbers.size(), static_cast<std::size_t>(workers));
    EXPECT_EQ(first, std::this_thread::get_id());
  }
}

TEST(RuntimeThreadPool, ReturnsOnlyWhenAllHaveEnded) {
  for (int round = 0; round < 200; ++round) {
    std::atomic<int> ended = 0;
    Meeting meeting(3);
    parallel(
        3,
        [&](int) {
          meeting.arrive();
          ended.fetch_add(1);
        },
        nothing);
    ASSERT_EQ(ended.load(), 3);
  }
}

TEST(RuntimeThreadPool, AJobInsideAJobRunsOnItsCallerAlone) {
  std::atomic<int> inner = 0;
  Meeting meeting(2);
  parallel(
      2,
      [&](int) {
        meeting.arrive();
        parallel(4, [&](int number) { inner += number == 0 ? 1 : 1000; }, nothing);
      },
      nothing);
  EXPECT_EQ(inner.load(), 2);
}

TEST(RuntimeThreadPool, CallersAtTheSameTimeAllGetTheirWorkDone) {
  std::vector<std::thread> callers;
  std::atomic<int> wrong = 0;
  for (int c = 0; c < 6; ++c) {
    callers.emplace_back([&] {
      for (int round = 0; round < 100; ++round) {
        std::atomic<int> next = 0;
        std::atomic<int> sum = 0;
        parallel(
            3,
            [&](int) {
              for (int i = next++; i < 50; i = next++) sum += i;
            },
            nothing);
        wrong += sum.load() != 49 * 50 / 2;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST(RuntimeThreadPool, TheCallerIsAskedWhileItWaits) {
  int asked = 0;
  const std::thread::id caller = std::this_thread::get_id();
  parallel(
      2,
      [&](int number) {
        if (number == 1) std::this_thread::sleep_for(300ms);
      },
      [&] {
        EXPECT_EQ(std::this_thread::get_id(), caller);
        ++asked;
      });
  EXPECT_GE(asked, 1);
}

TEST(RuntimeThreadPool, WorksInTheChildOfAForkAndInTheParentAfterwards) {
  if (!test::kCanFork) GTEST_SKIP() << "the sanitizer does not follow";
  const auto all_come = [] {
    Meeting meeting(3);
    std::atomic<int> met = 0;
    parallel(3, [&](int) { met += meeting.arrive(); }, nothing);
    return met.load() == 3;
  };
  ASSERT_TRUE(all_come());
  EXPECT_TRUE(test::holds_in_child(all_come));
  EXPECT_TRUE(all_come());
}

TEST(RuntimeThreadPool, TheDefaultNumberOfThreadsCanBeSetAndTakenBack) {
  const int before = default_threads();
  EXPECT_GE(before, 1);
  set_default_threads(3);
  EXPECT_EQ(default_threads(), 3);
  set_default_threads(100000);
  EXPECT_EQ(default_threads(), 256);
  set_default_threads(0);
  EXPECT_EQ(default_threads(), before);
}

}  // namespace
}  // namespace lw::runtime
