// Sums, extremes and the like along axes of views.
//
// Up to 8 terms are combined from left to right, more in stripes (ir::Collect has the order); the
// terms of several axes are counted in C order. Along an axis on which the value does not change, a
// sum is a product. Half types are combined in f32.
#pragma once

#include "lanewise/trace/view.h"

namespace lw::trace {

enum class Reduction : std::uint8_t {
  Sum,
  Product,
  Min,
  Max,
  Any,
  All,
  ArgMin,
  ArgMax,
  Mean,
  Variance,
  Deviation,
  Norm,
  LogSumExp
};

/// Along which axes: all of them, or one, which is left with size 1 or not at all.
struct Along {
  bool is_all = true;
  int axis = 0;
  bool is_kept = false;
};

/// `type` is that of the result; of ArgMin and ArgMax it is i32.
View reduce(Reduction reduction, const View& view, Along along, DType type);

}  // namespace lw::trace
