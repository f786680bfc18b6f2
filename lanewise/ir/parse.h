// Reads the text that ir/print.h writes. The result is verified.
#pragma once

#include <string_view>

#include "lanewise/ir/function.h"

namespace lw::ir {

/// Throws UsageError naming the line when the text is not a valid program.
Function parse(std::string_view text);

}  // namespace lw::ir
