// Random element programs, well typed and sure to end: every loop carries a counter and tests it.
// They hold whatever the op table has (a new row needs nothing here), conversions where types do
// not fit, nested loops and branches that are left in many ways and over several levels, arrays,
// tables, rows and what runs for all positions of an element, the numbers of elements, random
// draws, and now and then an element that fails.
#pragma once

#include "lanewise/ir/function.h"

namespace lw::fuzz {

struct Options {
  int least = 20;  // from so many to so many instructions, after which nothing new is begun
  int most = 50;
};

/// The same seed gives the same program, everywhere.
ir::Function generate(std::uint64_t seed, const Options& options = {});

}  // namespace lw::fuzz
