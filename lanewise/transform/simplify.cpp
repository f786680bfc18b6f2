// Constant folding, identities and common subexpressions. Only identities that keep every bit:
// x * 1, x / 1, x - 0 and x + -0 are x for all floats, x + 0 is not (-0 + 0 is +0). All NaNs are
// one value. An op that can fail is folded only when it does not.
#include <cmath>
#include <map>

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
  using Key = std::tuple<Op, DType, std::vector<ValueId>, std::uint64_t>;

  void block(ir::BlockId id) {
    scopes_.emplace_back();
    for (const ValueId value : f_.blocks[id].body) {
      const Instruction& in = f_[value];
      if (in.op == Op::Loop) block(in.block);
      if (!ops::is_elementwise(in.op) && in.op != Op::Constant) continue;
      Key key{in.op, in.type, {}, in.op == Op::Constant ? in.constant.bits() : 0};
      for (const ValueId operand : in.operands) std::get<2>(key).push_back(same_[operand]);
      same_[value] = find(key, value);
    }
    scopes_.pop_back();
  }

  ValueId find(const Key& key, ValueId value) {
    for (const auto& scope : scopes_) {
      if (const auto found = scope.find(key); found != scope.end()) return found->second;
    }
    scopes_.back().emplace(key, value);
    return value;
  }

  const ir::Function& f_;
  std::vector<ValueId> same_;
  std::vector<std::map<Key, ValueId>> scopes_;
};

}  // namespace

ir::Function simplify(const ir::Function& function) {
  Simplifier simplifier;
  const ir::Function folded = rewrite(function, std::ref(simplifier));
  return CommonValues(folded).run();
}

}  // namespace lw::transform
