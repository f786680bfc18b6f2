#include "tests/fuzz/workers.h"

#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <map>
#include <new>

#include "lanewise/base/error.h"
#include "tests/fuzz/checks.h"

namespace lw::fuzz {
namespace {

using Clock = std::chrono::steady_clock;

/// What a process has found; it stays when that dies.
struct Slot {
  Tally tally;
  std::uint64_t seed = 0;  // at present
  bool is_busy = false;    // with it
};

struct Shared {
  std::atomic<std::int64_t> taken = 0;
  std::atomic<std::int64_t> failures = 0;
};

class Workers {
 public:
  Workers(const Seeds& seeds, int jobs, const std::function<Outcome(std::uint64_t)>& job)
      : seeds_(seeds), jobs_(jobs), job_(job) {
    bytes_ = sizeof(Shared) + static_cast<std::size_t>(jobs) * sizeof(Slot);
    void* const memory =
        mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    shared_ = new (memory) Shared;
    slots_ = reinterpret_cast<Slot*>(shared_ + 1);
    for (int i = 0; i < jobs; ++i) new (slots_ + i) Slot;
  }
  ~Workers() {
    for (const auto& [child, number] : running_) kill(child, SIGTERM);
    for (const auto& [child, number] : running_) waitpid(child, nullptr, 0);
    munmap(shared_, bytes_);
  }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  Tally run() {
    for (int i = 0; i < jobs_; ++i) start(i);
    while (!running_.empty()) {
      int status = 0;
      const pid_t ended = wait(&status);
      const auto found = running_.find(ended);
      if (found == running_.end()) continue;
      const int number = found->second;
      running_.erase(found);
      if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGINT || WTERMSIG(status) == SIGTERM)) {
        throw Cancelled("somebody stopped it.");
      }
      if (slot(number).is_busy) {
        bury(number);
      } else if (status != 0) {
        throw InternalError("a process of the fuzzer could not do its work.");
      }
    }
    Tally sum;
    for (int i = 0; i < jobs_; ++i) sum.add(slot(i).tally);
    return sum;
  }

 private:
  Slot& slot(int number) { return slots_[number]; }

  bool has_ended() const {
    const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    return shared_->failures >= seeds_.most_failures ||
           (seeds_.seconds > 0 && seconds >= seeds_.seconds);
  }

  void start(int number) {
    const pid_t child = fork();
    if (child < 0) throw ResourceError("no process for the fuzzer.");
    if (child == 0) work(slot(number));
    running_[child] = number;
  }

  [[noreturn]] void work(Slot& own) {
    try {
      while (!has_ended()) {
        const std::int64_t place = shared_->taken++;
        if (place >= seeds_.count) break;
        own.seed = seeds_.first + static_cast<std::uint64_t>(place);
        own.is_busy = true;
        coverage() = {};
        const Outcome outcome = job_(own.seed);
        own.tally.add(own.seed, outcome);
        own.tally.coverage.add(coverage());
        if (!outcome.agrees) ++shared_->failures;
        own.is_busy = false;
      }
    } catch (const std::exception& error) {
      fmt::print(stderr, "seed {}: {}\n", own.seed, error.what());
      _exit(1);
    }
    _exit(0);
  }

  /// Goes on behind a process that died.
  void bury(int number) {
    Slot& own = slot(number);
    own.tally.add(own.seed, {.agrees = false});
    own.is_busy = false;
    ++shared_->failures;
    fmt::print(stderr, "seed {}: its process died\n", own.seed);
    if (!has_ended()) start(number);
  }

  Seeds seeds_;
  int jobs_;
  const std::function<Outcome(std::uint64_t)>& job_;
  Clock::time_point start_ = Clock::now();
  Shared* shared_ = nullptr;
  Slot* slots_ = nullptr;
  std::size_t bytes_ = 0;
  std::map<pid_t, int> running_;
};

}  // namespace

void Tally::add(std::uint64_t seed, const Outcome& outcome) {
  ++programs;
  failures += outcome.agrees ? 0 : 1;
  digest += combine(seed, outcome.digest);
}

void Tally::add(const Tally& other) {
  programs += other.programs;
  failures += other.failures;
  digest += other.digest;
  coverage.add(other.coverage);
}

Tally run_workers(const Seeds& seeds, int jobs, const std::function<Outcome(std::uint64_t)>& job) {
  return Workers(seeds, jobs, job).run();
}

}  // namespace lw::fuzz
