// The one list of all passes, in order.
#include "lanewise/ir/verify.h"
#include "lanewise/transform/passes.h"

namespace lw::transform {

ir::Function run(const ir::Function& traced, Options options) {
  ir::Function f = slots_to_ssa(traced);
  f = remove_dead(f);
  if (options.step_counter) f = limit_steps(f, *options.step_counter);  // of the user's loops
  f = expand(f, options.accuracy);
  f = simplify(f);
  f = remove_dead(f);
  ir::verify(f);
  return f;
}

}  // namespace lw::transform
