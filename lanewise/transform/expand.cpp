#include "lanewise/transform/expand.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

#include "lanewise/transform/passes.h"

namespace lw::transform {

std::optional<ir::ValueId> expand_one(ir::Builder& build, const ir::Instruction& in) {
  if (ops::row(in.op).kind != ops::Kind::Expand) return std::nullopt;
  const auto operand = [&](std::size_t i) {
    return Expr(build, in.operands[std::min(i, in.operands.size() - 1)]);
  };
  const Expr a = operand(0);
  [[maybe_unused]] const Expr b = operand(1);
  [[maybe_unused]] const Expr c = operand(2);
  switch (in.op) {
#define LW_OP(id, name, form, arity, accepts, gives, kind, meaning, partials, domain, doc) \
  LW_EXPAND_##kind(id, meaning)
#define LW_EXPAND_Native(op, meaning)
#define LW_EXPAND_Structural(op, meaning)
#define LW_EXPAND_Expand(op, meaning) \
  case ops::Op::op:                   \
    return (meaning).id();
#include "lanewise/ops/ops.def"
#undef LW_OP
    default:
      return std::nullopt;
  }
}

bool is_approximate(ops::Op op) {
  using ops::Op;
  const ops::Row& row = ops::row(op);
  if (row.kind != ops::Kind::Expand || row.accepts != ops::Accepts::Float ||
      row.gives != ops::Gives::Same) {
    return false;
  }
  const Op exact[] = {Op::Fmin,      Op::Fmax, Op::RoundAway, Op::Ldexp,    Op::FrexpMantissa,
                      Op::Nextafter, Op::Fmod, Op::Mod,       Op::Remainder};
  return std::find(std::begin(exact), std::end(exact), op) == std::end(exact);
}

namespace {

/// The first round, in which the ops of the program itself are expanded.
class Expander {
 public:
  explicit Expander(const ir::Function& f) {
    ir::for_each(f, [&](ir::ValueId id, int) { ++counts_[{f[id].op, f[id].type}]; });
  }

  std::optional<ir::ValueId> operator()(ir::Builder& build, const ir::Instruction& in) {
    if (ops::row(in.op).kind != ops::Kind::Expand) return std::nullopt;
    const bool small = is_small(build, in.operands[0]);
    const auto expanded = [&](const ir::Operands& operands) {
      ir::Instruction inner = in;
      inner.operands = operands;
      return expand_knowing(build, inner, small);
    };
    const ir::ValueId value =
        stands_often(build, in) ? as_part(build, in.operands, expanded) : expanded(in.operands);
    if (in.op == ops::Op::Sin || in.op == ops::Op::Cos || in.op == ops::Op::Tanh ||
        in.op == ops::Op::Erf || in.op == ops::Op::Sigmoid) {
      small_.insert(value);
    }
    return value;
  }

 private:
  /// Too often to be expanded in place each time: a chain of sines should fit the instruction
  /// cache.
  bool stands_often(const ir::Builder& build, const ir::Instruction& in) const {
    constexpr int kMostInPlace = 8;
    return counts_.at({in.op, in.type}) > kMostInPlace && build.type(in.operands[0]) == in.type;
  }

  static ir::ValueId expand_knowing(ir::Builder& build, const ir::Instruction& in, bool small) {
    const Expr a(build, in.operands[0]);
    if (small && in.op == ops::Op::Sin) return expand_sin_small(a).id();
    if (small && in.op == ops::Op::Cos) return expand_cos_small(a).id();
    return *expand_one(build, in);
  }

  /// True when a value is at most 1 in magnitude, or NaN, for every element.
  bool is_small(ir::Builder& build, ir::ValueId id) const {
    if (small_.contains(id)) return true;
    const ir::Instruction& in = build.function()[id];
    switch (in.op) {
      case ops::Op::Constant:
        return in.type == DType::F32   ? std::fabs(in.constant.as<float>()) <= 1
               : in.type == DType::F64 ? std::fabs(in.constant.as<double>()) <= 1
                                       : false;
      case ops::Op::Neg:
      case ops::Op::Abs:
        return types::is_float(in.type) && is_small(build, in.operands[0]);
      case ops::Op::Mul:
        return types::is_float(in.type) && is_small(build, in.operands[0]) &&
               is_small(build, in.operands[1]);
      default:
        return false;
    }
  }

  std::map<std::pair<ops::Op, DType>, int> counts_;
  std::set<ir::ValueId> small_;
};

bool has_expandable(const ir::Function& f) {
  bool found = false;
  ir::for_each(f,
               [&](ir::ValueId id, int) { found |= ops::row(f[id].op).kind == ops::Kind::Expand; });
  return found;
}

}  // namespace

ir::Function expand(const ir::Function& function) {
  ir::Function f = widen_halves(function);
  if (!has_expandable(f)) return f;
  Expander expander(f);
  f = rewrite(f, std::ref(expander));
  while (has_expandable(f)) f = rewrite(f, expand_one);  // formulas may use other expansions
  return f;
}

}  // namespace lw::transform
