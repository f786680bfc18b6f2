#include "lanewise/api/vectorize.h"

#include <fmt/core.h>

namespace lw::api {

void wrong_argument_type(std::size_t index, DType got, DType expected) {
  throw UsageError(fmt::format(
      "map: argument {} has another element type; got {}, expected {}, as the function declares. "
      "Convert the array, or declare the parameter as lw::{}.",
      index, types::name_of(got), types::name_of(expected), types::name_of(got)));
}

void wrong_argument_count(std::size_t got, std::size_t expected) {
  throw UsageError(
      fmt::format("map: wrong number of arguments; got {}, expected {}.", got, expected));
}

}  // namespace lw::api
