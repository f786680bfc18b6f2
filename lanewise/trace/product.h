// Products of views with a sum over common axes.
//
// Every number of the result is one chain of fused multiplications and additions from 0 on, in the
// order of the index that is summed over; of integers a chain of plain ones.
#pragma once

#include "lanewise/trace/view.h"

namespace lw::trace {

/// The product of two views whose axes have letters for names; those not in the result are summed,
/// in the order in which they appear. Axes of size 1 broadcast.
View contract(std::string_view call, const View& a, std::string_view a_axes, const View& b,
              std::string_view b_axes, std::string_view result);

/// The last axis of one by the last but one of the other, or its only one; axes before those two
/// broadcast.
View product(std::string_view call, const View& a, const View& b);

}  // namespace lw::trace
