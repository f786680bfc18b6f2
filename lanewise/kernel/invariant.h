// What elements have in common: an `each`, a loop, and what is computed of them, that need nothing
// but tables, shared numbers and literals. Where lanes hold positions it is done once for all
// elements that a worker takes.
#pragma once

#include "lanewise/kernel/lane.h"

namespace lw::kernel {

/// By instruction of the body: it does the same for every element, cannot fail, and may be done
/// before the first of them, in the same order. None, where it would be single numbers only.
std::vector<bool> find_invariant(const Kernel& kernel);

}  // namespace lw::kernel
