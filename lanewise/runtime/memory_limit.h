// How much memory the process may use.
#pragma once

#include <cstddef>
#include <string>

namespace lw::runtime {

/// The least of the machine's memory, the limits of the process and those of its control groups.
/// Read once.
std::size_t memory_limit();

/// The least limit of the control groups that `root`/proc/self/cgroup names, versions 1 and 2; the
/// largest number if there is none.
std::size_t cgroup_memory_limit(const std::string& root);

}  // namespace lw::runtime
