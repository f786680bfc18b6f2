// An `each` over the places of a matrix as one over its rows, with one over their places in it.
#pragma once

#include <map>
#include <vector>

#include "lanewise/ir/function.h"

namespace lw::transform {

/// How many positions an `each` has, and those in it.
using Sizes = std::vector<std::uint32_t>;

/// True when an `each` does nothing but to keep numbers, and has none inside: it can be split.
bool keeps_numbers(const ir::Function& function, ir::ValueId each);

ir::Function split(const ir::Function& function, const std::map<ir::ValueId, Sizes>& eaches);

}  // namespace lw::transform
