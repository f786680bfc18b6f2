// Maps in a process of its own, to see what it finds on disk.
#pragma once

#include <string>

namespace lw::test {

inline constexpr const char* kCachedJob = "--cached-job";

/// What the job prints: for each of its functions the source of the code, the elements that the
/// tile machine did, and a digest of the results; last a digest of an object.
int do_cached_job();

/// The output of this program started anew with that job.
std::string run_cached_job();

}  // namespace lw::test
