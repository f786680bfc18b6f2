#include "lanewise/api/vectorize.h"

#include <fmt/core.h>

namespace lw::api {

void wrong_argument_type(std::size_t index, DType got, DType expected) {
  throw UsageError(fmt::format(
      "map: argument {} has another element type; got {}, expected {}, as the function declares. "
      "Convert the array, or declare the parameter as lw::{}.",
      index, types::name_of(got), types::name_of(expected), types::name_of(got)));
}

types::Shape shape_of(const Input& input) {
  if (input.shape.rank() > 0) return input.shape;
  return input.row > 0 ? types::Shape{input.row} : types::Shape();
}

void wrong_argument_rank(std::size_t index, const types::Shape& got, int expected) {
  throw UsageError(fmt::format(
      "map: argument {} has elements of other dimensions; got the shape {}, expected {} "
      "dimensions, "
      "as the function declares. {}",
      index, types::to_string(got), expected,
      expected > 0
          ? "Say what belongs to an element, lw::Input(values).in_shape({...}), or to all, "
            "lw::shared(values, {...})."
          : "Declare the parameter as lw::Row or lw::Matrix."));
}

void wrong_argument_count(std::size_t got, std::size_t expected) {
  throw UsageError(
      fmt::format("map: wrong number of arguments; got {}, expected {}.", got, expected));
}

}  // namespace lw::api
