#include "lanewise/base/location.h"

#include <fmt/core.h>

#include <map>
#include <mutex>
#include <unordered_set>
#include <utility>

#include "lanewise/base/fork.h"

namespace lw::base {

const char* intern(std::string_view name) {
  static auto& mutex = *new Mutex;
  static auto& names = *new std::unordered_set<std::string>;  // never destroyed: pointers live on
  const std::lock_guard lock(mutex);
  name = name.substr(0, name.find('\0'));  // equal text is an equal pointer
  return names.emplace(name).first->c_str();
}

std::string to_string(Location location) {
  return location ? fmt::format("{}:{}", location.file, location.line) : std::string();
}

namespace {

struct Messages {
  Mutex mutex;
  std::map<std::pair<const char*, int>, std::string> by_line;
};

Messages& messages() {
  static auto& all = *new Messages;  // never destroyed: elements may fail till the end
  return all;
}

}  // namespace

std::string message_at(Location location) {
  const std::lock_guard lock(messages().mutex);
  const auto found = messages().by_line.find({location.file, location.line});
  return found == messages().by_line.end() ? std::string() : found->second;
}

void set_message(Location location, std::string message) {
  const std::lock_guard lock(messages().mutex);
  messages().by_line[{location.file, location.line}] = std::move(message);
}

}  // namespace lw::base
