// Rows of results that are as long as those of no argument. It is known where they begin when all
// their lengths are, so a function that gives such rows has a second program, without the values:
// it runs first, and tells the lengths.
#pragma once

#include <span>

#include "lanewise/api/accumulator.h"

namespace lw::api {

/// How many results are rows of lengths of their own.
std::size_t own_lengths(std::span<const WrittenRows> rows);

/// The function with the results from `first` on alone, so many, which writes no rows.
ir::Function row_lengths(ir::Function function, std::size_t first, std::size_t count);

}  // namespace lw::api
