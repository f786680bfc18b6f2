#include "tests/fuzz/generator.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "lanewise/ir/builder.h"
#include "tests/fuzz/inputs.h"
#include "tests/fuzz/random.h"

namespace lw::fuzz {
namespace {

using ir::Op;
using ir::ValueId;

constexpr std::array kCommonTypes = {DType::Bool, DType::I32, DType::I64, DType::F32, DType::F64};
constexpr int kDeepest = 3;
constexpr std::array<int, kDeepest> kMostTrips = {15, 7, 3};  // by depth

/// Values are drawn from `visible_`, the ones in scope. Which of them have been used and which are
/// surely the same for all elements is noted, to use what is unused and to make uniform conditions.
class Generator {
 public:
  Generator(std::uint64_t seed, const Options& options) : random_(seed), build_("f") {
    most_ = static_cast<std::size_t>(random_.between(options.least, options.most));
    choose_flavour();
  }

  ir::Function run() {
    parameters();
    const int loops = random_.chance(15) ? 0 : random_.chance(70) ? 1 : 2;
    segment(loops == 0 ? random_.between(5, 40) : random_.between(0, 5), 0);
    for (int i = 0; i < loops; ++i) {
      loop(0);
      segment(random_.between(0, 4), 0);
      if (fails_ && random_.chance(40)) fail_seldom();
    }
    results();
    return build_.take();
  }

 private:
  /// One loop: what it carries, and how its counter goes by `step` towards `end`.
  struct Loop {
    std::vector<ValueId> arguments;
    std::size_t counter = 0;                    // its position
    std::optional<std::size_t> companion = {};  // second counter, the same for all elements
    std::optional<std::size_t> sum = {};        // takes in what nothing else in the body uses
    bool down = false;
    ValueId end = ir::kNone;
    ValueId step = ir::kNone;
  };

  // --- what kind of program ---

  void choose_flavour() {
    switch (random_.below(6)) {
      case 0:
        types_ = {DType::F32, DType::F32, DType::I32, DType::Bool};
        break;
      case 1:
        types_ = {DType::F64, DType::F64, DType::I64, DType::Bool};
        break;
      case 2:
      case 3:
        types_ = {kCommonTypes.begin(), kCommonTypes.end()};
        break;
      default:  // bool, i32 and a few of all
        types_ = {DType::Bool, DType::I32};
        for (int i = 0; i < 4; ++i) {
          types_.push_back(static_cast<DType>(random_.below(types::kDTypeCount)));
        }
    }
    divides_ = random_.chance(40);
    fails_ = random_.chance(20);
    const bool trigonometry = random_.chance(8);
    for (const ops::Row& row : ops::rows()) {
      if (row.kind == ops::Kind::Structural || row.arity < 1 || row.arity > 3) continue;
      if (row.op == Op::RawBits) continue;  // of a NaN gives any NaN's
      // Have loops inside, whose steps would be counted with those of the program.
      if (row.op == Op::Fmod || row.op == Op::Mod || row.op == Op::Remainder) continue;
      if (row.kind == ops::Kind::Expand && !trigonometry) continue;
      rows_.push_back(&row);
    }
    if (random_.chance(5)) {  // one function again and again: parts
      std::vector<const ops::Row*> functions;
      for (const ops::Row& row : ops::rows()) {
        const bool has_loops = row.op == Op::Fmod || row.op == Op::Mod || row.op == Op::Remainder;
        if (row.kind == ops::Kind::Expand && !has_loops) functions.push_back(&row);
      }
      rows_.insert(rows_.end(), rows_.size(), random_.pick(functions));
    }
  }

  DType random_type() { return random_.pick(types_); }

  bool has_budget() { return build_.function().values.size() < most_; }

  // --- values ---

  ValueId emit(ValueId id, bool uniform) {
    visible_.push_back(id);
    used_.resize(std::max<std::size_t>(used_.size(), id + 1), false);
    uniform_.resize(used_.size(), false);
    uniform_[id] = uniform;
    return id;
  }

  bool is_uniform(ValueId id) {
    return build_.function()[id].op == Op::Constant || (id < uniform_.size() && uniform_[id]);
  }

  ValueId emit_op(Op op, std::span<const ValueId> operands, DType stated = DType::Bool) {
    const bool uniform = std::all_of(operands.begin(), operands.end(),
                                     [this](ValueId id) { return is_uniform(id); });
    return emit(build_.op(op, operands, stated), uniform);
  }
  ValueId emit_op(Op op, std::initializer_list<ValueId> operands, DType stated = DType::Bool) {
    return emit_op(op, std::span(operands.begin(), operands.size()), stated);
  }

  ValueId number(DType type, double value) {
    return build_.constant(types::scalar_of(type, value));
  }

  ValueId constant(DType type) {
    if (random_.chance(50)) return build_.constant(random_scalar(random_, type));
    return number(type, random_.between(-3, 5) * (types::is_float(type) ? 0.5 : 1.0));
  }

  /// A value in scope for which `fits`; unused and recent ones rather than others.
  template <class Fits>
  std::optional<ValueId> find(const Fits& fits) {
    std::vector<ValueId> fitting;
    std::vector<ValueId> unused;
    for (const ValueId id : visible_) {
      if (!fits(id)) continue;
      fitting.push_back(id);
      if (!used_[id]) unused.push_back(id);
    }
    if (fitting.empty()) return std::nullopt;
    const bool fresh = !unused.empty() && random_.chance(50);
    const auto& list = fresh ? unused : fitting;
    const int size = static_cast<int>(list.size());
    int at = random_.below(size);
    if (random_.chance(50)) at = std::max(at, random_.below(size));
    const ValueId id = list[static_cast<std::size_t>(at)];
    used_[id] = true;
    return id;
  }

  std::optional<ValueId> find(DType type) {
    return find([&](ValueId id) { return build_.type(id) == type; });
  }

  ValueId any_value() {
    return *find([](ValueId) { return true; });  // there is a parameter at least
  }

  /// A value of this type by conversion of another one; the bits where the sizes allow it.
  ValueId converted(DType type) {
    const ValueId from = any_value();
    const DType source = build_.type(from);
    if (source == type) return from;
    const bool same_size = ops::result_type(Op::Bitcast, std::array{source}, type).has_value();
    return emit_op(same_size && random_.chance(60) ? Op::Bitcast : Op::Convert, {from}, type);
  }

  ValueId operand(DType type) {
    const int dice = random_.below(100);
    if (dice < 15) return constant(type);
    if (dice < 85) {
      if (const auto found = find(type)) return *found;
    }
    return converted(type);
  }

  /// A value that is the same for all elements.
  ValueId uniform_operand(DType type) {
    const auto found = find([&](ValueId id) { return build_.type(id) == type && is_uniform(id); });
    return found && random_.chance(80) ? *found : constant(type);
  }

  /// An i32 that differs between elements and, inside of loops, between steps. Values made by
  /// random ops alone soon are the same for all elements.
  ValueId noise() {
    ValueId bits = noise_;
    if (!open_.empty() && random_.chance(70)) {
      const Loop& loop = open_.back();
      const ValueId count = build_.convert(loop.arguments[loop.counter], DType::I32);
      bits = build_.op(Op::Add, {bits, count});
    }
    const int factor = random_.between(1 << 28, 1 << 29) * 2 + 1;
    bits = build_.op(Op::Mul, {bits, number(DType::I32, factor)});
    bits = build_.op(Op::Shr, {bits, number(DType::I32, random_.between(22, 28))});
    return emit(bits, false);
  }

  /// The bits of a parameter.
  ValueId noise_of(ValueId parameter) {
    const DType type = build_.type(parameter);
    const std::size_t size = types::size_of(type);
    ValueId bits = parameter;
    if (types::is_float(type)) bits = build_.op(Op::Bitcast, {bits}, types::integer_of(size));
    if (size < 8) return build_.convert(bits, DType::I32);
    bits = build_.convert(bits, DType::I64);
    const ValueId high = build_.op(Op::Shr, {bits, number(DType::I64, 32)});
    return build_.convert(build_.op(Op::Xor, {bits, high}), DType::I32);
  }

  /// An i32 from 0 to `most`, from any value in scope or, if asked, from a uniform one.
  ValueId small(int most, bool uniform) {
    ValueId value = ir::kNone;
    if (uniform) {
      const auto found = find([&](ValueId id) { return is_uniform(id); });
      if (!found) return number(DType::I32, random_.between(0, most));
      value = *found;
    } else {
      value = random_.chance(70) ? noise() : any_value();
    }
    if (!types::is_integer(build_.type(value))) value = emit_op(Op::Convert, {value}, DType::I32);
    const DType type = build_.type(value);
    if (random_.chance(70)) {
      const int mask = most >= 15 ? 15 : most >= 7 ? 7 : most >= 3 ? 3 : 1;
      value = emit_op(Op::And, {value, number(type, mask)});
    } else if (divides_ && random_.chance(60)) {
      value = emit_op(Op::Rem, {value, number(type, most + 1)});
    } else {
      value = emit_op(Op::Max, {value, number(type, 0)});
      value = emit_op(Op::Min, {value, number(type, most)});
    }
    return type == DType::I32 ? value : emit_op(Op::Convert, {value}, DType::I32);
  }

  ValueId condition() {
    if (random_.chance(25)) return operand(DType::Bool);
    constexpr std::array kCompare = {Op::Lt, Op::Le, Op::Gt, Op::Ge, Op::Eq, Op::Ne};
    const DType type = random_type();
    const Op op = type != DType::Bool  ? random_.pick(kCompare)
                  : random_.chance(50) ? Op::Eq
                                       : Op::Xor;
    const ValueId a = operand(type);
    ValueId b = operand(type);
    if (a == b) b = operand(type);
    return emit_op(op, {a, b});
  }

  /// True for few elements, or only now and then.
  ValueId rare_condition() {
    if (random_.chance(20)) return condition();
    const ValueId bits = emit_op(Op::And, {noise(), number(DType::I32, 7)});
    return emit_op(Op::Eq, {bits, number(DType::I32, random_.below(8))});
  }

  /// The same for all elements: a test of a counter, if there is one.
  ValueId uniform_condition() {
    const auto counter = find([&](ValueId id) {
      return is_uniform(id) && build_.function()[id].op == Op::Argument &&
             build_.type(id) != DType::Bool;
    });
    if (!counter) return emit_op(Op::Eq, {uniform_operand(DType::I32), constant(DType::I32)});
    const ValueId limit = number(build_.type(*counter), random_.between(1, 6));
    return emit_op(random_.chance(50) ? Op::Ge : Op::Eq, {*counter, limit});
  }

  // --- straight code ---

  void random_op() {
    const ops::Row& row = *random_.pick(rows_);
    std::vector<DType> accepted;
    for (const DType type : types_) {
      if (ops::is_accepted(row.accepts, type)) accepted.push_back(type);
    }
    if (accepted.empty()) return;
    const DType type = random_.pick(accepted);
    if (ops::can_fail(row.op, type) && !divides_ && !fails_) return;
    std::vector<DType> operand_types(static_cast<std::size_t>(row.arity), type);
    if (row.op == Op::Select) operand_types[0] = DType::Bool;
    std::vector<DType> stated;  // the results the row can be asked for
    for (const DType result : types_) {
      if (ops::result_type(row.op, operand_types, result)) stated.push_back(result);
    }
    if (stated.empty()) return;
    const DType result = random_.pick(stated);
    std::vector<ValueId> operands;
    for (const DType wanted : operand_types) {
      operands.push_back(operand(wanted));
      if (operands.back() == operands[0] && operands.size() > 1) operands.back() = operand(wanted);
    }
    if (ops::can_fail(row.op, type)) {
      const bool may_fail = fails_ && random_.chance(40);
      operands[1] = may_fail ? seldom_zero(type) : not_zero(operands[1]);
    }
    emit_op(row.op, operands, result);
  }

  ValueId not_zero(ValueId value) {
    const DType type = build_.type(value);
    if (random_.chance(30)) return number(type, random_.chance(50) ? -1 : random_.between(1, 9));
    if (random_.chance(50)) return emit_op(Op::Or, {value, number(type, 1)});
    const ValueId is_zero = emit_op(Op::Eq, {value, number(type, 0)});
    return emit_op(Op::Select, {is_zero, number(type, random_.chance(50) ? 1 : -1), value});
  }

  ValueId seldom_zero(DType type) {
    const ValueId bits = emit_op(Op::And, {noise(), number(DType::I32, 15)});
    return type == DType::I32 ? bits : emit_op(Op::Convert, {bits}, type);
  }

  void fail_seldom() {
    const ValueId first = rare_condition();
    const ValueId second = rare_condition();
    build_.fail_if(emit_op(Op::And, {first, second}), ir::FailKind::Check);
  }

  void segment(int length, int depth) {
    for (int i = 0; i < length && has_budget(); ++i) {
      if (depth > 0 && depth < kDeepest && random_.chance(depth == 1 ? 22 : 14)) {
        loop(depth);
      } else if (depth > 0 && random_.chance(9)) {
        const ValueId leave = random_.chance(25) ? uniform_condition() : rare_condition();
        build_.break_if(leave, exit_values());
      } else if (random_.chance(6)) {
        branch(depth);
      } else if (fails_ && random_.chance(15)) {
        fail_seldom();
      } else {
        random_op();
      }
    }
  }

  // --- loops ---

  /// A loop that never goes round: skipped, or left at its end.
  void branch(int depth) {
    std::vector<ValueId> initial;
    for (int i = random_.between(1, 2); i > 0; --i) initial.push_back(operand(random_type()));
    const std::size_t outside = visible_.size();
    const ValueId id = build_.begin_loop(initial);
    const auto own = build_.arguments(id);
    const std::vector<ValueId> arguments(own.begin(), own.end());
    for (const ValueId argument : arguments) emit(argument, false);
    const ValueId skip = random_.chance(50) ? rare_condition() : condition();
    build_.break_if(random_.chance(50) ? skip : emit_op(Op::Not, {skip}), arguments);
    for (int i = random_.between(0, 4); i > 0 && has_budget(); --i) {
      if (depth > 0 && depth < kDeepest && random_.chance(8)) {
        loop(depth);
      } else if (fails_ && random_.chance(10)) {
        fail_seldom();
      } else {
        random_op();
      }
    }
    std::vector<ValueId> values;
    for (const ValueId argument : arguments) values.push_back(operand(build_.type(argument)));
    build_.break_if(build_.constant(Scalar(true)), values);
    build_.end_loop(arguments);
    visible_.resize(outside);
    for (std::uint32_t i = 0; i < arguments.size(); ++i) emit(build_.result(id, i), false);
  }

  /// Carried values stand in any order.
  void rotate(Loop& loop, std::vector<ValueId>& initial) {
    const auto size = initial.size();
    const auto by = static_cast<std::size_t>(random_.below(static_cast<int>(size)));
    std::rotate(initial.rbegin(), initial.rbegin() + static_cast<std::ptrdiff_t>(by),
                initial.rend());
    loop.counter = (loop.counter + by) % size;
    if (loop.companion) loop.companion = (*loop.companion + by) % size;
    if (loop.sum) loop.sum = (*loop.sum + by) % size;
  }

  /// What an exit hands over: the carried values as they stand, or others.
  std::vector<ValueId> exit_values() {
    std::vector<ValueId> values;
    const std::vector<ValueId> arguments = open_.back().arguments;
    const bool as_they_stand = random_.chance(40);
    for (const ValueId argument : arguments) {
      const bool other = !as_they_stand && random_.chance(50);
      values.push_back(other ? operand(build_.type(argument)) : argument);
    }
    return values;
  }

  ValueId next_count(const Loop& loop) {
    const ValueId count = loop.arguments[loop.counter];
    if (loop.down) return emit_op(Op::Sub, {count, loop.step});
    if (random_.chance(20)) return emit_op(Op::Add, {loop.step, count});
    return emit_op(Op::Add, {count, loop.step});
  }

  /// The exit that makes sure the loop ends, in the forms a condition is written in.
  void test(const Loop& loop, ValueId count) {
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
    switch (random_.below(5)) {
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
    build_.break_if(leave, exit_values());
  }

  void loop(int depth) {
    const int most = kMostTrips[static_cast<std::size_t>(depth)];
    constexpr std::array kCounter = {DType::I32, DType::I32, DType::I32, DType::I64,
                                     DType::I64, DType::F32, DType::F64};
    const DType type = random_.pick(kCounter);
    const bool uniform_bound = random_.chance(depth == 0 ? 30 : 50);
    const auto in_type = [&](ValueId id) {
      return build_.type(id) == type ? id : emit_op(Op::Convert, {id}, type);
    };
    Loop loop;
    loop.down = random_.chance(30);
    const bool constant_bound = uniform_bound && random_.chance(50);
    const ValueId high = constant_bound ? number(type, random_.between(0, most))
                                        : in_type(small(most, uniform_bound));
    const ValueId low =
        random_.chance(85) ? number(type, 0) : in_type(small(2, random_.chance(50)));
    loop.end = loop.down ? low : high;
    if (random_.chance(75)) {
      loop.step = number(type, random_.chance(80) ? 1 : 2);
    } else {
      const ValueId extra = in_type(small(1, random_.chance(60)));
      loop.step = emit_op(Op::Add, {extra, number(type, 1)});
    }

    std::vector<ValueId> initial;
    for (int i = random_.between(0, 2); i > 0; --i) initial.push_back(operand(random_type()));
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

    const std::size_t outside = visible_.size();
    const ValueId id = build_.begin_loop(initial);
    const auto arguments = build_.arguments(id);
    loop.arguments.assign(arguments.begin(), arguments.end());
    for (std::size_t i = 0; i < loop.arguments.size(); ++i) {
      emit(loop.arguments[i], i == loop.companion || (i == loop.counter && uniform_counter));
    }
    open_.push_back(loop);
    body(loop, depth);
    open_.pop_back();
    visible_.resize(outside);
    for (std::uint32_t i = 0; i < loop.arguments.size(); ++i) {
      if (i == loop.sum || random_.chance(60)) emit(build_.result(id, i), false);
    }
  }

  /// The test comes first, in the middle or last, on the count before or after its step.
  void body(const Loop& loop, int depth) {
    const std::size_t outside = visible_.size();
    const int position = random_.below(3);
    const bool test_next = random_.chance(25);
    std::optional<ValueId> next;
    if (position > 0) segment(random_.between(1, 4), depth + 1);
    if (test_next) next = next_count(loop);
    test(loop, next.value_or(loop.arguments[loop.counter]));
    if (position < 2) segment(random_.between(1, 5), depth + 1);
    if (!next) next = next_count(loop);
    std::vector<ValueId> values;
    for (std::size_t i = 0; i < loop.arguments.size(); ++i) {
      if (i == loop.counter) {
        values.push_back(*next);
      } else if (i == loop.companion) {
        values.push_back(next_companion(loop.arguments[i]));
      } else if (i == loop.sum) {
        values.push_back(take_in(loop.arguments[i], outside, 3));
      } else {
        values.push_back(next_value(loop, i));
      }
    }
    build_.end_loop(values);
  }

  ValueId next_companion(ValueId argument) {
    const DType type = build_.type(argument);
    const ValueId other = uniform_operand(type);
    if (type == DType::Bool) return emit_op(Op::Xor, {argument, other});
    return emit_op(random_.chance(60) ? Op::Add : Op::Sub, {argument, other});
  }

  ValueId next_value(const Loop& loop, std::size_t i) {
    const ValueId argument = loop.arguments[i];
    const DType type = build_.type(argument);
    const int dice = random_.below(100);
    if (dice < 12) return argument;
    if (dice < 35) {  // another carried value: they change places
      std::vector<ValueId> others;
      for (const ValueId other : loop.arguments) {
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

  // --- the ends ---

  void parameters() {
    const int count = random_.between(1, 4);
    for (int i = 0; i < count; ++i) {
      const bool mapped = i == 0 || random_.chance(70);
      DType type = random_type();
      while (i == 0 && type == DType::Bool) type = random_type();
      emit(build_.param(fmt::format("arg{}", i), type,
                        mapped ? ir::ParamKind::Mapped : ir::ParamKind::Shared),
           !mapped);
    }
    noise_ = noise_of(build_.function().params[0].value);
  }

  void results() {
    const int count = random_.between(1, 3);
    std::vector<ValueId> values;
    if (random_.chance(70)) values.push_back(take_in(number(DType::I64, 1), 0, 3));
    while (std::ssize(values) < count) {
      const auto varying = find([&](ValueId id) { return !is_uniform(id); });
      values.push_back(varying ? *varying : any_value());
    }
    build_.ret(values);
  }

  /// `sum` with all that nothing else uses taken in, so that mistakes show: what loops give, and
  /// up to `most` other values of those in scope from position `from` on.
  ValueId take_in(ValueId sum, std::size_t from, int most) {
    const DType type = build_.type(sum);
    const std::vector<ValueId> all(visible_.begin() + static_cast<std::ptrdiff_t>(from),
                                   visible_.end());
    for (auto it = all.rbegin(); it != all.rend(); ++it) {
      const bool is_result = build_.function()[*it].op == Op::Result;
      if (*it == sum || (!is_result && (used_[*it] || most-- <= 0))) continue;
      used_[*it] = true;
      if (types::is_float(type)) {
        constexpr std::array kOps = {Op::Add, Op::Sub, Op::Min, Op::Max, Op::Copysign};
        sum = build_.op(random_.pick(kOps), {sum, build_.convert(*it, type)});
        continue;
      }
      ValueId bits = *it;
      if (build_.type(bits) == DType::F32) bits = build_.op(Op::Bitcast, {bits}, DType::I32);
      if (build_.type(bits) == DType::F64) bits = build_.op(Op::Bitcast, {bits}, DType::I64);
      sum = build_.op(Op::Mul, {sum, number(type, 31)});
      sum = build_.op(Op::Xor, {sum, build_.convert(bits, type)});
    }
    return sum;
  }

  Random random_;
  ir::Builder build_;
  std::size_t most_ = 0;
  std::vector<DType> types_;  // of this program, the usual ones several times
  std::vector<const ops::Row*> rows_;
  bool divides_ = false;       // divides integers
  bool fails_ = false;         // some elements may fail
  ValueId noise_ = ir::kNone;  // an i32 that differs between elements
  std::vector<ValueId> visible_;
  std::vector<bool> used_;     // by value
  std::vector<bool> uniform_;  // by value
  std::vector<Loop> open_;     // the innermost is last
};

}  // namespace

ir::Function generate(std::uint64_t seed, const Options& options) {
  return Generator(seed, options).run();
}

}  // namespace lw::fuzz
