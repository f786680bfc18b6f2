#include "lanewise/plan/choose.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "lanewise/base/error.h"
#include "lanewise/kernel/lower.h"
#include "lanewise/kernel/step_test.h"
#include "lanewise/kernel/uniformity.h"
#include "lanewise/plan/considered.h"
#include "lanewise/transform/in_step.h"

namespace lw::plan {
namespace {

using ir::Op;
using ir::ValueId;

/// Like ir::for_each, without what stands in branches: that is rare. Parts are no deeper than what
/// is around them.
template <class Visit>
void for_each_common(const ir::Function& f, const Visit& visit, ir::BlockId block = 0,
                     int depth = 0) {
  for (const ValueId id : f.blocks[block].body) {
    visit(id, depth);
    if (f[id].op == Op::Loop && !ir::is_branch(f, id)) {
      for_each_common(f, visit, f[id].block, ir::is_part(f, id) ? depth : depth + 1);
    }
  }
}

/// What stands in the deepest loop (all, if there is none).
template <class Visit>
void for_each_hot(const ir::Function& f, const Visit& visit) {
  int deepest = 0;
  for_each_common(f, [&](ValueId, int depth) { deepest = std::max(deepest, depth); });
  for_each_common(f, [&](ValueId id, int depth) {
    if (depth == deepest) visit(id);
  });
}

}  // namespace

int hot_ops(const ir::Function& f) {
  int count = 0;
  for_each_hot(f, [&](ValueId id) { count += ops::is_elementwise(f[id].op); });
  return count;
}

namespace {

/// Those that become machine code: parts are compiled once, if they are many.
int code_ops(const ir::Function& f, int hot) {
  int in_parts = 0;
  int largest = 0;
  for_each_common(f, [&](ValueId id, int) {
    if (f[id].op != Op::Loop || !ir::is_part(f, id)) return;
    int count = 0;
    for_each_common(
        f, [&](ValueId inner, int) { count += ops::is_elementwise(f[inner].op); }, f[id].block);
    in_parts += count;
    largest = std::max(largest, count);
  });
  return std::max(largest, hot - in_parts);
}

/// Bytes of the widest varying value where the time goes: registers hold as many lanes as fit of
/// it.
int widest_bytes(const ir::Function& f, const kernel::Uniformity& facts) {
  std::size_t widest = 4;
  for_each_hot(f, [&](ValueId id) {
    if (ir::has_value(f[id]) && !facts.uniform[id]) {
      widest = std::max(widest, types::size_of(f[id].type));
    }
  });
  return static_cast<int>(widest);
}

double mean(const std::vector<std::uint32_t>& trips) {
  if (trips.empty()) return 0;
  return std::accumulate(trips.begin(), trips.end(), 0.0) / static_cast<double>(trips.size());
}

struct Verdict {
  bool refill;
  std::string reason;
};

/// Refill pays when what packets waste on waiting exceeds the cost of taking and retiring. With
/// loops inside it must win more: elements that began at different times go round those at
/// different times.
Verdict is_refill_worth(const Schedule& s, int ops, bool has_inner_loops, const Sample& sample) {
  const int lanes = s.lanes * s.interleave;
  const double useful = mean(sample.trips);
  const double occupancy = packet_occupancy(sample, lanes);
  const LoopCosts costs = loop_costs(s, ops, useful, occupancy);
  const double waste_ns = costs.packets - costs.steps;
  const std::string counts =
      fmt::format("{:.1f} trips an element, packets of {} would use {:.0f} % of their lanes",
                  useful, lanes, 100 * occupancy);
  constexpr double kLittle = 0.5;
  if (costs.packets > costs.refill && has_inner_loops && occupancy > kLittle) {
    return {false, counts + "; refill would scatter the steps of the loops inside"};
  }
  if (costs.packets > costs.refill) {
    return {true, counts + fmt::format("; waiting costs about {:.1f} ns an element, refill less",
                                       waste_ns)};
  }
  return {false, counts + "; waiting costs less than refill"};
}

/// Rough cycles until the result is there, and those that it takes from others at two instructions
/// a cycle.
struct Cycles {
  double latency;
  double work;
};

Cycles cycles_of(const ir::Instruction& in) {
  const bool is_float = types::is_float(in.type);
  switch (in.op) {
    case Op::Div:
    case Op::Sqrt:
      return {in.type == DType::F64 ? 24.0 : 16.0, 0.5};
    case Op::TableRead:
    case Op::ArrayRead:
      return {24, 12};
    case Op::Select:
      return {1, 0.5};
    default:
      if (!ops::is_elementwise(in.op)) return {0, 0};
      return {is_float || ops::row(in.op).gives == ops::Gives::Bool ? 4.0 : 1.0, 0.5};
  }
}

/// True when a step of the innermost loop is mostly waiting for its own results.
bool is_long_chain(const ir::Function& f, int ops) {
  constexpr int kMostOps = 96;  // more would not fit the registers
  constexpr double kLong = 3;
  if (ops > kMostOps || !ir::has_loops(f)) return false;
  std::vector<double> ready(f.values.size(), 0);
  double latency = 0;
  double work = 0;
  for_each_hot(f, [&](ValueId id) {
    const ir::Instruction& in = f[id];
    double start = 0;
    for (const ValueId operand : in.operands) start = std::max(start, ready[operand]);
    const Cycles cycles = cycles_of(in);
    ready[id] = start + cycles.latency;
    latency = std::max(latency, ready[id]);
    work += cycles.work;
  });
  return latency > kLong * work;
}

/// True when lanes go round a loop inside of one that they leave one by one: many lanes then wait
/// for few.
bool has_nested_diverging_loops(const ir::Function& f, const kernel::Uniformity& facts) {
  const auto is_diverging_loop = [&](ValueId id) {
    return f[id].op == Op::Loop && facts.diverges[id] && ir::can_go_round(f, id);
  };
  bool found = false;
  ir::for_each(f, [&](ValueId id, int) {
    if (!is_diverging_loop(id)) return;
    ir::for_each(
        f, [&](ValueId inner, int) { found = found || is_diverging_loop(inner); }, f[id].block);
  });
  return found;
}

/// How many places of elements that are rows straight code reads.
int row_places(const ir::Function& f) {
  const auto& body = f.blocks[0].body;
  return static_cast<int>(std::count_if(body.begin(), body.end(), [&](ValueId id) {
    if (f[id].op != Op::TableRead) return false;
    const ir::Instruction& of = f[f[id].operands[0]];
    return of.op == Op::Param && f.params[of.index].is_row() &&
           f[f[id].operands[1]].op == Op::Constant;
  }));
}

/// Long code in few registers, so that it fits the instruction cache. A chain of parts is longer
/// than the processor looks ahead and wants more, as do steps that wait for themselves.
int interleave_for(const ir::Function& f, const kernel::Uniformity& facts, int hot, int lanes) {
  const int code = code_ops(f, hot);
  if (code * 8 < hot) return 8;
  int interleave = code > 4000 ? 1 : code > 2500 ? 2 : is_long_chain(f, hot) ? 6 : 4;
  if (has_nested_diverging_loops(f, facts)) interleave = 1;
  // Values of rows are all there before the first is used.
  constexpr int kMostPlaces = 8;
  if (row_places(f) > kMostPlaces) interleave = std::min(interleave, 2);
  // The elements' own arrays should stay in the second-level cache at the worst.
  constexpr std::size_t kMostBytes = 128 << 10;
  const std::size_t bytes = array_bytes(f) * static_cast<std::size_t>(lanes);
  while (interleave > 1 && bytes * static_cast<std::size_t>(interleave) > kMostBytes) {
    interleave /= 2;
  }
  return interleave;
}

/// Several steps between looks where a step is short; a divisor of the steps until a counter test
/// can hold, so that the test too is made once a look.
int steps_for(const ir::Function& f, int ops, bool refill) {
  const int most = ops <= 16 ? (refill ? 8 : 4) : ops <= 32 ? 2 : 1;
  ValueId innermost = ir::kNone;
  for_each_common(f, [&](ValueId id, int) {
    if (f[id].op == Op::Loop && ir::can_go_round(f, id)) innermost = id;
  });
  if (innermost == ir::kNone) return 1;
  const auto test = kernel::find_step_test(f, innermost);
  for (int steps = most; test && steps > most / 2; --steps) {
    if (test->period % steps == 0) return steps;
  }
  return most;
}

}  // namespace

std::string to_string(const Wish& wish) {
  std::string text;
  const auto add = [&](const auto& value) {
    text += value ? std::to_string(static_cast<int>(*value)) : "-";
    text += ' ';
  };
  add(wish.refill);
  add(wish.inner);
  add(wish.batched);
  add(wish.isa);
  add(wish.lanes);
  add(wish.interleave);
  add(wish.steps);
  add(wish.threshold);
  return text;
}

std::size_t array_bytes(const ir::Function& f) {
  std::size_t bytes = 0;
  ir::for_each(f, [&](ValueId id, int) {
    if (f[id].op == Op::Array) bytes += f[id].index * types::size_of(f[id].type);
  });
  return bytes;
}

std::size_t kept_bytes(const ir::Function& f) {
  std::size_t bytes = 0;
  ir::for_each(f, [&](ValueId id, int) {
    if (ir::is_array(f, id)) bytes += kernel::line_bytes(ir::size_of(f, id), f[id].type);
  });
  return bytes;
}

namespace {

/// Of what an element reads and gives.
std::int64_t item_bytes(const ir::Function& f) {
  std::int64_t bytes = 0;
  for (const ir::Param& p : f.params) bytes += p.is_mapped() ? p.item().bytes() : 0;
  for (const types::Item& item : f.results) bytes += item.bytes();
  return bytes;
}

/// The positions of the largest `each` that has none inside; of those, the ones that have as many
/// as the element says.
std::uint32_t most_positions(const ir::Function& f, bool counted = false) {
  std::uint32_t most = 0;
  ir::for_each(f, [&](ValueId id, int) {
    if (f[id].op != Op::Each || ir::has_count(f[id]) != counted) return;
    bool is_innermost = true;
    ir::for_each(
        f, [&](ValueId inner, int) { is_innermost = is_innermost && f[inner].op != Op::Each; },
        f[id].block);
    if (is_innermost) most = std::max(most, f[id].index);
  });
  return most;
}

}  // namespace

bool counts_positions(const ir::Function& f) {
  for (const ValueId id : f.body().body) {
    if (ir::has_count(f[id])) return true;
    if (f[id].op == Op::Loop && ir::can_go_round(f, id)) return false;
  }
  return false;
}

namespace {

bool has_each(const ir::Function& f, ir::BlockId block) {
  bool found = false;
  ir::for_each(f, [&](ValueId id, int) { found = found || f[id].op == Op::Each; }, block);
  return found;
}

/// True when elements go round a loop outside of every `each`, with none inside: an element that
/// has all lanes makes no use of them there.
bool has_loops_of_one(const ir::Function& f, ir::BlockId block) {
  for (const ValueId id : f.blocks[block].body) {
    if (f[id].op != Op::Loop) continue;
    if (!has_each(f, f[id].block) ? ir::can_go_round(f, id) : has_loops_of_one(f, f[id].block)) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool is_inner_better(const ir::Function& f, const Wish& wish, const Sample* sample) {
  // A register of positions will do where the arrays of as many elements as lanes are too many for
  // the nearest cache.
  const std::uint32_t many = item_bytes(f) > 4096 ? 16 : 32;
  const std::uint32_t most = most_positions(f);
  if (most == 0 && most_positions(f, true) == 0) return false;
  if (wish.inner || most >= many) return wish.inner.value_or(true);
  constexpr double kLong = 8;
  return sample != nullptr && counts_positions(f) && mean(sample->trips) >= kLong &&
         !has_loops_of_one(f, 0);
}

Choice choose_inner(const ir::Function& f, const Wish& wish, const Sample& sample) {
  Choice choice;
  Schedule& s = choice.schedule;
  s.inner = true;
  s.isa = wish.isa.value_or(host_isa());
  const kernel::Uniformity facts = kernel::analyse_uniformity(f, ir::kNone, true);
  std::size_t widest = 4;
  ir::for_each(f, [&](ValueId id, int) {
    if (ir::has_value(f[id]) && !facts.uniform[id]) {
      widest = std::max(widest, types::size_of(f[id].type));
    }
  });
  s.lanes = wish.lanes.value_or(register_bytes(s.isa) / static_cast<int>(widest));
  s.interleave = wish.interleave.value_or(4);
  const std::uint32_t most = most_positions(f);
  choice.reason = most > 0 ? fmt::format("elements have up to {} positions", most)
                           : fmt::format("elements have {:.1f} positions", mean(sample.trips));
  choice.reason += ": lanes share one element";
  return choice;
}

namespace {

/// Terms of the longest product of an element with a table that all share, of some positions.
std::int64_t product_terms(const ir::Function& f) {
  constexpr std::uint32_t kSome = 4;
  std::int64_t terms = 0;
  ir::for_each(f, [&](ValueId each, int) {
    if (f[each].op != Op::Each || f[each].index < kSome) return;
    const std::vector<bool> own = transform::find_own_values(f, each);
    if (own.empty()) return;
    bool reads_shared = false;
    bool reads_element = false;
    std::int64_t steps = 0;
    ir::for_each(
        f,
        [&](ValueId id, int) {
          const ir::Instruction& in = f[id];
          if (in.op == Op::Loop && ir::can_go_round(f, id)) {
            const auto test = kernel::find_step_test(f, id);
            steps = std::max(steps, test ? test->period : 0);
          }
          if (in.op != Op::TableRead && in.op != Op::ArrayRead) return;
          const bool is_shared =
              in.op == Op::TableRead && !f.params[f[in.operands[0]].index].is_row();
          reads_shared = reads_shared || (is_shared && own[id]);
          reads_element = reads_element || (!is_shared && !own[id]);
        },
        f[each].block);
    if (reads_shared && reads_element) terms = std::max(terms, steps);
  });
  return terms;
}

}  // namespace

bool is_batched_better(const ir::Function& f, const Wish& wish) {
  constexpr std::int64_t kMany = 16;
  return wish.batched.value_or(!wish.inner && !wish.refill && product_terms(f) >= kMany);
}

Choice choose_batched(const ir::Function& f, const Wish& wish) {
  Choice choice;
  Schedule& s = choice.schedule;
  s.isa = wish.isa.value_or(host_isa());
  s.lanes =
      wish.lanes.value_or(register_bytes(s.isa) / widest_bytes(f, kernel::analyse_uniformity(f)));
  // Their sums fill the machine's registers, all but a few.
  s.interleave = wish.interleave.value_or(s.isa == Isa::V4 ? 4 : 2);
  s.batched = 6;
  s.steps = wish.steps.value_or(4);
  choice.reason =
      "rows are multiplied with tables that all share: lanes hold rows, "
      "and positions go through the terms of a product in step";
  return choice;
}

namespace {

double estimate_block_ns(const ir::Function& f, ir::BlockId block, double mean_trips) {
  double ns = 0;
  for (const ValueId id : f.blocks[block].body) {
    const ir::Instruction& in = f[id];
    if (ops::is_elementwise(in.op) || in.op == Op::Collect) {
      ns += 0.05;
    } else if (in.op == Op::Each) {
      const double positions = ir::has_count(in) ? std::max(1.0, mean_trips) : in.index;
      ns += positions * estimate_block_ns(f, in.block, mean_trips);
    } else if (in.op == Op::Loop && !ir::is_branch(f, id)) {
      const double trips = ir::is_part(f, id) ? 1 : std::max(1.0, mean_trips);
      ns += trips * estimate_block_ns(f, in.block, mean_trips);
    }
  }
  return ns;
}

}  // namespace

double estimate_element_ns(const ir::Function& f, double mean_trips) {
  return 1 + estimate_block_ns(f, 0, mean_trips);
}

Choice choose(const ir::Function& program, const Wish& wish, const Sample* sample) {
  Choice choice;
  Schedule& s = choice.schedule;
  s.isa = wish.isa.value_or(host_isa());
  const kernel::Uniformity facts = kernel::analyse_uniformity(program);
  s.lanes = wish.lanes.value_or(register_bytes(s.isa) / widest_bytes(program, facts));
  const int ops = hot_ops(program);
  s.interleave = wish.interleave.value_or(interleave_for(program, facts, ops, s.lanes));

  const bool can_refill = kernel::is_refillable(program) && (s.isa == Isa::V4 || s.lanes <= 8);
  if (wish.refill.value_or(false) && !can_refill) {
    throw UsageError(
        "plan: refill was asked for; got a program or lane count it does not fit, expected one "
        "top-level loop that elements leave at different steps, and at most 8 lanes below "
        "AVX-512. Leave the schedule to the planner.");
  }
  if (wish.refill) {
    s.refill = *wish.refill;
    choice.reason = "as asked";
  } else if (!ir::has_loops(program)) {
    choice.reason = "no loop: every element takes the same steps";
  } else if (!can_refill) {
    choice.reason = "packets: the loop is not one that lanes can be refilled in";
  } else if (sample == nullptr || sample->trips.empty()) {
    choice.reason = "packets: trip counts are not known";
  } else {
    const Verdict verdict =
        is_refill_worth(s, ops, has_nested_diverging_loops(program, facts), *sample);
    s.refill = verdict.refill;
    choice.reason = verdict.reason;
  }

  // Emitted two steps of a register at a time (backend/cpu), short bodies want more registers.
  if (s.refill && s.isa != Isa::V4 && ops <= 16) s.interleave = wish.interleave.value_or(6);
  s.steps = wish.steps.value_or(steps_for(program, ops, s.refill));
  s.threshold = wish.threshold.value_or(std::max(1, s.lanes * s.interleave / 8));
  if (s.lanes < 1 || s.lanes > 64 || s.interleave < 1 || s.interleave > 8 || s.steps < 1 ||
      s.steps > 64 || s.threshold < 1 || s.threshold > s.lanes * s.interleave) {
    throw UsageError(
        fmt::format("plan: a senseless schedule was asked for; got {}.", to_string(s)));
  }
  return choice;
}

}  // namespace lw::plan
