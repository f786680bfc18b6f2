#include "lanewise/runtime/memory_limit.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string_view>

namespace lw::runtime {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

std::size_t machine_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(page)
                               : kNone;
}

std::size_t process_limit(__rlimit_resource resource) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kNone;
  return limit.rlim_cur;
}

/// The number in a file; "max", or no such file, is no limit.
std::size_t number_in(const std::string& path) {
  std::ifstream file(path);
  std::size_t number = 0;
  return file >> number ? number : kNone;
}

/// A group is bound by the limits of all groups that it is in.
std::size_t limit_of_group(const std::string& mount, std::string group, const char* file) {
  std::size_t least = kNone;
  for (;;) {
    least = std::min(least, number_in(mount + group + "/" + file));
    if (group.empty()) return least;
    group.erase(group.rfind('/'));
  }
}

}  // namespace

std::size_t cgroup_memory_limit(const std::string& root) {
  std::size_t least = kNone;
  std::ifstream groups(root + "/proc/self/cgroup");  // number:controllers:/path
  for (std::string line; std::getline(groups, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string_view controllers =
        std::string_view(line).substr(first + 1, second - first - 1);
    std::string group = line.substr(second + 1);
    if (group.empty() || group[0] != '/') continue;
    if (group == "/") group.clear();
    if (controllers.empty()) {
      least = std::min(least, limit_of_group(root + "/sys/fs/cgroup", group, "memory.max"));
    } else if (controllers.find("memory") != std::string_view::npos) {
      least = std::min(
          least, limit_of_group(root + "/sys/fs/cgroup/memory", group, "memory.limit_in_bytes"));
    }
  }
  return least;
}

std::size_t memory_limit() {
  static const std::size_t limit = std::min({machine_memory(), process_limit(RLIMIT_AS),
                                             process_limit(RLIMIT_DATA), cgroup_memory_limit("")});
  return limit;
}

}  // namespace lw::runtime
