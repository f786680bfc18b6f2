#include "lanewise/kernel/range.h"

#include <algorithm>

namespace lw::kernel {
namespace {

using ir::Op;
using ir::ValueId;

/// All values of a type; of u64, those that an i64 holds are all that is told apart.
Range range_of(DType type) {
  switch (type) {
    case DType::Bool:
      return {0, 1};
    case DType::I8:
      return {INT8_MIN, INT8_MAX};
    case DType::I16:
      return {INT16_MIN, INT16_MAX};
    case DType::I32:
      return {INT32_MIN, INT32_MAX};
    case DType::U8:
      return {0, UINT8_MAX};
    case DType::U16:
      return {0, UINT16_MAX};
    case DType::U32:
      return {0, UINT32_MAX};
    default:
      return {};
  }
}

bool is_tracked(DType type) { return types::is_integer(type) && type != DType::U64; }

Range both(Range a, Range b) { return {std::max(a.low, b.low), std::min(a.high, b.high)}; }
Range either(Range a, Range b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }

/// The range of a sum, difference or product of its extremes; that of the type where it may wrap.
template <class F>
Range combined(Range a, Range b, DType type, F f) {
  constexpr std::int64_t kFar = std::int64_t{1} << 31;  // products stay within 64 bits
  if (!a.is_within(-kFar, kFar) || !b.is_within(-kFar, kFar)) return range_of(type);
  const std::int64_t ends[] = {f(a.low, b.low), f(a.low, b.high), f(a.high, b.low),
                               f(a.high, b.high)};
  const Range range = {*std::min_element(ends, ends + 4), *std::max_element(ends, ends + 4)};
  const Range whole = range_of(type);
  return range.is_within(whole.low, whole.high) ? range : whole;
}

const ir::Instruction& loop_of(const ir::Function& f, ir::BlockId block) {
  return *std::find_if(f.values.begin(), f.values.end(), [&](const ir::Instruction& in) {
    return in.op == Op::Loop && in.block == block;
  });
}

/// By how much an argument of a loop grows at every step, if that is a literal.
std::optional<std::int64_t> step_of(const ir::Function& f, ir::BlockId block,
                                    std::size_t position) {
  const ir::Instruction& next = f[f[f.blocks[block].body.back()].operands[position]];
  if (!is_tracked(next.type) || next.op != Op::Add ||
      next.operands[0] != f.blocks[block].arguments[position] ||
      f[next.operands[1]].op != Op::Constant) {
    return std::nullopt;
  }
  return types::to_int64(f[next.operands[1]].constant);
}

/// How often a loop that counts from a literal up to another goes round at most, if not often.
std::optional<std::int64_t> most_steps(const ir::Function& f, ir::BlockId block) {
  constexpr std::int64_t kFew = 64;
  const ir::Block& body = f.blocks[block];
  for (const ValueId id : body.body) {
    if (f[id].op != Op::BreakIf || f[id].index != 0) continue;
    const ir::Instruction& test = f[f[id].operands[0]];
    if (test.op != Op::Ge || f[test.operands[1]].op != Op::Constant) continue;
    const auto at = std::find(body.arguments.begin(), body.arguments.end(), test.operands[0]);
    if (at == body.arguments.end()) continue;
    const auto position = static_cast<std::size_t>(at - body.arguments.begin());
    const auto step = step_of(f, block, position);
    const ir::Instruction& start = f[loop_of(f, block).operands[position]];
    if (!step || *step <= 0 || start.op != Op::Constant) continue;
    const std::int64_t limit = types::to_int64(f[test.operands[1]].constant);
    if (limit > range_of(start.type).high - *step) continue;  // it may wrap
    const std::int64_t way = limit - types::to_int64(start.constant);
    if (way >= 0 && way <= kFew * *step) return (way + *step - 1) / *step;
  }
  return std::nullopt;
}

}  // namespace

Range Ranges::of(ValueId id, bool always, int depth) const {
  constexpr int kDeepest = 8;
  const ir::Instruction& in = f_[id];
  Range range = range_of(in.type);
  if (!is_tracked(in.type) && in.type != DType::Bool) return {};
  if (depth < kDeepest) range = both(range, made_by(in, always, depth + 1));
  if (always) return range;
  if (in.op == Op::Argument && asks_for_counters_ && depth < kDeepest)
    range = both(range, argument(id));
  for (const Fact& fact : facts_) {
    if (fact.value == id) range = both(range, fact.range);
  }
  return range;
}

Range Ranges::made_by(const ir::Instruction& in, bool always, int depth) const {
  const auto operand = [&](std::size_t i) { return of(in.operands[i], always, depth); };
  switch (in.op) {
    case Op::Constant:
      return {types::to_int64(in.constant), types::to_int64(in.constant)};
    case Op::Add:
      return combined(operand(0), operand(1), in.type, [](auto a, auto b) { return a + b; });
    case Op::Sub:
      return combined(operand(0), operand(1), in.type, [](auto a, auto b) { return a - b; });
    case Op::Mul:
      return combined(operand(0), operand(1), in.type, [](auto a, auto b) { return a * b; });
    case Op::Min:
      return {std::min(operand(0).low, operand(1).low), std::min(operand(0).high, operand(1).high)};
    case Op::Max:
      return {std::max(operand(0).low, operand(1).low), std::max(operand(0).high, operand(1).high)};
    case Op::Select:
      return either(operand(1), operand(2));
    case Op::And: {
      // One that is not negative bounds the result.
      Range range;
      for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
        if (operand(i).low >= 0) range = both(range, {0, operand(i).high});
      }
      return range;
    }
    case Op::Rem: {
      const Range divisor = operand(1);
      return divisor.low > 0 ? Range{0, divisor.high - 1} : Range{};
    }
    case Op::Shr: {
      const Range count = operand(1);
      const Range value = operand(0);
      if (value.low < 0 || count.low < 0 || count.low > 62) return {};
      return {0, value.high >> count.low};
    }
    case Op::Div: {
      const Range divisor = operand(1);
      const Range value = operand(0);
      if (value.low < 0 || divisor.low <= 0) return {};
      return {0, value.high / divisor.low};
    }
    case Op::Bitcast:
    case Op::Convert: {  // what fits stays the same, anything else may become any number
      const DType from = f_[in.operands[0]].type;
      if (from != DType::Bool && !is_tracked(from)) return {};
      const Range value = operand(0);
      const Range whole = range_of(in.type);
      return value.is_within(whole.low, whole.high) ? value : whole;
    }
    case Op::Lt:
    case Op::Ge:
      return is_less(in, operand(0), operand(1), in.op == Op::Lt);
    case Op::Gt:
    case Op::Le:
      return is_less(in, operand(1), operand(0), in.op == Op::Gt);
    case Op::TableSize:
      return {1, INT64_MAX};
    case Op::Result:
      return always ? Range{} : result(in, depth);
    default:
      return {};
  }
}

/// Whether a < b, or whether not, as far as it is known.
Range Ranges::is_less(const ir::Instruction& in, Range a, Range b, bool sense) const {
  if (!is_tracked(f_[in.operands[0]].type)) return {0, 1};
  if (a.high < b.low) return {sense, sense};
  if (a.low >= b.high) return {!sense, !sense};
  return {0, 1};
}

Range Ranges::argument(ValueId id) const {
  for (const ir::Block& block : f_.blocks) {
    const auto at = std::find(block.arguments.begin(), block.arguments.end(), id);
    if (at == block.arguments.end()) continue;
    const auto position = static_cast<std::size_t>(at - block.arguments.begin());
    if (const std::uint32_t size = positions_of(block); size > 0) return {0, size - 1};
    const auto block_id = static_cast<ir::BlockId>(&block - f_.blocks.data());
    return both(counter(block_id, id, position), carried(block_id, id, position));
  }
  return {};
}

/// A counter does not pass its start backwards. Its end is known from the test behind which it is
/// asked for.
Range Ranges::counter(ir::BlockId block, ValueId id, std::size_t position) const {
  const auto step = step_of(f_, block, position);
  if (!step || *step == 0 || !ends_before_it_wraps(block, id, *step)) return {};
  const Range start = of(loop_of(f_, block).operands[position], false, 6);
  return *step < 0 ? Range{INT64_MIN, start.high} : Range{start.low, INT64_MAX};
}

/// What is carried through a loop of few steps has been through no more of them.
Range Ranges::carried(ir::BlockId block, ValueId id, std::size_t position) const {
  const auto known = carried_.find(id);
  if (known != carried_.end()) return known->second;
  Range& range = carried_[id];
  const auto steps = most_steps(f_, block);
  if (!steps || !is_tracked(f_[id].type)) return range;
  Ranges inside(f_);
  inside.asks_for_counters_ = false;
  Range now = inside.of(loop_of(f_, block).operands[position]);
  for (std::int64_t i = 0; i < *steps; ++i) {
    inside.facts_ = {{.value = id, .range = now}};
    const Range next = either(now, inside.of(f_[f_.blocks[block].body.back()].operands[position]));
    if (next.is_within(now.low, now.high)) break;
    now = next;
  }
  return range = now;
}

/// Of a loop that is left in one place.
Range Ranges::result(const ir::Instruction& in, int depth) const {
  const ir::Instruction& loop = f_[in.operands[0]];
  if (loop.op != Op::Loop) return {};
  const ir::Instruction* exit = nullptr;
  for (const ValueId id : f_.blocks[loop.block].body) {
    if (!ir::leaves(f_, id, 0)) continue;
    if (exit != nullptr || f_[id].op != Op::BreakIf) return {};
    exit = &f_[id];
  }
  return exit == nullptr ? Range{} : of(exit->operands[in.index + 1], false, depth);
}

std::uint32_t Ranges::positions_of(const ir::Block& block) const {
  for (const ir::Instruction& in : f_.values) {
    if (in.op == Op::Each && &f_.blocks[in.block] == &block) return in.index;
  }
  return 0;
}

/// True when every step comes by a test that the counter passes only where one more is no overflow.
bool Ranges::ends_before_it_wraps(ir::BlockId block, ValueId counter, std::int64_t step) const {
  Ranges tests(f_);
  tests.asks_for_counters_ = false;
  for (const ValueId id : f_.blocks[block].body) {
    if (f_[id].op == Op::BreakIf && f_[id].index == 0) tests.assume(f_[id].operands[0], false);
  }
  const Range whole = range_of(f_[counter].type);
  for (const Fact& fact : tests.facts_) {
    if (fact.value != counter) continue;
    if (step < 0 ? fact.range.low >= whole.low - step : fact.range.high <= whole.high - step) {
      return true;
    }
  }
  return false;
}

bool Ranges::is_below_size(ValueId id, ValueId table) const {
  for (const Fact& fact : facts_) {
    if (fact.value == id && fact.below == table) return true;
  }
  return false;
}

void Ranges::add(ValueId value, Range range, ValueId below) {
  if (!is_tracked(f_[value].type)) return;
  facts_.push_back({value, range, below});
  if (f_[value].op != Op::Bitcast) return;
  const ValueId same = f_[value].operands[0];  // as long as neither has a sign
  const Range known = both(range, range_of(f_[value].type));
  if (is_tracked(f_[same].type) && known.low >= 0 && known.high <= range_of(f_[same].type).high) {
    facts_.push_back({same, known});
  }
}

void Ranges::assume(ValueId condition, bool holds) {
  const ir::Instruction& in = f_[condition];
  if (in.op == Op::Not) return assume(in.operands[0], !holds);
  if (in.type != DType::Bool || in.operands.size() != 2) return;
  if (in.op == (holds ? Op::And : Op::Or)) {
    assume(in.operands[0], holds);
    return assume(in.operands[1], holds);
  }
  ValueId less = in.operands[0];
  ValueId more = in.operands[1];
  if (!is_tracked(f_[less].type)) return;
  if (in.op == Op::Eq && holds) {
    add(less, of(more), ir::kNone);
    return add(more, of(less), ir::kNone);
  }
  bool strict = in.op == Op::Lt || in.op == Op::Gt;
  const bool is_order = strict || in.op == Op::Le || in.op == Op::Ge;
  if (!is_order) return;
  if (in.op == Op::Gt || in.op == Op::Ge) std::swap(less, more);
  if (!holds) {  // not a < b: b <= a
    std::swap(less, more);
    strict = !strict;
  }
  const Range low = of(less);
  const Range high = of(more);
  const ValueId table = strict && f_[more].op == Op::TableSize ? f_[more].operands[0] : ir::kNone;
  if (high.high > INT64_MIN) add(less, {INT64_MIN, high.high - strict}, table);
  if (low.low < INT64_MAX) add(more, {low.low + strict, INT64_MAX}, ir::kNone);
}

}  // namespace lw::kernel
