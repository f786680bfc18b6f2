#include <fmt/core.h>

#include "lanewise/api/function.h"
#include "lanewise/base/error.h"

namespace lw {
namespace {

/// How many values an element of this shape has; there are so many in all.
std::uint32_t checked_row(const char* what, const types::Shape& shape, std::int64_t values) {
  const std::int64_t row = shape.count();
  if (row > 0 && row <= ir::kMostPositions && values % row == 0) {
    return static_cast<std::uint32_t>(row);
  }
  throw UsageError(
      fmt::format("{}: elements do not fit; got {} values in elements of the shape {}, expected "
                  "sizes of at least 1 and a whole number of elements.",
                  what, values, types::to_string(shape)));
}

}  // namespace

Input Input::in_rows(std::uint32_t length) const { return in_shape({length}); }

Input Input::in_shape(const types::Shape& sizes) const {
  Input rows = *this;
  rows.row = checked_row("Input", sizes, size);
  rows.size = size / rows.row;
  rows.stride = rows.item().bytes();
  if (sizes.rank() > 1) rows.shape = sizes;
  return rows;
}

Input Input::as_table() const {
  Input table = *this;
  table.kind = ir::ParamKind::Table;
  if (row == 0) return table;
  table.size = size * row;
  table.stride = static_cast<std::int64_t>(types::size_of(type));
  table.row = 0;
  table.shape = {};
  return table;
}

Input shared(const Input& values, const types::Shape& sizes) {
  Input table = values.as_table();
  if (checked_row("shared", sizes, table.size) != table.size) {
    throw UsageError(
        fmt::format("shared: another number of values; got {} and the shape {}, expected as many "
                    "as the shape has.",
                    table.size, types::to_string(sizes)));
  }
  table.shape = sizes;
  return table;
}

Input shared(const Input& values) {
  return shared(values, {static_cast<std::uint32_t>(values.as_table().size)});
}

Output Output::in_rows(std::uint32_t length) const {
  Output rows = *this;
  rows.row = checked_row("Output", {length}, size);
  rows.size = size / length;
  rows.stride = rows.item().bytes();
  return rows;
}

}  // namespace lw
