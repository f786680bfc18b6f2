#include "lanewise/base/fork.h"

#include <pthread.h>

#include <chrono>
#include <new>
#include <thread>

namespace lw::base {
namespace {

std::atomic<int> inside{0};  // threads that a fork waits for
std::atomic<bool> is_forking{false};
std::atomic<std::uint32_t> forks{0};  // from the first process down to this one
std::mutex fork_mutex;                // one fork at a time
thread_local int depth = 0;

void enter() {
  if (depth++ > 0) return;
  for (;;) {
    inside.fetch_add(1);
    if (!is_forking.load()) return;
    inside.fetch_sub(1);
    is_forking.wait(true);
  }
}

void leave() {
  if (--depth == 0) inside.fetch_sub(1);
}

void reopen() {
  is_forking.store(false);
  is_forking.notify_all();
  fork_mutex.unlock();
}

/// What this thread holds itself is let go by the same thread in the child.
int held_here() { return depth > 0 ? 1 : 0; }

/// When the library is loaded, so handlers that are registered later wait before the gate closes.
[[maybe_unused]] const int registered = pthread_atfork(
    [] {
      fork_mutex.lock();
      is_forking.store(true);
      while (inside.load() != held_here()) {
        std::this_thread::sleep_for(std::chrono::microseconds(20));
      }
    },
    reopen,
    [] {
      inside.store(held_here());  // others may have knocked
      ++forks;
      reopen();
    });

}  // namespace

NoFork::NoFork() { enter(); }

NoFork::~NoFork() { leave(); }

bool NoFork::is_held() { return depth > 0; }

void Mutex::lock() {
  enter();
  mutex_.lock();
}

bool Mutex::try_lock() {
  enter();
  if (mutex_.try_lock()) return true;
  leave();
  return false;
}

void Mutex::unlock() {
  mutex_.unlock();
  leave();
}

void RenewedMutex::lock() {
  if (forks_.load() != forks.load()) {
    static Mutex& renewing = *new Mutex;
    const std::lock_guard lock(renewing);
    if (forks_.load() != forks.load()) {
      new (&mutex_) std::mutex;
      forks_.store(forks.load());
    }
  }
  mutex_.lock();
}

}  // namespace lw::base
