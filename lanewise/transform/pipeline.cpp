// The one list of all passes, in order.
#include "lanewise/base/float_state.h"
#include "lanewise/ir/verify.h"
#include "lanewise/transform/passes.h"

namespace lw::transform {

ir::Function run(const ir::Function& traced, Options options) {
  const base::FloatState state;  // literals are rounded, constants folded
  ir::Function f = slots_to_ssa(traced);
  f = remove_dead(f);
  if (options.step_counter) f = limit_steps(f, *options.step_counter);  // of the user's loops
  f = expand(f);
  f = simplify(f);
  f = remove_dead(f);
  ir::verify(f);
  return f;
}

}  // namespace lw::transform
