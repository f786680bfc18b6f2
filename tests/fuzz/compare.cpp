#include "tests/fuzz/compare.h"

#include <fmt/core.h>

#include <algorithm>

#include "lanewise/kernel/lower.h"
#include "lanewise/transform/passes.h"
#include "tests/fuzz/checks.h"
#include "tests/fuzz/tables.h"

namespace lw::fuzz {
namespace {

constexpr std::int64_t kEndless = 1'000'000;  // steps

/// Where evaluations fail that may do anything.
base::Location unchecked() {
  static const base::Location location{base::intern("unchecked"), 1};
  return location;
}

bool is_unchecked(const ir::Instruction& in) {
  using ops::Op;
  if (in.op == Op::Collect && in.operands.size() == 3) return true;  // to a place of a target
  const bool has_mode = in.op == Op::TableRead || in.op == Op::ArrayRead || in.op == Op::ArrayWrite;
  return has_mode && in.index == static_cast<std::uint32_t>(ir::IndexMode::Unchecked);
}

/// A smaller program may have lost the loop that the trial wants to refill.
bool is_possible(const Trial& trial, const ir::Function& function) {
  return !trial.wish.refill.value_or(false) ||
         kernel::is_refillable(lane_program(function, trial.step_counter));
}

Verdict check(const Trial& trial, const ir::Function& function, const Inputs& inputs,
              std::span<const ir::Evaluation> truth) {
  switch (trial.kind) {
    case Trial::Kind::Text:
      return check_text(function);
    case Trial::Kind::Passes:
      return check_passes(trial, function, inputs, truth);
    case Trial::Kind::Run:
      break;
  }
  if (!is_possible(trial, function)) return {};
  if (!trial.step_counter) return check_run(trial, function, inputs, truth);
  return check_run(trial, function, inputs, evaluate_all(function, inputs, trial.max_steps));
}

}  // namespace

ir::Function lane_program(const ir::Function& function, std::optional<DType> step_counter) {
  ir::Function program = transform::run(function, {.step_counter = step_counter});
  return transform::is_serial(program) ? program : transform::serialize(program);
}

std::vector<ir::Evaluation> evaluate_all(const ir::Function& function, const Inputs& inputs,
                                         std::int64_t max_steps) {
  ir::Function expanded = transform::expand(function);
  for (ir::Instruction& in : expanded.values) {
    if (is_unchecked(in)) in.location = unchecked();
  }
  const Tables tables(function, inputs);
  std::vector<ir::Evaluation> truth;
  for (std::int64_t i = 0; i < inputs.count; ++i) {
    const std::vector<types::Table> own = tables.of_element(i);
    truth.push_back(ir::evaluate(expanded, inputs.arguments(function, i),
                                 {.max_steps = max_steps > 0 ? max_steps : kEndless,
                                  .tables = own,
                                  .element = inputs.first_element + i}));
    by_parameter(expanded, truth.back());
  }
  return truth;
}

std::uint64_t digest_of(std::span<const ir::Evaluation> truth) {
  std::uint64_t digest = 1;
  for (const ir::Evaluation& e : truth) {
    digest = combine(digest, e.failure ? 1 + static_cast<std::uint64_t>(e.failure->kind) : 0);
    digest = combine(digest, static_cast<std::uint64_t>(e.steps));
    for (const Scalar& value : e.results) digest = combine(digest, value.canonical().bits());
    for (const auto& [target, places] : e.written) {
      for (const auto& [place, value] : places) digest = combine(digest, value.canonical().bits());
    }
  }
  return digest;
}

bool is_undefined(std::span<const ir::Evaluation> truth) {
  return std::any_of(truth.begin(), truth.end(), [](const ir::Evaluation& e) {
    return e.steps > kEndless || (e.failure && e.failure->location == unchecked());
  });
}

Verdict run_trial(const Trial& trial, const ir::Function& function, const Inputs& inputs,
                  std::span<const ir::Evaluation> truth) {
  try {
    return check(trial, function, inputs, truth);
  } catch (const std::exception& error) {
    return {.kind = "error", .problem = fmt::format("throws: {}", error.what())};
  }
}

}  // namespace lw::fuzz
