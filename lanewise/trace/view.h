// The values of an element that has many, while its function is recorded: an array, row or table of
// the program, seen with an offset, a shape and strides, so that slices and transposes record
// nothing. Operations are recorded as `each` of the program, one for each of them; passes join
// them. Types are those of the program: trace/grid.h gives views the types of C++.
#pragma once

#include <array>

#include "lanewise/trace/trace.h"
#include "lanewise/types/shape.h"

namespace lw::trace {

using types::Shape;
using Strides = std::array<std::int64_t, Shape::kMost>;

struct View {
  ir::ValueId base = ir::kNone;    // an array, row or table, or a number
  bool is_number = false;          // which stands in all places then
  Shape shape;                     // without dimensions: one number
  Strides strides = {};            // in values, not bytes
  std::int64_t offset = 0;         // of the first value
  ir::ValueId moving = ir::kNone;  // a part of the offset that elements have computed
  std::uint64_t trace = 0;         // that it belongs to

  int rank() const { return shape.rank(); }
};

/// A number, in all places of a shape.
View number_view(ir::ValueId number, const Shape& shape = {});
/// An array, row or table whose values stand together in C order.
View array_view(ir::ValueId array, const Shape& shape);

DType type_of(const View& view);
/// The number of a view without dimensions.
ir::ValueId number_of(const View& view);
/// The values as an array of the program, in C order.
ir::ValueId array_of(const View& view);
/// The same as a result of the function, which has those in `taken` already.
ir::ValueId result_of(const View& view, std::span<const ir::ValueId> taken);

/// A view of a copy.
View copied(const View& view);
/// Assigns all places of an array of the element's own.
void assign(const View& array, const View& values);

/// An op for all positions of views, which are broadcast as NumPy does.
View apply(ops::Op op, std::span<const View> operands, DType stated = DType::Bool);
inline View apply(ops::Op op, std::initializer_list<View> operands, DType stated = DType::Bool) {
  return apply(op, std::span(operands.begin(), operands.size()), stated);
}
View convert(const View& view, DType type);
/// The view with a literal in all places that `type` can hold.
View literal_view(DType type, double value);

View broadcast_to(std::string_view call, const View& view, const Shape& shape);

/// A UsageError with the present line: "call: problem; got ..., expected .... Hint."
[[noreturn]] void refuse(const std::string& message);
/// Refuses a view of another trace, or of a scope that has ended.
void require_here(const View& view);
/// An axis counted from 0, or from the last one if it is below 0.
int checked_axis(std::string_view call, int axis, int rank);
/// Sizes of an element, each at least 1 and not too large.
Shape checked_shape(std::string_view call, std::span<const std::int64_t> sizes);

}  // namespace lw::trace
