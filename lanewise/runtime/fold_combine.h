// Folding with a function of the user's, which need not be associative and has no neutral value:
// what is missing is known as such. Many pairs are combined at a time, of several blocks side by
// side.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "lanewise/runtime/fold.h"
#include "lanewise/runtime/fold_tree.h"
#include "lanewise/runtime/memory.h"
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
std::vector<FoldCell> combine_blocks(const CombineMany& combine, std::span<const types::Item> items,
                                     const Partials& partials);
/// Bytes that it takes for so many blocks.
std::int64_t combine_bytes(std::span<const types::Item> items, std::int64_t blocks);
/// Combines two such groups of cells.
void combine_two(const CombineMany& combine, std::span<const types::Item> items, FoldCell* left,
                 const FoldCell* right);

}  // namespace lw::runtime
