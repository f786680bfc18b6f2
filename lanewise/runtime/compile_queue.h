// One thread that compiles, in order. It ends with the process and starts anew after a fork.
#pragma once

#include <functional>

namespace lw::runtime {

/// `job` must not throw.
void submit_compile(std::function<void()> job);

/// Waits until the queue is empty and nothing is being compiled.
void wait_for_compiles();

/// While one lives, fork waits. For work on other threads that takes LLVM's or our locks, which the
/// child would find held for ever.
class NoFork {
 public:
  NoFork();
  ~NoFork();
  NoFork(const NoFork&) = delete;
  NoFork& operator=(const NoFork&) = delete;
};

}  // namespace lw::runtime
