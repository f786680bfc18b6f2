// Checks an element program: types, dominance, block ends. Runs after parsing and after every pass.
#pragma once

#include "lanewise/ir/function.h"

namespace lw::ir {

/// Throws UsageError saying which instruction breaks which rule.
void verify(const Function& function);

}  // namespace lw::ir
