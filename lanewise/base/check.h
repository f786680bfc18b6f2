// Internal invariants. A failed check is a fault of lanewise, never of its caller.
#pragma once

#include <fmt/core.h>

#include "lanewise/base/error.h"

namespace lw::base {

[[noreturn]] inline void fail_check(const char* condition, const char* file, int line) {
  throw InternalError(
      fmt::format("internal check failed: {} ({}:{}). Please report it.", condition, file, line));
}

}  // namespace lw::base

#define LW_CHECK(condition) \
  ((condition) ? void(0) : ::lw::base::fail_check(#condition, __FILE__, __LINE__))

/// A place that cannot be reached unless lanewise is wrong.
#define LW_UNREACHABLE(why) ::lw::base::fail_check(why, __FILE__, __LINE__)
