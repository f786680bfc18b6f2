// What an `each` reads: indices as sums of positions, and whether it has effects.
#pragma once

#include <map>
#include <optional>
#include <span>

#include "lanewise/ir/builder.h"

namespace lw::transform {

/// True when nothing in the block fails, changes anything, or reads what may change.
bool is_pure(const ir::Function& function, ir::BlockId block);

/// True when an `each` needs nothing but tables, shared numbers and literals: it gives the same for
/// every element.
bool is_shared(const ir::Function& function, ir::ValueId each);

/// How many positions there are, by the argument of the `each` that says which.
std::map<ir::ValueId, std::uint32_t> count_positions(const ir::Function& function);

/// constant + factor * position + ..., of positions of an `each`; i32 without overflow.
struct Place {
  struct Term {
    ir::ValueId position;
    std::uint32_t count;  // of positions
    std::int64_t factor;
  };
  std::int64_t constant = 0;
  std::vector<Term> terms;

  bool is_below(std::int64_t limit) const;
};

class Places {
 public:
  explicit Places(const ir::Function& f) : f_(f), counts_(count_positions(f)) {}

  /// An index as such a sum, if it is one.
  std::optional<Place> of(ir::ValueId index) const;

 private:
  bool add(ir::ValueId id, std::int64_t factor, Place& to) const;

  const ir::Function& f_;
  std::map<ir::ValueId, std::uint32_t> counts_;
};

/// A place in rows of `size` as the number of the row and the place in it.
std::optional<std::pair<Place, Place>> parted(const Place& place, std::uint32_t size);

/// Records the sum; `map` has what stands for the positions.
ir::ValueId record(ir::Builder& build, const Place& place, std::span<const ir::ValueId> map);

}  // namespace lw::transform
