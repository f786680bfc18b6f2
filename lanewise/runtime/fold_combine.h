// Folding with a function of the user's, which need not be associative and has no neutral value:
// what is missing is known as such. Many pairs are combined at a time, of several blocks side by
// side.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "lanewise/runtime/fold.h"
#include "lanewise/runtime/fold_tree.h"
#include "lanewise/types/item.h"

namespace lw::runtime {

/// The partials of some elements: whether an element has one, and its values, in columns.
struct Partials {
  const bool* are_there;
  std::vector<const std::byte*> values;
  std::int64_t number = 0;  // of the first element
  std::int64_t count = 0;
};

/// Folds all blocks that have elements there. Gives `cells` for each: whether there is something,
/// and its values.
std::vector<FoldCell> combine_blocks(const CombineMany& combine, std::span<const DType> types,
                                     const Partials& partials);
/// Combines two such groups of cells; `count` have values.
void combine_two(const CombineMany& combine, std::size_t count, FoldCell* left,
                 const FoldCell* right);

}  // namespace lw::runtime
