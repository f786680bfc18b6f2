// From the element program to lane form. The only lowering there is.
#pragma once

#include "lanewise/kernel/lane.h"

namespace lw::kernel {

struct LowerOptions {
  /// Prepare the one top-level loop for refill: lanes take their next element inside of it, so its
  /// counters are no longer the same in all lanes.
  bool refill = false;
  /// Lanes are positions of one element; the program has no `each` inside of another.
  bool inner = false;
};

/// The program must be in SSA form, expanded and free of dead code.
Kernel lower(const ir::Function& function, LowerOptions options = {});

/// True when the program is straight code, one loop that lanes leave one by one, straight code.
bool is_refillable(const ir::Function& function);

}  // namespace lw::kernel
