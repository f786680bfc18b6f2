#include "lanewise/api/explain_facts.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "lanewise/base/source.h"
#include "lanewise/runtime/machine.h"

namespace lw::api {
namespace {

using ir::Op;
using ir::ValueId;

/// Calls visit(id, times) with how often an element runs each instruction, roughly: loops as often
/// as was counted, branches every second time.
template <class Visit>
void for_each_weighted(const ir::Function& f, double mean_trips, const Visit& visit,
                       ir::BlockId block = 0, double times = 1) {
  for (const ValueId id : f.blocks[block].body) {
    const ir::Instruction& in = f[id];
    visit(id, times);
    if (in.block == ir::kNone) continue;
    double inside = 1;
    if (in.op == Op::Each) {
      inside = ir::has_count(in) ? std::max(1.0, mean_trips) : in.index;
    } else if (ir::is_branch(f, id)) {
      inside = 0.5;
    } else if (ir::can_go_round(f, id)) {
      inside = std::max(1.0, mean_trips);
    }
    for_each_weighted(f, mean_trips, visit, in.block, times * inside);
  }
}

/// A quotient or remainder of integers that lanes compute one after the other: narrower ones are
/// divided as floats, those by powers of two shifted.
bool is_scalar_quotient(const ir::Function& f, const ir::Instruction& in) {
  if (!ops::can_fail(in.op, in.type) || types::size_of(in.type) < 8) return false;
  const ir::Instruction& divisor = f[in.operands[1]];
  return divisor.op != Op::Constant || !types::exponent_of_two(divisor.constant);
}

/// In plain vector instructions.
double cost_of(const ir::Function& f, const ir::Instruction& in) {
  if (is_scalar_quotient(f, in)) return 24;
  const bool divides = in.op == Op::Div || in.op == Op::Rem || in.op == Op::Sqrt;
  if (divides) return in.type == DType::F64 ? 8 : 4;
  if (in.op == Op::TableRead || in.op == Op::ArrayRead) return 6;
  if (in.op == Op::Collect || in.op == Op::ArrayWrite) return 1;
  return ops::is_elementwise(in.op) ? 1 : 0;
}

std::string without_indentation(const std::string& line) {
  const std::size_t start = line.find_first_not_of(" \t");
  return start == std::string::npos ? "" : line.substr(start);
}

std::int64_t count(const ir::Function& f, const auto& is_one) {
  std::int64_t found = 0;
  ir::for_each(f, [&](ValueId id, int) { found += is_one(f[id]) ? 1 : 0; });
  return found;
}

}  // namespace

void add_facts(const ir::Function& program, Explanation& e) {
  const double trips = e.trips.samples > 0 ? e.trips.mean : 16;
  e.flops = estimate_flops(program, trips);
  e.lines = share_lines(program, trips);
  e.numerics = note_numerics(program, e);
  e.scalar = note_scalar(program, e);
  e.roofline = find_roofline(e);
  e.answer = answer(e);
}

double estimate_flops(const ir::Function& program, double mean_trips) {
  double flops = 0;
  for_each_weighted(program, mean_trips, [&](ValueId id, double times) {
    const ir::Instruction& in = program[id];
    if (ops::is_elementwise(in.op) && types::is_float(in.type)) {
      flops += in.op == Op::Fma ? 2 * times : times;
    }
  });
  return flops;
}

std::vector<LineShare> share_lines(const ir::Function& program, double mean_trips) {
  constexpr std::size_t kMost = 8;
  std::map<std::pair<std::string, int>, double> costs;
  double all = 0;
  for_each_weighted(program, mean_trips, [&](ValueId id, double times) {
    const ir::Instruction& in = program[id];
    const double cost = cost_of(program, in) * times;
    all += cost;
    if (cost > 0 && in.location) costs[{in.location.file, in.location.line}] += cost;
  });
  std::vector<LineShare> lines;
  for (const auto& [place, cost] : costs) {
    lines.push_back({.file = place.first, .line = place.second, .share = cost / all});
  }
  std::sort(lines.begin(), lines.end(), [](const LineShare& a, const LineShare& b) {
    return a.share != b.share ? a.share > b.share : a.line < b.line;
  });
  if (lines.size() > kMost) lines.resize(kMost);
  for (LineShare& line : lines) {
    line.text = without_indentation(base::line_of_file(line.file, line.line));
  }
  return lines;
}

std::vector<std::string> note_numerics(const ir::Function& program, const Explanation& e) {
  std::vector<std::string> notes;
  if (e.math == Math::Strict) {
    notes.emplace_back("strict: IEEE arithmetic, the same bits on every schedule and tier");
  } else {
    notes.emplace_back("fast: other bits than strict, also from one processor to another");
    const auto fused = count(program, [](const ir::Instruction& in) { return in.op == Op::Fma; });
    const auto near = count(program, [](const ir::Instruction& in) { return ir::is_near(in); });
    if (fused > 0) notes.push_back(fmt::format("{} fma, those of functions included", fused));
    if (near > 0) {
      notes.push_back(fmt::format("{} operations may be contracted or within 2 ulp", near));
    }
  }
  if (e.accuracy == Accuracy::High) {
    notes.emplace_back("accuracy high: functions are computed in twice the precision");
  }
  return notes;
}

std::vector<std::string> note_scalar(const ir::Function& program, const Explanation& e) {
  std::vector<std::string> notes;
  const auto add = [&](std::int64_t found, const char* what) {
    if (found > 0) notes.push_back(fmt::format("{} {}", found, what));
  };
  add(count(program, [&](const ir::Instruction& in) { return is_scalar_quotient(program, in); }),
      "quotients or remainders of 64-bit integers: processors have none for vectors");
  add(count(program, [](const ir::Instruction& in) { return in.op == Op::AngleRest; }),
      "reductions of large angles, by a function, where an angle is large");
  add(count(program,
            [&](const ir::Instruction& in) {
              return in.op == Op::TableRead && program[in.operands[1]].op != Op::Constant;
            }),
      "reads by index: a gather has one access a lane, unless places stand together");
  if (e.schedule.inner) {
    notes.emplace_back("what stands outside of rows: an element has all lanes");
  }
  return notes;
}

std::optional<Roofline> find_roofline(const Explanation& e) {
  if (!e.last_run || e.last_run->seconds <= 0) return std::nullopt;
  constexpr double kInCaches = 64 << 20;  // bytes; what is less may never have been to memory
  const runtime::RunStats& run = *e.last_run;
  const auto elements = static_cast<double>(run.tier0_elements + run.tier1_elements);
  const double moved = elements * static_cast<double>(e.bytes_in + e.bytes_out);
  Roofline line{.flops = e.flops * elements / run.seconds, .bytes = moved / run.seconds};
  if (moved > 0) line.flops_a_byte = e.flops * elements / moved;
  const double lanes = e.compiled ? e.schedule.lanes : plan::register_bytes(plan::host_isa()) / 8.0;
  line.most_flops = 2 * lanes * runtime::clock_rate() * run.workers;
  if (moved > kInCaches) line.most_bytes = runtime::copy_bandwidth(run.workers);
  return line;
}

}  // namespace lw::api
