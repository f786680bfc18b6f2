// Which values are the same in all lanes of a packet.
#pragma once

#include "lanewise/ir/function.h"

namespace lw::kernel {

struct Uniformity {
  /// By value: it is the same in all lanes that compute it. A carried value may be uniform inside a
  /// loop that lanes leave one by one (a trip counter); its result is not.
  std::vector<bool> uniform;
  /// By loop: some lanes may leave before others.
  std::vector<bool> diverges;
};

/// `refill_loop`: a loop whose lanes hold elements at different steps, so that everything it
/// carries varies; kNone for none. `inner`: lanes are positions of one element, and what is outside
/// of every `each` is the same for all.
Uniformity analyse_uniformity(const ir::Function& function, ir::ValueId refill_loop = ir::kNone,
                              bool inner = false);

}  // namespace lw::kernel
