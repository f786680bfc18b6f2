// The operators of things that have many values, and an `Operand` with a `view` of them: grids, and
// rows of different lengths.
#pragma once

#include "lanewise/trace/variable.h"

#define LW_VALUE_BINARY(Self, symbol, op)                           \
  friend Self operator symbol(const Operand& a, const Operand& b) { \
    return Self(trace::apply(ops::Op::op, {a.view, b.view}));       \
  }
#define LW_VALUE_COMPARE(Bools, symbol, op)                          \
  friend Bools operator symbol(const Operand& a, const Operand& b) { \
    return Bools(trace::apply(ops::Op::op, {a.view, b.view}));       \
  }
#define LW_VALUE_LOGIC(Self, symbol, op)                          \
  friend Self operator symbol(const Operand& a, const Operand& b) \
    requires std::is_same_v<Number, bool>                         \
  {                                                               \
    return Self(trace::apply(ops::Op::op, {a.view, b.view}));     \
  }

/// In the class `Self`, whose comparisons give `Bools`.
#define LW_VALUE_OPERATORS(Self, Bools)                                                          \
  LW_VALUE_BINARY(Self, +, Add)                                                                  \
  LW_VALUE_BINARY(Self, -, Sub)                                                                  \
  LW_VALUE_BINARY(Self, *, Mul)                                                                  \
  LW_VALUE_BINARY(Self, /, Div)                                                                  \
  LW_VALUE_BINARY(Self, %, Rem)                                                                  \
  LW_VALUE_BINARY(Self, &, And)                                                                  \
  LW_VALUE_BINARY(Self, |, Or)                                                                   \
  LW_VALUE_BINARY(Self, ^, Xor)                                                                  \
  LW_VALUE_BINARY(Self, <<, Shl)                                                                 \
  LW_VALUE_BINARY(Self, >>, Shr)                                                                 \
  LW_VALUE_COMPARE(Bools, ==, Eq)                                                                \
  LW_VALUE_COMPARE(Bools, !=, Ne)                                                                \
  LW_VALUE_COMPARE(Bools, <, Lt)                                                                 \
  LW_VALUE_COMPARE(Bools, <=, Le)                                                                \
  LW_VALUE_COMPARE(Bools, >, Gt)                                                                 \
  LW_VALUE_COMPARE(Bools, >=, Ge)                                                                \
  LW_VALUE_LOGIC(Self, &&, And)                                                                  \
  LW_VALUE_LOGIC(Self, ||, Or)                                                                   \
  friend Self operator-(const Operand& a) { return Self(trace::apply(ops::Op::Neg, {a.view})); } \
  friend Self operator~(const Operand& a) { return Self(trace::apply(ops::Op::Not, {a.view})); } \
  friend Self operator!(const Operand& a)                                                        \
    requires std::is_same_v<Number, bool>                                                        \
  {                                                                                              \
    return Self(trace::apply(ops::Op::Not, {a.view}));                                           \
  }
