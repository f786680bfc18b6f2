#include "lanewise/api/fold.h"

#include <fmt/core.h>

#include "lanewise/api/row_accumulators.h"

namespace lw::api {
namespace {

bool is_number(const types::Shape& shape) { return shape.rank() == 0; }

/// As an argument of the function that combines has it.
Input input_of(DType type, const types::Shape& shape, const void* data, std::int64_t count) {
  const Input values(type, data, count * shape.count());
  return is_number(shape) ? values : values.in_shape(shape);
}

}  // namespace

FoldOfViews::FoldOfViews(std::vector<DType> types, Combine combine)
    : types_(std::move(types)),
      combine_(std::move(combine)),
      function_(
          [this](std::span<const Input> inputs) {
            trace::Trace trace("combine");
            Views both;
            for (const Input& input : inputs) {
              const ir::ValueId value =
                  trace.builder().param("arg", input.type, input.kind, input.row);
              both.push_back(input.row > 0 ? trace::array_view(value, shape_of(input))
                                           : trace::number_view(value));
            }
            trace::ResultList results;
            for (const trace::View& view : combined(both, {})) results.add(view.base, view.shape);
            return finish(trace, std::move(results), false);
          },
          {.name = "combine", .schedule = {}}),
      combine_many_([this](const void* const* inputs, void* const* results, std::int64_t count) {
        combine_many(inputs, results, count);
      }) {}

FoldOfViews::Views FoldOfViews::combined(const Views& both, std::span<const ir::ValueId> taken) {
  trace::Trace& trace = trace::Trace::current();
  trace.begin_call();
  const Views given = combine_(both);
  std::vector<ir::ValueId> values(taken.begin(), taken.end());
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i].shape != shapes_[i]) {
      trace::refuse(
          fmt::format("Fold: the function gives another shape than it takes; got {}, expected {}.",
                      types::to_string(given[i].shape), types::to_string(shapes_[i])));
    }
    values.push_back(is_number(shapes_[i]) ? trace::number_of(given[i])
                                           : trace::result_of(given[i], values));
  }
  values = trace.end_call(std::span(values).subspan(taken.size()));
  Views results;
  for (std::size_t i = 0; i < given.size(); ++i) {
    results.push_back(is_number(shapes_[i]) ? trace::number_view(values[i])
                                            : trace::array_view(values[i], shapes_[i]));
  }
  return results;
}

void FoldOfViews::check_shapes(const Views& values) {
  if (shapes_.empty()) {
    for (const trace::View& view : values) {
      if (!is_number(view.shape)) checked_row_size(view.shape.count());
      shapes_.push_back(view.shape);
    }
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].shape == shapes_[i]) continue;
    trace::refuse(fmt::format("Fold: another shape than before; got {}, expected {}.",
                              types::to_string(values[i].shape), types::to_string(shapes_[i])));
  }
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (values_[i].size() == bytes_of(i)) continue;
    trace::refuse(fmt::format(
        "Fold: another number of values than the start has; got the shape {}, expected {} values.",
        types::to_string(shapes_[i]), values_[i].size() / types::size_of(types_[i])));
  }
}

FoldOfViews::Views FoldOfViews::present() {
  Views views;
  for (std::size_t i = 0; i < types_.size(); ++i) {
    const ir::ValueId place = partials()[1 + i];
    views.push_back(is_number(shapes_[i]) ? trace::number_view(trace::Trace::current().read(place))
                                          : trace::array_view(place, shapes_[i]));
  }
  return views;
}

void FoldOfViews::write(const Views& values) {
  trace::Trace& trace = trace::Trace::current();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const ir::ValueId place = partials()[1 + i];
    if (is_number(shapes_[i])) {
      trace.write(place, trace::number_of(values[i]));
    } else {
      trace::assign(trace::array_view(place, shapes_[i]), values[i]);
    }
  }
}

void FoldOfViews::add_views(const Views& values) {
  check_shapes(values);
  trace::Trace& trace = trace::Trace::current();
  trace.require_own(0);  // what it has is there before all that is recorded
  if (partials().empty()) {
    std::vector<ir::ValueId> places = {trace.first_slot(Scalar(false))};
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Scalar zero = types::scalar_of(types_[i], 0);
      const auto size = static_cast<std::uint32_t>(shapes_[i].count());
      places.push_back(is_number(shapes_[i]) ? trace.first_slot(zero)
                                             : trace.first_array(zero, size));
    }
    partials() = std::move(places);
  }
  const boolean is_there = boolean::of(trace.read(partials()[0]));
  If(
      is_there,
      [&] {
        Views both = present();
        both.insert(both.end(), values.begin(), values.end());
        write(combined(both, partials()));
      },
      [&] { write(values); });
  trace.write(partials()[0], trace::always());
}

std::size_t FoldOfViews::bytes_of(std::size_t i) const {
  return types::size_of(types_[i]) * static_cast<std::size_t>(shapes_[i].count());
}

std::vector<runtime::Fold> FoldOfViews::folds(std::size_t results) {
  std::int64_t size = 0;
  for (const types::Shape& shape : shapes_) size += shape.count();
  total_.resize(static_cast<std::size_t>(1 + size));
  runtime::Fold all = fold(runtime::Fold::Kind::Combine, DType::Bool, total_.data(), results, size);
  all.combine = &combine_many_;
  return {all};
}

void FoldOfViews::take() {
  if (total_[0] == 0) return;
  Values total;
  const std::uint64_t* cell = total_.data() + 1;
  for (std::size_t i = 0; i < types_.size(); ++i) {
    std::vector<std::byte>& values = total.emplace_back(bytes_of(i));
    const std::size_t size = types::size_of(types_[i]);
    for (std::size_t at = 0; at < values.size(); at += size) {
      std::memcpy(values.data() + at, cell++, size);
    }
  }
  if (values_.empty()) return set(std::move(total));
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  for (const Values* const group : {&values_, &total}) {
    for (const std::vector<std::byte>& values : *group) inputs.push_back(values.data());
  }
  Values results = total;
  for (std::vector<std::byte>& values : results) outputs.push_back(values.data());
  combine_many(inputs.data(), outputs.data(), 1);
  set(std::move(results));
}

void FoldOfViews::combine_many(const void* const* inputs, void* const* results,
                               std::int64_t count) {
  std::vector<Input> both;
  std::vector<Output> outputs;
  const std::size_t size = types_.size();
  for (std::size_t i = 0; i < 2 * size; ++i) {
    both.push_back(input_of(types_[i % size], shapes_[i % size], inputs[i], count));
  }
  for (std::size_t i = 0; i < size; ++i) {
    const Output values(types_[i], results[i], count * shapes_[i].count());
    const auto row = static_cast<std::uint32_t>(shapes_[i].count());
    outputs.push_back(is_number(shapes_[i]) ? values : values.in_rows(row));
  }
  function_.call_into(outputs, both, {.threads = 1});
}

}  // namespace lw::api
