// A line of the user's source. The file name is interned and lives as long as the process. What
// stands there is read by base/source.h.
#pragma once

#include <string>
#include <string_view>

namespace lw::base {

struct Location {
  const char* file = nullptr;  // interned; null when unknown
  int line = 0;
  int column = 0;  // in bytes, from 1 on; 0 when unknown

  explicit operator bool() const { return file != nullptr; }
  /// Of lines; columns are only shown.
  bool operator==(const Location& other) const { return file == other.file && line == other.line; }
};

/// The one stored copy of `name`; equal names give equal pointers.
const char* intern(std::string_view name);

/// "file:line", or "" when unknown.
std::string to_string(Location location);

/// What the check in this line says when it fails; "" if it says nothing.
std::string message_at(Location location);
void set_message(Location location, std::string message);

}  // namespace lw::base
