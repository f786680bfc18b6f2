// Loops, branches and blocks that are left before their end. A loop goes round only behind a test
// of its counter, which stands in no branch: so it ends.
#include <algorithm>
#include <array>

#include "tests/fuzz/generator_parts.h"

namespace lw::fuzz {

int Generator::loop_depth() const {
  return static_cast<int>(std::count_if(scopes_.begin(), scopes_.end(), [](const Scope& scope) {
    return scope.counter != ir::kNone;
  }));
}

void Generator::open_scope(std::vector<ValueId> initial, bool goes_round, bool rare) {
  Scope scope{.visible = visible_.size(), .arrays = arrays_.size(), .kept = kept_.size()};
  if (draws_ != ir::kNone) {
    scope.draws = initial.size();
    initial.push_back(draws_);
  }
  scope.loop = build_.begin_loop(initial, rare);
  const auto arguments = build_.arguments(scope.loop);
  scope.arguments.assign(arguments.begin(), arguments.end());
  for (std::size_t i = 0; i < initial.size(); ++i) {
    scope.uniform.push_back(!goes_round && is_uniform(initial[i]));
    if (i != scope.draws) emit(scope.arguments[i], scope.uniform[i]);
  }
  if (scope.draws) draws_ = scope.arguments[*scope.draws];
  scopes_.push_back(std::move(scope));
}

void Generator::close_scope(std::span<const ValueId> next, std::optional<std::size_t> sum) {
  const Scope scope = std::move(scopes_.back());
  scopes_.pop_back();
  std::vector<ValueId> values(next.begin(), next.end());
  if (scope.draws) values.push_back(draws_);
  build_.end_loop(values);
  visible_.resize(scope.visible);
  arrays_.resize(scope.arrays);
  kept_.resize(scope.kept);
  for (std::uint32_t i = 0; i < scope.arguments.size(); ++i) {
    if (i == scope.draws) {
      draws_ = build_.result(scope.loop, i);
    } else if (i == sum || random_.chance(70)) {
      emit(build_.result(scope.loop, i), !scope.parts && scope.uniform[i]);
    }
  }
}

void Generator::close_once(std::vector<ValueId> values) {
  const std::size_t count = values.size();
  leave_own(build_.constant(Scalar(true)), std::move(values));
  const std::vector<ValueId> arguments = scopes_.back().arguments;
  close_scope(std::span(arguments).first(count));
}

std::vector<ValueId> Generator::some_operands(int least, int most) {
  std::vector<ValueId> values;
  for (int i = random_.between(least, most); i > 0; --i) values.push_back(operand(random_type()));
  return values;
}

std::vector<ValueId> Generator::operands_like(std::span<const ValueId> values) {
  std::vector<ValueId> others;
  for (const ValueId value : values) others.push_back(operand(build_.type(value)));
  return others;
}

// --- exits ---

void Generator::leave(std::size_t target, ValueId condition, std::vector<ValueId> values) {
  if (scopes_[target].draws) values.push_back(draws_);
  bool parts = !is_uniform(condition);
  for (std::size_t i = target + 1; i < scopes_.size(); ++i) parts = parts || scopes_[i].parts;
  for (std::size_t i = target; i < scopes_.size(); ++i) {
    scopes_[i].parts = scopes_[i].parts || parts;
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    scopes_[target].uniform[i] = scopes_[target].uniform[i] && is_uniform(values[i]);
  }
  build_.break_if(condition, values, static_cast<std::uint32_t>(scopes_.size() - 1 - target));
}

/// What an exit hands over: the carried values as they stand, or others.
std::vector<ValueId> Generator::exit_values(std::size_t target) {
  std::vector<ValueId> arguments = scopes_[target].arguments;
  if (scopes_[target].draws) arguments.pop_back();
  std::vector<ValueId> values;
  const bool as_they_stand = random_.chance(40);
  for (const ValueId argument : arguments) {
    const bool other = !as_they_stand && random_.chance(50);
    values.push_back(other ? operand(build_.type(argument)) : argument);
  }
  return values;
}

ValueId Generator::exit_condition() {
  return random_.chance(30) ? uniform_condition() : rare_condition();
}

void Generator::exit() {
  std::size_t target = scopes_.size() - 1;
  if (random_.chance(75)) {
    target -=
        static_cast<std::size_t>(random_.below(static_cast<int>(scopes_.size() - first_scope())));
  }
  const bool is_uniform = scopes_[target].tame && random_.chance(85);
  const ValueId condition = is_uniform ? uniform_condition() : exit_condition();
  leave(target, condition, exit_values(target));
}

// --- what never goes round ---

/// Skipped, or left at its end.
void Generator::branch() {
  const std::vector<ValueId> initial = some_operands(0, 2);
  open_scope(initial, false, random_.chance(is_tame() ? 60 : 20));
  const std::size_t count = initial.size();
  if (random_.chance(20)) random_op();
  const ValueId skip = random_.chance(25)   ? uniform_condition()
                       : random_.chance(50) ? rare_condition()
                                            : condition();
  const ValueId leaves = random_.chance(50) ? skip : emit_op(Op::Not, {skip});
  std::vector<ValueId> arguments = scopes_.back().arguments;
  arguments.resize(count);
  leave_own(leaves, random_.chance(95) ? arguments : operands_like(arguments));
  segment(random_.between(0, 4));
  const int others = static_cast<int>(scopes_.size() - first_scope()) - 1;
  if (others > 0 && random_.chance(25)) {  // as `break`, `continue` and `return` do
    const auto target = first_scope() + static_cast<std::size_t>(random_.below(others));
    const std::vector<ValueId> values = exit_values(target);
    leave(target, build_.constant(Scalar(true)), values);
  }
  observe_arrays(scopes_.back().arrays, scopes_.back().kept);
  close_once(operands_like(arguments));
}

/// Left in several places, or only at its end.
void Generator::once() {
  const std::vector<ValueId> initial = some_operands(0, 2);
  open_scope(initial, false);
  std::vector<ValueId> arguments = scopes_.back().arguments;
  arguments.resize(initial.size());
  segment(random_.between(0, 3));
  for (int exits = random_.below(4); exits > 0; --exits) {
    const ValueId condition = exit_condition();
    leave_own(condition, exit_values(scopes_.size() - 1));
    segment(random_.between(0, 3));
  }
  observe_arrays(scopes_.back().arrays, scopes_.back().kept);
  close_once(operands_like(arguments));
}

// --- loops ---

/// Carried values stand in any order.
void Generator::rotate(Loop& loop, std::vector<ValueId>& initial) {
  const auto size = initial.size();
  const auto by = static_cast<std::size_t>(random_.below(static_cast<int>(size)));
  std::rotate(initial.rbegin(), initial.rbegin() + static_cast<std::ptrdiff_t>(by), initial.rend());
  loop.counter = (loop.counter + by) % size;
  if (loop.companion) loop.companion = (*loop.companion + by) % size;
  if (loop.sum) loop.sum = (*loop.sum + by) % size;
}

/// Where the counter ends: some number of steps, or the size of an array or table.
ValueId Generator::loop_end(Loop& loop, DType& type, int most) {
  const auto place = any_place();
  const int most_places = each_.empty() && loop_depth() == 0 ? 130 : 15;
  const bool fits = place && (is_table(*place) || size_of(*place) <= most_places);
  if (fits && random_.chance(30)) {
    loop.tests_first = true;
    if (!is_table(*place)) {
      if (types::is_float(type)) type = DType::I32;
      return number(type, size_of(*place));
    }
    type = DType::I64;
    const ValueId size = emit(build_.table_size(*place), true);
    if (loop_depth() == 0) return size;
    return emit_op(Op::Min, {size, number(type, most)});
  }
  const bool uniform = loop.tame || random_.chance(loop_depth() == 0 ? 30 : 50);
  if (uniform && random_.chance(50)) return number(type, random_.between(0, most));
  return convert(small(most, uniform), type);
}

void Generator::loop() {
  constexpr std::array kMostTrips = {15, 7, 3};  // by depth
  constexpr std::array kCounter = {DType::I32, DType::I32, DType::I32, DType::I64,
                                   DType::I64, DType::F32, DType::F64};
  DType type = random_.pick(kCounter);
  Loop loop;
  loop.tame = random_.chance(20);
  const ValueId high = loop_end(loop, type, kMostTrips[static_cast<std::size_t>(loop_depth())]);
  loop.down = !loop.tests_first && random_.chance(30);
  const ValueId low = loop.tests_first || loop.tame || random_.chance(85)
                          ? number(type, 0)
                          : convert(small(2, random_.chance(50)), type);
  loop.end = loop.down ? low : high;
  if (loop.tame || random_.chance(75)) {
    loop.step = number(type, random_.chance(80) ? 1 : 2);
  } else {
    const ValueId extra = convert(small(1, random_.chance(60)), type);
    loop.step = emit_op(Op::Add, {extra, number(type, 1)});
  }

  std::vector<ValueId> initial = some_operands(0, 2);
  if (random_.chance(25)) {
    loop.companion = initial.size();
    initial.push_back(uniform_operand(random_type()));
  }
  loop.counter = initial.size();
  initial.push_back(loop.down ? high : low);
  if (random_.chance(75)) {
    loop.sum = initial.size();
    DType sum = random_type();
    while (sum == DType::Bool) sum = random_type();
    initial.push_back(operand(sum));
  }
  rotate(loop, initial);
  const bool uniform_counter = is_uniform(initial[loop.counter]) && is_uniform(loop.step);

  open_scope(initial, true);
  Scope& scope = scopes_.back();
  scope.counter = scope.arguments[loop.counter];
  scope.tame = loop.tame;
  for (std::size_t i = 0; i < initial.size(); ++i) {
    scope.uniform[i] = i == loop.companion || (i == loop.counter && uniform_counter);
    uniform_[scope.arguments[i]] = scope.uniform[i];
  }
  loop_body(loop);
}

/// Of a known number of steps, in which integers from outside, times literals, are added up.
void Generator::linear_loop() {
  constexpr std::array kTypes = {DType::I32, DType::I32, DType::I64, DType::U32, DType::U8};
  const DType type = random_.pick(kTypes);
  const ValueId outside = convert(random_.chance(70) ? noise() : any_value(), type);
  const std::vector<ValueId> initial = {operand(type), operand(type), number(type, 0)};
  const ValueId end = number(type, random_.between(0, loop_depth() == 0 ? 30 : 4));
  const ValueId loop = build_.begin_loop(initial);
  const auto arguments = build_.arguments(loop);
  const std::vector<ValueId> carried(arguments.begin(), arguments.end());
  build_.break_if(build_.op(Op::Ge, {carried[2], end}), carried);
  const auto next = [&](ValueId sum) {
    const std::array terms = {outside, outside, carried[0], carried[1], carried[2]};
    ValueId term = random_.pick(terms);
    if (random_.chance(60)) {
      term = build_.op(Op::Mul, {term, number(type, random_.between(0, 9))});
    }
    return build_.op(random_.chance(60) ? Op::Add : Op::Sub, {sum, term});
  };
  const ValueId first = next(carried[0]);
  const ValueId second = random_.chance(30) ? carried[0] : next(carried[1]);
  const ValueId count = build_.op(Op::Add, {carried[2], number(type, 1)});
  build_.end_loop(std::initializer_list<ValueId>{first, second, count});
  for (const std::uint32_t i : {0u, 1u}) emit(build_.result(loop, i), false);
}

/// The test comes first, in the middle or last, on the count before or after its step. What comes
/// behind it may be a block of its own, which is left to go on with the next step.
void Generator::loop_body(const Loop& loop) {
  const std::size_t outside = visible_.size();
  const int position = loop.tests_first ? 0 : random_.below(3);
  const bool tests_next = !loop.tests_first && random_.chance(25);
  std::optional<ValueId> next;
  if (position > 0) segment(random_.between(1, 4));
  if (tests_next) next = next_count(loop);
  test(loop, next.value_or(scopes_.back().counter));
  if (loop.tests_first) scopes_.back().below = loop.end;
  if (position < 2) {
    if (random_.chance(branches_ ? 15 : 3)) once();
    segment(random_.between(1, 5));
  }
  observe_arrays(scopes_.back().arrays, scopes_.back().kept);
  if (!next) next = next_count(loop);
  std::vector<ValueId> values;
  std::vector<ValueId> arguments = scopes_.back().arguments;
  if (scopes_.back().draws) arguments.pop_back();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (i == loop.counter) {
      values.push_back(*next);
    } else if (i == loop.companion) {
      values.push_back(next_companion(arguments[i]));
    } else if (i == loop.sum) {
      values.push_back(take_in(arguments[i], outside, 3));
    } else {
      values.push_back(next_value(i));
    }
  }
  close_scope(values, loop.sum);
}

ValueId Generator::next_count(const Loop& loop) {
  const ValueId count = scopes_.back().counter;
  if (loop.down) return emit_op(Op::Sub, {count, loop.step});
  if (random_.chance(20)) return emit_op(Op::Add, {loop.step, count});
  return emit_op(Op::Add, {count, loop.step});
}

void Generator::test(const Loop& loop, ValueId count) {
  const auto other_condition = [&] {
    const auto carried = find([&](ValueId id) {
      return build_.type(id) == DType::Bool && build_.function()[id].op == Op::Argument;
    });
    if (carried && random_.chance(40)) return *carried;
    if (random_.chance(30)) return uniform_condition();
    return random_.chance(70) ? rare_condition() : condition();
  };
  const Op stay_op = loop.down ? Op::Gt : Op::Lt;
  const Op leave_op = loop.down ? Op::Le : Op::Ge;
  ValueId leave = ir::kNone;
  switch (random_.below(loop.tame ? 2 : 5) + (loop.tame ? 2 : 0)) {
    case 0: {
      const ValueId other = emit_op(Op::Not, {other_condition()});
      const ValueId stay = emit_op(stay_op, {count, loop.end});
      leave = emit_op(Op::Not, {emit_op(Op::And, {stay, other})});
      break;
    }
    case 1: {
      const ValueId other = other_condition();
      const ValueId end = emit_op(leave_op, {count, loop.end});
      leave = emit_op(Op::Or, {other, end});
      break;
    }
    case 2:
      leave = emit_op(Op::Not, {emit_op(stay_op, {count, loop.end})});
      break;
    default:
      leave = emit_op(leave_op, {count, loop.end});
  }
  leave_own(leave, exit_values(scopes_.size() - 1));
}

ValueId Generator::next_companion(ValueId argument) {
  const DType type = build_.type(argument);
  const ValueId other = uniform_operand(type);
  if (type == DType::Bool) return emit_op(Op::Xor, {argument, other});
  return emit_op(random_.chance(60) ? Op::Add : Op::Sub, {argument, other});
}

ValueId Generator::next_value(std::size_t i) {
  const std::vector<ValueId> arguments = scopes_.back().arguments;
  const ValueId argument = arguments[i];
  const DType type = build_.type(argument);
  const int dice = random_.below(100);
  if (dice < 12) return argument;
  if (dice < 35) {  // another carried value: they change places
    std::vector<ValueId> others;
    for (const ValueId other : arguments) {
      if (other != argument && build_.type(other) == type) others.push_back(other);
    }
    if (!others.empty()) return random_.pick(others);
  }
  if (dice < 60 && type != DType::Bool) {  // a sum, as loops have them
    const ValueId term = random_.chance(50) ? uniform_operand(type) : operand(type);
    return emit_op(Op::Add, {argument, term});
  }
  if (dice < 80) {
    const Op op = type == DType::Bool ? Op::Xor : random_.chance(50) ? Op::Sub : Op::Mul;
    return emit_op(op, {argument, operand(type)});
  }
  return operand(type);
}

}  // namespace lw::fuzz
