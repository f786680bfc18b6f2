#include "lanewise/base/environment.h"

#include <fmt/core.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>

namespace lw::base {

std::string environment(const char* name, std::string_view fallback) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : std::string(fallback);
}

std::uint64_t environment_number(const char* name, std::uint64_t fallback) {
  const std::string text = environment(name);
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end ? value : fallback;
}

bool is_dumped(std::string_view stage) {
  const char* list = std::getenv("LANEWISE_DUMP");
  if (list == nullptr) return false;
  std::string_view rest = list;
  while (!rest.empty()) {
    const auto comma = rest.find(',');
    const std::string_view word = rest.substr(0, comma);
    if (word == stage || word == "all") return true;
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  return false;
}

void dump(std::string_view stage, const std::function<std::string()>& make_text) {
  if (!is_dumped(stage)) return;
  fmt::print(stderr, "=== lanewise {} ===\n{}\n", stage, make_text());
}

}  // namespace lw::base
