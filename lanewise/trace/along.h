// What is done one value after the other along an axis: running sums, orders.
#pragma once

#include <functional>

#include "lanewise/trace/view.h"

namespace lw::trace {

/// Reads and writes at a place along the axis.
struct AlongAxis {
  std::function<ir::ValueId(ir::ValueId at)> read;
  std::function<void(ir::ValueId at, ir::ValueId value)> write;
  std::uint32_t size;
};

/// A view of this type that has the same shape; `body` runs for each place of the other axes, and
/// writes all values along this one.
View along_axis(std::string_view call, const View& view, int axis, DType type,
                const std::function<void(const AlongAxis&)>& body);

/// Sums or products of the values up to each place along an axis.
View scan(ops::Op op, const View& view, int axis, DType type);

/// The values along an axis from the least to the greatest, NaNs last; or, as i32, their places,
/// where equal ones stay in their order.
inline constexpr std::uint32_t kMostSorted = 64;
View sorted(const View& view, int axis, bool gives_places);

}  // namespace lw::trace
