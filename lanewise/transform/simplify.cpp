// Constant folding, identities and common subexpressions. Only identities that keep every bit:
// x * 1, x / 1, x - 0 and x + -0 are x for all floats, x + 0 is not (-0 + 0 is +0). All NaNs are
// one value. An op that can fail is folded only when it does not.
#include <cmath>
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

  static std::optional<ValueId> fold(ir::Builder& build, const Instruction& in) {
    if (ops::row(in.op).kind != ops::Kind::Native) return std::nullopt;
    std::vector<Scalar> values;
    for (const ValueId operand : in.operands) {
      const Scalar* value = literal(build, operand);
      if (value == nullptr) return std::nullopt;
      values.push_back(*value);
    }
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
  explicit CommonValues(const ir::Function& f) : f_(f), same_(f.values.size()) {
    for (ValueId id = 0; id < same_.size(); ++id) same_[id] = id;
  }

  ir::Function run() {
    block(0);
    ir::Function result = f_;
    for (Instruction& in : result.values) {
      for (ValueId& operand : in.operands) operand = same_[operand];
    }
    return result;
  }

 private:
  struct Key {
    Op op;
    DType type;
    ValueId operands[3] = {ir::kNone, ir::kNone, ir::kNone};
    std::uint64_t bits = 0;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      std::uint64_t h =
          static_cast<std::uint64_t>(key.op) << 8 | static_cast<std::uint64_t>(key.type);
      for (const std::uint64_t part :
           {std::uint64_t{key.operands[0]}, std::uint64_t{key.operands[1]},
            std::uint64_t{key.operands[2]}, key.bits}) {
        h = (h ^ part) * 0x9e3779b97f4a7c15u;
        h ^= h >> 29;
      }
      return h;
    }
  };

  void block(ir::BlockId id) {
    std::vector<Key> made_here;
    for (const ValueId value : f_.blocks[id].body) {
      const Instruction& in = f_[value];
      if (in.op == Op::Loop) block(in.block);
      if (!ops::is_elementwise(in.op) && in.op != Op::Constant) continue;
      Key key{.op = in.op, .type = in.type};
      for (std::size_t i = 0; i < in.operands.size(); ++i) key.operands[i] = same_[in.operands[i]];
      if (in.op == Op::Constant) key.bits = in.constant.bits();
      const auto [found, is_new] = known_.emplace(key, value);
      same_[value] = found->second;
      if (is_new) made_here.push_back(key);
    }
    for (const Key& key : made_here) known_.erase(key);
  }

  const ir::Function& f_;
  std::vector<ValueId> same_;
  std::unordered_map<Key, ValueId, Hash> known_;
};

}  // namespace

ir::Function simplify(const ir::Function& function) {
  Simplifier simplifier;
  const ir::Function folded = rewrite(function, std::ref(simplifier));
  return CommonValues(folded).run();
}

}  // namespace lw::transform
