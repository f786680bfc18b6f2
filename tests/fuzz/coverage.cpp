#include "tests/fuzz/coverage.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <istream>
#include <ostream>
#include <span>

#include "tests/fuzz/compare.h"

namespace lw::fuzz {
namespace {

// clang-format off
constexpr auto kNames = std::to_array<const char*>({
    "runs", "with several workers", "with failing elements", "folded", "rows", "with keys",
    "places of extremes", "combined by a function", "passes", "compiled", "with refill",
    "with positions in lanes", "in step", "with a step limit", "branches", "rare ones",
    "blocks left early", "exits out of several", "arrays", "tables", "numbers", "draws", "rows",
    "each", "nested ones", "counted ones", "places of extremes", "rows in tables",
    "rows written", "tables of bits", "newer failures"});
// clang-format on
static_assert(kNames.size() == kCounters);

template <std::size_t N>
void add_to(std::array<std::int64_t, N>& sum, const std::array<std::int64_t, N>& more) {
  for (std::size_t i = 0; i < N; ++i) sum[i] += more[i];
}

/// How many there are of those that can be, and how often the rarest of them was.
std::string seen(std::span<const std::int64_t> counts, const auto& is_possible) {
  int possible = 0, found = 0;
  std::int64_t least = -1;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (!is_possible(i)) continue;
    ++possible;
    found += counts[i] > 0;
    least = least < 0 ? counts[i] : std::min(least, counts[i]);
  }
  return fmt::format("{} of {} (the rarest {} times)", found, possible, least);
}

std::string list(std::span<const std::int64_t> counts, Counter first, Counter last) {
  std::string text;
  for (auto i = static_cast<std::size_t>(first); i <= static_cast<std::size_t>(last); ++i) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", kNames[i], counts[i]);
  }
  return text;
}

bool is_place(const ir::Instruction& in) {
  const auto how = static_cast<ir::Collect>(in.index);
  return how == ir::Collect::ArgMin || how == ir::Collect::ArgMax;
}

bool is_newer(ir::FailKind kind) {
  using ir::FailKind;
  return kind == FailKind::Lengths || kind == FailKind::Empty || kind == FailKind::Singular ||
         kind == FailKind::NotPositive;
}

int schedule_of(const plan::Wish& wish) {
  if (wish.inner.value_or(false)) return 3;
  if (wish.batched.value_or(false)) return 4;
  if (!wish.refill) return 2;  // the planner's choice
  return *wish.refill ? 1 : 0;
}

}  // namespace

void Coverage::count(const ir::Function& f) {
  std::array<bool, kCounters> has = {};
  const auto note = [&](Counter counter) { has[static_cast<std::size_t>(counter)] = true; };
  ir::for_each(f, [&](ir::ValueId id, int depth) {
    const ir::Instruction& in = f[id];
    if (in.op == ops::Op::Loop && ir::is_once(f, id) && !ir::is_part(f, id)) {
      note(ir::is_branch(f, id) ? Counter::Branches : Counter::Blocks);
      if (in.index != 0) note(Counter::Rare);
    }
    if (in.op == ops::Op::BreakIf && in.index > 0) note(Counter::Exits);
    if (in.op == ops::Op::Array) note(Counter::Arrays);
    if (in.op == ops::Op::TableRead) note(Counter::Tables);
    if (in.op == ops::Op::Element) note(Counter::Numbers);
    if (in.op == ops::Op::Each) note(Counter::Each);
    if (in.op == ops::Op::Each && depth > 0) note(Counter::Nested);
    if (ir::has_count(in)) note(Counter::Counted);
    if (in.op == ops::Op::Collect && is_place(in)) note(Counter::Extremes);
    if (in.op == ops::Op::Fail && is_newer(static_cast<ir::FailKind>(in.index))) {
      note(Counter::Kinds);
    }
  });
  for (const ir::Param& p : f.params) {
    if (p.kind == ir::ParamKind::Seed) note(Counter::Draws);
    if (p.is_row()) note(Counter::Rows);
    if (p.is_table() && p.name.starts_with("values")) note(Counter::Ragged);
    if (p.is_target()) note(Counter::Written);
    if (p.is_table() && p.name == "bits") note(Counter::Linear);
  }
  for (std::size_t i = 0; i < kCounters; ++i) counts_[i] += has[i] ? 1 : 0;
}

void Coverage::count(const Trial& trial) {
  if (trial.compile != runtime::CompileMode::Now) return;
  const plan::Wish& wish = trial.wish;
  const int schedule = schedule_of(wish);
  if (wish.lanes) {
    const int width = std::countr_zero(static_cast<unsigned>(*wish.lanes)) - 2;
    ++shapes_[static_cast<std::size_t>((schedule * kSets + static_cast<int>(*wish.isa)) * kWidths +
                                       width)];
  }
  if (!wish.interleave) return;
  ++registers_[static_cast<std::size_t>(schedule * kRegisters + *wish.interleave - 1)];
}

void Coverage::count(const Trial& trial, const Way& way) {
  if (way.number < 0) return;
  ++ways_[static_cast<std::size_t>(static_cast<int>(trial.compile) * kWays + way.number)];
}

void Coverage::add(const Coverage& other) {
  add_to(counts_, other.counts_);
  add_to(shapes_, other.shapes_);
  add_to(registers_, other.registers_);
  add_to(ways_, other.ways_);
}

template <class Use>
void Coverage::for_each_number(auto& self, const Use& use) {
  for (auto& number : self.counts_) use(number);
  for (auto& number : self.shapes_) use(number);
  for (auto& number : self.registers_) use(number);
  for (auto& number : self.ways_) use(number);
}

void Coverage::save(std::ostream& out) const {
  std::size_t size = 0;
  for_each_number(*this, [&](std::int64_t) { ++size; });
  out << ' ' << size;
  for_each_number(*this, [&](std::int64_t number) { out << ' ' << number; });
  out << '\n';
}

bool Coverage::load(std::istream& in) {
  std::size_t size = 0, expected = 0;
  in >> expected;
  for_each_number(*this, [&](std::int64_t& number) {
    ++size;
    in >> number;
  });
  return in && size == expected;
}

std::string Coverage::to_string() const {
  const auto is_possible = [](std::size_t i) {
    const auto isa = static_cast<plan::Isa>(i / kWidths % kSets);
    const int lanes = 4 << i % kWidths;
    const bool refills = i / kWidths / kSets == 1;
    return isa <= plan::host_isa() && exists({isa, lanes}) &&
           (!refills || can_refill({isa, lanes}));
  };
  const auto any = [](std::size_t) { return true; };
  return fmt::format(
      "{}\n{}\nprograms with {}\ncombinations: schedule, instruction set and lanes {}; schedule "
      "and registers {}; tier and way to run {}",
      list(counts_, Counter::Runs, Counter::Passes),
      list(counts_, Counter::Compiled, Counter::Limited),
      list(counts_, Counter::Branches, Counter::Kinds), seen(shapes_, is_possible),
      seen(registers_, any), seen(ways_, any));
}

Coverage& coverage() {
  static Coverage instance;
  return instance;
}

}  // namespace lw::fuzz
