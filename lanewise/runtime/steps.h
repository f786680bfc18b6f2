// A map in steps, for those who want to know how far it is while it runs: progress, a watchdog, and
// calls that may end before all elements are finished. A step is a part of a chunk that takes some
// milliseconds, so that little is lost when the time is up. Other maps have none of this.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <vector>

#include "lanewise/runtime/execute.h"
#include "lanewise/runtime/finished.h"
#include "lanewise/runtime/progress.h"

namespace lw::runtime {

class Steps {
 public:
  static bool are_wanted(const ExecuteOptions& options) {
    return options.finished != nullptr || options.progress != nullptr || options.watchdog > 0;
  }
  /// `least` and `most`: elements of a step.
  Steps(const Program& program, const ExecuteOptions& options, std::int64_t count, int workers,
        std::int64_t least, std::int64_t most);

  /// The elements from `first` on that are to be run, up to one that is not; none are left: empty.
  ElementRange open_from(std::int64_t first) const;

  /// Elements of the step that a worker begins at `first`, which has `count` before it.
  std::int64_t begin(int worker, std::int64_t first, std::int64_t count);
  /// A step of this size, whatever it takes.
  void begin_all(int worker, std::int64_t first, std::int64_t count);
  /// Its elements are finished.
  void end(int worker);

  /// Tells who wants to know, on the calling thread. Throws what they throw.
  void tell_progress();
  /// `loop_of` gives what a worker's context notes.
  void watch(const std::function<std::uint32_t(std::size_t worker)>& loop_of);

 private:
  struct Worker {
    std::atomic<std::int64_t> first{0}, last{0}, since{0};  // of its step; empty: it has none
    std::int64_t size = 0;                                  // of its next one
  };

  Silence silence(std::int64_t now, const std::function<std::uint32_t(std::size_t)>& loop_of) const;

  const Program& program_;
  const ExecuteOptions& options_;
  const std::int64_t count_;
  const std::int64_t least_;
  const std::int64_t most_;
  const std::int64_t start_;
  std::vector<ElementRange> before_;  // finished when the call began
  std::int64_t done_before_ = 0;
  std::mutex mutex_;  // of what is finished
  std::vector<Worker> workers_;
  std::atomic<std::int64_t> done_;
  std::atomic<std::int64_t> last_end_;  // when the last step ended
  std::int64_t told_ = 0;               // of a silence, when
};

}  // namespace lw::runtime
