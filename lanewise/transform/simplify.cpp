// Constant folding, identities and common subexpressions. Only identities that keep every bit:
// x * 1, x / 1, x - 0 and x + -0 are x for all floats, x + 0 is not (-0 + 0 is +0). All NaNs are
// one value. An op that can fail is folded only when it does not. Integers are divided by powers of
// two without a divider, which vectors lack.
#include <algorithm>
#include <bit>
#include <numeric>
#include <unordered_map>

#include "lanewise/ir/evaluate.h"
#include "lanewise/transform/passes.h"

namespace lw::transform {
namespace {

using ir::Instruction;
using ir::Op;
using ir::ValueId;

class Simplifier {
 public:
  std::optional<ValueId> operator()(ir::Builder& build, const Instruction& in) {
    if (const auto folded = fold(build, in)) return folded;
    return identity(build, in);
  }

 private:
  static const Scalar* literal(ir::Builder& build, ValueId id) {
    const Instruction& in = build.function()[id];
    return in.op == Op::Constant ? &in.constant : nullptr;
  }

  static bool is(ir::Builder& build, ValueId id, double number) {
    const Scalar* value = literal(build, id);
    return value != nullptr && *value == types::scalar_of(value->type(), number);
  }

  /// The k of a literal integer 2^k.
  static std::optional<int> exponent_of(ir::Builder& build, ValueId id) {
    const Scalar* value = literal(build, id);
    return value == nullptr ? std::nullopt : types::exponent_of_two(*value);
  }

  static ValueId constant(ir::Builder& build, DType type, std::int64_t number) {
    return build.constant(types::scalar_of_bits(type, number));
  }

  static std::optional<ValueId> fold(ir::Builder& build, const Instruction& in) {
    if (ops::row(in.op).kind != ops::Kind::Native) return std::nullopt;
    std::vector<Scalar> values;
    for (std::size_t i = in.operands.size(); i-- > 0;) {  // most fail at once: no memory for them
      if (literal(build, in.operands[i]) == nullptr) return std::nullopt;
    }
    for (const ValueId operand : in.operands) values.push_back(*literal(build, operand));
    if (ops::can_fail(in.op, in.type) && is(build, in.operands[1], 0)) return std::nullopt;
    return build.constant(ir::evaluate_op(in.op, in.type, values));
  }

  static std::optional<ValueId> identity(ir::Builder& build, const Instruction& in) {
    const auto operand = [&](std::size_t i) { return in.operands[i]; };
    const bool integer = !types::is_float(in.type);
    switch (in.op) {
      case Op::Add:
        if (is(build, operand(1), integer ? 0.0 : -0.0)) return operand(0);
        if (is(build, operand(0), integer ? 0.0 : -0.0)) return operand(1);
        break;
      case Op::Sub:
        if (is(build, operand(1), 0)) return operand(0);
        break;
      case Op::Mul:
        if (is(build, operand(1), 1)) return operand(0);
        if (is(build, operand(0), 1)) return operand(1);
        break;
      case Op::Div:
        if (is(build, operand(1), 1)) return operand(0);
        if (const auto k = exponent_of(build, operand(1))) {  // both round down
          return build.append({.op = Op::Shr,
                               .type = in.type,
                               .operands = {operand(0), constant(build, in.type, *k)}});
        }
        break;
      case Op::Rem:
        if (const auto k = exponent_of(build, operand(1))) {
          const std::int64_t ones = (std::int64_t{1} << *k) - 1;
          return build.append({.op = Op::And,
                               .type = in.type,
                               .operands = {operand(0), constant(build, in.type, ones)}});
        }
        break;
      case Op::And:
        if (in.type != DType::Bool) break;
        if (is(build, operand(1), 1)) return operand(0);
        if (is(build, operand(0), 1)) return operand(1);
        break;
      case Op::Not: {
        const Instruction& inner = build.function()[operand(0)];
        if (inner.op == Op::Not) return inner.operands[0];
        break;
      }
      case Op::Select:
        if (operand(1) == operand(2)) return operand(1);
        if (const Scalar* condition = literal(build, operand(0))) {
          return condition->as<bool>() ? operand(1) : operand(2);
        }
        break;
      case Op::Convert:
        if (build.type(operand(0)) == in.type) return operand(0);
        break;
      default:
        break;
    }
    return std::nullopt;
  }
};

/// Merges equal values; one made inside a loop serves only inside of it.
class CommonValues {
 public:
  explicit CommonValues(ir::Function f)
      : f_(std::move(f)),
        same_(f_.values.size()),
        visible_(f_.values.size(), false),
        table_(std::bit_ceil(f_.values.size() * 2 + 1), ir::kNone) {
    std::iota(same_.begin(), same_.end(), 0u);
  }

  ir::Function run() && {
    block(0);
    for (Instruction& in : f_.values) {
      for (ValueId& operand : in.operands) operand = same_[operand];
    }
    return std::move(f_);
  }

 private:
  void block(ir::BlockId id) {
    for (const ValueId value : f_.blocks[id].body) {
      const Instruction& in = f_[value];
      if (in.op == Op::Loop) {
        block(in.block);
        if (ir::is_branch(f_, value)) same_[value] = find_branch(value);
      } else if (in.op == Op::Each) {
        block(in.block);
      } else if (ops::is_elementwise(in.op) || in.op == Op::Constant || in.op == Op::Result ||
                 reads_what_stays(in)) {
        same_[value] = find(value);
      } else {
        continue;
      }
      visible_[value] = true;
    }
    auto& body = f_.blocks[id].body;
    for (const ValueId value : body) visible_[value] = false;
    std::erase_if(body,
                  [&](ValueId value) { return f_[value].op == Op::Loop && same_[value] != value; });
  }

  /// Tables, rows and what was kept are changed by nobody.
  bool reads_what_stays(const Instruction& in) const {
    return in.op == Op::TableRead ||
           (in.op == Op::ArrayRead && f_[in.operands[0]].op == Op::Result);
  }

  /// A visible branch that does the same, or the given one, which is then known.
  ValueId find_branch(ValueId loop) {
    std::vector<std::uint64_t> key = describe(loop);
    if (key.empty()) return loop;
    for (const auto& [other, known] : branches_) {
      if (visible_[other] && known == key) return other;
    }
    branches_.emplace_back(loop, std::move(key));
    return loop;
  }

  /// All there is to a branch, with its own values counted from its beginning; empty: too much.
  std::vector<std::uint64_t> describe(ValueId loop) const {
    constexpr std::uint64_t kOwn = std::uint64_t{1} << 32;
    const ir::Block& block = f_.blocks[f_[loop].block];
    std::unordered_map<ValueId, std::uint64_t> own;
    std::vector<std::uint64_t> key;
    const auto add_operands = [&](const Instruction& in) {
      for (const ValueId operand : in.operands) {
        const auto at = own.find(same_[operand]);
        key.push_back(at != own.end() ? kOwn + at->second : same_[operand]);
      }
    };
    add_operands(f_[loop]);
    for (const ValueId argument : block.arguments) own.emplace(argument, own.size());
    for (const ValueId value : block.body) {
      const Instruction& in = f_[value];
      const bool computes = ops::is_elementwise(in.op) || in.op == Op::Constant ||
                            in.op == Op::BreakIf || in.op == Op::Next;
      if (!computes || (in.op == Op::BreakIf && in.index != 0)) return {};
      if (same_[value] != value) continue;
      key.push_back(std::uint64_t{in.index} << 16 | static_cast<std::uint64_t>(in.op) << 8 |
                    static_cast<std::uint64_t>(in.type));
      if (in.op == Op::Constant) key.push_back(in.constant.bits());
      add_operands(in);
      own.emplace(value, own.size());
    }
    return key;
  }

  /// The visible value equal to `value`, or itself, which is then known. Open addressing.
  ValueId find(ValueId value) {
    for (std::size_t at = hash(value);; ++at) {
      ValueId& entry = table_[at & (table_.size() - 1)];
      if (entry != ir::kNone && !is_equal(entry, value)) continue;
      if (entry == ir::kNone || !visible_[entry]) entry = value;
      return entry;
    }
  }

  std::size_t hash(ValueId value) const {
    const Instruction& in = f_[value];
    std::uint64_t h = static_cast<std::uint64_t>(in.op) << 8 | static_cast<std::uint64_t>(in.type);
    const auto mix = [&h](std::uint64_t part) {
      h = (h ^ part) * 0x9e3779b97f4a7c15u;
      h ^= h >> 29;
    };
    for (const ValueId operand : in.operands) mix(same_[operand]);
    if (in.op == Op::Constant) mix(in.constant.bits());
    if (in.op == Op::Result) mix(in.index);
    return h;
  }

  bool is_equal(ValueId a, ValueId b) const {
    const Instruction& x = f_[a];
    const Instruction& y = f_[b];
    if (x.op != y.op || x.type != y.type || x.index != y.index) return false;
    if (x.op == Op::Constant) return x.constant.bits() == y.constant.bits();
    return std::equal(x.operands.begin(), x.operands.end(), y.operands.begin(), y.operands.end(),
                      [&](ValueId p, ValueId q) { return same_[p] == same_[q]; });
  }

  ir::Function f_;
  std::vector<ValueId> same_;
  std::vector<bool> visible_;  // made in a block that is still open
  std::vector<ValueId> table_;
  std::vector<std::pair<ValueId, std::vector<std::uint64_t>>> branches_;
};

}  // namespace

ir::Function simplify(const ir::Function& function) {
  Simplifier simplifier;
  return CommonValues(rewrite(function, std::ref(simplifier))).run();
}

}  // namespace lw::transform
