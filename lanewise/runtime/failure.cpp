#include "lanewise/runtime/failure.h"

#include <fmt/core.h>

#include <vector>

#include "lanewise/base/error.h"
#include "lanewise/ir/evaluate.h"
#include "lanewise/runtime/staging.h"

namespace lw::runtime {
namespace {

std::string describe(std::int64_t element, const ir::Failure& failure, std::int64_t max_steps) {
  std::string where = base::to_string(failure.location);
  if (!where.empty()) where = " (" + where + ")";
  switch (failure.kind) {
    case ir::FailKind::DivisionByZero:
      return fmt::format(
          "map: element {} divides an integer by zero{}; got {} / {}, expected a divisor that is "
          "not 0. Replace it by a select.",
          element, where, types::to_string(failure.values[0]), types::to_string(failure.values[1]));
    case ir::FailKind::StepLimit:
      return fmt::format(
          "map: element {} took more loop steps than allowed{}; got a limit of {} steps. "
          "Raise max_steps, or check that the loop ends.",
          element, where, max_steps);
    case ir::FailKind::Index:
      return fmt::format(
          "map: element {} uses an index that is out of range{}; got {}, expected 0 to {}. Check "
          "the index, or say with a mode what such an index means.",
          element, where, types::to_string(failure.values[0]),
          failure.values[1].as<std::int64_t>() - 1);
    case ir::FailKind::Lengths:
      return fmt::format(
          "map: element {} combines rows of different lengths{}; got {} and {}, expected the same "
          "number of values.",
          element, where, types::to_string(failure.values[0]), types::to_string(failure.values[1]));
    case ir::FailKind::Empty:
      return fmt::format(
          "map: element {} has a row without values{}; got 0, expected at least one for a minimum, "
          "a maximum or its place. Leave such rows out, or ask for row.size() first.",
          element, where);
    case ir::FailKind::Singular:
      return fmt::format(
          "map: element {} has a singular matrix{}; got a pivot of 0, expected one that can be "
          "solved for.",
          element, where);
    case ir::FailKind::NotPositive:
      return fmt::format(
          "map: element {} has a matrix that is not positive{}; got {} under a root, expected more "
          "than 0.",
          element, where, types::to_string(failure.values[0]));
    case ir::FailKind::Check:
      break;
  }
  return fmt::format("map: element {} failed{}.", element, where);
}

}  // namespace

void throw_failure(const Program& program, const Buffers& buffers,
                   std::span<const std::uint64_t> shared_values, const ExecuteOptions& options,
                   std::int64_t element) {
  std::vector<Scalar> arguments;
  std::vector<types::Table> tables;
  std::size_t mapped = 0;
  std::size_t shared = 0;
  std::size_t table = 0;
  for (const ir::Param& p : program.function().params) {
    if (p.is_table()) {
      tables.push_back(buffers.tables[table++]);
    } else if (p.is_mapped()) {
      const auto* data = static_cast<const std::byte*>(buffers.inputs[mapped]);
      data += offset_of(buffers, mapped, p.item().bytes(), element);
      ++mapped;
      if (p.is_row()) {
        tables.push_back({data, p.size});
      } else {
        arguments.push_back(Scalar::load(p.type, data));
      }
    } else {
      arguments.push_back(Scalar::load(p.type, &shared_values[shared++]));
    }
  }
  const ir::Evaluation evaluation =
      ir::evaluate(program.function(), arguments,
                   {.tables = tables, .element = options.first_element + element});
  throw ElementError(
      describe(element, evaluation.failure.value_or(ir::Failure{}), options.max_steps), element);
}

}  // namespace lw::runtime
