// What is looked at before a call: each throws a UsageError that says what is wrong.
#pragma once

#include "lanewise/api/function.h"
#include "lanewise/api/layout.h"

namespace lw::api {

void check_options(const MapOptions& options);
/// The one size of all mapped inputs; without any, as many as were asked for.
std::int64_t mapped_size(std::span<const Input> inputs, const MapOptions& options);
/// Where dimensions are given, every array must have strides along all of them.
void check_shape(std::span<const Output> outputs, std::span<const Input> inputs,
                 const MapOptions& options, std::int64_t count);
void check_mask(std::span<const Input> inputs, const MapOptions& options);
/// The arguments with `where` behind them, which the options then say no more.
std::vector<Input> with_mask(std::span<const Input> arguments, MapOptions& options);
void check_output_count(std::size_t got, std::size_t expected);
void check_outputs(std::span<const Output> outputs, std::span<const Input> inputs,
                   std::span<const types::Item> results, std::int64_t count,
                   const MapOptions& options);
/// Where elements may fail: there is a place for what is told of them, and values that fit these
/// results.
void check_on_error(std::span<const types::Item> results, const MapOptions& options);
/// Calls with rows of different lengths end as a whole.
void check_rows_options(const MapOptions& options);
/// New arrays have nothing of what is finished.
void check_new_results(const Finished& finished);
/// Totals are of all elements or of none.
[[noreturn]] void refuse_unfinished_totals();

/// Array `a` of a call whose arrays have this shape.
template <class Array>
api::Placed placed(const Array& a) {
  return {.data = a.data,
          .size = a.item().bytes(),
          .strides = a.strides.empty() ? std::span(&a.stride, 1) : a.strides};
}

}  // namespace lw::api
