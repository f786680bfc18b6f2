// lw::RaggedRow: a row of a length that differs between elements, as the function for one of them
// sees it. It looks like an lw::Row, but its size is a variable:
//
//   auto softmax = lw::vectorize([](lw::RaggedRow<float> x) {
//     auto powers = lw::exp(x - lw::max(x));
//     return powers / lw::sum(powers);
//   });
//   lw::Tensor values = softmax(lw::Ragged<float>(numbers, offsets));
//
// Here are operators, indices, slices and loops; its reductions are with those of grids, in
// trace/grid_functions.h. A row of rows is an lw::RaggedRow<lw::RaggedRow<float>>.
#pragma once

#include "lanewise/trace/grid.h"

namespace lw {

template <class T>
class RaggedRow;

template <types::ElementType T>
class RaggedRow<T> {
 public:
  using Number = T;

  /// An operand of an operator: a row, a variable or a literal, with the line it stands on.
  class Operand {
   public:
    Operand(const RaggedRow& row,  // NOLINT: implicit
            std::source_location here = std::source_location::current())
        : view(row.view()) {
      trace::locate(here);
    }
    template <class V>
      requires(std::convertible_to<const V&, typename Variable<T>::Operand>)
    Operand(const V& number,  // NOLINT: implicit
            std::source_location here = std::source_location::current())
        : view(trace::number_in_row(typename Variable<T>::Operand(number, here).value)) {}
    trace::RowView view;
  };

  explicit RaggedRow(trace::RowView view) : view_(std::move(view)) {}
  explicit RaggedRow(const trace::Places& places) : view_(trace::row_of(places)) {}
  RaggedRow(const RaggedRow&) = default;
  /// It would not be known to other steps of a loop: write to an lw::Array instead.
  RaggedRow& operator=(const RaggedRow&) = delete;

  const trace::RowView& view() const { return view_; }
  i32 size() const { return i32::of(view_.length); }
  /// The value at an index, counted from the front; an element that has none there fails.
  Variable<T> operator[](const trace::Index& index) const {
    return Variable<T>::of(trace::checked_value_at(view_, index.value));
  }
  /// So many values from one on, or all from there on; an element that has not so many fails.
  RaggedRow slice(const trace::Index& first, const trace::Index& count) const {
    return RaggedRow(trace::slice(view_, first.value, count.value));
  }
  RaggedRow slice(const trace::Index& first) const {
    return RaggedRow(trace::slice(view_, first.value, std::nullopt));
  }

  using RowOfBools = RaggedRow<bool>;
  LW_VALUE_OPERATORS(RaggedRow, RowOfBools)

  /// A number beside rows, as an operand of ops.
  static trace::RowView of_number(ir::ValueId number) { return trace::number_in_row(number); }

 private:
  trace::RowView view_;
};

/// A row of rows.
template <class T>
class RaggedRow<RaggedRow<T>> {
 public:
  explicit RaggedRow(trace::Places places) : places_(std::move(places)) {}
  RaggedRow(const RaggedRow&) = default;
  RaggedRow& operator=(const RaggedRow&) = delete;

  const trace::Places& places() const { return places_; }
  /// How many rows it has.
  i32 size() const { return i32::of(places_.length); }
  /// The row at an index, counted from the front; an element that has none there fails.
  RaggedRow<T> operator[](const trace::Index& index) const {
    return RaggedRow<T>(trace::checked_inner_places(places_, index.value));
  }

 private:
  trace::Places places_;
};

namespace trace {

template <class R>
inline constexpr bool is_ragged = false;
template <class T>
inline constexpr bool is_ragged<RaggedRow<T>> = true;
/// How deep rows are in rows.
template <class R>
inline constexpr std::size_t inner_rows = 0;
template <class T>
inline constexpr std::size_t inner_rows<RaggedRow<RaggedRow<T>>> = 1 + inner_rows<RaggedRow<T>>;

// The functions of grids are those of rows too.
template <class T, class... B>
struct WidestGrid<RaggedRow<T>, B...> {
  static constexpr int kRank = 1;
  using type = RaggedRow<T>;
  template <class R>
  using Giving = RaggedRow<R>;
  using Number = T;
};

template <class V>
struct RowOfVariables;
template <class T>
struct RowOfVariables<Variable<T>> {
  using type = RaggedRow<T>;
};

}  // namespace trace

/// `a` where the condition holds, else `b`; both are evaluated.
template <class A, class B, class W = trace::WidestGrid<A, B>>
  requires trace::GridOperands<W, A, B>
auto select(const RaggedRow<bool>& condition, const A& a, const B& b,
            std::source_location here = std::source_location::current()) {
  using Operand = typename W::type::Operand;
  return typename W::type(trace::apply(
      ops::Op::Select, {condition.view(), Operand(a, here).view, Operand(b, here).view}));
}
/// The same where neither is a row; a literal has the type of the other.
template <class A, class B, class V = trace::FirstVariableOf<A, B>>
  requires trace::Operands<V, A, B>
auto select(const RaggedRow<bool>& condition, const A& a, const B& b,
            std::source_location here = std::source_location::current()) {
  using Row = typename trace::RowOfVariables<V>::type;
  using Operand = typename Row::Operand;
  return Row(trace::apply(ops::Op::Select,
                          {condition.view(), Operand(a, here).view, Operand(b, here).view}));
}

/// The values as another type; float to integer saturates.
template <types::ElementType R, class T>
RaggedRow<R> cast(const RaggedRow<T>& row,
                  std::source_location here = std::source_location::current()) {
  trace::locate(here);
  if constexpr (std::is_same_v<R, T>) {
    return row;
  } else {
    return RaggedRow<R>(trace::apply(ops::Op::Convert, {row.view()}, types::dtype_of<R>));
  }
}

/// Runs `body(value)` for the values of a row, from the first to the last.
template <class T, class Body>
  requires std::invocable<Body&, Variable<T>>
void For(const RaggedRow<T>& row, Body body,
         std::source_location here = std::source_location::current()) {
  trace::locate(here);
  trace::loop_over(row.view(), [&](ir::ValueId at) {
    body(Variable<T>::of(trace::value_at(row.view(), at)));
    trace::locate(here);
  });
}

/// Runs `body(row)` for the rows of a row of rows, from the first to the last.
template <class T, class Body>
  requires std::invocable<Body&, RaggedRow<T>>
void For(const RaggedRow<RaggedRow<T>>& rows, Body body,
         std::source_location here = std::source_location::current()) {
  trace::locate(here);
  trace::loop_over(rows.places(), [&](const trace::Places& places) {
    body(RaggedRow<T>(places));
    trace::locate(here);
  });
}

namespace trace {

template <class T>
struct Results<RaggedRow<T>> {
  static void add(const RaggedRow<T>& row, ResultList& list) {
    require_end_of_function();
    list.add(row.view().length);  // its values are where they are read
  }
  static RaggedRow<T> take(const RaggedRow<T>& row, std::span<const ir::ValueId>& values) {
    values = values.subspan(1);
    return row;
  }
};

template <class R>
inline constexpr bool gives_rows = is_ragged<R>;
template <class... R>
inline constexpr bool gives_rows<std::tuple<R...>> = (... || gives_rows<R>);

/// Lists the results of a function, and rows by themselves.
template <class R>
void list_results(const R& result, ResultList& list, std::vector<RowResult>& rows) {
  static_assert(inner_rows<R> == 0, "a function gives rows of numbers back: return rows[i]");
  if constexpr (is_ragged<R>) {
    require_end_of_function();
    rows.push_back({.place = list.values.size() + rows.size(), .row = result.view()});
  } else {
    Results<R>::add(result, list);
  }
}
template <class... R>
void list_results(const std::tuple<R...>& results, ResultList& list, std::vector<RowResult>& rows) {
  std::apply([&](const R&... one) { (list_results(one, list, rows), ...); }, results);
}

}  // namespace trace
}  // namespace lw
