// Running part of a test in the child of a fork.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

namespace lw::test {

// ThreadSanitizer ends the child of a process with threads.
#if defined(__SANITIZE_THREAD__)
inline constexpr bool kCanFork = false;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
inline constexpr bool kCanFork = false;
#else
inline constexpr bool kCanFork = true;
#endif
#else
inline constexpr bool kCanFork = true;
#endif

/// True if `job()` gives true in a child process.
template <class Job>
bool holds_in_child(const Job& job) {
  const pid_t child = fork();
  if (child == 0) _exit(job() ? 0 : 1);
  int status = 1;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

}  // namespace lw::test
