#include "lanewise/runtime/ticker.h"

#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <system_error>
#include <thread>

#include "lanewise/base/fork.h"
#include "lanewise/runtime/output_pool.h"
#include "lanewise/runtime/timeline.h"

namespace lw::runtime {
namespace {

using namespace std::chrono_literals;

constexpr int kSlots = 256;
constexpr auto kPeriod = 50ms;
constexpr auto kProfiled = 2ms;       // while a profile is taken, which counts lanes then
constexpr int kIdleTicks = 40;        // then it sleeps until a map begins
constexpr double kUnusedSeconds = 1;  // of memory that is given back

/// One thread, started by the first map. Slots are claimed without a lock.
class Ticker {
 public:
  int add(std::atomic<std::int32_t>& attention) {
    for (int i = 0; i < kSlots; ++i) {
      std::atomic<std::int32_t>* expected = nullptr;
      if (slots_[i].compare_exchange_strong(expected, &attention)) {
        stay_awake();
        return i;
      }
    }
    return -1;  // more maps at once than slots: this one is not interruptible
  }

  void stay_awake() {
    if (asleep_.load(std::memory_order_seq_cst)) wake();
  }

  void hurry() {
    const std::lock_guard lock(mutex_);
    awake_.notify_all();
  }

  void remove(int slot) {
    if (slot < 0) return;
    // The ticker may be about to write through the pointer; it marks the slot it is at.
    slots_[slot].store(nullptr, std::memory_order_seq_cst);
    while (at_.load(std::memory_order_seq_cst) == slot) std::this_thread::yield();
  }

 private:
  void wake() {
    const std::lock_guard lock(mutex_);
    if (!started_) std::thread(&Ticker::run, this).detach();
    started_ = true;
    asleep_.store(false);
    awake_.notify_all();
  }

  void run() {
    int idle = 0;
    std::unique_lock lock(mutex_);
    for (;;) {
      awake_.wait_for(lock, Timeline::is_on() ? kProfiled : kPeriod);
      lock.unlock();
      idle = tick() ? 0 : idle + 1;
      lock.lock();
      if (idle < kIdleTicks) continue;
      asleep_.store(true, std::memory_order_seq_cst);
      // A map that begins, or a result that is dropped, from here on wakes it again.
      lock.unlock();  // trimming may wait for a fork, which may wait for who is about to wake it
      const bool is_needed = has_any() || !trim_output_pool(kUnusedSeconds);
      lock.lock();
      if (is_needed) asleep_.store(false);
      awake_.wait(lock, [&] { return !asleep_.load(); });
      idle = 0;
    }
  }

  bool has_any() const {
    for (const auto& slot : slots_) {
      if (slot.load(std::memory_order_seq_cst) != nullptr) return true;
    }
    return false;
  }

  bool tick() {
    bool any = false;
    for (int i = 0; i < kSlots; ++i) {
      at_.store(i, std::memory_order_seq_cst);
      if (auto* attention = slots_[i].load(std::memory_order_seq_cst)) {
        attention->store(1, std::memory_order_relaxed);
        any = true;
      }
    }
    at_.store(-1, std::memory_order_seq_cst);
    return any;
  }

  std::atomic<std::atomic<std::int32_t>*> slots_[kSlots] = {};
  std::atomic<int> at_{-1};
  std::atomic<bool> asleep_{true};
  std::mutex mutex_;
  std::condition_variable awake_;
  bool started_ = false;
};

std::atomic<Ticker*> instance{nullptr};

/// Never destroyed: its thread is detached. A child of a fork gets one of its own.
Ticker& ticker() {
  Ticker* present = instance.load(std::memory_order_acquire);
  if (present != nullptr) return *present;
  static base::Mutex mutex;
  const std::lock_guard lock(mutex);
  if (instance.load() == nullptr) {
    static const int registered = pthread_atfork(nullptr, nullptr, [] { instance.store(nullptr); });
    static_cast<void>(registered);
    instance.store(new Ticker, std::memory_order_release);
  }
  return *instance.load();
}

}  // namespace

Ticking::Ticking(std::atomic<std::int32_t>& attention) : slot_(ticker().add(attention)) {}

Ticking::~Ticking() { ticker().remove(slot_); }

void hurry_ticker() { ticker().hurry(); }

void stay_awake() noexcept {
  try {
    ticker().stay_awake();
  } catch (const std::system_error&) {  // no thread: the bound of the pool still holds
  }
}

}  // namespace lw::runtime
