// The user's source as it is on disk, for those who show it. It may have changed, or not be there.
#pragma once

#include <string>

#include "lanewise/base/location.h"

namespace lw::base {

/// A line, counted from 1, with its indentation; "" if it cannot be read.
std::string line_of_file(const std::string& file, int line);

/// The line and, below it, a caret under its column, each on a line of its own:
///
///   lw::Check(x > 0, "negative");
///   ^
///
/// "" where the column is unknown or the line has none such.
std::string show(Location location);

}  // namespace lw::base
