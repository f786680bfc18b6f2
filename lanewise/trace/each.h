// lw::each: rows and matrices that are made position by position.
#pragma once

#include <functional>

#include "lanewise/trace/grid.h"

namespace lw {
namespace trace {

/// What `each` makes of what the function gives for a position.
template <class R>
struct Stacked;
template <class T>
struct Stacked<Variable<T>> {
  using type = Row<T>;
};
template <class T, int rank>
struct Stacked<Grid<T, rank>> {
  using type = Grid<T, rank + 1>;
};
template <class... R>
struct Stacked<std::tuple<R...>> {
  using type = std::tuple<typename Stacked<R>::type...>;
};

/// What a function gives for all positions; a shape has `size` in front then. One that draws random
/// numbers is recorded twice, the second time as a loop: positions draw one after the other.
std::vector<View> each_position(std::uint32_t size,
                                const std::function<ResultList(ir::ValueId)>& function);

}  // namespace trace

/// A row of what the function gives for the positions 0 to `size` - 1, none of which sees what
/// another does; of rows a matrix, of tuples a tuple:
///   lw::each(n, [&](lw::i32 i) { return x[i] * x[n - 1 - i]; })
template <class F>
  requires std::invocable<F&, i32>
auto each(std::int64_t size, F function,
          std::source_location here = std::source_location::current()) {
  using Result = std::invoke_result_t<F&, i32>;
  static_assert(
      requires { typename trace::Stacked<Result>::type; },
      "the function gives a variable, a grid or a tuple of them: return lw::f32(a[i])");
  using Stacked = typename trace::Stacked<Result>::type;
  trace::locate(here);
  const auto count = trace::checked_shape("each", {&size, 1})[0];
  const std::vector<trace::View> views = trace::each_position(count, [&](ir::ValueId position) {
    trace::ResultList list;
    trace::Results<Result>::add(function(i32::of(position)), list);
    trace::locate(here);
    return list;
  });
  if constexpr (trace::is_grid<Stacked>) {
    return Stacked(views[0]);
  } else {
    return [&]<std::size_t... i>(std::index_sequence<i...>) {
      return Stacked(std::tuple_element_t<i, Stacked>(views[i])...);
    }(std::make_index_sequence<std::tuple_size_v<Stacked>>{});
  }
}

/// A row of so many values, 1 at the index and 0 elsewhere; an index outside gives zeros.
template <types::ElementType T>
Row<T> one_hot(const i32& index, std::int64_t size,
               std::source_location here = std::source_location::current()) {
  return each(
      size, [&](i32 i) { return select(i == index, Variable<T>(T(1)), Variable<T>(T(0))); }, here);
}
/// The matrix with 1 along its diagonal and 0 elsewhere.
template <types::ElementType T>
Matrix<T> eye(std::int64_t size, std::source_location here = std::source_location::current()) {
  return each(size, [&](i32 i) { return one_hot<T>(i, size, here); }, here);
}

}  // namespace lw
