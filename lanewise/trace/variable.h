// Symbolic variables: lw::f32, lw::i32, lw::boolean, ..., one per element type. They look like
// numbers and record what is done with them. Assignments are recorded too, so they may change
// inside loops:
//
//   lw::i32 n = 0;
//   lw::While([&] { return n < 10; }, [&] { n = n + 1; });
#pragma once

#include <concepts>
#include <source_location>
#include <type_traits>
#include <utility>

#include "lanewise/base/error.h"
#include "lanewise/trace/trace.h"

namespace lw {

template <types::ElementType T>
class Variable;

using boolean = Variable<bool>;
using i8 = Variable<std::int8_t>;
using i16 = Variable<std::int16_t>;
using i32 = Variable<std::int32_t>;
using i64 = Variable<std::int64_t>;
using u8 = Variable<std::uint8_t>;
using u16 = Variable<std::uint16_t>;
using u32 = Variable<std::uint32_t>;
using u64 = Variable<std::uint64_t>;
using f16 = Variable<Half>;
using bf16 = Variable<BFloat16>;
using f32 = Variable<float>;
using f64 = Variable<double>;

template <types::ElementType T>
class Variable {
 public:
  /// An operand of an operator: a variable or a literal, with the line it stands on.
  class Operand {
   public:
    Operand(const Variable& v, std::source_location here = std::source_location::current()) {
      trace::locate(here);
      value = v.read();
    }
    template <class U>
      requires std::is_arithmetic_v<U>
    Operand(U literal, std::source_location here = std::source_location::current()) {
      trace::locate(here);
      value = trace::Trace::current().builder().constant(Scalar(of_literal(literal)));
    }
    /// What stands for a variable: an item of an array.
    template <class Item>
      requires std::same_as<typename Item::Value, Variable>
    Operand(const Item& item, std::source_location here = std::source_location::current()) {
      trace::locate(here);
      value = item.read();
    }
    ir::ValueId value;
  };

  Variable(std::source_location here = std::source_location::current()) : Variable(0, here) {}
  template <class U>
    requires std::is_arithmetic_v<U>
  Variable(U literal, std::source_location here = std::source_location::current())
      : Variable(of(Operand(literal, here).value)) {}
  Variable(const Variable& other) : Variable(of(other.read())) {}
  template <class Item>
    requires std::same_as<typename Item::Value, Variable>
  Variable(const Item& item, std::source_location here = std::source_location::current())
      : Variable(of(Operand(item, here).value)) {}
  Variable(Variable&& other) noexcept = default;  // takes the slot over; a temporary dies here
  ~Variable() = default;

  // Assignments cannot know their line, and keep the present one.
  Variable& operator=(const Variable& other) {
    open().write(slot_, other.read());
    return *this;
  }
  Variable& operator=(Variable&& other) { return *this = std::as_const(other); }
  template <class U>
    requires std::is_arithmetic_v<U>
  Variable& operator=(U literal) {
    open().write(slot_, open().builder().constant(Scalar(of_literal(literal))));
    return *this;
  }

  /// A new variable with this value.
  static Variable of(ir::ValueId value) {
    Variable v{Uninitialised{}};
    v.slot_ = v.open().new_slot(value);
    return v;
  }
  ir::ValueId read() const { return open().read(slot_); }

  /// An element has no value while its function is recorded: write lw::While(condition, body),
  /// lw::If(condition, body) or lw::select(condition, a, b) instead of while, if and ?:.
  explicit operator bool() const = delete;

#define LW_BINARY(symbol, op)                                 \
  friend Variable operator symbol(Operand a, Operand b) {     \
    return Variable::record(ops::Op::op, {a.value, b.value}); \
  }                                                           \
  Variable& operator symbol##=(Operand b) { return *this = record(ops::Op::op, {read(), b.value}); }
  LW_BINARY(+, Add)
  LW_BINARY(-, Sub)
  LW_BINARY(*, Mul)
  LW_BINARY(/, Div)
  LW_BINARY(%, Rem)
  LW_BINARY(&, And)
  LW_BINARY(|, Or)
  LW_BINARY(^, Xor)
  LW_BINARY(<<, Shl)
  LW_BINARY(>>, Shr)
#undef LW_BINARY

#define LW_COMPARE(symbol, op)                               \
  friend boolean operator symbol(Operand a, Operand b) {     \
    return boolean::record(ops::Op::op, {a.value, b.value}); \
  }
  LW_COMPARE(==, Eq)
  LW_COMPARE(!=, Ne)
  LW_COMPARE(<, Lt)
  LW_COMPARE(<=, Le)
  LW_COMPARE(>, Gt)
  LW_COMPARE(>=, Ge)
#undef LW_COMPARE

  friend Variable operator-(Operand a) { return record(ops::Op::Neg, {a.value}); }
  friend Variable operator~(Operand a) { return record(ops::Op::Not, {a.value}); }
  // These take variables, not operands: an exact match wins over the deleted conversion to bool.
  friend Variable operator!(const Variable& a)
    requires std::is_same_v<T, bool>
  {
    return record(ops::Op::Not, {a.read()});
  }
  /// Both sides are evaluated: an element has no short circuit.
  friend Variable operator&&(const Variable& a, const Variable& b)
    requires std::is_same_v<T, bool>
  {
    return record(ops::Op::And, {a.read(), b.read()});
  }
  friend Variable operator||(const Variable& a, const Variable& b)
    requires std::is_same_v<T, bool>
  {
    return record(ops::Op::Or, {a.read(), b.read()});
  }

  static Variable record(ops::Op op, std::initializer_list<ir::ValueId> operands) {
    return of(trace::Trace::current().builder().op(op, operands, types::dtype_of<T>));
  }

 private:
  template <class U>
  static T of_literal(U literal) {
    if constexpr (types::is_half_type<T>) {
      return T(rounded_to_odd(static_cast<double>(literal)));
    } else {
      return static_cast<T>(literal);
    }
  }

  struct Uninitialised {};
  explicit Variable(Uninitialised) : trace_(trace::Trace::current().id()) {}

  trace::Trace& open() const {
    trace::Trace& trace = trace::Trace::current();
    if (trace.id() != trace_) {
      throw UsageError(
          "trace: a symbolic variable of another trace was used. "
          "Create and use variables inside one traced function.");
    }
    return trace;
  }

  std::uint64_t trace_;
  ir::ValueId slot_ = ir::kNone;
};

namespace trace {

template <class T>
inline constexpr bool is_variable = false;
template <class T>
inline constexpr bool is_variable<Variable<T>> = true;

/// The type of the first operand that is a variable: the others are such variables or literals.
template <class... A>
struct FirstVariable {};
template <class A, class... B>
struct FirstVariable<A, B...> : FirstVariable<B...> {};
template <class A, class... B>
  requires is_variable<A>
struct FirstVariable<A, B...> {
  using type = A;
};
template <class... A>
using FirstVariableOf = typename FirstVariable<A...>::type;

template <class V, class... A>
concept Operands = (std::convertible_to<const A&, typename V::Operand> && ...);

}  // namespace trace

// One function per row that users call by name: sqrt(a), fma(a, b, c), sin(a), ...
#define LW_OP(id, name, form, arity, accepts, gives, kind, meaning, partials, domain, doc) \
  LW_FUNCTION_##form(id, name, arity, gives)
#define LW_FUNCTION_Sign(id, name, arity, gives)
#define LW_FUNCTION_Call(id, name, arity, gives) LW_FUNCTION_##arity(id, name, LW_GIVES_##gives)
#define LW_GIVES_Same V
#define LW_GIVES_Bool boolean
#define LW_GIVES_I32 i32
#define LW_FUNCTION_1(id, name, R)                                                  \
  template <class V>                                                                \
    requires trace::is_variable<V>                                                  \
  R name(const V& a, std::source_location here = std::source_location::current()) { \
    return R::record(ops::Op::id, {typename V::Operand(a, here).value});            \
  }
#define LW_FUNCTION_2(id, name, R)                                                              \
  template <class A, class B, class V = trace::FirstVariableOf<A, B>>                           \
    requires trace::Operands<V, A, B>                                                           \
  R name(const A& a, const B& b, std::source_location here = std::source_location::current()) { \
    using Operand = typename V::Operand;                                                        \
    return R::record(ops::Op::id, {Operand(a, here).value, Operand(b, here).value});            \
  }
#define LW_FUNCTION_3(id, name, R)                                                              \
  template <class A, class B, class C, class V = trace::FirstVariableOf<A, B, C>>               \
    requires trace::Operands<V, A, B, C>                                                        \
  R name(const A& a, const B& b, const C& c,                                                    \
         std::source_location here = std::source_location::current()) {                         \
    using Operand = typename V::Operand;                                                        \
    return R::record(ops::Op::id,                                                               \
                     {Operand(a, here).value, Operand(b, here).value, Operand(c, here).value}); \
  }
#include "lanewise/ops/ops.def"
#undef LW_OP
#undef LW_FUNCTION_Sign
#undef LW_FUNCTION_Call
#undef LW_GIVES_Same
#undef LW_GIVES_Bool
#undef LW_GIVES_I32
#undef LW_FUNCTION_1
#undef LW_FUNCTION_2
#undef LW_FUNCTION_3

/// `a` where the condition holds, else `b`; both are evaluated.
template <class T>
Variable<T> select(const boolean& condition, const Variable<T>& a,
                   const std::type_identity_t<Variable<T>>& b,
                   std::source_location here = std::source_location::current()) {
  trace::locate(here);
  return Variable<T>::record(ops::Op::Select, {condition.read(), a.read(), b.read()});
}

/// a * 2^n, rounded once.
template <class T>
Variable<T> ldexp(const Variable<T>& a, const i32& n,
                  std::source_location here = std::source_location::current()) {
  trace::locate(here);
  return Variable<T>::record(ops::Op::Ldexp, {a.read(), n.read()});
}

/// The value as another type; float to integer saturates.
template <types::ElementType R, class T>
Variable<R> cast(const Variable<T>& value,
                 std::source_location here = std::source_location::current()) {
  trace::locate(here);
  return Variable<R>::record(ops::Op::Convert, {value.read()});
}

}  // namespace lw
