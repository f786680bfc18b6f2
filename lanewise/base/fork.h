// Locks and forks. The child of a fork has one thread: what another thread had locked stays locked
// there, and what it was changing stays half done. So a fork waits until nobody holds a Mutex.
//
// Whoever holds one must not wait for another thread, nor for Python's lock: the thread that forks
// has that. For code of users, which may do both, there is RenewedMutex.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

namespace lw::base {

/// While one lives, forks on other threads wait. They nest.
class NoFork {
 public:
  NoFork();
  ~NoFork();
  NoFork(const NoFork&) = delete;
  NoFork& operator=(const NoFork&) = delete;

  /// True if one lives on this thread.
  static bool is_held();
};

/// A mutex that no child of a fork finds locked.
class Mutex {
 public:
  void lock();
  bool try_lock();
  void unlock();

 private:
  std::mutex mutex_;
};

/// A mutex for which no fork waits: it is a new one in the child. What it guards must be as good
/// without the work that was being done.
class RenewedMutex {
 public:
  void lock();
  void unlock() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
  std::atomic<std::uint32_t> forks_{0};  // of the process when it was new
};

}  // namespace lw::base
