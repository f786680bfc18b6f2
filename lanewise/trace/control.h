// Control flow inside an element: conditions, loops, calls. Conditions and bodies are lambdas,
// which are recorded once; each element then goes its own way.
//
//   lw::i32 n = 0;
//   lw::For(0, 100, [&](lw::i32 i) {
//     lw::If(x > i, [&] { n += 1; }, [&] { lw::Break(); });
//   });
//
// A condition that is a plain bool is known while the function is recorded: then only what it
// chooses is recorded, as in ordinary C++.
#pragma once

#include <exception>
#include <span>
#include <tuple>
#include <vector>

#include "lanewise/trace/variable.h"

namespace lw {
namespace trace {

/// Ends what was begun when the scope ends; not when an exception ends the whole trace.
template <auto end>
class Closing {
 public:
  Closing() = default;
  ~Closing() noexcept(false) {
    if (std::uncaught_exceptions() == exceptions_) (Trace::current().*end)();
  }
  Closing(const Closing&) = delete;
  Closing& operator=(const Closing&) = delete;

 private:
  int exceptions_ = std::uncaught_exceptions();
};

inline ir::ValueId always() { return Trace::current().builder().constant(Scalar(true)); }

template <class Body>
void record_branch(ir::ValueId condition, Body& body) {
  Trace::current().begin_branch(condition);
  const Closing<&Trace::end_branch> branch;
  body();
}

/// How a result is listed, and taken from a list: a variable, a grid (trace/grid.h), or a tuple of
/// them.
template <class R>
struct Results;
template <class T>
struct Results<Variable<T>> {
  static void add(const Variable<T>& value, ResultList& list) { list.add(value.read()); }
  static Variable<T> take(const Variable<T>&, std::span<const ir::ValueId>& values) {
    const ir::ValueId first = values[0];
    values = values.subspan(1);
    return Variable<T>::of(first);
  }
};
template <class... R>
struct Results<std::tuple<R...>> {
  static void add(const std::tuple<R...>& results, ResultList& list) {
    std::apply([&](const R&... one) { (Results<R>::add(one, list), ...); }, results);
  }
  static std::tuple<R...> take(const std::tuple<R...>& results,
                               std::span<const ir::ValueId>& values) {
    return std::apply(
        [&](const R&... one) { return std::tuple<R...>{Results<R>::take(one, values)...}; },
        results);
  }
};

}  // namespace trace

/// Runs `then` for elements whose condition holds.
template <class Then>
void If(const boolean& condition, Then then,
        std::source_location here = std::source_location::current()) {
  trace::locate(here);
  trace::record_branch(condition.read(), then);
}
/// Runs `then` for elements whose condition holds, `otherwise` for the others.
template <class Then, class Else>
  requires std::invocable<Else&>
void If(const boolean& condition, Then then, Else otherwise,
        std::source_location here = std::source_location::current()) {
  trace::locate(here);
  const ir::ValueId holds = condition.read();
  const ir::ValueId fails = (!condition).read();
  trace::record_branch(holds, then);
  trace::record_branch(fails, otherwise);
}
template <class Then>
void If(std::same_as<bool> auto condition, Then then) {
  if (condition) then();
}
template <class Then, class Else>
  requires std::invocable<Else&>
void If(std::same_as<bool> auto condition, Then then, Else otherwise) {
  if (condition) {
    then();
  } else {
    otherwise();
  }
}

/// Runs `body` while `condition()` holds, for each element by itself. Both are recorded once.
template <class Condition, class Body>
void While(Condition condition, Body body,
           std::source_location here = std::source_location::current()) {
  trace::Trace& trace = trace::Trace::current();
  trace::locate(here);
  trace.begin_loop();
  const trace::Closing<&trace::Trace::end_loop> loop;
  const boolean go = condition();
  trace.break_if((!go).read(), "While");
  trace.begin_body();
  const trace::Closing<&trace::Trace::end_body> end;
  body();
}

/// Runs `body(i)` for i = begin, begin + step, ... below `end` (above it, if the step is negative).
/// The bounds are evaluated once. What the body does to its copy of i does not matter.
template <types::ElementType T = std::int32_t, class Body>
  requires std::is_integral_v<T>
void For(typename Variable<T>::Operand begin, typename Variable<T>::Operand end,
         std::type_identity_t<T> step, Body body,
         std::source_location here = std::source_location::current()) {
  if (step == 0) {
    throw UsageError("For: the step is 0; expected a step that leads to the end.");
  }
  trace::Trace& trace = trace::Trace::current();
  trace::locate(here);
  Variable<T> i = Variable<T>::of(begin.value);
  trace.begin_loop();
  const trace::Closing<&trace::Trace::end_loop> loop;
  const ir::ValueId now = i.read();
  const boolean stop = boolean::record(step > 0 ? ops::Op::Ge : ops::Op::Le, {now, end.value});
  trace.break_if(stop.read(), "For");
  trace.begin_body();
  {
    const trace::Closing<&trace::Trace::end_body> end_of_body;
    body(Variable<T>::of(now));
  }
  trace::locate(here);
  i = Variable<T>::record(ops::Op::Add, {i.read(), trace.builder().constant(Scalar(step))});
}
template <types::ElementType T = std::int32_t, class Body>
  requires std::is_integral_v<T> && std::invocable<Body&, Variable<T>>
void For(typename Variable<T>::Operand begin, typename Variable<T>::Operand end, Body body,
         std::source_location here = std::source_location::current()) {
  For<T>(begin, end, T(1), body, here);
}

/// Leaves the innermost loop where the condition holds.
inline void BreakIf(const boolean& condition,
                    std::source_location here = std::source_location::current()) {
  trace::locate(here);
  trace::Trace::current().break_if(condition.read(), "BreakIf");
}
/// Leaves the innermost loop: in the body of an lw::If, for the elements that run it.
inline void Break(std::source_location here = std::source_location::current()) {
  trace::locate(here);
  trace::Trace::current().break_if(trace::always(), "Break");
}
/// Goes on with the next step of the innermost loop where the condition holds.
inline void ContinueIf(const boolean& condition,
                       std::source_location here = std::source_location::current()) {
  trace::locate(here);
  trace::Trace::current().continue_if(condition.read(), "ContinueIf");
}
inline void Continue(std::source_location here = std::source_location::current()) {
  trace::locate(here);
  trace::Trace::current().continue_if(trace::always(), "Continue");
}

/// Ends the function with these values where the condition holds: the one that is vectorized, or
/// the one that lw::Call calls.
template <class... R>
void ReturnIf(const boolean& condition, const R&... values) {
  trace::ResultList list;
  (trace::Results<R>::add(values, list), ...);
  trace::Trace::current().return_if(condition.read(), list.values);
}
template <class... R>
void Return(const R&... values) {
  trace::ResultList list;
  (trace::Results<R>::add(values, list), ...);
  trace::Trace::current().return_if(trace::always(), list.values);
}

/// Calls a function that may return early; without that, an ordinary call is the same.
template <class F, class... A>
auto Call(const F& function, const A&... arguments) {
  using Result = std::invoke_result_t<const F&, const A&...>;
  trace::Trace& trace = trace::Trace::current();
  trace.begin_call();
  if constexpr (std::is_void_v<Result>) {
    function(arguments...);
    trace.end_call({});
  } else {
    const Result result = function(arguments...);
    trace::ResultList list;
    trace::Results<Result>::add(result, list);
    const std::vector<ir::ValueId> values = trace.end_call(list.values);
    std::span<const ir::ValueId> left = values;
    return trace::Results<Result>::take(result, left);
  }
}

/// Runs the body whose number the index is, counted from 0; an element whose index is none of them
/// fails.
template <class... Body>
void Switch(const i32::Operand& index, Body... bodies) {
  trace::Trace& trace = trace::Trace::current();
  ir::Builder& build = trace.builder();
  const ir::ValueId chosen = index.value;
  build.check_index(chosen, sizeof...(Body));
  std::int32_t number = 0;
  const auto one = [&](auto& body) {
    const ir::ValueId is_it = build.op(ops::Op::Eq, {chosen, build.constant(Scalar(number++))});
    trace::record_branch(is_it, body);
  };
  (one(bodies), ...);
}

/// The element fails where the condition does not hold.
inline void Check(const boolean& condition,
                  std::source_location here = std::source_location::current()) {
  trace::locate(here);
  trace::Trace::current().builder().fail_if((!condition).read(), ir::FailKind::Check);
}

/// The same; the message is said then, without values if it has some itself ("; got ...").
inline void Check(const boolean& condition, std::string message,
                  std::source_location here = std::source_location::current()) {
  Check(condition, here);
  base::set_message(trace::Trace::current().builder().location(), std::move(message));
}

/// The element fails where the value is infinite or not a number. Gives it back.
template <types::ElementType T>
Variable<T> CheckNumerics(const Variable<T>& value, std::string message = "",
                          std::source_location here = std::source_location::current()) {
  trace::locate(here);
  ir::Builder& build = trace::Trace::current().builder();
  const ir::ValueId checked = value.read();
  const ir::ValueId is_finite = build.op(ops::Op::Isfinite, {checked});
  build.fail_if(build.op(ops::Op::Not, {is_finite}), ir::FailKind::NotFinite,
                std::span(&checked, 1));
  if (!message.empty()) base::set_message(build.location(), std::move(message));
  return Variable<T>::of(checked);
}

/// The number of the element in the map, counted from 0 or from the first_element of the call; as
/// an i32 for maps of so many.
template <types::ElementType T = std::int64_t>
  requires std::is_integral_v<T>
Variable<T> element() {
  ir::Builder& build = trace::Trace::current().builder();
  if constexpr (sizeof(T) <= 4) {
    return Variable<T>::of(build.convert(build.element(0), types::dtype_of<T>));
  } else {
    const ir::ValueId low = build.convert(build.element(0), types::dtype_of<T>);
    const ir::ValueId high = build.convert(build.element(1), types::dtype_of<T>);
    const ir::ValueId bits = build.constant(Scalar(T(32)));
    return Variable<T>::of(build.op(ops::Op::Or, {build.op(ops::Op::Shl, {high, bits}), low}));
  }
}

}  // namespace lw
