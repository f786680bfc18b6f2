// Elements that have many values: lw::Row, lw::Matrix, lw::Grid, of a shape that is known when the
// function is recorded. They look like arrays of numbers and record what is done with them:
//
//   auto softmax = lw::vectorize([](lw::Row<float> x) {
//     lw::Row<float> powers = exp(x - max(x));
//     return powers / sum(powers);
//   });
//
// A grid never changes; values that do, in loops and branches, are those of an lw::Array. Here are
// operators, functions and indices; trace/grid_functions.h has what needs several values at a time,
// trace/each.h what is made position by position.
#pragma once

#include <tuple>
#include <vector>

#include "lanewise/trace/arrange.h"
#include "lanewise/trace/control.h"
#include "lanewise/trace/memory.h"
#include "lanewise/trace/operators.h"
#include "lanewise/trace/ragged.h"

namespace lw {

template <types::ElementType T, int rank>
class Grid;
template <types::ElementType T>
using Row = Grid<T, 1>;
template <types::ElementType T>
using Matrix = Grid<T, 2>;

/// Places of an axis from `begin` to before `end`; without an end, all that follow.
struct Slice {
  explicit Slice(std::int64_t from = 0, std::int64_t until = trace::Place::kEnd,
                 std::int64_t by = 1, std::source_location line = std::source_location::current())
      : begin(from), end(until), step(by), here(line) {}
  std::int64_t begin;
  std::int64_t end;
  std::int64_t step;
  std::source_location here;
};

namespace trace {

template <class G>
inline constexpr bool is_grid = false;
template <class T, int rank>
inline constexpr bool is_grid<Grid<T, rank>> = true;

/// A grid, or a variable where no dimension is left.
template <class T, int rank>
struct OfRank {
  using type = Grid<T, rank>;
};
template <class T>
struct OfRank<T, 0> {
  using type = Variable<T>;
};
template <class T, int rank>
typename OfRank<T, rank>::type of_view(const View& view) {
  if constexpr (rank == 0) {
    return Variable<T>::of(number_of(view));
  } else {
    return Grid<T, rank>(view);
  }
}

/// An index of one axis, with its line.
class GridIndex {
 public:
  template <class T>
    requires std::is_integral_v<T> && (!std::is_same_v<T, bool>)
  GridIndex(const Variable<T>& index,  // NOLINT: implicit
            std::source_location here = std::source_location::current())
      : place{.value = Index(index, here).value} {}
  template <std::integral T>
  GridIndex(T index,  // NOLINT: implicit
            std::source_location here = std::source_location::current())
      : place(Place::number(static_cast<std::int64_t>(index))) {
    locate(here);
  }
  Place place;
};

/// The line of the first slice among indices.
template <class First, class... I>
std::source_location line_of(const First& first, const I&... others) {
  if constexpr (std::is_same_v<First, Slice>) {
    return first.here;
  } else {
    return line_of(others...);
  }
}
template <class I>
Place place_of_axis(const I& index, std::source_location here) {
  if constexpr (std::is_same_v<I, Slice>) {
    locate(here);
    return {.is_slice = true, .begin = index.begin, .end = index.end, .step = index.step};
  } else {
    return GridIndex(index, here).place;
  }
}

}  // namespace trace

template <types::ElementType T, int rank>
class Grid {
  static_assert(rank >= 1 && rank <= types::Shape::kMost, "a grid has 1 to 6 dimensions");

 public:
  using Number = T;

  /// An operand of an operator: a grid of no more dimensions, a variable or a literal, with the
  /// line it stands on.
  class Operand {
   public:
    template <int other>
      requires(other <= rank)
    Operand(const Grid<T, other>& grid,  // NOLINT: implicit
            std::source_location here = std::source_location::current())
        : view(grid.view()) {
      trace::locate(here);
    }
    template <class V>
      requires(std::convertible_to<const V&, typename Variable<T>::Operand>)
    Operand(const V& number,  // NOLINT: implicit
            std::source_location here = std::source_location::current())
        : view(trace::number_view(typename Variable<T>::Operand(number, here).value)) {}
    trace::View view;
  };

  explicit Grid(const trace::View& view) : view_(view) {}
  Grid(const Grid&) = default;
  /// It would not be known to other steps of a loop: write to an lw::Array instead.
  Grid& operator=(const Grid&) = delete;

  const trace::View& view() const { return view_; }
  const types::Shape& shape() const { return view_.shape; }
  std::int32_t size() const { return static_cast<std::int32_t>(view_.shape.count()); }
  std::int32_t size(int axis) const {
    return static_cast<std::int32_t>(view_.shape[trace::checked_axis("size", axis, rank)]);
  }

  /// The value or part at an index of the first axis; an element whose index is out of range fails.
  typename trace::OfRank<T, rank - 1>::type operator[](const trace::GridIndex& i) const {
    return part<rank - 1>({i.place});
  }
  /// The same of more axes.
  typename trace::OfRank<T, rank - 2>::type operator()(const trace::GridIndex& i,
                                                       const trace::GridIndex& j) const
    requires(rank >= 2)
  {
    return part<rank - 2>({i.place, j.place});
  }
  typename trace::OfRank<T, rank - 3>::type operator()(const trace::GridIndex& i,
                                                       const trace::GridIndex& j,
                                                       const trace::GridIndex& k) const
    requires(rank >= 3)
  {
    return part<rank - 3>({i.place, j.place, k.place});
  }
  /// The part at slices, and indices, of the first axes: x(lw::Slice(), 2). It has the line of the
  /// first slice.
  template <class... I>
    requires(sizeof...(I) <= rank && (... || std::is_same_v<I, Slice>))
  auto operator()(const I&... indices) const {
    constexpr int left = rank - (0 + ... + !std::is_same_v<I, Slice>);
    const std::source_location here = trace::line_of(indices...);
    return part<left>({trace::place_of_axis(indices, here)...});
  }

  using GridOfBools = Grid<bool, rank>;
  LW_VALUE_OPERATORS(Grid, GridOfBools)

  /// A number beside grids, as an operand of ops.
  static trace::View of_number(ir::ValueId number) { return trace::number_view(number); }

 private:
  template <int left>
  typename trace::OfRank<T, left>::type part(std::initializer_list<trace::Place> places) const {
    return trace::of_view<T, left>(trace::indexed(view_, std::span(places.begin(), places.size())));
  }

  trace::View view_;
};

namespace trace {

/// The grid of most dimensions among operands; the others broadcast to it.
template <class... A>
struct WidestGrid {};
template <class A, class... B>
struct WidestGrid<A, B...> : WidestGrid<B...> {};
template <class T, int rank, class... B>
struct WidestGrid<Grid<T, rank>, B...> {
  using Other = WidestGrid<B...>;
  static constexpr int most() {
    if constexpr (requires { typename Other::type; }) {
      return rank > Other::kRank ? rank : Other::kRank;
    } else {
      return rank;
    }
  }
  static constexpr int kRank = most();
  using type = Grid<T, kRank>;
  template <class R>
  using Giving = Grid<R, kRank>;
  using Number = T;
};

/// A grid of such variables.
template <class V, int rank>
struct Filled;
template <class T, int rank>
struct Filled<Variable<T>, rank> {
  using type = Grid<T, rank>;
};

template <class W, class... A>
concept GridOperands = requires { typename W::type; } &&
                       (std::convertible_to<const A&, typename W::type::Operand> && ...);

}  // namespace trace

// The functions of variables (trace/variable.h), for all values of grids.
#define LW_OP(id, name, form, arity, accepts, gives, kind, meaning, partials, domain, doc) \
  LW_FUNCTION_##form(id, name, arity, gives)
#define LW_FUNCTION_Sign(id, name, arity, gives)
#define LW_FUNCTION_Call(id, name, arity, gives) LW_FUNCTION_##arity(id, name, LW_GIVES_##gives)
#define LW_GIVES_Same typename W::Number
#define LW_GIVES_Bool bool
#define LW_GIVES_I32 std::int32_t
#define LW_FUNCTION_1(id, name, R)                                                             \
  template <class A, class W = trace::WidestGrid<A>>                                           \
    requires trace::GridOperands<W, A>                                                         \
  auto name(const A& a, std::source_location here = std::source_location::current()) {         \
    using Operand = typename W::type::Operand;                                                 \
    return typename W::template Giving<R>(trace::apply(ops::Op::id, {Operand(a, here).view})); \
  }
#define LW_FUNCTION_2(id, name, R)                                                                 \
  template <class A, class B, class W = trace::WidestGrid<A, B>>                                   \
    requires trace::GridOperands<W, A, B>                                                          \
  auto name(const A& a, const B& b, std::source_location here = std::source_location::current()) { \
    using Operand = typename W::type::Operand;                                                     \
    return typename W::template Giving<R>(                                                         \
        trace::apply(ops::Op::id, {Operand(a, here).view, Operand(b, here).view}));                \
  }
#define LW_FUNCTION_3(id, name, R)                                                            \
  template <class A, class B, class C, class W = trace::WidestGrid<A, B, C>>                  \
    requires trace::GridOperands<W, A, B, C>                                                  \
  auto name(const A& a, const B& b, const C& c,                                               \
            std::source_location here = std::source_location::current()) {                    \
    using Operand = typename W::type::Operand;                                                \
    return typename W::template Giving<R>(trace::apply(                                       \
        ops::Op::id, {Operand(a, here).view, Operand(b, here).view, Operand(c, here).view})); \
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

/// `a` where the condition holds, else `b`; both are evaluated. All three broadcast.
template <int condition_rank, class A, class B, class W = trace::WidestGrid<A, B>>
  requires trace::GridOperands<W, A, B>
auto select(const Grid<bool, condition_rank>& condition, const A& a, const B& b,
            std::source_location here = std::source_location::current()) {
  using Operand = typename W::type::Operand;
  constexpr int most = condition_rank > W::kRank ? condition_rank : W::kRank;
  return Grid<typename W::Number, most>(trace::apply(
      ops::Op::Select, {condition.view(), Operand(a, here).view, Operand(b, here).view}));
}
template <class A, class B, class W = trace::WidestGrid<A, B>>
  requires trace::GridOperands<W, A, B>
auto select(const boolean& condition, const A& a, const B& b,
            std::source_location here = std::source_location::current()) {
  using Operand = typename W::type::Operand;
  return typename W::type(trace::apply(
      ops::Op::Select,
      {W::type::of_number(condition.read()), Operand(a, here).view, Operand(b, here).view}));
}
/// The same where neither is a grid; a literal has the type of the other.
template <int rank, class A, class B, class V = trace::FirstVariableOf<A, B>>
  requires trace::Operands<V, A, B>
auto select(const Grid<bool, rank>& condition, const A& a, const B& b,
            std::source_location here = std::source_location::current()) {
  using Operand = typename V::Operand;
  return typename trace::Filled<V, rank>::type(
      trace::apply(ops::Op::Select, {condition.view(), trace::number_view(Operand(a, here).value),
                                     trace::number_view(Operand(b, here).value)}));
}

/// a * 2^n, rounded once.
template <class T, int rank>
Grid<T, rank> ldexp(const Grid<T, rank>& a, const typename Grid<std::int32_t, rank>::Operand& n) {
  return Grid<T, rank>(trace::apply(ops::Op::Ldexp, {a.view(), n.view}));
}

/// The values as another type; float to integer saturates.
template <types::ElementType R, class T, int rank>
Grid<R, rank> cast(const Grid<T, rank>& grid,
                   std::source_location here = std::source_location::current()) {
  trace::locate(here);
  return Grid<R, rank>(trace::convert(grid.view(), types::dtype_of<R>));
}

namespace trace {

template <class T, int rank>
struct Results<Grid<T, rank>> {
  static void add(const Grid<T, rank>& grid, ResultList& list) {
    list.add(result_of(grid.view(), list.values), grid.shape());
  }
  static Grid<T, rank> take(const Grid<T, rank>& grid, std::span<const ir::ValueId>& values) {
    const ir::ValueId first = values[0];
    values = values.subspan(1);
    return Grid<T, rank>(array_view(first, grid.shape()));
  }
};

}  // namespace trace
}  // namespace lw
