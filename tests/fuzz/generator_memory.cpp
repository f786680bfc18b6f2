// Arrays, tables, the numbers of elements and random draws. An index is outside where its mode says
// what that means; where the element fails, in few elements of few programs; never where it may
// mean anything.
#include <algorithm>
#include <array>

#include "lanewise/trace/random.h"
#include "tests/fuzz/generator_parts.h"

namespace lw::fuzz {

using ir::IndexMode;

void Generator::memory_op() {
  constexpr std::size_t kMostArrays = 3;
  const bool may_declare = has_arrays_ && arrays_.size() < kMostArrays;
  if (may_declare && random_.chance(arrays_.empty() ? 60 : 15)) return new_array();
  if (has_arrays_ && loop_depth() < 2 && random_.chance(10)) return fill_all();
  if (has_numbers_ && random_.chance(30)) return element_number();
  if (bits_ != ir::kNone && random_.chance(40)) return read_bits();
  if (!any_place()) return random_op();
  if (random_.chance(20)) return guarded_access();
  if (random_.chance(15)) return access_neighbours();
  if (random_.chance(15)) return update();
  access();
}

std::optional<ValueId> Generator::any_place() {
  std::vector<const std::vector<ValueId>*> lists;
  for (const auto* list : {&arrays_, &tables_, &row_params_, &kept_, &kept_}) {
    if (!list->empty()) lists.push_back(list);
  }
  if (lists.empty()) return std::nullopt;
  return random_.pick(*random_.pick(lists));
}

bool Generator::can_write(ValueId place) const {
  if (std::find(collected_.begin(), collected_.end(), place) != collected_.end()) return false;
  const std::size_t from = each_.empty() ? 0 : each_.back().arrays;
  return std::find(arrays_.begin() + static_cast<std::ptrdiff_t>(from), arrays_.end(), place) !=
         arrays_.end();
}

void Generator::new_array() {
  const bool is_kept = !kept_.empty() && random_.chance(70);
  const auto& others = is_kept ? kept_ : arrays_;
  if (!others.empty() && random_.chance(40)) {  // a copy
    const ValueId other = random_.pick(others);
    arrays_.push_back(build_.array(other, static_cast<std::uint32_t>(size_of(other))));
    return;
  }
  const DType type = random_.chance(70) ? random_type() : any_type();
  const ValueId initial = operand(type);
  const int size =
      has_each_ && each_.empty() && random_.chance(30) ? usual_size_ : random_.between(1, 9);
  arrays_.push_back(build_.array(initial, static_cast<std::uint32_t>(size)));
}

// --- indices ---

ValueId Generator::index_of(ValueId value) {
  const bool wide = types::size_of(build_.type(value)) == 8;
  return convert(value, wide || random_.chance(25) ? DType::I64 : DType::I32);
}

ValueId Generator::any_index(ValueId place) {
  if (is_table(place) && random_.chance(25)) {  // one of few places
    const ValueId few = number(DType::I32, (1 << random_.between(1, 8)) - 1);
    return index_of(emit_op(Op::And, {operand(DType::I32), few}));
  }
  const int dice = random_.below(100);
  if (dice < 30) return index_of(noise());
  if (dice < 45) {
    const int near = is_table(place) ? 40 : size_of(place);
    const DType type = random_.chance(70) ? DType::I32 : DType::I64;
    return number(type, random_.between(-3, near + 2));
  }
  if (dice < 60 && !each_.empty()) {
    ValueId position = random_.chance(70) ? each_.back().position : random_.pick(each_).position;
    if (random_.chance(40)) {
      position = emit_op(Op::Mul, {position, number(DType::I32, random_.between(-2, 5))});
    }
    const int by = random_.chance(60) ? random_.between(-3, 3) : random_.between(-60, 60);
    return index_of(emit_op(Op::Add, {position, number(DType::I32, by)}));
  }
  if (dice < 65) {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      if (scope->counter != ir::kNone && random_.chance(60)) return index_of(scope->counter);
    }
  }
  const DType type = random_.chance(65) ? DType::I32 : DType::I64;
  return dice < 80 ? uniform_operand(type) : operand(type);
}

ValueId Generator::safe_index(ValueId place) {
  if (is_table(place)) return safe_in_table(place);
  return index_of(safe_in_array(size_of(place) - 1));
}

ValueId Generator::safe_in_array(int most) {
  for (const Scope& scope : scopes_) {
    if (scope.below == ir::kNone) continue;
    const ir::Instruction& end = build_.function()[scope.below];
    const bool fits =
        end.op == Op::Constant && end.constant == types::scalar_of(end.type, most + 1);
    if (fits && random_.chance(70)) return scope.counter;
  }
  for (const Each& e : each_) {
    if (e.size <= most + 1 && random_.chance(60)) return e.position;
  }
  if (random_.chance(20)) return number(DType::I32, random_.between(0, most));
  const bool uniform = random_.chance(30);
  return random_.chance(60) ? small(most, uniform) : composed(most, uniform);
}

/// From 0 to `most`, by some arithmetic.
ValueId Generator::composed(int most, bool uniform) {
  const int part = random_.between(0, most);
  switch (random_.below(4)) {
    case 0: {
      const ValueId a = small(part, uniform);
      return emit_op(Op::Add, {a, small(most - part, uniform)});
    }
    case 1:
      return emit_op(Op::Sub, {number(DType::I32, most), small(part, uniform)});
    case 2:
      return emit_op(
          Op::Shr, {small(2 * part + 1 > 15 ? 15 : 2 * part + 1, uniform), number(DType::I32, 1)});
    default: {
      const ValueId a = small(1, uniform);
      return emit_op(Op::Mul, {a, small(most, uniform)});
    }
  }
}

ValueId Generator::safe_in_table(ValueId table) {
  for (const Scope& scope : scopes_) {
    if (scope.below == ir::kNone) continue;
    const ir::Instruction& end = build_.function()[scope.below];
    const bool is_its = end.op == Op::TableSize && end.operands[0] == table;
    if (is_its && random_.chance(70)) return scope.counter;
  }
  const ValueId size = emit(build_.table_size(table), true);
  const ValueId index = convert(any_index(table), DType::I64);
  if (random_.chance(10)) return number(DType::I32, 0);
  if (divides_ && random_.chance(40)) return emit_op(Op::Rem, {index, size});
  const ValueId last = emit_op(Op::Sub, {size, number(DType::I64, 1)});
  const ValueId inside = emit_op(Op::Min, {index, last});
  const ValueId safe = emit_op(Op::Max, {inside, number(DType::I64, 0)});
  return random_.chance(40) ? emit_op(Op::Convert, {safe}, DType::I32) : safe;
}

// --- reads and writes ---

void Generator::access() {
  const ValueId place = *any_place();
  constexpr std::array kModes = {IndexMode::Check, IndexMode::Check, IndexMode::Clip,
                                 IndexMode::Wrap,  IndexMode::Fill,  IndexMode::Unchecked};
  const IndexMode mode = random_.pick(kModes);
  const bool means_something = mode != IndexMode::Check && mode != IndexMode::Unchecked;
  ValueId index = means_something && random_.chance(70) ? any_index(place) : safe_index(place);
  if (mode == IndexMode::Check && fails_ && random_.chance(30)) {
    const ValueId outside = failing_condition();
    const ValueId other = convert(any_index(place), build_.type(index));
    index = emit_op(Op::Select, {outside, other, index});
  }
  access(place, mode, index, can_write(place) && random_.chance(50));
}

void Generator::access(ValueId place, IndexMode mode, ValueId index, bool writes) {
  const DType type = build_.type(place);
  if (writes) {
    const ValueId value = random_.chance(15) ? uniform_operand(type) : operand(type);
    return build_.array_write(place, index, value, mode);
  }
  const ValueId fill = mode == IndexMode::Fill ? operand(type) : ir::kNone;
  if (!is_table(place)) {
    emit(build_.read(place, index, mode, fill), false);
  } else {
    emit(build_.read(place, index, mode, fill),
         is_uniform(index) && (fill == ir::kNone || is_uniform(fill)));
  }
}

/// A test keeps elements whose index is outside from the access: an exit, or a branch around it.
/// Where elements may fail, the test may be wrong.
void Generator::guarded_access() {
  const ValueId place = *any_place();
  ValueId index = any_index(place);
  ValueId size = ir::kNone;
  if (is_table(place)) {
    index = convert(index, DType::I64);
    size = emit(build_.table_size(place), true);
  } else {
    size = number(build_.type(index), size_of(place));
  }
  const ValueId zero = number(build_.type(index), 0);
  const bool wrong = fails_ && each_.empty() && random_.chance(30);
  const Op above = wrong && random_.chance(40) ? Op::Gt : Op::Ge;
  ValueId outside = emit_op(above, {index, size});
  if (!wrong || above == Op::Gt)
    outside = emit_op(Op::Or, {emit_op(Op::Lt, {index, zero}), outside});
  const bool checks = wrong || random_.chance(70);
  const IndexMode mode = checks ? IndexMode::Check : IndexMode::Unchecked;
  const bool writes = can_write(place) && random_.chance(50);
  if (can_leave() && random_.chance(40)) {
    const std::size_t own = scopes_.size() - 1;
    leave(own, outside, exit_values(own));
    return access(place, mode, index, writes);
  }
  const ValueId initial = operand(build_.type(place));
  open_scope({initial}, false, random_.chance(20));
  const ValueId argument = scopes_.back().arguments[0];
  leave_own(outside, {argument});
  access(place, mode, index, writes);
  close_once({writes ? operand(build_.type(place)) : visible_.back()});
}

/// Places that are so far from one index, one after the other. Where elements may fail, of other
/// arrays and tables too.
void Generator::access_neighbours() {
  ValueId place = *any_place();
  if (is_table(place) && !fails_) return access();
  const int reach = is_table(place) ? 2 : std::min(size_of(place) - 1, 3);
  const ValueId first =
      is_table(place) ? safe_in_table(place) : index_of(safe_in_array(size_of(place) - 1 - reach));
  const int lowest = fails_ && each_.empty() && random_.chance(30) ? -1 : 0;
  for (int i = random_.between(2, 4); i > 0; --i) {
    const int added = random_.between(lowest, reach);
    const ValueId by = number(build_.type(first), added);
    const ValueId index = added == 0 ? first : emit_op(Op::Add, {first, by});
    access(place, IndexMode::Check, index, can_write(place) && random_.chance(50));
    if (fails_ && each_.empty() && random_.chance(30)) place = *any_place();
  }
}

/// Changes a place of an array by what stands there: to do so twice shows.
void Generator::update() {
  std::vector<ValueId> places;
  for (const ValueId place : arrays_) {
    if (can_write(place)) places.push_back(place);
  }
  if (places.empty()) return access();
  const ValueId place = random_.pick(places);
  const DType type = build_.type(place);
  const ValueId index = safe_index(place);
  const IndexMode mode = random_.chance(50) ? IndexMode::Check : IndexMode::Unchecked;
  const ValueId old = emit(build_.read(place, index, mode), false);
  const Op op = type == DType::Bool ? Op::Xor : random_.chance(60) ? Op::Add : Op::Sub;
  build_.array_write(place, index, emit_op(op, {old, operand(type)}), mode);
}

/// Loops over all places of a new array, which read and write one of them in each step; seldom
/// others, or not all.
void Generator::fill_all() {
  const DType type = random_type();
  const std::vector<int> sizes = {random_.between(1, 5), random_.between(1, 4),
                                  random_.chance(30) ? 2 : 1};
  const int size = sizes[0] * sizes[1] * sizes[2];
  const ValueId outside = operand(type);
  const ValueId array = build_.array(operand(type), static_cast<std::uint32_t>(size));
  const bool is_turned = random_.chance(30);  // columns, and in them rows
  const int defect = random_.chance(20) ? random_.between(1, 3) : 0;
  ValueId index = number(DType::I32, 0);
  ValueId counters = index;
  std::vector<ValueId> open;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::size_t axis = is_turned ? sizes.size() - 1 - i : i;
    const int stride = axis == 0 ? sizes[1] * sizes[2] : axis == 1 ? sizes[2] : 1;
    const std::array initial = {number(DType::I32, 0)};
    open.push_back(build_.begin_loop(initial));
    const std::array carried = {build_.arguments(open.back())[0]};
    const int end = sizes[axis] - (defect == 1 && sizes[axis] > 1 ? 1 : 0);
    build_.break_if(build_.op(Op::Ge, {carried[0], number(DType::I32, end)}), carried);
    const ValueId part = build_.op(Op::Mul, {carried[0], number(DType::I32, stride)});
    index = build_.op(Op::Add, {index, part});
    counters = build_.op(Op::Sub, {carried[0], counters});
  }
  const IndexMode mode = random_.chance(50) ? IndexMode::Check : IndexMode::Unchecked;
  ValueId value = outside;
  const Op op = type == DType::Bool ? Op::Xor : Op::Add;
  if (random_.chance(70)) {
    const ValueId near = build_.op(Op::Add, {index, number(DType::I32, defect == 2 ? 1 : 0)});
    const ValueId old = build_.read(array, near, defect == 2 ? IndexMode::Wrap : mode);
    value = build_.op(op, {value, old});
  }
  if (random_.chance(40)) value = build_.op(op, {value, build_.convert(counters, type)});
  if (!row_params_.empty() && random_.chance(60)) {
    const ValueId row = random_.pick(row_params_);
    const ValueId read = build_.read(row, index, IndexMode::Clip);
    value = build_.op(op, {value, build_.convert(read, type)});
  }
  if (defect == 3) index = build_.op(Op::Mul, {index, index});
  build_.array_write(array, index, value, defect == 3 ? IndexMode::Wrap : mode);
  while (!open.empty()) {
    const ValueId counter = build_.arguments(open.back())[0];
    const std::array next = {build_.op(Op::Add, {counter, number(DType::I32, 1)})};
    build_.end_loop(next);
    open.pop_back();
  }
  (random_.chance(70) ? kept_ : arrays_).push_back(array);
}

void Generator::observe_arrays(std::size_t from, std::size_t from_kept) {
  const auto observe = [&](ValueId place) {
    if (!random_.chance(70)) return;
    const ValueId index = random_.chance(50) ? noise() : number(DType::I32, random_.between(0, 8));
    emit(build_.read(place, index, IndexMode::Wrap), false);
  };
  for (std::size_t i = from; i < arrays_.size(); ++i) observe(arrays_[i]);
  for (std::size_t i = from_kept; i < kept_.size(); ++i) observe(kept_[i]);
}

// --- numbers of elements ---

void Generator::element_number() {
  const ValueId word = emit(build_.element(random_.chance(70) ? 0 : 1), false);
  if (random_.chance(60)) convert(word, random_type());
}

void Generator::draw() {
  const ValueId high = build_.op(Op::Shr, {seed_, number(DType::U64, 32)});
  const ValueId key[2] = {build_.convert(seed_, DType::U32), build_.convert(high, DType::U32)};
  const ValueId site = number(DType::U32, sites_++);
  const ValueId low_word = build_.element(0);
  const ValueId high_word = build_.element(1);
  const random::Words words = random::philox(build_, key, {draws_, site, low_word, high_word});
  draws_ = build_.op(Op::Add, {draws_, number(DType::U32, 1)});
  emit(build_.convert(words.word[random_.below(4)], DType::I32), false);
  const DType type = random_.chance(50) ? DType::F32 : DType::F64;
  const ValueId whole = build_.op(Op::Shr, {words.word[0], number(DType::U32, 8)});
  emit(build_.op(Op::Mul, {build_.convert(whole, type), number(type, 0x1p-24)}), false);
  most_ = std::max(most_, build_.function().values.size() + 10);
}

}  // namespace lw::fuzz
