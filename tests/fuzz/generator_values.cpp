// Values in scope, and those made of them.
#include <algorithm>
#include <array>

#include "tests/fuzz/generator_parts.h"
#include "tests/fuzz/inputs.h"

namespace lw::fuzz {

ValueId Generator::emit(ValueId id, bool uniform) {
  visible_.push_back(id);
  used_.resize(std::max<std::size_t>(used_.size(), id + 1), false);
  uniform_.resize(used_.size(), false);
  uniform_[id] = uniform;
  return id;
}

ValueId Generator::emit_op(Op op, std::span<const ValueId> operands, DType stated) {
  const bool uniform =
      std::all_of(operands.begin(), operands.end(), [this](ValueId id) { return is_uniform(id); });
  return emit(build_.op(op, operands, stated), uniform);
}

ValueId Generator::constant(DType type) {
  if (random_.chance(50)) return build_.constant(random_scalar(random_, type));
  return number(type, random_.between(-3, 5) * (types::is_float(type) ? 0.5 : 1.0));
}

std::optional<ValueId> Generator::find(DType type) {
  return find([&](ValueId id) { return build_.type(id) == type; });
}

std::optional<ValueId> Generator::find_uniform(DType type) {
  return find([&](ValueId id) { return build_.type(id) == type && is_uniform(id); });
}

std::optional<ValueId> Generator::find_varying() {
  return find([&](ValueId id) { return !is_uniform(id); });
}

ValueId Generator::any_value() {
  return *find([](ValueId) { return true; });  // there is a parameter at least
}

ValueId Generator::converted(DType type) {
  const ValueId from = any_value();
  const DType source = build_.type(from);
  if (source == type) return from;
  const bool same_size = ops::result_type(Op::Bitcast, std::array{source}, type).has_value();
  return emit_op(same_size && random_.chance(60) ? Op::Bitcast : Op::Convert, {from}, type);
}

ValueId Generator::operand(DType type) {
  const int dice = random_.below(100);
  if (dice < 15) return constant(type);
  if (dice < 85) {
    if (const auto found = find(type)) return *found;
  }
  return converted(type);
}

ValueId Generator::uniform_operand(DType type) {
  const auto found = find_uniform(type);
  return found && random_.chance(80) ? *found : constant(type);
}

ValueId Generator::noise() {
  ValueId bits = noise_;
  if (!each_.empty() && random_.chance(80)) {
    bits = build_.op(Op::Add, {bits, each_.back().position});
  }
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (scope->counter == ir::kNone) continue;
    if (random_.chance(30)) break;
    bits = build_.op(Op::Add, {bits, build_.convert(scope->counter, DType::I32)});
    break;
  }
  const int factor = random_.between(1 << 28, 1 << 29) * 2 + 1;
  bits = build_.op(Op::Mul, {bits, number(DType::I32, factor)});
  bits = build_.op(Op::Shr, {bits, number(DType::I32, random_.between(22, 28))});
  return emit(bits, false);
}

/// The bits of a parameter.
ValueId Generator::noise_of(ValueId parameter) {
  const DType type = build_.type(parameter);
  const std::size_t size = types::size_of(type);
  ValueId bits = parameter;
  if (types::is_float(type)) bits = build_.op(Op::Bitcast, {bits}, types::integer_of(size));
  if (size < 8) return build_.convert(bits, DType::I32);
  bits = build_.convert(bits, DType::I64);
  const ValueId high = build_.op(Op::Shr, {bits, number(DType::I64, 32)});
  return build_.convert(build_.op(Op::Xor, {bits, high}), DType::I32);
}

ValueId Generator::small(int most, bool uniform) {
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
    const int mask = most >= 15 ? 15 : most >= 7 ? 7 : most >= 3 ? 3 : std::min(most, 1);
    value = emit_op(Op::And, {value, number(type, mask)});
  } else if (divides_ && random_.chance(60)) {
    value = emit_op(Op::Rem, {value, number(type, most + 1)});
  } else {
    value = emit_op(Op::Max, {value, number(type, 0)});
    value = emit_op(Op::Min, {value, number(type, most)});
  }
  return type == DType::I32 ? value : emit_op(Op::Convert, {value}, DType::I32);
}

ValueId Generator::condition() {
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

ValueId Generator::rare_condition() {
  if (random_.chance(20)) return condition();
  const ValueId bits = emit_op(Op::And, {noise(), number(DType::I32, 7)});
  return emit_op(Op::Eq, {bits, number(DType::I32, random_.below(8))});
}

ValueId Generator::uniform_condition() {
  const auto counter = find([&](ValueId id) {
    return is_uniform(id) && build_.function()[id].op == Op::Argument &&
           build_.type(id) != DType::Bool;
  });
  if (!counter) return emit_op(Op::Eq, {uniform_operand(DType::I32), constant(DType::I32)});
  const ValueId limit = number(build_.type(*counter), random_.between(1, 6));
  return emit_op(random_.chance(50) ? Op::Ge : Op::Eq, {*counter, limit});
}

ValueId Generator::take_in(ValueId sum, std::size_t from, int most) {
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

}  // namespace lw::fuzz
