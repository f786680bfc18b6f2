// Functions of grids (trace/grid.h) that need several values at a time: reductions, running sums,
// products, other shapes and orders. Rows of different lengths have the reductions too.
#pragma once

#include "lanewise/trace/along.h"
#include "lanewise/trace/grid.h"
#include "lanewise/trace/ragged_row.h"
#include "lanewise/trace/reduce.h"

namespace lw {

/// An axis, counted from 0, or from the last one if it is below 0. In a call it goes away.
struct Axis {
  explicit Axis(int axis, std::source_location line = std::source_location::current())
      : number(axis), here(line) {}
  int number;
  std::source_location here;
};
/// The same, but it stays, with size 1: x - mean(x, lw::Kept(1)).
struct Kept : Axis {
  using Axis::Axis;
};

// --- reductions: of all values, or along one axis ---

namespace trace {

/// The type of a sum: integers are summed in 64 bits.
template <class T>
using SumOf =
    std::conditional_t<!std::is_integral_v<T>, T,
                       std::conditional_t<std::is_unsigned_v<T> && !std::is_same_v<T, bool>,
                                          std::uint64_t, std::int64_t>>;
/// The type of a mean.
template <class T>
using RealOf = std::conditional_t<std::is_integral_v<T>, double, T>;

template <class R, class T, int rank>
Variable<R> reduced(Reduction reduction, const Grid<T, rank>& grid, std::source_location here) {
  locate(here);
  return of_view<R, 0>(reduce(reduction, grid.view(), {}, types::dtype_of<R>));
}
template <class R, class T>
Variable<R> reduced(Reduction reduction, const RaggedRow<T>& row, std::source_location here) {
  locate(here);
  return Variable<R>::of(reduce(reduction, row.view(), types::dtype_of<T>, types::dtype_of<R>));
}
template <class R, class A, class T, int rank>
auto reduced(Reduction reduction, const Grid<T, rank>& grid, const A& axis) {
  constexpr bool is_kept = std::is_same_v<A, Kept>;
  locate(axis.here);
  return of_view<R, is_kept ? rank : rank - 1>(
      reduce(reduction, grid.view(), {.is_all = false, .axis = axis.number, .is_kept = is_kept},
             types::dtype_of<R>));
}

}  // namespace trace

#define LW_REDUCTION(name, reduction, accepts, R)                                 \
  template <class T, int rank>                                                    \
    requires(accepts)                                                             \
  Variable<R> name(const Grid<T, rank>& grid,                                     \
                   std::source_location here = std::source_location::current()) { \
    return trace::reduced<R>(trace::Reduction::reduction, grid, here);            \
  }                                                                               \
  template <class T, int rank, std::derived_from<Axis> A>                         \
    requires(accepts)                                                             \
  auto name(const Grid<T, rank>& grid, const A& axis) {                           \
    return trace::reduced<R>(trace::Reduction::reduction, grid, axis);            \
  }                                                                               \
  template <class T>                                                              \
    requires(accepts)                                                             \
  Variable<R> name(const RaggedRow<T>& row,                                       \
                   std::source_location here = std::source_location::current()) { \
    return trace::reduced<R>(trace::Reduction::reduction, row, here);             \
  }
LW_REDUCTION(sum, Sum, true, trace::SumOf<T>)
LW_REDUCTION(prod, Product, true, trace::SumOf<T>)
LW_REDUCTION(min, Min, true, T)
LW_REDUCTION(max, Max, true, T)
/// The first place of the least or greatest value, or of a NaN; of all axes in C order.
LW_REDUCTION(argmin, ArgMin, true, std::int32_t)
LW_REDUCTION(argmax, ArgMax, true, std::int32_t)
LW_REDUCTION(any, Any, (std::is_same_v<T, bool>), bool)
LW_REDUCTION(all, All, (std::is_same_v<T, bool>), bool)
LW_REDUCTION(mean, Mean, true, trace::RealOf<T>)
/// The mean square of what differs from the mean, in two passes; and its square root.
LW_REDUCTION(var, Variance, true, trace::RealOf<T>)
LW_REDUCTION(stddev, Deviation, true, trace::RealOf<T>)
/// The length as a vector: the square root of the sum of squares.
LW_REDUCTION(norm, Norm, true, trace::RealOf<T>)
/// The logarithm of the sum of exponentials, without overflow.
LW_REDUCTION(logsumexp, LogSumExp, !std::is_integral_v<T>, T)
#undef LW_REDUCTION

/// Sums and products of the values up to each place along an axis, from left to right.
template <class T, int rank>
auto cumsum(const Grid<T, rank>& grid, const Axis& axis = Axis(-1)) {
  trace::locate(axis.here);
  using R = trace::SumOf<T>;
  return Grid<R, rank>(trace::scan(ops::Op::Add, grid.view(), axis.number, types::dtype_of<R>));
}
template <class T, int rank>
auto cumprod(const Grid<T, rank>& grid, const Axis& axis = Axis(-1)) {
  trace::locate(axis.here);
  using R = trace::SumOf<T>;
  return Grid<R, rank>(trace::scan(ops::Op::Mul, grid.view(), axis.number, types::dtype_of<R>));
}

/// The values along an axis from the least to the greatest, NaNs last; up to 64 of them.
template <class T, int rank>
Grid<T, rank> sort(const Grid<T, rank>& grid, const Axis& axis = Axis(-1)) {
  trace::locate(axis.here);
  return Grid<T, rank>(trace::sorted(grid.view(), axis.number, false));
}
/// The places that sort them; equal values stay in their order.
template <class T, int rank>
Grid<std::int32_t, rank> argsort(const Grid<T, rank>& grid, const Axis& axis = Axis(-1)) {
  trace::locate(axis.here);
  return Grid<std::int32_t, rank>(trace::sorted(grid.view(), axis.number, true));
}

// --- products; trace/grid_algebra.h has more ---

/// The sum of the products of two rows of the same length, as dot(Row, Row) is.
template <class T>
Variable<T> dot(const RaggedRow<T>& a, const RaggedRow<T>& b,
                std::source_location here = std::source_location::current()) {
  trace::locate(here);
  return Variable<T>::of(trace::dot(a.view(), b.view(), types::dtype_of<T>));
}

/// All products of the values of two rows: outer(a, b)(i, j) is a[i] * b[j].
template <class T>
Matrix<T> outer(const Row<T>& a, const Row<T>& b) {
  return insert_axis(a, Axis(1)) * insert_axis(b, Axis(0));
}

// --- other shapes and orders ---

/// The same values in another shape: reshape(x, {4, -1}). One size may be -1, for what is left.
template <class T, int rank, std::size_t n>
Grid<T, static_cast<int>(n)> reshape(const Grid<T, rank>& grid, const std::int64_t (&shape)[n],
                                     std::source_location here = std::source_location::current()) {
  trace::locate(here);
  return Grid<T, static_cast<int>(n)>(trace::reshape(grid.view(), shape));
}
/// The axes the other way round, or in this order.
template <class T, int rank>
Grid<T, rank> transpose(const Grid<T, rank>& grid) {
  int axes[rank];
  for (int d = 0; d < rank; ++d) axes[d] = rank - 1 - d;
  return Grid<T, rank>(trace::transpose(grid.view(), axes));
}
template <class T, int rank>
Grid<T, rank> transpose(const Grid<T, rank>& grid, const int (&axes)[rank],
                        std::source_location here = std::source_location::current()) {
  trace::locate(here);
  return Grid<T, rank>(trace::transpose(grid.view(), axes));
}
/// With an axis of size 1 put in, which broadcasts.
template <class T, int rank>
Grid<T, rank + 1> insert_axis(const Grid<T, rank>& grid, const Axis& axis) {
  trace::locate(axis.here);
  return Grid<T, rank + 1>(trace::insert_axis(grid.view(), axis.number));
}
/// With an axis turned round.
template <class T, int rank>
Grid<T, rank> flip(const Grid<T, rank>& grid, const Axis& axis = Axis(-1)) {
  trace::locate(axis.here);
  return Grid<T, rank>(trace::flip(grid.view(), axis.number));
}
/// One behind the other along an axis: concat({a, b}).
template <class T, int rank>
Grid<T, rank> concat(std::initializer_list<Grid<T, rank>> grids, const Axis& axis = Axis(0)) {
  trace::locate(axis.here);
  std::vector<trace::View> views;
  for (const Grid<T, rank>& grid : grids) views.push_back(grid.view());
  return Grid<T, rank>(trace::concat(views, axis.number));
}
/// Along a new axis: stack({a, b}).
template <class T, int rank>
Grid<T, rank + 1> stack(std::initializer_list<Grid<T, rank>> grids, const Axis& axis = Axis(0)) {
  trace::locate(axis.here);
  std::vector<trace::View> views;
  for (const Grid<T, rank>& grid : grids) views.push_back(grid.view());
  return Grid<T, rank + 1>(trace::stack(views, axis.number));
}
/// Moved along an axis; what leaves at its end comes in at the beginning.
template <class T, int rank>
Grid<T, rank> roll(const Grid<T, rank>& grid, std::int64_t shift, const Axis& axis = Axis(-1)) {
  trace::locate(axis.here);
  return Grid<T, rank>(trace::roll(grid.view(), shift, axis.number));
}
/// With so many places before and after along an axis, which hold a number: pad(x, 1, 1).
template <class T, int rank>
Grid<T, rank> pad(const Grid<T, rank>& grid, std::int64_t before, std::int64_t after,
                  const Axis& axis = Axis(-1),
                  const std::type_identity_t<typename Variable<T>::Operand>& value = T(0)) {
  trace::locate(axis.here);
  return Grid<T, rank>(trace::pad(grid.view(), before, after, axis.number, value.value));
}
/// A row of variables and literals: lw::row<float>({x, 0, -x}).
template <types::ElementType T>
Row<T> row(std::initializer_list<typename Variable<T>::Operand> values) {
  std::vector<trace::View> views;
  for (const auto& value : values) views.push_back(trace::number_view(value.value));
  return Row<T>(trace::stack(views, 0));
}
/// The present values of an array.
template <types::ElementType T>
Row<T> row(const Array<T>& array, std::source_location here = std::source_location::current()) {
  trace::locate(here);
  return Row<T>(trace::copied(trace::array_view(array.id(), {array.size()})));
}
/// Assigns all values of an array.
template <types::ElementType T>
void assign(Array<T>& array, const std::type_identity_t<Row<T>>& values,
            std::source_location here = std::source_location::current()) {
  trace::locate(here);
  trace::Trace::current().require_own(array.id());
  trace::assign(trace::array_view(array.id(), {array.size()}), values.view());
}

}  // namespace lw
