// lw::map: the one-shot form of lw::vectorize. Options, if any, come last.
//
//   lw::Tensor y = lw::map([](lw::f32 x) { return sin(x); }, xs);
//   lw::map_into(ys, [](lw::f32 x) { return 2 * x; }, xs, lw::MapOptions{.threads = 2});
//
// A function without captures is recorded once per signature and kept for the rest of the process,
// as if it had been vectorized; a global that it reads is read then. One with captures, or given by
// pointer, is recorded at every call; its program is then found by its content and not compiled
// again.
#pragma once

#include "lanewise/api/vectorize.h"

namespace lw {
namespace api {

/// Calls `use` with the vectorized function.
template <class F, class Use>
decltype(auto) with_vectorized(const F& function, const Use& use) {
  if constexpr (std::is_empty_v<F>) {
    static auto& kept = *new Vectorized<F>(function, {});  // outlives every other static object
    return use(kept);
  } else {
    Vectorized<F> fresh(function, {});
    return use(fresh);
  }
}

}  // namespace api

/// Maps over the arrays, which may be whatever a vectorized function takes; one result gives a
/// Tensor, several an array of them.
template <class F, class... A>
  requires(sizeof...(A) > 0)
auto map(F function, const A&... arrays_and_options) {
  return api::with_vectorized(function, [&](Vectorized<F>& f) {
    return api::with_options([&](const MapOptions& options,
                                 const auto&... arrays) { return f.with(options, arrays...); },
                             arrays_and_options...);
  });
}

/// Maps into memory the caller owns: one output, or several in braces.
template <class F, class... A>
  requires(sizeof...(A) > 0)
runtime::RunStats map_into(std::initializer_list<Output> outputs, F function,
                           const A&... arrays_and_options) {
  return api::with_vectorized(function, [&](Vectorized<F>& f) {
    return api::with_options(
        [&](const MapOptions& options, const auto&... arrays) {
          return f.into(outputs, options, arrays...);
        },
        arrays_and_options...);
  });
}
template <class F, class... A>
  requires(sizeof...(A) > 0)
runtime::RunStats map_into(const Output& output, F function, const A&... arrays_and_options) {
  return map_into({output}, std::move(function), arrays_and_options...);
}

}  // namespace lw
