#include "lanewise/api/ragged_call.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>

#include "lanewise/api/by_length.h"
#include "lanewise/api/check_call.h"
#include "lanewise/api/row_lengths.h"
#include "lanewise/base/error.h"
#include "lanewise/runtime/failing.h"

namespace lw::api {
namespace {

using Offsets = std::vector<std::int64_t>;

std::int64_t values_of_rows(const Input& starts) { return offset_at(starts, starts.size); }

Offsets offsets_of(const Input& starts) {
  return with_offsets(starts,
                      [&](const auto* first) { return Offsets(first, first + starts.size + 1); });
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
    if (!options_.begin) options_.begin = std::chrono::steady_clock::now();  // of both passes
    if (!options.shape.empty() || !options.folds.empty()) {
      throw UsageError(
          "map: a shape or folds with rows of different lengths; got them, expected one dimension "
          "and none.");
    }
  }

  std::vector<Tensor> new_results(std::size_t count) {
    if (own_lengths(ready_.rows()) > 0) find_lengths();
    std::vector<Tensor> results;
    std::size_t plain = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const WrittenRows* const rows = rows_at(i);
      if (rows == nullptr) {
        results.push_back(ready_.new_result(plain++, count_));
        continue;
      }
      auto offsets = rows->offsets
                         ? std::make_shared<const Offsets>(offsets_of(inputs_[*rows->offsets]))
                         : found_.at(i);
      results.emplace_back(rows->type, offsets->back()).set_offsets(std::move(offsets));
    }
    return results;
  }

  runtime::RunStats run(std::span<const Output> outputs) {
    check_rows_options(options_);
    if (ready_.rows().empty()) return run_plain(outputs);
    const std::size_t own = own_lengths(ready_.rows());
    if (own > found_.size()) {
      throw UsageError(
          "map: memory for rows whose lengths only the function knows; got outputs, expected none. "
          "Leave them away, and the rows get theirs.");
    }
    // Lengths of such rows are results that nobody asked for, and so is the one number of a
    // function that gives nothing but rows.
    const std::span<const types::Item> stored = ready_.stored();
    const bool is_plain = outputs.size() > ready_.rows().size();
    const std::size_t asked = is_plain ? stored.size() - own : 0;
    check_output_count(outputs.size(), ready_.rows().size() + asked);
    std::vector<Output> plain;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (rows_at(i) == nullptr) plain.push_back(outputs[i]);
    }
    check_mask(inputs_, options_);
    check_outputs(plain, inputs_, stored.first(asked), count_, options_);
    for (const WrittenRows& rows : ready_.rows()) check_values(outputs, rows);
    std::vector<Tensor> unasked;
    for (std::size_t i = asked; i < stored.size(); ++i) {
      plain.emplace_back(unasked.emplace_back(ready_.new_result(i, count_)));
    }
    std::vector<Input> inputs = inputs_;
    for (const WrittenRows& rows : ready_.rows()) {
      if (!rows.offsets) add_bounds(*found_.at(rows.place), inputs);
      inputs.push_back(table_of({rows.type, outputs[rows.place].data, outputs[rows.place].size}));
    }
    if (options_.on_error == OnError::Raise) return run_rows(ready_, plain, inputs, options_);
    return run_and_fill(outputs, asked, plain, inputs);
  }

 private:
  /// Elements may fail, and the others go on.
  runtime::RunStats run_and_fill(std::span<const Output> outputs, std::size_t asked,
                                 std::span<const Output> plain, std::span<const Input> inputs) {
    std::vector<types::Item> items;
    for (const Output& output : outputs) items.push_back(output.item());
    check_on_error(items, options_);
    MapOptions options = options_;
    if (!options_.fill.empty()) {
      options.fill.assign(plain.size(), Scalar(std::int32_t{0}));
      std::size_t next = 0;
      for (std::size_t i = 0; i < outputs.size() && next < asked; ++i) {
        if (rows_at(i) != nullptr) continue;
        options.fill[next++] = options_.fill[options_.fill.size() > 1 ? i : 0];
      }
    }
    const auto failed = std::make_unique<bool[]>(static_cast<std::size_t>(count_));
    if (options.failed == nullptr) options.failed = failed.get();
    const runtime::RunStats stats = run_rows(ready_, plain, inputs, options);
    for (std::int64_t i = 0; i < count_; ++i) {
      if (!options.failed[i]) continue;
      for (const WrittenRows& rows : ready_.rows()) fill_row(outputs[rows.place], rows, i);
    }
    return stats;
  }

  void fill_row(const Output& output, const WrittenRows& rows, std::int64_t element) const {
    const Scalar value = runtime::filling_of(rows.type, options_.fill, rows.place);
    const auto at = [&](std::int64_t i) {
      return rows.offsets ? offset_at(inputs_[*rows.offsets], i)
                          : (*found_.at(rows.place))[static_cast<std::size_t>(i)];
    };
    auto* const data = static_cast<std::byte*>(output.data);
    const std::int64_t end = at(element + 1);
    for (std::int64_t j = at(element); j < end; ++j) value.store(data + j * output.stride);
  }

  /// That of a function that gives no rows.
  runtime::RunStats run_plain(std::span<const Output> outputs) {
    check_mask(inputs_, options_);
    check_outputs(outputs, inputs_, ready_.stored(), count_, options_);
    if (options_.on_error != OnError::Raise) check_on_error(ready_.stored(), options_);
    return run_rows(ready_, outputs, inputs_, options_);
  }

  /// The first pass: how long rows are that have lengths of their own, and so where they begin.
  void find_lengths() {
    Offsets none(static_cast<std::size_t>(count_) + 1);  // each is one less than the one before it
    std::iota(none.rbegin(), none.rend(), -count_);
    std::vector<Input> inputs = inputs_;
    std::vector<Tensor> lengths;
    for (const WrittenRows& rows : ready_.rows()) {
      if (!rows.offsets) {
        add_bounds(none, inputs);
        lengths.push_back(ready_.lengths().new_result(lengths.size(), count_));
      }
      inputs.push_back(table_of({rows.type, nullptr, 0}));
    }
    MapOptions options = options_;
    options.progress = nullptr;
    if (options.on_error != OnError::Raise) {  // rows that fail have no values
      options.on_error = OnError::Fill;
      options.fill = {Scalar(std::int32_t{0})};
      options.failures = nullptr;
      options.failed = nullptr;
    }
    run_rows(ready_.lengths(), std::vector<Output>(lengths.begin(), lengths.end()), inputs,
             options);
    auto length = lengths.begin();
    for (const WrittenRows& rows : ready_.rows()) {
      if (rows.offsets) continue;
      Offsets offsets = {0};
      for (const std::int32_t n : (length++)->span<std::int32_t>()) {
        offsets.push_back(offsets.back() + n);
      }
      found_[rows.place] = std::make_shared<const Offsets>(std::move(offsets));
    }
  }

  void add_bounds(const Offsets& offsets, std::vector<Input>& inputs) const {
    inputs.emplace_back(DType::I64, offsets.data(), count_);
    inputs.emplace_back(DType::I64, offsets.data() + 1, count_);
  }

  /// In the order of their lengths, where nobody sees it: totals are added up by one map.
  runtime::RunStats run_rows(ElementFunction::Ready ready, std::span<const Output> outputs,
                             std::span<const Input> inputs, const MapOptions& options) {
    const auto stands_together = [](const auto& array) {
      return array.stride == array.item().bytes();
    };
    const bool is_free = !ready.is_numbered() && ready.stored().size() == ready.results().size() &&
                         std::all_of(outputs.begin(), outputs.end(), stands_together) &&
                         std::all_of(inputs.begin(), inputs.end(), [&](const Input& input) {
                           return !input.is_mapped() || stands_together(input);
                         });
    if (!is_free) return function_.call_ready(ready, outputs, inputs, count_, options);
    return call_by_length(function_, ready, outputs, inputs, longest(), options);
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
    const std::int64_t values =
        rows.offsets ? values_of_rows(inputs_[*rows.offsets]) : found_.at(rows.place)->back();
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
  std::span<const std::size_t> starts_;                          // which inputs are starts of rows
  std::map<std::size_t, std::shared_ptr<const Offsets>> found_;  // by the place of the result
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
