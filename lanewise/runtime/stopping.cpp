#include "lanewise/runtime/stopping.h"

#include <fmt/core.h>

#include "lanewise/base/error.h"

namespace lw::runtime {

using Clock = std::chrono::steady_clock;

Stopping::Stopping(const ExecuteOptions& options) : options_(options) {
  const bool must_end = options.finished == nullptr;
  if (must_end && is_cancelled()) throw Cancelled("map: cancelled before it began.");
  if (options.timeout <= 0) return;
  const std::chrono::duration<double> timeout(options.timeout);
  deadline_ =
      options.begin.value_or(Clock::now()) + std::chrono::duration_cast<Clock::duration>(timeout);
  ask_clock();
  if (must_end) throw_reason();
}

bool Stopping::is_cancelled() const {
  return options_.cancel != nullptr && options_.cancel->is_cancelled();
}

bool Stopping::returns_unfinished() const {
  return options_.finished != nullptr && is_wanted() && !is_interrupted_;
}

void Stopping::ask() {
  ask_clock();
  if (options_.interrupt != nullptr && (*options_.interrupt)()) is_interrupted_ = true;
  if (is_interrupted_ || is_cancelled()) is_wanted_.store(true, std::memory_order_relaxed);
}

void Stopping::ask_clock() {
  if (Clock::now() <= deadline_) return;
  is_late_.store(true, std::memory_order_relaxed);
  is_wanted_.store(true, std::memory_order_relaxed);
}

void Stopping::keep_error() {
  if (!has_error_.exchange(true)) error_ = std::current_exception();
  is_wanted_.store(true, std::memory_order_relaxed);
}

void Stopping::throw_error() const {
  if (error_ != nullptr) std::rethrow_exception(error_);
}

void Stopping::throw_reason() const {
  if (is_late_ && !is_interrupted_) {
    throw Timeout(fmt::format(
        "map: ran out of time; got a timeout of {} s, expected a map that ends by then. Outputs "
        "are unfinished. Raise timeout, or map fewer elements at a time.",
        options_.timeout));
  }
  if (is_wanted()) throw Cancelled("map: cancelled before it ended; outputs are unfinished.");
}

}  // namespace lw::runtime
