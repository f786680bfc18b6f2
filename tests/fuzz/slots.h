// A program as a trace would have it: loops carry nothing, variables are slots.
#pragma once

#include "lanewise/ir/function.h"

namespace lw::fuzz {

/// The same program with every carried value in a slot; transform::slots_to_ssa undoes it.
ir::Function to_slots(const ir::Function& function);

}  // namespace lw::fuzz
