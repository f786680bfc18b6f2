#include "lanewise/runtime/thread_pool.h"

#include <immintrin.h>
#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "lanewise/base/environment.h"
#include "lanewise/base/fork.h"

namespace lw::runtime {
namespace {

using namespace std::chrono_literals;

constexpr int kMostThreads = 256;

class Pool {
 public:
  ~Pool() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
      generation_.fetch_add(1, std::memory_order_release);
    }
    work_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  void run(int workers, const std::function<void(int)>& job, const std::function<void()>& idle) {
    // One job at a time; a second caller works alone, which is right for any job.
    const std::unique_lock busy(busy_, std::try_to_lock);
    if (!busy.owns_lock() || workers < 2) return job(0);
    {
      const std::lock_guard lock(mutex_);
      while (static_cast<int>(threads_.size()) < workers - 1) {
        threads_.emplace_back(&Pool::serve, this, static_cast<int>(threads_.size()) + 1);
      }
      job_ = &job;
      workers_ = workers;
      running_.store(workers - 1, std::memory_order_relaxed);
      generation_.fetch_add(1, std::memory_order_release);
    }
    work_.notify_all();
    job(0);
    for (int i = 0; i < kSpins && running_.load(std::memory_order_acquire) != 0; ++i) _mm_pause();
    std::unique_lock lock(mutex_);
    while (running_.load(std::memory_order_acquire) != 0) {
      if (done_.wait_for(lock, 50ms) == std::cv_status::timeout) {
        lock.unlock();
        idle();
        lock.lock();
      }
    }
    job_ = nullptr;
  }

 private:
  static constexpr int kSpins = 4000;  // some 50 to 100 us: waking a sleeper costs as much

  void serve(int number) {
    // Profiles and debuggers show the name.
    pthread_setname_np(pthread_self(), ("lw-worker-" + std::to_string(number)).c_str());
    std::uint64_t seen = 0;
    for (;;) {
      for (int i = 0; i < kSpins && generation_.load(std::memory_order_acquire) == seen; ++i) {
        _mm_pause();
      }
      const std::function<void(int)>* job = nullptr;
      {
        std::unique_lock lock(mutex_);
        work_.wait(lock, [&] { return generation_.load(std::memory_order_relaxed) != seen; });
        seen = generation_.load(std::memory_order_relaxed);
        if (stopping_) return;
        if (number < workers_) job = job_;
      }
      if (job == nullptr) continue;
      (*job)(number);
      if (running_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        const std::lock_guard lock(mutex_);
        done_.notify_all();
      }
    }
  }

  std::mutex busy_;
  std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable done_;
  std::vector<std::thread> threads_;
  std::atomic<std::uint64_t> generation_{0};
  std::atomic<int> running_{0};
  const std::function<void(int)>* job_ = nullptr;
  int workers_ = 0;
  bool stopping_ = false;
};

// In the child of a fork the threads are gone and its locks may be held for ever: it begins anew.
Pool* pool_instance = nullptr;
base::Mutex pool_mutex;

Pool& pool() {
  static const bool registered = [] {
    pthread_atfork(nullptr, nullptr, [] { pool_instance = nullptr; });  // leaked on purpose
    std::atexit([] {
      const std::lock_guard lock(pool_mutex);
      delete std::exchange(pool_instance, nullptr);
    });
    return true;
  }();
  static_cast<void>(registered);
  const std::lock_guard lock(pool_mutex);
  if (pool_instance == nullptr) pool_instance = new Pool;
  return *pool_instance;
}

int available_threads() {
  const std::string wish = base::environment("LANEWISE_NUM_THREADS");
  if (!wish.empty()) {
    const int n = std::atoi(wish.c_str());
    if (n > 0) return std::min(n, kMostThreads);
  }
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

std::atomic<int> chosen_threads{0};

}  // namespace

int default_threads() {
  static const int available = available_threads();
  const int chosen = chosen_threads.load(std::memory_order_relaxed);
  return chosen > 0 ? chosen : available;
}

void set_default_threads(int threads) {
  chosen_threads.store(std::clamp(threads, 0, kMostThreads), std::memory_order_relaxed);
}

void parallel(int workers, const std::function<void(int)>& job, const std::function<void()>& idle) {
  pool().run(std::min(workers, kMostThreads), job, idle);
}

}  // namespace lw::runtime
