// Views of views: indices, slices, other shapes and orders; and views put together.
#pragma once

#include "lanewise/trace/view.h"

namespace lw::trace {

/// What an index says about one axis: a number, one that elements compute, or a slice.
struct Place {
  static constexpr std::int64_t kEnd = INT64_MAX;  // of the axis

  bool is_slice = false;
  ir::ValueId value = ir::kNone;  // i32 or i64, of elements
  std::int64_t begin = 0;         // of a slice, or the number
  std::int64_t end = kEnd;
  std::int64_t step = 1;

  static Place number(std::int64_t at) { return {.begin = at}; }
  static Place all() { return {.is_slice = true}; }
};

/// The part at these places of the first axes; numbers leave their axis out.
View indexed(const View& view, std::span<const Place> places);
View insert_axis(const View& view, int axis);
View transpose(const View& view, std::span<const int> axes);
View flip(const View& view, int axis);
/// The same values in another shape, a view where one will do; one size may be -1.
View reshape(const View& view, std::span<const std::int64_t> shape);
/// One behind the other along an axis, or along a new one.
View concat(std::span<const View> views, int axis);
View stack(std::span<const View> views, int axis);
/// Moved along an axis; what leaves at its end comes in at the beginning.
View roll(const View& view, std::int64_t shift, int axis);
/// With so many places before and after along an axis that hold a number.
View pad(const View& view, std::int64_t before, std::int64_t after, int axis, ir::ValueId number);

}  // namespace lw::trace
