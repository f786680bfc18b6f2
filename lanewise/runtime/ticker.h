// A clock that asks running maps for attention every 50 ms, so that interrupts, cancels and
// failures elsewhere reach kernels inside their loops; more often while a profile is taken. When
// nothing has run for two seconds it gives the idle memory of results back, and sleeps.
#pragma once

#include <atomic>

namespace lw::runtime {

/// While it lives, `*attention` is set every 50 ms or so. Making one costs some ten nanoseconds.
class Ticking {
 public:
  explicit Ticking(std::atomic<std::int32_t>& attention);
  ~Ticking();
  Ticking(const Ticking&) = delete;
  Ticking& operator=(const Ticking&) = delete;

 private:
  int slot_;
};

/// Lets it tick now: a profile begins.
void hurry_ticker();

/// Sees to it that what is idle will be given back, if a thread can be had.
void stay_awake() noexcept;

}  // namespace lw::runtime
