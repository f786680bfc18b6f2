#include "lanewise/runtime/failure.h"

#include <fmt/core.h>

#include <vector>

#include "lanewise/base/error.h"
#include "lanewise/ir/evaluate.h"
#include "lanewise/runtime/staging.h"

namespace lw::runtime {
namespace {

constexpr std::int64_t kMostOfOne = 1 << 26;  // instructions of the one that is thrown
constexpr std::int64_t kMostOfAll = 1 << 23;  // of those that are collected

std::string in_brackets(base::Location location) {
  const std::string where = base::to_string(location);
  return where.empty() ? "" : " (" + where + ")";
}

/// What the check says, and the values that it compared.
std::string describe_check(std::int64_t element, const ir::Failure& failure) {
  const std::string said = base::message_at(failure.location);
  std::string text =
      fmt::format("map: element {} failed{}", element, in_brackets(failure.location));
  if (!said.empty()) text += ": " + said;
  // A message that says what it got is complete.
  if (failure.values.size() != 2 || said.find("; ") != std::string::npos) {
    return said.empty() ? text + "." : text;
  }
  return fmt::format("{}; got {} and {}.", text, types::to_string(failure.values[0]),
                     types::to_string(failure.values[1]));
}

std::string describe_not_finite(std::int64_t element, const ir::Failure& failure) {
  const std::string said = base::message_at(failure.location);
  return fmt::format(
      "map: element {} has a value that is not finite{}{}{}; got {}, expected a "
      "finite one.",
      element, in_brackets(failure.location), said.empty() ? "" : ": ", said,
      types::to_string(failure.values[0]));
}

std::string describe(std::int64_t element, const ir::Failure& failure, std::int64_t max_steps) {
  const std::string where = in_brackets(failure.location);
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
    case ir::FailKind::NotFinite:
      return describe_not_finite(element, failure);
    case ir::FailKind::Conversion:
      return fmt::format(
          "map: element {} converts a number that does not fit{}; got {}, expected one that the "
          "integer has, rounded towards 0.",
          element, where, types::to_string(failure.values[0]));
    case ir::FailKind::Check:
      break;
  }
  return describe_check(element, failure);
}

}  // namespace

std::string_view name_of(ir::FailKind kind) {
  switch (kind) {
    case ir::FailKind::DivisionByZero:
      return "division by zero";
    case ir::FailKind::StepLimit:
      return "step limit";
    case ir::FailKind::Check:
      return "check";
    case ir::FailKind::Index:
      return "index";
    case ir::FailKind::Lengths:
      return "lengths";
    case ir::FailKind::Empty:
      return "empty";
    case ir::FailKind::Singular:
      return "singular";
    case ir::FailKind::NotPositive:
      return "not positive";
    case ir::FailKind::NotFinite:
      return "not finite";
    case ir::FailKind::Conversion:
      return "conversion";
  }
  return "";
}

ElementFailure Describing::within(std::int64_t element, std::int64_t& instructions) const {
  std::vector<Scalar> arguments;
  std::vector<types::Table> tables;
  std::size_t mapped = 0;
  std::size_t shared = 0;
  std::size_t table = 0;
  for (const ir::Param& p : program_.function().params) {
    if (p.is_table()) {
      tables.push_back(buffers_.tables[table++]);
    } else if (p.is_mapped()) {
      const auto* data = static_cast<const std::byte*>(buffers_.inputs[mapped]);
      data += offset_of(buffers_, mapped, p.item().bytes(), element);
      ++mapped;
      if (p.is_row()) {
        tables.push_back({data, p.size});
      } else {
        arguments.push_back(Scalar::load(p.type, data));
      }
    } else {
      arguments.push_back(Scalar::load(p.type, &shared_[shared++]));
    }
  }
  const ir::Evaluation evaluation = ir::evaluate(program_.function(), arguments,
                                                 {.tables = tables,
                                                  .element = options_.first_element + element,
                                                  .most_instructions = instructions,
                                                  .gives_up = &stops_,
                                                  .finds_origins = true});
  if (evaluation.given_up) {
    const ir::Failure why{ir::FailKind::Check, *evaluation.given_up, {}};
    return {element, why,
            fmt::format("map: element {} failed, after so many operations that it was not looked "
                        "for the place{}.",
                        element, in_brackets(why.location))};
  }
  instructions = evaluation.instructions;
  ir::Failure why = evaluation.failure.value_or(ir::Failure{});
  std::string message = describe(element, why, options_.max_steps);
  return {element, std::move(why), std::move(message)};
}

ElementFailure Describing::one(std::int64_t element) const {
  std::int64_t instructions = kMostOfOne;
  return within(element, instructions);
}

std::vector<ElementFailure> Describing::all(std::span<const std::int64_t> elements) const {
  std::vector<ElementFailure> failures;
  std::int64_t left = kMostOfAll;
  for (const std::int64_t element : elements) {
    std::int64_t instructions = left;
    failures.push_back(within(element, instructions));
    left -= instructions;
    if (stops_()) break;
  }
  return failures;
}

}  // namespace lw::runtime
