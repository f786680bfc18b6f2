// What can be checked without running anything but the evaluator.
#include <fmt/core.h>

#include <algorithm>

#include "lanewise/ir/parse.h"
#include "lanewise/ir/print.h"
#include "lanewise/ir/verify.h"
#include "lanewise/kernel/lower.h"
#include "lanewise/transform/passes.h"
#include "tests/fuzz/checks.h"
#include "tests/fuzz/coverage.h"
#include "tests/fuzz/slots.h"
#include "tests/fuzz/tables.h"

namespace lw::fuzz {
namespace {

constexpr std::int64_t kMostElements = 16;
constexpr std::int64_t kMostLongElements = 4;    // with many positions
constexpr std::int64_t kMostSteps = 10'000'000;  // loops in place of `each` have many

/// A pass that closes loops leaves fewer; one that makes loops of `each`, or takes code out of it,
/// other ones.
enum class Steps { Same, Fewer, Other };

/// What a pass has changed, or nothing. A limited program has the limit as its last parameter and
/// stops before the step that is too many, not after it.
std::string compare(const ir::Function& program, const Inputs& inputs,
                    std::span<const ir::Evaluation> truth, std::optional<Scalar> limit,
                    Steps steps) {
  const Tables tables(program, inputs);
  for (std::int64_t i = 0; i < inputs.count; ++i) {
    std::vector<Scalar> arguments = inputs.arguments(program, i);
    if (limit) arguments.push_back(*limit);
    const std::vector<types::Table> own = tables.of_element(i);
    ir::Evaluation got =
        ir::evaluate(program, arguments,
                     {.max_steps = kMostSteps, .tables = own, .element = inputs.first_element + i});
    const ir::Evaluation& expected = truth[static_cast<std::size_t>(i)];
    by_parameter(program, got);
    if (!expected.failure && got.written != expected.written) {
      return fmt::format("changes rows that element {} writes", i);
    }
    if (got.results != expected.results) return fmt::format("changes results of element {}", i);
    if (got.failure.has_value() != expected.failure.has_value()) {
      return fmt::format("changes whether element {} fails", i);
    }
    if (got.failure && got.failure->kind != expected.failure->kind) {
      return fmt::format("changes why element {} fails", i);
    }
    const bool is_fewer = steps == Steps::Fewer && got.steps < expected.steps;
    if (!limit && steps != Steps::Other && got.steps != expected.steps && !is_fewer) {
      return fmt::format("changes the steps of element {}", i);
    }
  }
  return {};
}

}  // namespace

Verdict check_text(const ir::Function& function) {
  const auto element = [](const ir::Function& f) {
    const std::string text = ir::print(f);
    return text == ir::print(ir::parse(text));
  };
  const auto lanes = [](const kernel::Kernel& k) {
    kernel::verify(k);
    const std::string text = kernel::print(k);
    return text == kernel::print(kernel::parse(text));
  };
  const ir::Function program = transform::run(function);
  if (!element(function))
    return {.kind = "text", .problem = "the program's text does not parse back"};
  if (!element(program))
    return {.kind = "text", .problem = "the transformed program's text does not parse back"};
  const ir::Function lane = lane_program(function);
  if (!lanes(kernel::lower(lane)))
    return {.kind = "text", .problem = "the lane form does not parse back"};
  if (transform::has_each(program) &&
      !lanes(
          kernel::lower(transform::serialize(program, {.keeps_inner = true}), {.inner = true}))) {
    return {.kind = "text", .problem = "the lane form for positions does not parse back"};
  }
  if (transform::has_each(program) &&
      !lanes(kernel::lower(transform::serialize(program, {.in_step = 3})))) {
    return {.kind = "text", .problem = "the lane form for products does not parse back"};
  }
  if (kernel::is_refillable(lane) && !lanes(kernel::lower(lane, {.refill = true}))) {
    return {.kind = "text", .problem = "the lane form for refill does not parse back"};
  }
  return {};
}

Verdict check_passes(const Trial& trial, const ir::Function& function, const Inputs& inputs,
                     std::span<const ir::Evaluation> truth) {
  const bool is_long = transform::has_each(function);
  const std::int64_t most_elements = is_long ? kMostLongElements : kMostElements;
  std::vector<std::int64_t> few(static_cast<std::size_t>(std::min(most_elements, inputs.count)));
  for (std::size_t i = 0; i < few.size(); ++i) few[i] = static_cast<std::int64_t>(i);
  const Inputs some = subset(function, inputs, few);
  std::string problem;
  const auto check = [&](std::string_view name, ir::Function f,
                         std::span<const ir::Evaluation> expected, std::optional<Scalar> limit = {},
                         Steps steps = Steps::Same) {
    ir::verify(f);
    if (!name.starts_with(trial.pass)) return f;
    coverage().count(Counter::Passes);
    const std::string found = compare(f, some, expected, limit, steps);
    if (!found.empty() && problem.empty()) problem = fmt::format("{} {}", name, found);
    return f;
  };
  ir::verify(function);
  check("expand, alone", transform::expand(function), truth);
  const ir::Function slots = to_slots(function);
  ir::verify(slots);
  check("slots_to_ssa", transform::expand(transform::slots_to_ssa(slots)), truth);
  const Steps fewer = is_long ? Steps::Other : Steps::Fewer;
  check("run, from slots", transform::run(slots), truth, {}, fewer);
  ir::Function f = transform::slots_to_ssa(function);
  ir::verify(f);
  f = transform::remove_dead(f);
  ir::verify(f);
  for (const auto pass : {transform::contract, transform::contract_near,
                          transform::compute_in_double, transform::compute_in_pairs}) {
    ir::verify(pass(f));  // gives other bits
  }
  check("widen_halves", transform::expand(transform::widen_halves(f)), truth);
  f = check("expand", transform::expand(f), truth);
  check("remove_dead", transform::remove_dead(f), truth);
  const ir::Function simple = check("simplify", transform::simplify(f), truth);
  check("simplify, again", transform::simplify(simple), truth);
  check("close_loops", transform::close_loops(simple), truth, {}, Steps::Fewer);
  check("close_loops, alone", transform::close_loops(f), truth, {}, Steps::Fewer);
  check("spread_loops", transform::spread_loops(simple), truth, {}, Steps::Other);
  check("spread_loops, alone", transform::spread_loops(f), truth, {}, Steps::Other);
  check("flatten_branches", transform::flatten_branches(simple), truth);
  check("flatten_branches, alone", transform::flatten_branches(f), truth);
  check("delay_rare", transform::delay_rare(simple), truth);
  check("delay_rare, alone", transform::delay_rare(f), truth);
  const ir::Function program = check("run", transform::run(function), truth, {}, fewer);
  if (is_long) {
    check("fuse", transform::fuse(simple), truth, {}, Steps::Other);
    check("fuse, alone", transform::fuse(f), truth, {}, Steps::Other);
    const std::pair<std::string, transform::SerializeOptions> kinds[] = {
        {"serialize", {}},
        {"serialize, but inner ones", {.keeps_inner = true}},
        {"serialize, in streams", {.keeps_inner = true, .large = 0}},
        {"serialize, in step", {.in_step = 3}},
        {"serialize, terms in blocks", {.in_step = 3, .terms = 2}}};
    for (const auto& [kind, options] : kinds) {
      check(kind + ", alone", transform::serialize(f, options), truth, {}, Steps::Other);
      check(kind, transform::serialize(program, options), truth, {}, Steps::Other);
    }
  }

  // A limit that some elements exceed.
  std::int64_t most = 0;
  for (const std::int64_t i : few) {
    most = std::max(most, truth[static_cast<std::size_t>(i)].steps);
  }
  const std::int64_t limit = std::max<std::int64_t>(1, most / 2);
  const auto limited = evaluate_all(function, some, limit);
  for (const DType counter : {DType::I32, DType::I64}) {
    const Scalar bound = types::scalar_of(counter, static_cast<double>(limit));
    ir::Function g = check("limit_steps", transform::limit_steps(f, counter), limited, bound);
    g = check("simplify, limited", transform::simplify(g), limited, bound);
    check("remove_dead, limited", transform::remove_dead(g), limited, bound);
    if (!is_long) continue;
    g = check("fuse, limited", transform::fuse(g), limited, bound);
    check("serialize, limited", transform::serialize(g), limited, bound);
  }
  if (problem.empty()) return {};
  return {.kind = "pass", .problem = problem};
}

}  // namespace lw::fuzz
