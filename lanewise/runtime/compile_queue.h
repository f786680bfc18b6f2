// One thread that compiles, in order. It ends with the process and starts anew after a fork.
#pragma once

#include <functional>

namespace lw::runtime {

/// `job` must not throw.
void submit_compile(std::function<void()> job);

/// Waits until the queue is empty and nothing is being compiled.
void wait_for_compiles();

}  // namespace lw::runtime
