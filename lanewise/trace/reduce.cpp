#include "lanewise/trace/reduce.h"

#include <fmt/core.h>

#include <algorithm>

#include "lanewise/trace/arrange.h"
#include "lanewise/trace/space.h"

namespace lw::trace {
namespace {

using ops::Op;
using Axes = std::vector<int>;  // ascending

ir::Builder& build() { return Trace::current().builder(); }

/// The type in which values are combined.
DType wide(DType type) { return type == DType::F16 || type == DType::BF16 ? DType::F32 : type; }

std::string_view name_of(Reduction reduction) {
  constexpr std::string_view kNames[] = {"sum",    "prod",   "min",      "max",  "any",
                                         "all",    "argmin", "argmax",   "mean", "var",
                                         "stddev", "norm",   "logsumexp"};
  return kNames[static_cast<std::size_t>(reduction)];
}

std::vector<std::uint32_t> sizes_of(const View& view, std::span<const int> axes) {
  std::vector<std::uint32_t> sizes;
  for (const int d : axes) sizes.push_back(view.shape[d]);
  return sizes;
}

Steps steps_of(const View& view, std::span<const int> axes) {
  const Steps all = trace::steps_of(view);
  Steps steps;
  for (const int d : axes) steps.push_back(all[d]);
  return steps;
}

/// What becomes of the values along axes, converted to `type`; the axes are gone.
View collect(View view, Axes axes, ir::Collect how, DType type) {
  require_here(view);
  Axes others;
  for (int d = 0; d < view.rank(); ++d) {
    if (std::find(axes.begin(), axes.end(), d) == axes.end()) others.push_back(d);
  }
  Joined inner = join(sizes_of(view, axes), {steps_of(view, axes)});
  if (inner.sizes.size() > 1) {  // they do not follow one another
    Axes order = others;
    order.insert(order.end(), axes.begin(), axes.end());
    const View moved = transpose(view, order);
    view = array_view(array_of(moved), moved.shape);
    for (std::size_t i = 0; i < others.size(); ++i) others[i] = static_cast<int>(i);
    for (std::size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<int>(others.size() + i);
    inner = join(sizes_of(view, axes), {steps_of(view, axes)});
  }
  Shape shape;
  Shape through;
  const Steps steps = steps_of(view, others);
  for (std::size_t i = 0; i < others.size(); ++i) {
    shape.push_back(view.shape[others[i]]);
    through.push_back(steps[i] != 0 ? shape[static_cast<int>(i)] : 1);
  }
  const Joined outer = join(std::span(through.begin(), through.end()), {steps});
  const Steps all = together(outer.steps[0], inner.steps[0]);
  const ir::ValueId kept = keep_all(outer.sizes, [&](Positions outside) {
    const auto term = [&](Positions inside) {
      return build().convert(read_at(view, together(outside, inside), all), type);
    };
    if (inner.sizes.empty()) {
      return ir::gives_place(how) ? index_literal(0) : term({});
    }
    Trace& trace = Trace::current();
    const ir::ValueId position = trace.begin_each(inner.sizes[0]);
    const Trace::Collected collected = {how, term({&position, 1})};
    return trace.end_each({&collected, 1})[0];
  });
  return kept_view(kept, shape, through);
}

View times(const View& view, DType type, std::int64_t count) {
  const View converted = convert(view, type);
  if (count == 1) return converted;
  return apply(Op::Mul, {converted, literal_view(type, static_cast<double>(count))});
}

/// The sum in a type; axes on which the value does not change are so many times one value.
View sum(View view, const Axes& axes, DType type) {
  const Steps steps = trace::steps_of(view);
  std::int64_t repeated = 1;
  Axes left;
  std::vector<Place> places;
  const bool is_one = view.shape.count() == 1;
  for (int d = 0; d < view.rank(); ++d) {
    const bool is_summed = std::find(axes.begin(), axes.end(), d) != axes.end();
    if (is_summed && !is_one && steps[d] == 0 && view.shape[d] > 1) {
      repeated *= view.shape[d];
      places.push_back(Place::number(0));
      continue;
    }
    if (is_summed)
      left.push_back(
          d - static_cast<int>(std::count_if(places.begin(), places.end(),
                                             [](const Place& place) { return !place.is_slice; })));
    places.push_back(Place::all());
  }
  if (repeated > 1) view = indexed(view, places);
  if (left.empty()) return times(view, wide(type), repeated);
  return times(collect(view, left, ir::Collect::Sum, wide(type)), wide(type), repeated);
}

View with_axes(View view, const Axes& axes) {
  for (const int axis : axes) view = insert_axis(view, axis);
  return view;
}

View mean(const View& view, const Axes& axes, DType type) {
  std::int64_t count = 1;
  for (const int d : axes) count *= view.shape[d];
  const View total = sum(view, axes, wide(type));
  return apply(Op::Div, {total, literal_view(wide(type), static_cast<double>(count))});
}

View variance(const View& view, const Axes& axes, DType type) {
  const View real = convert(view, wide(type));
  const View difference = apply(Op::Sub, {real, with_axes(mean(real, axes, wide(type)), axes)});
  return mean(apply(Op::Mul, {difference, difference}), axes, type);
}

View norm(const View& view, const Axes& axes, DType type) {
  const View real = convert(view, type);
  return apply(Op::Sqrt, {convert(sum(apply(Op::Mul, {real, real}), axes, type), type)});
}

View extreme(const View& view, const Axes& axes, ir::Collect how, ir::Collect of_bools) {
  const DType type = type_of(view);
  return collect(view, axes, type == DType::Bool ? of_bools : how, wide(type));
}

View log_sum_exp(const View& view, const Axes& axes, DType type) {
  const View largest =
      with_axes(convert(extreme(view, axes, ir::Collect::Max, ir::Collect::Or), type), axes);
  const View zero = literal_view(type, 0);
  const View shift = apply(Op::Select, {apply(Op::Isfinite, {largest}), largest, zero});
  const View powers = apply(Op::Exp, {apply(Op::Sub, {view, shift})});
  const View total = with_axes(convert(sum(powers, axes, type), type), axes);
  View result = apply(Op::Add, {apply(Op::Log, {total}), shift});
  std::vector<Place> places(static_cast<std::size_t>(view.rank()), Place::all());
  for (const int d : axes) places[static_cast<std::size_t>(d)] = Place::number(0);
  return indexed(result, places);
}

View place(const View& view, Along along, ir::Collect how) {
  const DType type = type_of(view) == DType::Bool ? DType::I32 : wide(type_of(view));
  if (!along.is_all) return collect(view, {along.axis}, how, type);
  const std::int64_t count = view.shape.count();
  return collect(reshape(view, {&count, 1}), {0}, how, type);
}

View reduce_in(Reduction reduction, const View& view, Along along, const Axes& axes, DType type) {
  switch (reduction) {
    case Reduction::Sum:
      return sum(view, axes, type);
    case Reduction::Product:
      return collect(view, axes, ir::Collect::Product, wide(type));
    case Reduction::Min:
      return extreme(view, axes, ir::Collect::Min, ir::Collect::And);
    case Reduction::Max:
      return extreme(view, axes, ir::Collect::Max, ir::Collect::Or);
    case Reduction::Any:
      return collect(view, axes, ir::Collect::Or, DType::Bool);
    case Reduction::All:
      return collect(view, axes, ir::Collect::And, DType::Bool);
    case Reduction::ArgMin:
      return place(view, along, ir::Collect::ArgMin);
    case Reduction::ArgMax:
      return place(view, along, ir::Collect::ArgMax);
    case Reduction::Mean:
      return mean(view, axes, type);
    case Reduction::Variance:
      return variance(view, axes, type);
    case Reduction::Deviation:
      return apply(Op::Sqrt, {convert(variance(view, axes, type), type)});
    case Reduction::Norm:
      return norm(view, axes, type);
    case Reduction::LogSumExp:
      return log_sum_exp(view, axes, type);
  }
  return view;
}

}  // namespace

View reduce(Reduction reduction, const View& view, Along along, DType type) {
  Axes axes;
  if (along.is_all) {
    for (int d = 0; d < view.rank(); ++d) axes.push_back(d);
  } else {
    along.axis = checked_axis(name_of(reduction), along.axis, view.rank());
    axes = {along.axis};
  }
  const View result = convert(reduce_in(reduction, view, along, axes, type), type);
  return along.is_kept ? with_axes(result, axes) : result;
}

}  // namespace lw::trace
