// Calls of functions that take rows of different lengths, and may give rows back: as long as those
// of an argument, or of lengths that a first pass over the elements finds (api/row_lengths.h).
#pragma once

#include "lanewise/api/function.h"
#include "lanewise/api/ragged.h"

namespace lw::api {

/// Maps over the inputs into new tensors, or the caller's memory. A result that is rows has all
/// values of all rows, one row behind the other. `starts` says which inputs are starts of rows.
void call_ragged(ElementFunction& function, std::span<Tensor> results,
                 std::span<const Input> inputs, std::span<const std::size_t> starts,
                 const MapOptions& options);
runtime::RunStats call_ragged_into(ElementFunction& function, std::span<const Output> outputs,
                                   std::span<const Input> inputs,
                                   std::span<const std::size_t> starts, const MapOptions& options);

}  // namespace lw::api
