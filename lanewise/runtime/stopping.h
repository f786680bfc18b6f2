// Why a map ends before its elements have: it is cancelled, late or interrupted, or something went
// wrong on a worker.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>

#include "lanewise/runtime/execute.h"

namespace lw::runtime {

class Stopping {
 public:
  /// Throws for a call that need not begin.
  explicit Stopping(const ExecuteOptions& options);

  bool is_wanted() const { return is_wanted_.load(std::memory_order_relaxed); }
  bool is_interrupted() const { return is_interrupted_; }  // which nothing that is finished outdoes
  /// True for a call that is late or cancelled, and then says what is finished.
  bool returns_unfinished() const;

  /// Asks everybody who may want it, on the calling thread.
  void ask();
  /// Looks at the time alone, on any thread.
  void ask_clock();
  /// Keeps what is being handled for the caller, if it is the first.
  void keep_error();

  /// Throws what was kept; all workers have ended.
  void throw_error() const;
  /// Throws if it is wanted.
  void throw_reason() const;

 private:
  bool is_cancelled() const;

  const ExecuteOptions& options_;
  std::chrono::steady_clock::time_point deadline_ = std::chrono::steady_clock::time_point::max();
  std::atomic<bool> is_wanted_{false};
  std::atomic<bool> is_late_{false};
  bool is_interrupted_ = false;
  std::atomic<bool> has_error_{false};
  std::exception_ptr error_;
};

}  // namespace lw::runtime
