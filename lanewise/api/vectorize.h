// lw::vectorize: a C++ function for one element becomes one for arrays.
//
//   auto wave = lw::vectorize([](lw::f64 x) { return lw::sin(x) * x; });
//   lw::Tensor y = wave(xs);         // std::vector, std::span, lw::Tensor; a number is shared
#pragma once

#include <array>
#include <tuple>
#include <utility>

#include "lanewise/api/accumulators.h"
#include "lanewise/api/function.h"
#include "lanewise/api/ragged.h"
#include "lanewise/api/ragged_call.h"
#include "lanewise/trace/control.h"
#include "lanewise/trace/each.h"
#include "lanewise/trace/grid_algebra.h"
#include "lanewise/trace/grid_functions.h"
#include "lanewise/trace/grid_windows.h"
#include "lanewise/trace/memory.h"

namespace lw {
namespace api {

/// The types of a callable's parameters and result.
template <class F>
struct Shape : Shape<decltype(&F::operator())> {};
template <class F, class R, class... P>
struct Shape<R (F::*)(P...) const> {
  using Result = R;
  using Params = std::tuple<std::remove_cvref_t<P>...>;
};
template <class F, class R, class... P>
struct Shape<R (F::*)(P...)> : Shape<R (F::*)(P...) const> {};
template <class R, class... P>
struct Shape<R (*)(P...)> {
  using Result = R;
  using Params = std::tuple<std::remove_cvref_t<P>...>;
};

template <class V>
struct ElementOf;
template <class T>
struct ElementOf<Variable<T>> {
  using type = T;
};
template <class T>
struct ElementOf<Table<T>> {
  using type = T;
};

template <class T, int rank>
struct ElementOf<Grid<T, rank>> {
  using type = T;
};

template <class T>
struct ElementOf<RaggedRow<T>> {
  using type = T;
};
template <class T>
struct ElementOf<RaggedRow<RaggedRow<T>>> : ElementOf<RaggedRow<T>> {};

template <class P>
inline constexpr bool kIsTable = false;
template <class T>
inline constexpr bool kIsTable<Table<T>> = true;

template <class A>
inline constexpr std::size_t kInnerRows = 0;
template <class T>
inline constexpr std::size_t kInnerRows<Ragged<Ragged<T>>> = 1 + kInnerRows<Ragged<T>>;

/// An argument for a parameter of type P.
template <class P, class A>
Input input_for(const A& argument) {
  static_assert(trace::is_ragged<P> == kIsRagged<A>,
                "lw::Ragged is an argument for an lw::RaggedRow, and nothing else is");
  if constexpr (kIsRagged<A>) {
    static_assert(trace::inner_rows<P> == kInnerRows<A>,
                  "an lw::Ragged of rows is an argument for an lw::RaggedRow of rows");
    return argument.table();
  } else {
    const Input input(argument);
    return kIsTable<P> ? input.as_table() : input;
  }
}

/// The parameters that are rows of different lengths.
template <class... P>
constexpr auto ragged_params(std::type_identity<std::tuple<P...>>) {
  std::array<RaggedParam, (0 + ... + trace::is_ragged<P>)> found = {};
  [[maybe_unused]] std::size_t param = 0;
  [[maybe_unused]] std::size_t at = 0;
  ((trace::is_ragged<P> ? void(found[at++] = {param, trace::inner_rows<P>}) : void(), ++param),
   ...);
  return found;
}
template <class Params>
inline constexpr auto kRaggedParams = ragged_params(std::type_identity<Params>());

/// The dimensions of a parameter's elements.
template <class P>
inline constexpr int kRank = 0;
template <class T, int rank>
inline constexpr int kRank<Grid<T, rank>> = rank;

/// The shape of an argument's elements, or of what is shared.
types::Shape shape_of(const Input& input);

/// The symbolic parameter that a function is traced with.
template <class P>
P parameter_of(ir::ValueId value, const Input& input,
               [[maybe_unused]] std::span<const trace::Places> rows) {
  if constexpr (trace::is_ragged<P>) {
    return P(*std::find_if(rows.begin(), rows.end(),
                           [&](const trace::Places& row) { return row.table == value; }));
  } else if constexpr (kIsTable<P>) {
    return P(value);
  } else if constexpr (kRank<P> > 0) {
    return P(trace::array_view(value, shape_of(input)));
  } else {
    return P::of(value);
  }
}

template <class R>
inline constexpr std::size_t kResults = 1;
template <class... T>
inline constexpr std::size_t kResults<std::tuple<T...>> = sizeof...(T);
template <>
inline constexpr std::size_t kResults<void> = 0;  // it adds to accumulators

/// Records the parameters that stand behind the arguments: the bounds of rows, and the mask. Gives
/// the rows.
std::vector<trace::Places> ragged_rows(std::span<const ir::ValueId> values,
                                       std::span<const Input> inputs,
                                       std::span<const RaggedParam> ragged, bool is_masked);

[[noreturn]] void wrong_argument_type(std::size_t index, DType got, DType expected);
[[noreturn]] void wrong_argument_rank(std::size_t index, const types::Shape& got, int expected);
[[noreturn]] void wrong_argument_count(std::size_t got, std::size_t expected);

/// Calls `function` on symbolic parameters and returns what it did; rows that it gives go to
/// `rows`.
template <class F>
Traced trace_arguments(const F& function, const std::string& name, std::span<const Input> inputs,
                       [[maybe_unused]] std::vector<trace::RowResult>& rows) {
  using Params = typename Shape<F>::Params;
  using Result = typename Shape<F>::Result;
  constexpr std::size_t kCount = std::tuple_size_v<Params>;
  constexpr auto& kRagged = kRaggedParams<Params>;
  const bool is_masked = !inputs.empty() && inputs.back().is_mask;
  constexpr std::size_t kBounds = [] {
    std::size_t bounds = 0;
    for (const RaggedParam& param : kRagged) bounds += 2 + param.inner;
    return bounds;
  }();
  if (inputs.size() != kCount + kBounds + is_masked) wrong_argument_count(inputs.size(), kCount);
  trace::Trace trace(name);
  const auto parameter = [&]<std::size_t i>() {
    using P = std::tuple_element_t<i, Params>;
    using T = typename ElementOf<P>::type;
    const Input& input = inputs[i];
    if (input.type != types::dtype_of<T>) {
      wrong_argument_type(i, input.type, types::dtype_of<T>);
    }
    if (!kIsTable<P> && !trace::is_ragged<P> && shape_of(input).rank() != kRank<P>) {
      wrong_argument_rank(i, shape_of(input), kRank<P>);
    }
    return trace.builder().param("arg" + std::to_string(i), input.type, input.kind, input.row);
  };
  return [&]<std::size_t... i>(std::index_sequence<i...>) {
    [[maybe_unused]] const std::array<ir::ValueId, kCount> values = {
      parameter.template operator()<i>()...
    };
    const std::vector<trace::Places> ragged = ragged_rows(values, inputs, kRagged, is_masked);
    if constexpr (std::is_void_v<Result>) {
      function(parameter_of<std::tuple_element_t<i, Params>>(values[i], inputs[i], ragged)...);
      return finish(trace, {}, is_masked);
    } else {
      trace::ResultList results;
      trace::list_results(
          function(parameter_of<std::tuple_element_t<i, Params>>(values[i], inputs[i], ragged)...),
          results, rows);
      trace::write_rows(rows, results);
      return finish(trace, std::move(results), is_masked);
    }
  }(std::make_index_sequence<kCount>{});
}

template <class F>
Traced trace_function(const F& function, const std::string& name, std::span<const Input> inputs) {
  std::vector<trace::RowResult> rows;
  Traced traced = trace_arguments(function, name, inputs, rows);
  for (const trace::RowResult& one : rows) {
    traced.rows.push_back({one.place, one.row.offsets, one.type});
  }
  return traced;
}

/// Calls `use(options, arrays...)`; the options are the last argument, or left out.
template <class Use, class... A>
decltype(auto) with_options(const Use& use, const A&... arguments) {
  constexpr std::size_t kLast = sizeof...(A) > 0 ? sizeof...(A) - 1 : 0;
  using Last = std::tuple_element_t<kLast, std::tuple<A..., void>>;
  if constexpr (std::is_same_v<Last, MapOptions>) {
    const auto all = std::tie(arguments...);
    return [&]<std::size_t... i>(std::index_sequence<i...>) -> decltype(auto) {
      return use(std::get<kLast>(all), std::get<i>(all)...);
    }(std::make_index_sequence<kLast>{});
  } else {
    return use(MapOptions(), arguments...);
  }
}

}  // namespace api

/// Made by lw::vectorize. Calls from several threads are fine.
template <class F>
class Vectorized {
 public:
  using Params = typename api::Shape<F>::Params;
  using Result = typename api::Shape<F>::Result;
  static constexpr std::size_t kArguments = std::tuple_size_v<Params>;
  static constexpr bool kTakesRows = !api::kRaggedParams<Params>.empty();
  /// Which inputs are starts of rows: they and their stops follow the arguments.
  static constexpr auto kStarts = [] {
    std::array<std::size_t, api::kRaggedParams<Params>.size()> starts{};
    for (std::size_t i = 0; i < starts.size(); ++i) starts[i] = kArguments + 2 * i;
    return starts;
  }();

  Vectorized(F function, VectorizeOptions options)
      : plain_(std::move(function)),
        function_(
            [f = plain_, name = options.name](std::span<const Input> inputs) {
              return api::trace_function(f, name, inputs);
            },
            options) {}

  /// Maps over the arrays; one result gives a Tensor, several an array of them, none nothing. One
  /// that is rows of different lengths has all their values.
  /// Inside another traced function, with its variables, rows or matrices: what this one does
  /// becomes part of it.
  template <class... A>
    requires(sizeof...(A) == kArguments)
  auto operator()(const A&... arguments) {
    if constexpr ((... || (trace::is_variable<A> || trace::is_grid<A> || trace::is_ragged<A>))) {
      return Call(plain_, arguments...);
    } else {
      return with(MapOptions(), arguments...);
    }
  }
  template <class... A>
    requires(sizeof...(A) == kArguments)
  auto with(const MapOptions& options, const A&... arguments) {
    const auto inputs = inputs_of(arguments...);
    std::array<Tensor, api::kResults<Result>> results;
    if constexpr (kTakesRows) {
      api::call_ragged(function_, results, inputs, kStarts, options);
    } else {
      function_.call(results, inputs, options);
    }
    if constexpr (results.size() == 1) {
      return std::move(results[0]);
    } else if constexpr (results.size() > 1) {
      return results;
    }
  }
  /// Maps into memory the caller owns: one output, or several in braces.
  template <class... A>
    requires(sizeof...(A) == kArguments)
  runtime::RunStats into(std::initializer_list<Output> outputs, const MapOptions& options,
                         const A&... arguments) {
    const auto inputs = inputs_of(arguments...);
    const std::span all(outputs.begin(), outputs.size());
    if constexpr (kTakesRows) {
      return api::call_ragged_into(function_, all, inputs, kStarts, options);
    } else {
      return function_.call_into(all, inputs, options);
    }
  }
  template <class... A>
    requires(sizeof...(A) == kArguments)
  runtime::RunStats into(const Output& output, const MapOptions& options, const A&... arguments) {
    return into({output}, options, arguments...);
  }

  /// What happens, or happened, with such arguments; options of the call, if any, come last.
  template <class... A>
  Explanation explain(const A&... arguments) {
    return api::with_options(
        [&](const MapOptions& options, const auto&... arrays) {
          return function_.explain(inputs_of(arrays...), options);
        },
        arguments...);
  }
  /// The element program as text, likewise.
  template <class... A>
  std::string lower(const A&... arguments) {
    return api::with_options(
        [&](const MapOptions& options, const auto&... arrays) {
          return function_.lower(inputs_of(arrays...), options);
        },
        arguments...);
  }
  ElementFunction& element_function() { return function_; }

 private:
  template <class... A>
  static auto inputs_of(const A&... arguments) {
    static_assert(sizeof...(A) == kArguments, "as many arguments as the function has parameters");
    return [&]<std::size_t... i>(std::index_sequence<i...>) {
      const std::array<Input, sizeof...(A)> inputs = {
          api::input_for<std::tuple_element_t<i, Params>>(arguments)...};
      if constexpr (kTakesRows) {
        std::vector<Input> all(inputs.begin(), inputs.end());
        (add_bounds(arguments, all), ...);
        (add_inner(arguments, all), ...);
        api::check_rows(all, kArguments, api::kRaggedParams<Params>);
        return all;
      } else {
        return inputs;
      }
    }(std::make_index_sequence<sizeof...(A)>{});
  }
  template <class A>
  static void add_bounds([[maybe_unused]] const A& argument,
                         [[maybe_unused]] std::vector<Input>& inputs) {
    if constexpr (api::kIsRagged<A>) {
      inputs.push_back(argument.starts());
      inputs.push_back(argument.stops());
    }
  }
  template <class A>
  static void add_inner([[maybe_unused]] const A& argument,
                        [[maybe_unused]] std::vector<Input>& inputs) {
    if constexpr (api::kIsRagged<A>) {
      inputs.insert(inputs.end(), argument.inner().begin(), argument.inner().end());
    }
  }

  F plain_;
  ElementFunction function_;
};

template <class F>
Vectorized<F> vectorize(F function, VectorizeOptions options = {}) {
  return Vectorized<F>(std::move(function), std::move(options));
}

}  // namespace lw
