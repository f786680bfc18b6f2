// The user's code on Python's stack: the line that errors and recorded programs name.
#pragma once

#include <nanobind/nanobind.h>

#include <string_view>

namespace lw::python {

/// The innermost frame that is not of the package; none if there is no such frame.
nanobind::object user_frame();

/// What recorded instructions are said to stand on.
struct UserLine {
  nanobind::object code;  // held, so that no other gets its address
  int line = 0;

  /// The present one; no code if there is none.
  static UserLine present();
  bool operator==(const UserLine& other) const {
    return code.ptr() == other.code.ptr() && line == other.line;
  }
  std::string_view file() const;
};

}  // namespace lw::python
