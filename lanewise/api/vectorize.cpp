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

std::vector<trace::Places> ragged_rows(std::span<const ir::ValueId> values,
                                       std::span<const Input> inputs,
                                       std::span<const RaggedParam> ragged, bool is_masked) {
  trace::Trace& trace = trace::Trace::current();
  const auto bound = [&](const char* name, std::size_t input) {
    return trace.builder().param(name, inputs[input].type, inputs[input].kind);
  };
  std::vector<std::pair<ir::ValueId, ir::ValueId>> bounds;
  for (std::size_t i = 0; i < ragged.size(); ++i) {
    const ir::ValueId start = bound("start", values.size() + 2 * i);
    bounds.emplace_back(start, bound("stop", values.size() + 2 * i + 1));
  }
  std::vector<std::vector<ir::ValueId>> inner(ragged.size());
  std::size_t next = values.size() + 2 * ragged.size();
  for (std::size_t i = 0; i < ragged.size(); ++i) {
    while (inner[i].size() < ragged[i].inner) inner[i].push_back(bound("inner", next++));
  }
  if (is_masked) {
    trace.begin_region(trace.builder().param("where", DType::Bool, ir::ParamKind::Mapped));
  }
  std::vector<trace::Places> rows;
  for (std::size_t i = 0; i < ragged.size(); ++i) {
    rows.push_back(trace::places(values[ragged[i].number], std::move(inner[i]), bounds[i].first,
                                 bounds[i].second,
                                 static_cast<std::uint32_t>(values.size() + 2 * i)));
  }
  return rows;
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
