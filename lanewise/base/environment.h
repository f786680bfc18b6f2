// Options read from environment variables, and the dump sink they steer.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace lw::base {

/// The value of an environment variable, or `fallback`.
std::string environment(const char* name, std::string_view fallback = {});

/// The same for a number of 0 or more; also `fallback` if it is none.
std::uint64_t environment_number(const char* name, std::uint64_t fallback);

/// True when LANEWISE_DUMP lists `stage`: one of trace, element, plan, kernel, code, cache.
bool is_dumped(std::string_view stage);

/// Writes `make_text()` under a heading to standard error if `stage` is dumped.
void dump(std::string_view stage, const std::function<std::string()>& make_text);

}  // namespace lw::base
