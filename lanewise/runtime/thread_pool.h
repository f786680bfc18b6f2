// Worker threads. A job is a function of the worker's number; workers share the work out among
// themselves (an atomic chunk counter), so a job is right with any number of them taking part.
#pragma once

#include <functional>

namespace lw::runtime {

/// Threads used when nothing else is said: LANEWISE_NUM_THREADS, or what this process may run on.
int default_threads();
void set_default_threads(int threads);

/// Runs job(0) on the calling thread and job(1) ... job(workers - 1) on pool threads that are free;
/// returns when all that began have ended. While it waits, `idle` is called every 50 ms or so.
/// Jobs must not throw. Works again in the child after a fork.
void parallel(int workers, const std::function<void(int)>& job, const std::function<void()>& idle);

}  // namespace lw::runtime
