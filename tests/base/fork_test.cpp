#include "lanewise/base/fork.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "tests/support/fork.h"

namespace lw::base {
namespace {

/// Threads that lock and unlock `mutexes`, one inside of the other, until this is destroyed.
class Busy {
 public:
  explicit Busy(std::vector<Mutex>& mutexes) {
    for (int t = 0; t < 4; ++t) {
      threads_.emplace_back([&] {
        while (!done_.load()) {
          const std::lock_guard outer(mutexes[0]);
          const std::lock_guard inner(mutexes[1]);
        }
      });
    }
  }
  ~Busy() {
    done_.store(true);
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  std::atomic<bool> done_{false};
  std::vector<std::thread> threads_;
};

TEST(Fork, FindsNoMutexLockedByThreadsThatAreGone) {
  if (!test::kCanFork) GTEST_SKIP() << "no forks with threads here";
  std::vector<Mutex> mutexes(2);
  const Busy busy(mutexes);
  for (int child = 0; child < 50; ++child) {
    EXPECT_TRUE(test::holds_in_child([&] {
      for (Mutex& mutex : mutexes) {
        if (!mutex.try_lock()) return false;
        mutex.unlock();
      }
      return true;
    }));
  }
}

TEST(Fork, OfAThreadThatHoldsAMutexUnlocksItInTheChildToo) {
  if (!test::kCanFork) GTEST_SKIP() << "no forks with threads here";
  std::vector<Mutex> mutexes(2);
  const Busy busy(mutexes);
  Mutex own;
  own.lock();
  EXPECT_TRUE(test::holds_in_child([&] {
    own.unlock();
    const bool is_free = own.try_lock();
    if (is_free) own.unlock();
    return is_free && !NoFork::is_held() &&
           test::holds_in_child([&] { return own.try_lock(); });  // and it can fork again
  }));
  EXPECT_TRUE(NoFork::is_held());
  own.unlock();
  EXPECT_FALSE(NoFork::is_held());
}

TEST(Fork, DoesNotWaitForARenewedMutexWhichIsFreeInTheChild) {
  if (!test::kCanFork) GTEST_SKIP() << "no forks with threads here";
  RenewedMutex mutex;
  std::atomic<bool> is_locked{false}, may_end{false};
  std::thread other([&] {
    const std::lock_guard lock(mutex);
    is_locked.store(true);
    is_locked.notify_all();
    may_end.wait(false);
  });
  is_locked.wait(false);
  EXPECT_TRUE(test::holds_in_child([&] {
    const std::lock_guard lock(mutex);
    return true;
  }));
  may_end.store(true);
  may_end.notify_all();
  other.join();
  const std::lock_guard lock(mutex);
}

TEST(Fork, AMutexThatIsTakenIsNotTriedInVain) {
  Mutex mutex;
  mutex.lock();
  std::thread([&] {
    EXPECT_FALSE(mutex.try_lock());
    EXPECT_FALSE(NoFork::is_held());
  }).join();
  mutex.unlock();
  EXPECT_TRUE(mutex.try_lock());
  mutex.unlock();
}

}  // namespace
}  // namespace lw::base
