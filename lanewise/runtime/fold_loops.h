// The loops that fold a block of partials, with the widest registers that the machine has.
#pragma once

#include "lanewise/runtime/fold.h"

namespace lw::runtime {

/// Folds kFoldBlock values of a column into one; of Sum, Min and Max.
using FoldBlock = void (*)(const void* column, void* result);
FoldBlock fold_block(Fold::Kind kind, DType type);

/// Combines so many values with those that come behind them.
using FoldMany = void (*)(void* left, const void* right, std::int64_t count);
FoldMany fold_many(Fold::Kind kind, DType type);

/// Counts keys into tables of `size`, which stand one behind the other: one, or kKeyTables.
inline constexpr std::int64_t kKeyTables = 4;
void count_keys(const std::int32_t* keys, std::int64_t count, std::int64_t size,
                std::int64_t* tables, std::int64_t number_of_tables);

}  // namespace lw::runtime
