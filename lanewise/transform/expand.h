// Expansions of mathematical functions into native ops: one function per row of kind Expand.
// Every tier computes these same operations in this order, so all give the same bits.
#pragma once

#include "lanewise/ir/builder.h"

namespace lw::transform {

/// A value with operators, for writing expansions as formulas. Mixing types is an error.
class Expr {
 public:
  Expr(ir::Builder& build, ir::ValueId id) : build_(&build), id_(id) {}

  ir::ValueId id() const { return id_; }
  DType type() const { return build_->type(id_); }
  /// A constant of this value's type.
  Expr literal(double number) const {
    return {*build_, build_->constant(types::scalar_of(type(), number))};
  }
  Expr op(ops::Op op, std::initializer_list<Expr> others = {}, DType stated = DType::Bool) const {
    ir::Operands operands = {id_};
    for (const Expr& other : others) operands.push_back(other.id_);
    return {*build_, build_->op(op, operands, stated)};
  }
  Expr convert(DType type) const { return {*build_, build_->convert(id_, type)}; }

  friend Expr operator+(Expr a, Expr b) { return a.op(ops::Op::Add, {b}); }
  friend Expr operator-(Expr a, Expr b) { return a.op(ops::Op::Sub, {b}); }
  friend Expr operator*(Expr a, Expr b) { return a.op(ops::Op::Mul, {b}); }
  friend Expr operator&(Expr a, Expr b) { return a.op(ops::Op::And, {b}); }
  friend Expr operator!=(Expr a, Expr b) { return a.op(ops::Op::Ne, {b}); }
  friend Expr operator-(Expr a) { return a.op(ops::Op::Neg); }

 private:
  ir::Builder* build_;
  ir::ValueId id_;
};

inline Expr fma(Expr a, Expr b, Expr c) { return a.op(ops::Op::Fma, {b, c}); }
inline Expr select(Expr condition, Expr a, Expr b) { return condition.op(ops::Op::Select, {a, b}); }

/// c[0] + x * (c[1] + x * ...), by Horner's rule with fma.
inline Expr polynomial(Expr x, std::initializer_list<double> c) {
  auto it = c.end();
  Expr sum = x.literal(*--it);
  while (it != c.begin()) sum = fma(sum, x, x.literal(*--it));
  return sum;
}

Expr expand_sin(Expr x);
Expr expand_cos(Expr x);

}  // namespace lw::transform
