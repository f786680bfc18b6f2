// A line of the user's source. The file name is interned and lives as long as the process.
#pragma once

#include <string>
#include <string_view>

namespace lw::base {

struct Location {
  const char* file = nullptr;  // interned; null when unknown
  int line = 0;

  explicit operator bool() const { return file != nullptr; }
  bool operator==(const Location&) const = default;
};

/// The one stored copy of `name`; equal names give equal pointers.
const char* intern(std::string_view name);

/// "file:line", or "" when unknown.
std::string to_string(Location location);

/// What the check in this line says when it fails; "" if it says nothing.
std::string message_at(Location location);
void set_message(Location location, std::string message);

}  // namespace lw::base
