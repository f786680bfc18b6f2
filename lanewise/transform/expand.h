// Formulas over values of an element program: the meaning of the ops of kind Expand, and the
// partial derivatives of all ops, are written with these. Every tier computes the same operations
// in the same order, so all give the same bits.
#pragma once

#include <optional>

#include "lanewise/ir/builder.h"

namespace lw::transform {

/// A value with operators. Mixing types is an error; a plain number takes the other side's type.
class Expr {
 public:
  Expr(ir::Builder& build, ir::ValueId id) : build_(&build), id_(id) {}

  ir::ValueId id() const { return id_; }
  ir::Builder& builder() const { return *build_; }
  DType type() const { return build_->type(id_); }
  /// A constant of this value's type.
  Expr literal(double number) const {
    return {*build_, build_->constant(types::scalar_of(type(), number))};
  }
  /// An integer constant of this value's type, of all 64 bits.
  Expr bits(std::int64_t number) const {
    return {*build_, build_->constant(types::scalar_of_bits(type(), number))};
  }
  Expr op(ops::Op op, std::initializer_list<Expr> others = {}, DType stated = DType::Bool) const {
    ir::Operands operands = {id_};
    for (const Expr& other : others) operands.push_back(other.id_);
    return {*build_, build_->op(op, operands, stated)};
  }
  Expr convert(DType type) const { return {*build_, build_->convert(id_, type)}; }
  /// The bits as an integer where it does not matter which NaN a NaN is: one instruction.
  Expr raw_bits(DType type) const { return op(ops::Op::RawBits, {}, type); }
  Expr bitcast(DType type) const { return op(ops::Op::Bitcast, {}, type); }

#define LW_BINARY(symbol, name)                                                                 \
  friend Expr operator symbol(Expr a, Expr b) { return a.op(ops::Op::name, {b}); }              \
  friend Expr operator symbol(Expr a, double b) { return a.op(ops::Op::name, {a.literal(b)}); } \
  friend Expr operator symbol(double a, Expr b) { return b.literal(a).op(ops::Op::name, {b}); }
  LW_BINARY(+, Add)
  LW_BINARY(-, Sub)
  LW_BINARY(*, Mul)
  LW_BINARY(/, Div)
  LW_BINARY(&, And)
  LW_BINARY(|, Or)
  LW_BINARY(^, Xor)
  LW_BINARY(<<, Shl)
  LW_BINARY(>>, Shr)
  LW_BINARY(==, Eq)
  LW_BINARY(!=, Ne)
  LW_BINARY(<, Lt)
  LW_BINARY(<=, Le)
  LW_BINARY(>, Gt)
  LW_BINARY(>=, Ge)
#undef LW_BINARY
  friend Expr operator-(Expr a) { return a.op(ops::Op::Neg); }
  friend Expr operator!(Expr a) { return a.op(ops::Op::Not); }
  friend Expr operator~(Expr a) { return a.op(ops::Op::Not); }

 private:
  ir::Builder* build_;
  ir::ValueId id_;
};

inline Expr select(Expr condition, Expr a, Expr b) { return condition.op(ops::Op::Select, {a, b}); }
inline Expr ldexp(Expr a, Expr n) { return a.op(ops::Op::Ldexp, {n}); }

// One function per row that users call by name: sqrt(a), fma(a, b, c), sin(a), ...
#define LW_OP(id, name, form, arity, accepts, gives, kind, meaning, partials, domain, doc) \
  LW_FUNCTION_##form(id, name, arity)
#define LW_FUNCTION_Sign(id, name, arity)
#define LW_FUNCTION_Call(id, name, arity) LW_FUNCTION_##arity(id, name)
#define LW_FUNCTION_1(id, name) \
  inline Expr name(Expr a) { return a.op(ops::Op::id); }
#define LW_FUNCTION_2(id, name) \
  inline Expr name(Expr a, Expr b) { return a.op(ops::Op::id, {b}); }
#define LW_FUNCTION_3(id, name) \
  inline Expr name(Expr a, Expr b, Expr c) { return a.op(ops::Op::id, {b, c}); }
#include "lanewise/ops/ops.def"
#undef LW_OP
#undef LW_FUNCTION_Sign
#undef LW_FUNCTION_Call
#undef LW_FUNCTION_1
#undef LW_FUNCTION_2
#undef LW_FUNCTION_3

inline Expr fma(Expr a, double b, Expr c) { return fma(a, a.literal(b), c); }
inline Expr fma(Expr a, Expr b, double c) { return fma(a, b, a.literal(c)); }
inline Expr fma(Expr a, double b, double c) { return fma(a, a.literal(b), a.literal(c)); }

/// c[0] + x * (c[1] + x * ...), by Horner's rule with fma.
inline Expr polynomial(Expr x, std::initializer_list<double> c) {
  auto it = c.end();
  Expr sum = x.literal(*--it);
  while (it != c.begin()) sum = fma(sum, x, x.literal(*--it));
  return sum;
}

/// The values of `rare()` where the condition holds, else the common ones. The formulas are
/// computed only where an element needs them: a loop that every element leaves in its first step.
template <std::size_t count, class Rare>
std::array<Expr, count> branch(Expr condition, const std::array<Expr, count>& common, Rare rare) {
  ir::Builder& build = condition.builder();
  const auto ids = [](const std::array<Expr, count>& values) {
    ir::Operands list;
    for (const Expr& value : values) list.push_back(value.id());
    return list;
  };
  const ir::ValueId loop = build.begin_loop(ids(common), true);
  const auto own = build.arguments(loop);
  const ir::Operands arguments(own.begin(), own.end());
  build.break_if((!condition).id(), arguments);
  const ir::Operands values = ids(rare());
  build.break_if(build.constant(Scalar(true)), values);
  build.end_loop(arguments);
  std::array<Expr, count> results = common;
  for (std::uint32_t i = 0; i < count; ++i) results[i] = Expr(build, build.result(loop, i));
  return results;
}

/// `value(operands)` as a part: backends may compile those that do the same once.
template <class Value>
ir::ValueId as_part(ir::Builder& build, const ir::Operands& operands, const Value& value) {
  const ir::ValueId part = build.begin_loop(operands);
  const auto own = build.arguments(part);
  const ir::Operands arguments(own.begin(), own.end());
  ir::Operands results = arguments;
  results[0] = value(arguments);
  build.break_if(build.constant(Scalar(true)), results);
  build.end_loop(arguments);
  return build.result(part, 0);
}

/// The value of an op of kind Expand by its formula, which may have such ops in turn; nothing for
/// other ops.
std::optional<ir::ValueId> expand_one(ir::Builder& build, const ir::Instruction& in);

/// All that expand into approximations; the results of the others are exact.
bool is_approximate(ops::Op op);

// The longer expansions, one file per family.
Expr expand_signbit(Expr a);
Expr expand_isinf(Expr a);
Expr expand_isfinite(Expr a);
Expr expand_sign(Expr a);
Expr expand_round_away(Expr a);
Expr expand_nextafter(Expr a, Expr b);
Expr expand_ldexp(Expr a, Expr n);
Expr expand_frexp_mantissa(Expr a);
Expr expand_frexp_exponent(Expr a);
Expr expand_popcount(Expr a);
Expr expand_clz(Expr a);
Expr expand_ctz(Expr a);
Expr expand_fmod(Expr a, Expr b);
Expr expand_mod(Expr a, Expr b);
Expr expand_remainder(Expr a, Expr b);
Expr expand_sin(Expr a);
Expr expand_cos(Expr a);
Expr expand_sin_small(Expr a);  // for |a| <= 1, with the bits of expand_sin
Expr expand_cos_small(Expr a);
Expr expand_tan(Expr a);
Expr expand_asin(Expr a);
Expr expand_acos(Expr a);
Expr expand_atan(Expr a);
Expr expand_atan2(Expr a, Expr b);
Expr expand_erf(Expr a);
Expr expand_erfc(Expr a);
Expr expand_cbrt(Expr a);
Expr expand_rsqrt(Expr a);
Expr expand_hypot(Expr a, Expr b);
Expr expand_lgamma(Expr a);
Expr expand_digamma(Expr a);
Expr trigamma(Expr a);  // the derivative of digamma
Expr expand_exp(Expr a);
Expr expand_exp2(Expr a);
Expr expand_expm1(Expr a);
Expr expand_log(Expr a);
Expr expand_log2(Expr a);
Expr expand_log10(Expr a);
Expr expand_log1p(Expr a);
Expr expand_pow(Expr a, Expr b);
Expr expand_sinh(Expr a);
Expr expand_cosh(Expr a);
Expr expand_tanh(Expr a);
Expr expand_asinh(Expr a);
Expr expand_acosh(Expr a);
Expr expand_atanh(Expr a);
Expr expand_sigmoid(Expr a);

}  // namespace lw::transform
