#include "lanewise/api/check_call.h"

#include <fmt/core.h>

#include <cmath>

#include "lanewise/base/error.h"

namespace lw::api {
namespace {

void check_table(const Input& table, std::size_t argument) {
  if (table.data == nullptr || table.size <= 0) {
    throw UsageError(
        fmt::format("map: argument {} is a table without values; got size {}, expected at least 1.",
                    argument, table.size));
  }
  if (table.stride != static_cast<std::int64_t>(types::size_of(table.type))) {
    throw UsageError(
        fmt::format("map: argument {} is a table whose values stand apart; got {} bytes from one "
                    "to the next, expected {}. Copy it first.",
                    argument, table.stride, types::size_of(table.type)));
  }
}

void check_strides(std::size_t got, std::size_t expected, const char* kind, std::size_t number) {
  if (got == expected) return;
  throw UsageError(
      fmt::format("map: {} {} has other dimensions; got strides along {}, expected {}, as many as "
                  "shape has.",
                  kind, number, got, expected));
}

bool overlaps(std::span<const std::int64_t> shape, const Output& output, const Input& input) {
  if (input.is_mapped()) return api::overlaps(shape, placed(output), placed(input));
  const auto bytes = input.size * static_cast<std::int64_t>(types::size_of(input.type));
  return api::touches(shape, placed(output), input.data, bytes);
}

}  // namespace

void check_options(const MapOptions& options) {
  const auto check = [](const char* option, std::int64_t value, const char* zero,
                        const char* unit) {
    if (value >= 0) return;
    throw UsageError(
        fmt::format("map: {} is negative; got {}, expected 0 for {} or a number of {}.", option,
                    value, zero, unit));
  };
  check("threads", options.threads, "all that the process may use", "threads");
  check("max_steps", options.max_steps, "no limit", "steps");
  check("chunk", options.chunk, "the library's choice", "elements");
  check("most_failures", options.most_failures, "none", "failures");
  if (options.watchdog < 0) {
    throw UsageError(fmt::format(
        "map: watchdog is negative; got {}, expected 0 for none or seconds.", options.watchdog));
  }
}

std::int64_t mapped_size(std::span<const Input> inputs, const MapOptions& options) {
  std::int64_t size = -1;
  std::size_t first = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Input& input = inputs[i];
    if (input.kind == ir::ParamKind::Table) check_table(input, i);
    if (!input.is_mapped()) continue;
    if (input.size < 0) {
      throw UsageError(fmt::format(
          "map: argument {} has a negative size; got {}, expected 0 or more.", i, input.size));
    }
    if (input.data == nullptr && input.size > 0) {
      throw UsageError(fmt::format(
          "map: argument {} has no data; got a null pointer with size {}, expected memory for its "
          "elements. Check that the array is allocated.",
          i, input.size));
    }
    if (size >= 0 && input.size != size) {
      throw UsageError(fmt::format(
          "map: arguments disagree on the mapped size; got {} (argument {}) and {} (argument {}), "
          "expected one size. Pass a plain number to share it between elements.",
          size, first, input.size, i));
    }
    if (size < 0) first = i;
    size = input.size;
  }
  if (options.count.value_or(0) < 0) {
    throw UsageError(fmt::format(
        "map: count is negative; got {}, expected 0 or a number of elements.", *options.count));
  }
  if (size < 0 && !options.count) {
    throw UsageError(
        "map: nothing to map over; got only shared numbers, expected at least one array, or a "
        "count of elements.");
  }
  if (size >= 0 && options.count.value_or(size) != size) {
    throw UsageError(
        fmt::format("map: count is not the mapped size; got {} and {} (argument {}). Leave it away "
                    "where there are arrays.",
                    *options.count, size, first));
  }
  return size >= 0 ? size : *options.count;
}

void check_shape(std::span<const Output> outputs, std::span<const Input> inputs,
                 const MapOptions& options, std::int64_t count) {
  if (options.shape.empty()) return;
  std::int64_t product = 1;
  for (const std::int64_t n : options.shape) product *= n;
  if (product != count) {
    throw UsageError(
        fmt::format("map: shape has another size; got {} elements, expected {}.", product, count));
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].is_mapped()) continue;
    check_strides(inputs[i].strides.size(), options.shape.size(), "argument", i);
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    check_strides(outputs[i].strides.size(), options.shape.size(), "output", i);
  }
}

void check_mask(std::span<const Input> inputs, const MapOptions& options) {
  if (options.mask < 0) return;
  const auto mask = static_cast<std::size_t>(options.mask);
  if (mask < inputs.size() && inputs[mask].is_mapped() && inputs[mask].type == DType::Bool) return;
  throw UsageError(
      fmt::format("map: mask is not an array of bools; got argument {}, expected the number of "
                  "one.",
                  options.mask));
}

std::vector<Input> with_mask(std::span<const Input> arguments, MapOptions& options) {
  std::vector<Input> inputs(arguments.begin(), arguments.end());
  Input& mask = inputs.emplace_back(*options.where);
  mask.is_mask = true;
  for (const Input& input : arguments) {
    if (!input.is_mapped() || input.size == mask.size) continue;
    throw UsageError(
        fmt::format("map: where has another size than the arrays; got {} bools for {} elements, "
                    "expected one for each.",
                    mask.size, input.size));
  }
  options.where.reset();
  options.mask = static_cast<int>(arguments.size());
  return inputs;
}

void check_output_count(std::size_t got, std::size_t expected) {
  if (got != expected) {
    throw UsageError(
        fmt::format("map: wrong number of outputs; got {}, expected {}.", got, expected));
  }
}

void check_outputs(std::span<const Output> outputs, std::span<const Input> inputs,
                   std::span<const types::Item> results, std::int64_t count,
                   const MapOptions& options) {
  check_output_count(outputs.size(), results.size());
  const std::span<const std::int64_t> shape =
      options.shape.empty() ? std::span(&count, 1) : options.shape;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Output& out = outputs[i];
    if (out.item() != results[i]) {
      throw UsageError(fmt::format("map: output {} has another type; got {}, expected {}.", i,
                                   types::to_string(out.item()), types::to_string(results[i])));
    }
    if (out.size != count) {
      throw UsageError(
          fmt::format("map: output {} has another size; got {}, expected {}, the mapped size.", i,
                      out.size, count));
    }
    if (out.data == nullptr && out.size > 0) {
      throw UsageError(
          fmt::format("map: output {} has no data; got a null pointer with size {}.", i, out.size));
    }
    if (api::overlaps_itself(shape, placed(out))) {
      throw UsageError(fmt::format(
          "map: output {} overlaps itself; got {} bytes from one element to the next, expected at "
          "least {}.",
          i, placed(out).strides.back(), out.item().bytes()));
    }
    for (std::size_t j = 0; j < inputs.size(); ++j) {
      if (inputs[j].kind != ir::ParamKind::Shared && overlaps(shape, out, inputs[j])) {
        throw UsageError(fmt::format(
            "map: output {} overlaps argument {}; got shared memory, expected separate arrays. "
            "Give another out, or none.",
            i, j));
      }
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (api::overlaps(shape, placed(out), placed(outputs[j]))) {
        throw UsageError(fmt::format("map: outputs {} and {} overlap.", j, i));
      }
    }
  }
}

namespace {

/// True for a number that an integer of this type is.
bool is_value(DType type, const Scalar& value) {
  if (types::is_float(type) || type == DType::Bool) return true;
  if (!types::is_float(value.type())) {
    const std::int64_t number = types::to_int64(value);
    return types::to_int64(types::scalar_of_bits(type, number)) == number;
  }
  const auto number =
      types::with_type(value.type(), [&]<class T>() { return static_cast<double>(value.as<T>()); });
  return number == std::nearbyint(number) && std::abs(number) < 0x1p63 &&
         types::to_int64(types::scalar_of(type, number)) == static_cast<std::int64_t>(number);
}

}  // namespace

void check_on_error(std::span<const types::Item> results, const MapOptions& options) {
  if (options.on_error == OnError::Collect && options.failures == nullptr) {
    throw UsageError(
        "map: failures are collected and nobody is told; got no Failures, expected one. Give "
        "failures, or let on_error be Fill.");
  }
  const std::size_t given = options.fill.size();
  if (given > 1 && given != results.size()) {
    throw UsageError(
        fmt::format("map: fill has another number of values than the function; got {}, expected 1, "
                    "or {}, one for each result.",
                    given, results.size()));
  }
  if (given == 0) return;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Scalar& value = options.fill[given > 1 ? i : 0];
    if (is_value(results[i].type, value)) continue;
    throw UsageError(
        fmt::format("map: fill does not fit result {}; got {}, expected a value of {}.", i,
                    types::to_string(value), types::name_of(results[i].type)));
  }
}

void check_rows_options(const MapOptions& options) {
  if (options.finished == nullptr) return;
  throw UsageError(
      "map: finished with rows of different lengths; got one, expected none: such a call ends as a "
      "whole.");
}

void check_new_results(const Finished& finished) {
  if (finished.count() == 0) return;
  throw UsageError(
      fmt::format("map: some elements are finished and the results are new arrays; got {} of them, "
                  "expected none. Give the memory that has their results: f.into(out, ...).",
                  finished.count()));
}

void refuse_unfinished_totals() {
  throw UsageError(
      "map: finished with accumulators; got one, expected none: their totals are of all elements. "
      "Return what elements add, or map fewer of them at a time.");
}

}  // namespace lw::api
