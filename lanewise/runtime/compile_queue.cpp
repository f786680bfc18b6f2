#include "lanewise/runtime/compile_queue.h"

#include <pthread.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>

#include "lanewise/base/check.h"
#include "lanewise/base/fork.h"

namespace lw::runtime {
namespace {

// After a job the thread looks for more by itself for a second before it sleeps.
constexpr auto kNap = std::chrono::milliseconds(1);
constexpr int kNaps = 1000;
constexpr std::size_t kStackBytes = 8u << 20;  // LLVM recurses deeply

class Queue {
 public:
  ~Queue() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
      jobs_.clear();
    }
    changed_.notify_all();
    if (started_) pthread_join(thread_, nullptr);
  }

  void submit(std::function<void()> job) {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
    if (!started_) start();
    // Waking a sleeper costs the caller tens of microseconds; one that naps finds the job itself.
    if (!is_napping_) changed_.notify_all();
  }

  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return jobs_.empty() && !busy_; });
  }

 private:
  void start() {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, kStackBytes);
    const int error = pthread_create(
        &thread_, &attributes,
        [](void* self) -> void* {
          pthread_setname_np(pthread_self(), "lw-compile");
          static_cast<Queue*>(self)->serve();
          return nullptr;
        },
        this);
    pthread_attr_destroy(&attributes);
    LW_CHECK(error == 0);
    started_ = true;
  }

  void serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
      const auto has_work = [&] { return stopping_ || !jobs_.empty(); };
      is_napping_ = true;
      for (int i = 0; i < kNaps && !has_work(); ++i) changed_.wait_for(lock, kNap);
      is_napping_ = false;
      changed_.wait(lock, has_work);
      if (stopping_) return;
      const std::function<void()> job = std::move(jobs_.front());
      jobs_.pop_front();
      busy_ = true;
      lock.unlock();
      job();
      lock.lock();
      busy_ = false;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  pthread_t thread_{};
  bool started_ = false;
  bool busy_ = false;
  bool is_napping_ = false;
  bool stopping_ = false;
};

Queue* instance = nullptr;
std::mutex instance_mutex;

/// Waits for the compile that is running and drops the others.
void end_queue() {
  const std::lock_guard lock(instance_mutex);
  delete std::exchange(instance, nullptr);
}

/// LLVM has static tables inside functions. Made by a running compile, they are destroyed at exit
/// before any handler that was registered earlier. Thread-local objects of the main thread go
/// before all of them, so it is one of those that waits.
struct EndWithMainThread {
  bool is_main = getpid() == gettid();
  ~EndWithMainThread() {
    if (is_main) end_queue();
  }
};

/// A fork waits for what is queued, so that nothing is missing in the child.
bool wait_at_fork() {
  pthread_atfork(
      [] {
        instance_mutex.lock();
        if (instance != nullptr) instance->wait();
      },
      [] { instance_mutex.unlock(); },
      [] {
        instance = nullptr;  // leaked on purpose: its thread is gone
        instance_mutex.unlock();
      });
  return true;
}

Queue& queue() {
  static const bool registered = wait_at_fork() && std::atexit(end_queue) == 0;
  static_cast<void>(registered);
  LW_CHECK(!base::NoFork::is_held());  // a fork that waits for us would hold the lock
  const std::lock_guard lock(instance_mutex);
  if (instance == nullptr) instance = new Queue;
  return *instance;
}

}  // namespace

void submit_compile(std::function<void()> job) {
  thread_local EndWithMainThread end;
  static_cast<void>(end.is_main);
  queue().submit(std::move(job));
}

void wait_for_compiles() { queue().wait(); }

}  // namespace lw::runtime
