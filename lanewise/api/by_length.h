// Rows of different lengths in an order in which lanes side by side have like ones, so that none
// waits long for another. Nobody sees that order: results are where they belong, and a block in
// which an element fails is run again as it stands, to find the first, or all of them.
#pragma once

#include "lanewise/api/function.h"

namespace lw::api {

/// Runs a program whose elements have rows that begin at `starts`, an array with one more offset
/// behind it. Arrays stand together, and elements may not know their numbers.
runtime::RunStats call_by_length(ElementFunction& function, ElementFunction::Ready ready,
                                 std::span<const Output> outputs, std::span<const Input> inputs,
                                 const Input& starts, const MapOptions& options);

/// What it needs beside the calls, at most, for so many rows of which each has so many bytes in
/// arguments and outputs.
std::int64_t by_length_bytes(std::int64_t rows, std::int64_t row_bytes);

}  // namespace lw::api
