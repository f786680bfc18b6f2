// Rebuilding a function instruction by instruction: the shape most passes have.
#pragma once

#include <functional>
#include <optional>

#include "lanewise/ir/builder.h"

namespace lw::transform {

/// Copies `function`; for each elementwise instruction `replace(builder, instruction)` may give the
/// value that stands for it (the instruction's operands are already those of the copy).
/// Nothing given: it is copied as it is.
using Replace = std::function<std::optional<ir::ValueId>(ir::Builder&, const ir::Instruction&)>;
ir::Function rewrite(const ir::Function& function, const Replace& replace);

/// Drops values nothing needs, carried ones too. Failures stay, and so do loops.
ir::Function remove_dead(const ir::Function& function);

/// Folds constants, merges equal values, and applies the identities that keep every bit.
ir::Function simplify(const ir::Function& function);

/// Computes the values of short branches for all elements, and chooses.
ir::Function flatten_branches(const ir::Function& function);
bool has_short_branches(const ir::Function& function);

/// Puts branches that few elements take behind what does not need them, for the scheduler, which
/// does not look over branches. The same values.
ir::Function delay_rare(ir::Function function);

/// Turns slots into SSA values: finds what each loop carries.
ir::Function slots_to_ssa(const ir::Function& function);

/// Makes one fma of a product and a sum, and products of divisions by literals, and lets quotients
/// and roots be near: other bits, faster.
ir::Function contract(const ir::Function& function);
/// Makes one fma of products and sums of the user's that `fuse` has brought together.
ir::Function contract_near(const ir::Function& function);

/// Computes the mathematical functions of f32 in f64: correctly rounded, all but always.
ir::Function compute_in_double(const ir::Function& function);

/// Computes the mathematical functions of f64 in pairs of f64: nearly correctly rounded.
ir::Function compute_in_pairs(const ir::Function& function);

/// Computes f16 and bf16 in f32.
ir::Function widen_halves(const ir::Function& function);

/// Rewrites the ops of kind Expand into native ones, after widening half types.
ir::Function expand(const ir::Function& function);

/// Replaces loops of a known number of steps by their results where those are linear in integers
/// from outside of the loop; simplified again where there was one.
ir::Function close_loops(const ir::Function& function);

/// Adds a shared parameter, the last, of type `counter` (i32 or i64), and makes an element fail
/// once it has taken more loop back edges than that.
ir::Function limit_steps(const ir::Function& function, DType counter);

/// Makes an element fail where one of the first `results` is a float that is not finite, or where a
/// float is converted to an integer that does not have it.
ir::Function check_numerics(const ir::Function& function, std::size_t results);

/// Makes an `each` of loops that write every place of an array once and read no other of it.
ir::Function spread_loops(const ir::Function& function);

/// Computes what one `each` keeps where another reads it, and makes one of two for the same
/// positions.
ir::Function fuse(const ir::Function& function);
/// Keeps what two computations need in the target that the second one writes to.
ir::Function reuse_targets(ir::Function function);
bool has_each(const ir::Function& function);

/// Replaces every `each` by straight code, where it is short, or by a loop and arrays; likewise
/// copies of arrays.
struct SerializeOptions {
  /// But those with many positions that have none inside.
  bool keeps_inner = false;
  /// Then arrays of so many bytes that are read by rows are kept by rows (streams.h).
  std::size_t large = 32 << 10;
  /// So many positions of an `each` go through the loops inside in step (in_step.h), and rows are
  /// copied into arrays of lanes at the beginning: for products.
  std::uint32_t in_step = 1;
  /// Then the terms of products that are at least twice as long are taken in blocks of so many.
  std::uint32_t terms = 96;
};
ir::Function serialize(const ir::Function& function, SerializeOptions options = {});
/// True when there is nothing for it to do: no `each`, and no array that begins as a copy.
bool is_serial(const ir::Function& function);

struct Options {
  std::optional<DType> step_counter;  // limit_steps with this type
  bool contract = false;
  bool high_accuracy = false;                  // compute_in_pairs and compute_in_double
  std::optional<std::size_t> checked_results;  // check_numerics of so many
};

/// The passes before expansion: from a trace to what the user wrote, as SSA.
ir::Function prepare(const ir::Function& traced, Options options = {});

/// All passes in their order, from a trace to what the planner takes.
ir::Function run(const ir::Function& traced, Options options = {});

}  // namespace lw::transform
