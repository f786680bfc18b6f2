// Small systems of equations: solve, inverse, determinant, Cholesky, of up to 8 unknowns.
//
// Every step is written out for each number. The pivot of a column is the number of largest
// magnitude, of equal ones the first. An element whose matrix is singular, or not positive, fails.
#pragma once

#include "lanewise/trace/view.h"

namespace lw::trace {

inline constexpr std::uint32_t kMostUnknowns = 8;

/// x with a x = b; b has one column, or several.
View solve(const View& a, const View& b);
View inverse(const View& a);
/// 0 where the matrix is singular.
ir::ValueId determinant(const View& a);
/// The lower triangle whose product with its transpose is the matrix.
View cholesky(const View& a);

}  // namespace lw::trace
