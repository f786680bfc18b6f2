// Copying the block of an `each` for several positions at once, which go through its loops in step:
// a loop over the terms of a product then has one chain of sums for each position, and what the
// positions have in common is read and computed once.
#pragma once

#include <map>
#include <optional>

#include "lanewise/transform/copier.h"

namespace lw::transform {

/// By value: it differs from position to position. Empty where the block has no loop that positions
/// share, or does what must happen position by position.
std::vector<bool> find_own_values(const ir::Function& function, ir::ValueId each);

/// A loop over the terms of a product: but for its counter, what it carries is the positions' own
/// and begins with literals.
struct TermLoop {
  ir::ValueId loop;
  std::size_t counter;  // which of its arguments
  std::uint32_t terms;  // counted from 0
};
/// The one loop of the block of an `each` that positions share, if it is such a loop.
std::optional<TermLoop> find_term_loop(const ir::Function& function, ir::ValueId each,
                                       const std::vector<bool>& own);

class StepCopier : public Copier {
 public:
  using Copier::Copier;

 protected:
  /// Some of the terms, from `first` to below `end`, and the values that the loop begins with: of
  /// each of its own arguments one for each position.
  struct Terms {
    ir::ValueId first;
    ir::ValueId end;
    std::vector<ir::Operands> begun;
  };
  /// Copies the loop for these terms and positions: by argument, the values that it ends with.
  std::vector<ir::Operands> some_terms(ir::ValueId each, const TermLoop& loop,
                                       const std::vector<bool>& own, const ir::Operands& positions,
                                       const Terms& terms);
  /// Copies the block of an `each` for these positions: by position, what is collected.
  std::vector<std::vector<ir::ValueId>> in_step(ir::ValueId each, std::vector<bool> own,
                                                const ir::Operands& positions);

 private:
  struct Loop {
    ir::ValueId copy;
    std::vector<std::uint32_t> places;  // by result: that of its first copy among all
  };
  void block_in_step(ir::BlockId id);
  void copy_in_step(ir::ValueId id);
  void loop_in_step(ir::ValueId id);
  void result_in_step(ir::ValueId id);
  void exit_in_step(const ir::Instruction& in);
  bool has_own(ir::BlockId id) const;
  /// What stands for a value at a position.
  ir::ValueId of_position(ir::ValueId id, std::size_t position) const;
  /// The copies of values, of those for which `is_own` holds one for each position.
  template <class IsOwn>
  ir::Operands spread(std::span<const ir::ValueId> ids, const IsOwn& is_own) const;

  const Terms* terms_ = nullptr;  // of the loop that is being copied, if not all
  std::size_t count_ = 0;         // positions
  std::vector<bool> own_;
  std::map<ir::ValueId, ir::Operands> copies_;  // of values that differ, by position
  std::map<ir::ValueId, Loop> loops_;
  std::vector<ir::ValueId> open_;  // loops that are being copied, the innermost last
  std::vector<std::vector<ir::ValueId>> found_;
};

}  // namespace lw::transform
