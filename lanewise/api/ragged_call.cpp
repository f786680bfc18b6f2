#include "lanewise/api/ragged_call.h"

#include <fmt/core.h>

#include <algorithm>

#include "lanewise/api/by_length.h"
#include "lanewise/api/check_call.h"
#include "lanewise/base/error.h"

namespace lw::api {
namespace {

std::int64_t values_of_rows(const Input& starts) {
  if (starts.type == DType::I32) return static_cast<const std::int32_t*>(starts.data)[starts.size];
  return static_cast<const std::int64_t*>(starts.data)[starts.size];
}

/// A call: elements write their rows to targets, which follow the arguments.
class RaggedCall {
 public:
  RaggedCall(ElementFunction& function, std::span<const Input> inputs,
             std::span<const std::size_t> starts, const MapOptions& options)
      : function_(function),
        options_(options),
        inputs_(options.where ? with_mask(inputs, options_)
                              : std::vector<Input>(inputs.begin(), inputs.end())),
        count_(mapped_size(inputs_, options_)),
        ready_(function.prepare(inputs_, options_)),
        starts_(starts) {
    if (!options.shape.empty() || !options.folds.empty()) {
      throw UsageError(
          "map: a shape or folds with rows of different lengths; got them, expected one dimension "
          "and none.");
    }
  }

  std::vector<Tensor> new_results(std::size_t count) const {
    std::vector<Tensor> results;
    std::size_t plain = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const WrittenRows* const rows = rows_at(i);
      if (rows == nullptr) {
        results.push_back(ready_.new_result(plain++, count_));
      } else {
        results.emplace_back(rows->type, values_of_rows(inputs_[rows->offsets]));
      }
    }
    return results;
  }

  runtime::RunStats run(std::span<const Output> outputs) {
    check_rows_options(options_);
    if (ready_.rows().empty()) return run_plain(outputs);
    // A function that gives nothing but rows has a number, which nobody asked for.
    const std::size_t stored = ready_.stored().size();
    const bool is_plain = outputs.size() > ready_.rows().size();
    check_output_count(outputs.size(), ready_.rows().size() + (is_plain ? stored : 0));
    std::vector<Output> plain;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (rows_at(i) == nullptr) plain.push_back(outputs[i]);
    }
    check_mask(inputs_, options_);
    if (is_plain) check_outputs(plain, inputs_, ready_.stored(), count_, options_);
    for (const WrittenRows& rows : ready_.rows()) check_values(outputs, rows);
    Tensor unused;
    if (!is_plain) plain.emplace_back(unused = ready_.new_result(0, count_));
    std::vector<Input> inputs = inputs_;
    for (const WrittenRows& rows : ready_.rows()) {
      inputs.push_back(table_of({rows.type, outputs[rows.place].data, outputs[rows.place].size}));
    }
    return run_rows(plain, inputs);
  }

 private:
  /// That of a function that gives no rows.
  runtime::RunStats run_plain(std::span<const Output> outputs) {
    check_mask(inputs_, options_);
    check_outputs(outputs, inputs_, ready_.stored(), count_, options_);
    return run_rows(outputs, inputs_);
  }

  /// In the order of their lengths, where nobody sees it: totals are added up by one map.
  runtime::RunStats run_rows(std::span<const Output> outputs, std::span<const Input> inputs) {
    const auto stands_together = [](const auto& array) {
      return array.stride == array.item().bytes();
    };
    const bool is_free = !ready_.is_numbered() &&
                         ready_.stored().size() == ready_.results().size() &&
                         std::all_of(outputs.begin(), outputs.end(), stands_together) &&
                         std::all_of(inputs.begin(), inputs.end(), [&](const Input& input) {
                           return !input.is_mapped() || stands_together(input);
                         });
    if (!is_free) return function_.call_ready(ready_, outputs, inputs, count_, options_);
    return call_by_length(function_, ready_, outputs, inputs, longest(), options_);
  }

  /// The starts of the rows that have the most values.
  const Input& longest() const {
    const Input* found = nullptr;
    for (const std::size_t starts : starts_) {
      const Input& one = inputs_[starts];
      if (found == nullptr || values_of_rows(one) > values_of_rows(*found)) found = &one;
    }
    return *found;
  }

  const WrittenRows* rows_at(std::size_t place) const {
    const std::vector<WrittenRows>& all = ready_.rows();
    const auto at = std::find_if(all.begin(), all.end(),
                                 [&](const WrittenRows& rows) { return rows.place == place; });
    return at == all.end() ? nullptr : &*at;
  }

  void check_values(std::span<const Output> outputs, const WrittenRows& rows) const {
    const Output& out = outputs[rows.place];
    const std::int64_t values = values_of_rows(inputs_[rows.offsets]);
    const auto bytes = static_cast<std::int64_t>(types::size_of(out.type));
    if (out.type != rows.type || out.row > 0 || out.stride != bytes) {
      throw UsageError(fmt::format(
          "map: output {} does not fit rows of results; got {}, expected {}, all values of all "
          "rows one behind the other.",
          rows.place, types::to_string(out.item()), types::name_of(rows.type)));
    }
    if (out.size != values || (out.data == nullptr && values > 0)) {
      throw UsageError(
          fmt::format("map: output {} has another size; got {}, expected {}, the number of values "
                      "of all rows.",
                      rows.place, out.size, values));
    }
    const auto touches = [&](const auto& array) {
      return array.data != nullptr && array.size > 0 && values > 0 &&
             api::touches(std::span(&values, 1), placed(out), array.data,
                          (array.size - 1) * array.stride + array.item().bytes());
    };
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (!touches(inputs_[i])) continue;
      throw UsageError(fmt::format(
          "map: output {} overlaps an argument; got shared memory, expected separate arrays. Give "
          "another out, or none.",
          rows.place));
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (i == rows.place || !touches(outputs[i])) continue;
      throw UsageError(fmt::format("map: outputs {} and {} overlap.", std::min(i, rows.place),
                                   std::max(i, rows.place)));
    }
  }

  ElementFunction& function_;
  MapOptions options_;
  std::vector<Input> inputs_;
  std::int64_t count_;
  ElementFunction::Ready ready_;
  std::span<const std::size_t> starts_;  // which inputs are starts of rows
};

}  // namespace

void call_ragged(ElementFunction& function, std::span<Tensor> results,
                 std::span<const Input> inputs, std::span<const std::size_t> starts,
                 const MapOptions& options) {
  if (options.where) return function.call(results, inputs, options);
  RaggedCall call(function, inputs, starts, options);
  const std::vector<Tensor> fresh = call.new_results(results.size());
  call.run(std::vector<Output>(fresh.begin(), fresh.end()));
  std::copy(fresh.begin(), fresh.end(), results.begin());
}

runtime::RunStats call_ragged_into(ElementFunction& function, std::span<const Output> outputs,
                                   std::span<const Input> inputs,
                                   std::span<const std::size_t> starts, const MapOptions& options) {
  return RaggedCall(function, inputs, starts, options).run(outputs);
}

}  // namespace lw::api
