// Calls of functions that take rows of different lengths, and may give rows back that are as long
// as those of an argument.
#pragma once

#include "lanewise/api/function.h"

namespace lw::api {

/// The programs of the values of rows, of a function that gives `plain` other results; no trace may
/// be open.
std::vector<RowProgram> row_programs(std::span<const trace::RowResult> rows, std::size_t plain,
                                     const std::string& name);

/// Maps over the inputs into new tensors, or the caller's memory. A result that is rows has all
/// values of all rows, which stand as those of the argument do.
void call_ragged(ElementFunction& function, std::span<Tensor> results,
                 std::span<const Input> inputs, const MapOptions& options);
runtime::RunStats call_ragged_into(ElementFunction& function, std::span<const Output> outputs,
                                   std::span<const Input> inputs, const MapOptions& options);

}  // namespace lw::api
