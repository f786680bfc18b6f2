// The one list of all passes, in order.
#include "lanewise/base/float_state.h"
#include "lanewise/ir/verify.h"
#include "lanewise/transform/passes.h"

namespace lw::transform {

ir::Function prepare(const ir::Function& traced, Options options) {
  ir::Function f = slots_to_ssa(traced);
  f = remove_dead(f);
  if (options.checked_results) f = check_numerics(f, *options.checked_results);
  if (options.contract) f = remove_dead(contract(f));                   // the user's products
  if (options.step_counter) f = limit_steps(f, *options.step_counter);  // of the user's loops
  return f;
}

ir::Function run(const ir::Function& traced, Options options) {
  const base::FloatState state;  // literals are rounded, constants folded
  ir::Function f = prepare(traced, options);
  if (options.high_accuracy) f = compute_in_double(compute_in_pairs(f));  // the user's functions
  f = expand(f);
  f = simplify(f);
  if (ir::has_loops(f)) f = spread_loops(f);
  if (has_each(f)) {
    f = remove_dead(fuse(f));  // what is left of loops may be closed
    if (options.contract) f = remove_dead(contract_near(f));
  }
  if (ir::has_loops(f)) f = close_loops(f);
  f = remove_dead(f);
  if (has_short_branches(f)) f = remove_dead(simplify(flatten_branches(f)));
  f = delay_rare(reuse_targets(std::move(f)));
  ir::verify(f);
  return f;
}

}  // namespace lw::transform
