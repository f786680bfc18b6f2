// Products of views with a sum over a common axis.
//
// Every number of the result is one chain of fused multiplications and additions from 0 on, in the
// order of the index that is summed over; of integers a chain of plain ones.
#pragma once

#include "lanewise/trace/view.h"

namespace lw::trace {

/// The last axis of `a` with the last but one of `b`, or its only one.
View product(std::string_view call, const View& a, const View& b);

}  // namespace lw::trace
