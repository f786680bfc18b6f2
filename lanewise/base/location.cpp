#include "lanewise/base/location.h"

#include <fmt/core.h>

#include <mutex>
#include <unordered_set>

namespace lw::base {

const char* intern(std::string_view name) {
  static std::mutex mutex;
  static auto& names = *new std::unordered_set<std::string>;  // never destroyed: pointers live on
  const std::lock_guard lock(mutex);
  return names.emplace(name).first->c_str();
}

std::string to_string(Location location) {
  return location ? fmt::format("{}:{}", location.file, location.line) : std::string();
}

}  // namespace lw::base
