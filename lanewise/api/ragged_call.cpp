#include "lanewise/api/ragged_call.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>

#include "lanewise/api/check_call.h"
#include "lanewise/base/error.h"
#include "lanewise/runtime/ragged.h"

namespace lw::api {
namespace {

constexpr std::int64_t kBlock = 1 << 16;   // rows that are done at a time
constexpr std::int64_t kValues = 1 << 17;  // values that are computed at a time

std::int64_t bytes_of(DType type) { return static_cast<std::int64_t>(types::size_of(type)); }

/// Calls `use` with the offsets as numbers of their own type.
template <class Use>
auto with_offsets(const Input& starts, const Use& use) {
  if (starts.type == DType::I32) return use(static_cast<const std::int32_t*>(starts.data));
  return use(static_cast<const std::int64_t*>(starts.data));
}

std::int64_t values_of_rows(const Input& starts) {
  return with_offsets(starts, [&](const auto* at) -> std::int64_t { return at[starts.size]; });
}

/// Spreads numbers of rows, from `begin` to before `end`, over their values from `low` on.
void spread(const Tensor& numbers, std::int64_t begin, std::int64_t end, const Input& starts,
            std::int64_t first_row, std::int64_t low, const Output& to) {
  const auto of = [&]<class Number>(Number) {
    const auto* const data = static_cast<const Number*>(numbers.data());
    const auto count = static_cast<std::size_t>(end - begin);
    with_offsets(starts, [&](const auto* at) {
      runtime::spread(std::span(data + begin, count), at + first_row + begin, low,
                      std::span(static_cast<Number*>(to.data), static_cast<std::size_t>(to.size)));
    });
  };
  switch (types::size_of(numbers.type())) {
    case 1:
      return of(std::uint8_t{});
    case 2:
      return of(std::uint16_t{});
    case 4:
      return of(std::uint32_t{});
    default:
      return of(std::uint64_t{});
  }
}

/// The error of an element of a part of the call, for the row that it is in.
ElementError renumbered(const ElementError& error, std::int64_t row) {
  std::string message = error.what();
  const std::string number = fmt::format("element {}", error.element());
  if (const std::size_t at = message.find(number); at != std::string::npos) {
    message.replace(at, number.size(), fmt::format("element {}", row));
  }
  return {message, row};
}

/// The elements from one on of an array.
template <class Array>
Array part(Array array, std::int64_t first, std::int64_t count) {
  using Byte = std::conditional_t<std::is_same_v<Array, Input>, const std::byte, std::byte>;
  array.data = static_cast<Byte*>(array.data) + first * array.stride;
  array.size = count;
  return array;
}

/// A call, block by block of rows: the program of the rows, and then those of values.
class RaggedCall {
 public:
  RaggedCall(ElementFunction& function, std::span<const Input> inputs, const MapOptions& options)
      : function_(function),
        inputs_(inputs),
        options_(options),
        count_(mapped_size(inputs, options)),
        ready_(function.prepare(inputs, options)),
        plain_(ready_.rows().empty() ? ready_.stored().size() : ready_.rows()[0].plain) {
    if (!options.shape.empty() || !options.folds.empty()) {
      throw UsageError(
          "map: a shape or folds with results that are rows of different lengths; got them, "
          "expected one dimension and none.");
    }
  }

  bool gives_rows() const { return !ready_.rows().empty(); }

  std::vector<Tensor> new_results() const {
    std::vector<Tensor> results;
    std::size_t plain = 0;
    for (std::size_t i = 0; i < plain_ + ready_.rows().size(); ++i) {
      const RowProgram* const rows = rows_at(i);
      if (rows == nullptr) {
        results.push_back(ready_.new_result(plain++, count_));
      } else {
        results.emplace_back(rows->type, values_of_rows(inputs_[rows->offsets]));
      }
    }
    return results;
  }

  runtime::RunStats run(std::span<const Output> outputs) {
    check_rows_on_error(options_);
    check_output_count(outputs.size(), plain_ + ready_.rows().size());
    std::vector<Output> plain;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (rows_at(i) == nullptr) plain.push_back(outputs[i]);
    }
    check_outputs(plain, inputs_, ready_.stored().first(plain_), count_, options_);
    for (const RowProgram& rows : ready_.rows()) check_values(outputs, rows);
    // What is added up is added up by one map.
    const bool is_whole = ready_.stored().size() < ready_.results().size();
    const std::int64_t block = is_whole ? std::max<std::int64_t>(count_, 1) : kBlock;
    for (std::int64_t first = 0; first < count_; first += block) {
      run_block(outputs, plain, first, std::min(block, count_ - first));
    }
    return stats_;
  }

 private:
  const RowProgram* rows_at(std::size_t place) const {
    const std::vector<RowProgram>& all = ready_.rows();
    const auto at = std::find_if(all.begin(), all.end(),
                                 [&](const RowProgram& rows) { return rows.place == place; });
    return at == all.end() ? nullptr : &*at;
  }

  void check_values(std::span<const Output> outputs, const RowProgram& rows) const {
    const Output& out = outputs[rows.place];
    const std::int64_t values = values_of_rows(inputs_[rows.offsets]);
    if (out.type != rows.type || out.row > 0 || out.stride != bytes_of(out.type)) {
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

  void run_block(std::span<const Output> outputs, std::span<const Output> plain, std::int64_t first,
                 std::int64_t count) {
    std::vector<Output> results;
    for (const Output& output : plain) results.push_back(part(output, first, count));
    std::vector<Tensor> numbers;
    for (std::size_t i = plain_; i < ready_.stored().size(); ++i) {
      results.emplace_back(numbers.emplace_back(ready_.new_result(i, count)));
    }
    std::vector<Input> inputs;
    for (const Input& input : inputs_) {
      inputs.push_back(input.is_mapped() ? part(input, first, count) : input);
    }
    try {
      add(function_.call_ready(ready_, results, inputs, count, options(first)));
    } catch (const ElementError& error) {
      throw renumbered(error, first + error.element());
    }
    for (const RowProgram& rows : ready_.rows()) {
      run_values(rows, outputs[rows.place], numbers, first, count);
    }
  }

  /// Computes the values of the rows of a block.
  void run_values(const RowProgram& rows, const Output& output, std::span<const Tensor> numbers,
                  std::int64_t first, std::int64_t count) {
    const Input& starts = inputs_[rows.offsets];
    const bool has_numbers = std::any_of(rows.uses.begin(), rows.uses.end(),
                                         [](const trace::RowUse& use) { return use.is_number; });
    const auto offset = [&](std::int64_t row) {
      return with_offsets(starts, [&](const auto* at) -> std::int64_t { return at[row]; });
    };
    /// The row, of those of the block, that a value is in.
    const auto row_of = [&](std::int64_t value) {
      return with_offsets(starts, [&](const auto* at) -> std::int64_t {
        return std::upper_bound(at + first, at + first + count, value) - at - 1;
      });
    };
    const std::int64_t end = offset(first + count);
    const std::int64_t step = has_numbers ? kValues : std::max<std::int64_t>(end, 1);
    std::vector<Tensor> scratch(rows.uses.size());
    for (std::int64_t low = offset(first); low < end; low += step) {
      const std::int64_t size = std::min(step, end - low);
      std::vector<Input> inputs;
      for (std::size_t i = 0; i < rows.uses.size(); ++i) {
        const auto [is_number, index] = rows.uses[i];
        if (!is_number) {
          inputs.push_back(values_at(inputs_[index], low, size));
          continue;
        }
        const Tensor& of_rows = numbers[index - plain_];
        if (scratch[i].size() < size) scratch[i] = Tensor(of_rows.type(), size);
        const Output to = part(Output(scratch[i]), 0, size);
        spread(of_rows, row_of(low) - first, row_of(low + size - 1) + 1 - first, starts, first, low,
               to);
        inputs.emplace_back(of_rows.type(), to.data, size);
      }
      const Output to = part(output, low, size);
      try {
        MapOptions own = options(0);
        own.progress = nullptr;
        const ElementFunction::Ready program = rows.program->prepare(inputs, own);
        rows.program->call_ready(program, {&to, 1}, inputs, size, own);
      } catch (const ElementError& error) {
        throw renumbered(error, row_of(low + error.element()));
      }
    }
  }

  static Input values_at(const Input& table, std::int64_t low, std::int64_t size) {
    const auto* const data = static_cast<const std::byte*>(table.data);
    return {table.type, data + low * bytes_of(table.type), size};
  }

  /// Those for a part of the call, which has the time that is left.
  MapOptions options(std::int64_t first) const {
    MapOptions own = options_;
    own.count.reset();
    own.first_element += first;
    if (options_.progress && first > 0) {
      own.progress = [this, first](std::int64_t done) { options_.progress(first + done); };
    }
    if (options_.timeout > 0) {
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin_;
      own.timeout = std::max(options_.timeout - taken.count(), 1e-3);
    }
    return own;
  }

  void add(const runtime::RunStats& block) {
    const runtime::RunStats before = stats_;
    stats_ = block;
    stats_.tier0_elements += before.tier0_elements;
    stats_.tier1_elements += before.tier1_elements;
    stats_.peak_bytes = std::max(stats_.peak_bytes, before.peak_bytes);
  }

  ElementFunction& function_;
  std::span<const Input> inputs_;
  const MapOptions& options_;
  std::int64_t count_;
  ElementFunction::Ready ready_;
  std::size_t plain_;  // results of the program of the rows that are results of the call
  runtime::RunStats stats_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace

std::vector<RowProgram> row_programs(std::span<const trace::RowResult> rows, std::size_t plain,
                                     const std::string& name) {
  std::vector<RowProgram> programs;
  for (const trace::RowResult& result : rows) {
    RowProgram& one = programs.emplace_back();
    one.place = result.place;
    one.plain = plain;
    one.offsets = result.row.offsets;
    const ir::Function values = trace::record_values(result, name + "_values", one.uses);
    one.type = values.results[0].type;
    one.program = std::make_shared<ElementFunction>(
        [values](std::span<const Input>) { return Traced(values); },
        VectorizeOptions{.name = name + "_values", .schedule = {}});
  }
  return programs;
}

void call_ragged(ElementFunction& function, std::span<Tensor> results,
                 std::span<const Input> inputs, const MapOptions& options) {
  if (options.where) return function.call(results, inputs, options);
  RaggedCall call(function, inputs, options);
  if (!call.gives_rows()) return function.call(results, inputs, options);
  const std::vector<Tensor> fresh = call.new_results();
  check_output_count(results.size(), fresh.size());
  call.run(std::vector<Output>(fresh.begin(), fresh.end()));
  std::copy(fresh.begin(), fresh.end(), results.begin());
}

runtime::RunStats call_ragged_into(ElementFunction& function, std::span<const Output> outputs,
                                   std::span<const Input> inputs, const MapOptions& options) {
  if (options.where) return function.call_into(outputs, inputs, options);
  RaggedCall call(function, inputs, options);
  if (!call.gives_rows()) return function.call_into(outputs, inputs, options);
  return call.run(outputs);
}

}  // namespace lw::api
