// For accuracy = high: the mathematical functions of f64 are computed in pairs, high + low. The
// high parts are the operations of the formula as ever, bit for bit up to a scaling by a power of
// two; each low part is what these have lost so far, by their own rounding and by their operands',
// to first order. One sum at the end puts it right. So special values, signs of zeros and the way
// through the formula stay what they are, and of the error little more than that of the polynomials
// is left.
//
// A number whose bits a formula looks at counts as exact: such formulas take what it has lost, or
// what is left after rounding it to a whole number, from the operands.
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "lanewise/base/check.h"
#include "lanewise/transform/partials.h"
#include "lanewise/transform/passes.h"

namespace lw::transform {
namespace {

using ir::Instruction;
using ir::ValueId;
using ops::Op;

using Low = std::optional<Expr>;  // nothing: 0

struct Pair {
  Expr high;
  Low low = std::nullopt;
};

Low plus(Low a, Low b) { return a && b ? *a + *b : a ? a : b; }
Low plus_product(Low sum, Expr factor, Low low) {
  if (!low) return sum;
  return sum ? fma(factor, *low, *sum) : factor * *low;
}
Low select_low(Expr condition, Pair a, Pair b) {
  if (!a.low && !b.low) return std::nullopt;
  const Expr zero = a.high.literal(0);
  return select(condition, a.low.value_or(zero), b.low.value_or(zero));
}

/// a + b - sum, exactly.
Expr lost_by_sum(Expr a, Expr b, Expr sum) {
  const Expr second = sum - a;
  return (a - (sum - second)) + (b - second);
}

Low low_of_sum(Pair a, Pair b, Expr sum) {
  return plus(lost_by_sum(a.high, b.high, sum), plus(a.low, b.low));
}

Low low_of_product(Pair a, Pair b, Expr product) {
  const Low lost = fma(a.high, b.high, -product);
  return plus_product(plus_product(lost, a.high, b.low), b.high, a.low);
}

Low low_of_fma(Pair a, Pair b, Pair c, Expr result) {
  const Expr product = a.high * b.high;
  const Expr sum = product + c.high;
  const Expr lost = lost_by_sum(product, c.high, sum) + fma(a.high, b.high, -product);
  const Low low = plus((sum - result) + lost, c.low);
  return plus_product(plus_product(low, a.high, b.low), b.high, a.low);
}

/// A power of two that keeps remainders of tiny numbers from being lost.
Expr scale_of(Expr x) { return select(abs(x) < 0x1p-500, x.literal(0x1p300), x.literal(1)); }

Low low_of_quotient(Pair a, Pair b, Expr quotient) {
  const Expr scale = scale_of(a.high);
  const Expr divisor = b.high * scale;
  const Low rest = plus_product(fma(-quotient, divisor, a.high * scale), scale, a.low);
  return *plus_product(rest, -(quotient * scale), b.low) / divisor;
}

Low low_of_root(Pair a, Expr root) {
  const Expr scale = scale_of(a.high);
  const Expr square = scale * scale;
  const Expr scaled = root * scale;
  const Low rest = plus_product(fma(-scaled, scaled, a.high * square), square, a.low);
  return *rest / ((scaled + scaled) * scale);
}

/// The sum of both parts; the high one keeps its sign where it is 0, and stays where there is no
/// low part next to infinities.
Expr rounded(Pair pair) {
  if (!pair.low) return pair.high;
  const Expr sum = pair.high + *pair.low;
  const Expr is_better =
      (sum != pair.high) & (abs(*pair.low) < std::numeric_limits<double>::infinity());
  return select(is_better, sum, pair.high);
}

/// The same number with a low part below the last place of the high one.
Pair normal(Pair pair) {
  if (!pair.low) return pair;
  const Expr high = rounded(pair);
  return {high, (pair.high - high) + *pair.low};
}

/// What is missing in the literals of formulas that stand for other numbers.
Low low_of_literal(Expr x, double value) {
  struct Rounded {
    double high;
    double low;
  };
  const Rounded list[] = {{0x1.921fb54442d18p1, 0x1.1a62633145c07p-53},     // pi
                          {0x1.45f306dc9c883p-2, -0x1.6b01ec5417056p-56}};  // 1 / pi
  for (const auto& [high, low] : list) {
    if (std::fabs(value) == high) return x.literal(value < 0 ? -low : low);
  }
  return std::nullopt;
}

Pair in_pairs(ir::Builder& build, Op op, const ir::Operands& operands);

/// Copies the formula of an op into a program, with a low part beside each f64.
class Formula {
 public:
  Formula(ir::Builder& build, Op op, std::size_t operands)
      : build_(build), f_(formula(op, operands)) {
    ir::for_each(f_, [&](ValueId id, int) {
      if (f_[id].op == Op::Bitcast || f_[id].op == Op::RawBits) take_as_exact(f_[id].operands[0]);
    });
  }

  Pair of(const ir::Operands& operands) {
    for (std::size_t i = 0; i < operands.size(); ++i) set(f_.params[i].value, {at(operands[i])});
    block(0);
    return get(f_[f_.body().body.back()].operands[0]);
  }

 private:
  static ir::Function formula(Op op, std::size_t operands) {
    ir::Builder build("formula");
    Instruction in{.op = op, .type = DType::F64};
    while (in.operands.size() < operands) in.operands.push_back(build.param("x", DType::F64));
    build.ret(std::vector{*expand_one(build, in)});
    return build.take();
  }

  void take_as_exact(ValueId id) {
    exact_.insert(id);
    if (f_[id].op != Op::Select) return;
    take_as_exact(f_[id].operands[1]);
    take_as_exact(f_[id].operands[2]);
  }

  Expr at(ValueId id) const { return {build_, id}; }
  Pair get(ValueId id) const { return pairs_.at(id); }
  void set(ValueId id, Pair pair) {
    if (exact_.contains(id)) pair.low = std::nullopt;
    pairs_.insert_or_assign(id, pair);
  }

  void block(ir::BlockId id) {
    for (const ValueId value : f_.blocks[id].body) instruction(value);
  }

  void instruction(ValueId id) {
    const Instruction& in = f_[id];
    switch (in.op) {
      case Op::Param:
      case Op::Return:
        return;
      case Op::Constant:
        return set(id, constant(in.constant));
      case Op::Loop:
        return loop(id);
      case Op::Result:
        return set(id, result(in));
      case Op::BreakIf: {
        const ir::Operands values(in.operands.begin() + 1, in.operands.end());
        return build_.break_if(get(in.operands[0]).high.id(), carried(values), in.index);
      }
      case Op::Next:
        return build_.end_loop(carried(in.operands));
      default:
        LW_CHECK(ops::is_elementwise(in.op));
        return set(id, elementwise(in));
    }
  }

  Pair constant(Scalar value) {
    const Expr high = at(build_.constant(value));
    if (value.type() != DType::F64) return {high};
    return {high, low_of_literal(high, value.as<double>())};
  }

  /// The high parts, and behind them the low part of each f64.
  ir::Operands carried(const ir::Operands& ids) const {
    ir::Operands values;
    for (const ValueId id : ids) values.push_back(get(id).high.id());
    for (const ValueId id : ids) {
      const Pair pair = get(id);
      if (f_[id].type != DType::F64) continue;
      values.push_back(pair.low.value_or(pair.high.literal(0)).id());
    }
    return values;
  }

  /// Where among the carried values the low part of the f64 at `index` is.
  std::uint32_t place_of_low(const std::vector<ValueId>& arguments, std::uint32_t index) const {
    auto place = static_cast<std::uint32_t>(arguments.size());
    for (std::uint32_t i = 0; i < index; ++i) place += f_[arguments[i]].type == DType::F64;
    return place;
  }

  void loop(ValueId id) {
    const ValueId copy = build_.begin_loop(carried(f_[id].operands), f_[id].index != 0);
    loops_[id] = copy;
    const auto& arguments = f_.blocks[f_[id].block].arguments;
    for (std::uint32_t i = 0; i < arguments.size(); ++i) {
      Pair pair{at(build_.arguments(copy)[i])};
      if (f_[arguments[i]].type == DType::F64) {
        pair.low = at(build_.arguments(copy)[place_of_low(arguments, i)]);
      }
      set(arguments[i], pair);
    }
    block(f_[id].block);
  }

  Pair result(const Instruction& in) {
    const ValueId copy = loops_.at(in.operands[0]);
    const auto& arguments = f_.blocks[f_[in.operands[0]].block].arguments;
    Pair pair{at(build_.result(copy, in.index))};
    if (in.type == DType::F64) {
      pair.low = at(build_.result(copy, place_of_low(arguments, in.index)));
    }
    return pair;
  }

  Pair elementwise(const Instruction& in) {
    ir::Operands operands;
    for (const ValueId id : in.operands) operands.push_back(get(id).high.id());
    if (in.type == DType::F64 && is_approximate(in.op)) return function(in, operands);
    if (in.op == Op::Mul && f_[in.operands[1]].op == Op::Bitcast) return scaled(in);
    const Expr high = at(build_.op(in.op, operands, in.type));
    return {high, in.type == DType::F64 ? low_of(in, high) : std::nullopt};
  }

  /// A product with a power of two. Where it may be subnormal, so that a low part would be rounded
  /// for itself, there is none: the high one has it already.
  Pair scaled(const Instruction& in) {
    const Pair a = normal(get(in.operands[0]));
    const Pair power = get(in.operands[1]);
    const Expr product = a.high * power.high;
    const Pair result = {product, low_of_product(a, power, product)};
    return {product, select_low(abs(product) < 0x1p-960, {product}, result)};
  }

  /// A function of a pair: that of the high part, and the slope there times the low part.
  Pair function(const Instruction& in, const ir::Operands& operands) {
    Pair y = in_pairs(build_, in.op, operands);
    std::vector<Expr> highs;
    bool is_exact = true;
    for (const ValueId id : in.operands) {
      highs.push_back(get(id).high);
      is_exact &= !get(id).low;
    }
    if (is_exact) return y;
    const std::vector<Expr> slopes = partials(in.op, highs, y.high);
    for (std::size_t i = 0; i < slopes.size(); ++i) {
      y.low = plus_product(y.low, slopes[i], get(in.operands[i]).low);
    }
    return y;
  }

  /// A literal whose products count only if they are infinite. Processors are slow with what is
  /// lost by the others, which is subnormal.
  bool is_tiny(ValueId id) const {
    return f_[id].op == Op::Constant && std::fabs(f_[id].constant.as<double>()) < 0x1p-1000;
  }

  Low low_of(const Instruction& in, Expr high) const {
    const auto operand = [&](std::size_t i) { return get(in.operands[i]); };
    const auto negative = [](Pair a) -> Pair { return {-a.high, a.low ? Low(-*a.low) : a.low}; };
    switch (in.op) {
      case Op::Add:
        return low_of_sum(operand(0), operand(1), high);
      case Op::Sub:
        return low_of_sum(operand(0), negative(operand(1)), high);
      case Op::Mul:
        return low_of_product(operand(0), operand(1), high);
      case Op::Fma:
        if (is_tiny(in.operands[1])) return operand(2).low;
        return low_of_fma(operand(0), operand(1), operand(2), high);
      case Op::Div:
        return low_of_quotient(operand(0), operand(1), high);
      case Op::Sqrt:
        return low_of_root(operand(0), high);
      case Op::Neg:
        return negative(operand(0)).low;
      case Op::Abs:
      case Op::Copysign:
        return select_low(high == operand(0).high, operand(0), negative(operand(0)));
      case Op::Min:
      case Op::Max:
        return select_low(high == operand(0).high, operand(0), operand(1));
      case Op::Select:
        return select_low(operand(0).high, operand(1), operand(2));
      case Op::AngleRest:
        return -operand(0).high.op(Op::AngleLost);
      case Op::AngleLost:  // is in the low part of angle_rest
        return -high;
      default:  // whole numbers, and those made of bits
        return std::nullopt;
    }
  }

  ir::Builder& build_;
  ir::Function f_;
  std::set<ValueId> exact_;
  std::map<ValueId, Pair> pairs_;
  std::map<ValueId, ValueId> loops_;
};

Pair in_pairs(ir::Builder& build, Op op, const ir::Operands& operands) {
  return Formula(build, op, operands.size()).of(operands);
}

/// Next to the pole the low parts of the formula's products would be below all numbers.
Expr with_pole(Op op, Expr x, Expr value) {
  return op == Op::Digamma ? select(abs(x) < 0x1p-500, -1.0 / x, value) : value;
}

}  // namespace

ir::Function compute_in_pairs(const ir::Function& function) {
  std::map<Op, int> counts;
  ir::for_each(function, [&](ValueId id, int) {
    counts[function[id].op] += function[id].type == DType::F64;
  });
  return rewrite(function,
                 [&](ir::Builder& build, const Instruction& in) -> std::optional<ValueId> {
                   if (in.type != DType::F64 || !is_approximate(in.op)) return std::nullopt;
                   const auto value = [&](const ir::Operands& operands) {
                     const Expr sum = rounded(in_pairs(build, in.op, operands));
                     return with_pole(in.op, Expr(build, operands[0]), sum).id();
                   };
                   constexpr int kMostInPlace = 2;
                   return counts[in.op] > kMostInPlace ? as_part(build, in.operands, value)
                                                       : value(in.operands);
                 });
}

}  // namespace lw::transform
