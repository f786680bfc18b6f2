#include "lanewise/trace/along.h"

#include <fmt/core.h>

#include "lanewise/trace/arrange.h"
#include "lanewise/trace/space.h"

namespace lw::trace {
namespace {

using ops::Op;

ir::Builder& build() { return Trace::current().builder(); }

/// Calls `exchange(i, j)`, i < j, for the pairs of a sorting network: Batcher's odd-even merges.
void for_each_exchange(std::uint32_t size,
                       const std::function<void(std::uint32_t, std::uint32_t)>& exchange) {
  for (std::uint32_t p = 1; p < size; p *= 2) {
    for (std::uint32_t k = p; k >= 1; k /= 2) {
      for (std::uint32_t j = k % p; j + k < size; j += 2 * k) {
        for (std::uint32_t i = j; i < j + k && i + k < size; ++i) {
          if (i / (2 * p) == (i + k) / (2 * p)) exchange(i, i + k);
        }
      }
    }
  }
}

/// True where a value comes before another; NaNs come last.
ir::ValueId is_before(ir::ValueId a, ir::ValueId b) {
  const ir::ValueId is_less = build().op(Op::Lt, {a, b});
  if (!types::is_float(build().type(a))) return is_less;
  const ir::ValueId is_number = build().op(Op::Not, {build().op(Op::Isnan, {a})});
  const ir::ValueId is_last = build().op(Op::And, {build().op(Op::Isnan, {b}), is_number});
  return build().op(Op::Or, {is_less, is_last});
}

void exchange_if(ir::ValueId test, ir::ValueId& a, ir::ValueId& b) {
  const ir::ValueId first = build().op(Op::Select, {test, b, a});
  b = build().op(Op::Select, {test, a, b});
  a = first;
}

}  // namespace

View along_axis(std::string_view call, const View& view, int axis, DType type,
                const std::function<void(const AlongAxis&)>& body) {
  require_here(view);
  axis = checked_axis(call, axis, view.rank());
  std::vector<int> order;
  for (int d = 0; d < view.rank(); ++d) {
    if (d != axis) order.push_back(d);
  }
  order.push_back(axis);
  const View moved = transpose(view, order);
  const int last = view.rank() - 1;
  const std::uint32_t size = moved.shape[last];
  Steps front = steps_of(moved);
  const std::int64_t stride = front[static_cast<std::size_t>(last)];
  front.pop_back();
  const Joined outer = join(std::span(moved.shape.begin(), moved.shape.end() - 1), {front});
  const Steps steps = together(outer.steps[0], {&stride, 1});
  const ir::ValueId kept = keep_all(outer.sizes, [&](Positions outside) {
    const ir::ValueId array = build().array(build().constant(types::scalar_of(type, 0)), size);
    body(
        {.read = [&](ir::ValueId at) { return read_at(moved, together(outside, {&at, 1}), steps); },
         .write =
             [&](ir::ValueId at, ir::ValueId value) {
               build().array_write(array, at, value, ir::IndexMode::Unchecked);
             },
         .size = size});
    return array;
  });
  std::vector<int> back(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    back[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
  }
  return transpose(array_view(kept, moved.shape), back);
}

View scan(Op op, const View& view, int axis, DType type) {
  const std::string_view call = op == Op::Add ? "cumsum" : "cumprod";
  return along_axis(call, view, axis, type, [&](const AlongAxis& values) {
    Trace& trace = Trace::current();
    const auto term = [&](ir::ValueId at) { return build().convert(values.read(at), type); };
    const ir::ValueId zero = index_literal(0);
    const ir::ValueId first = term(zero);
    values.write(zero, first);
    if (values.size == 1) return;
    const ir::ValueId slot = trace.new_slot(first);
    const std::uint32_t rest = values.size - 1;
    loop_over(
        {&rest, 1},
        [&](Positions before) {
          const ir::ValueId at = build().op(Op::Add, {before[0], index_literal(1)});
          const ir::ValueId total = build().op(op, {trace.read(slot), term(at)});
          trace.write(slot, total);
          values.write(at, total);
        },
        kMostStraight - 1);
  });
}

View sorted(const View& view, int axis, bool gives_places) {
  const std::string_view call = gives_places ? "argsort" : "sort";
  const std::uint32_t size = view.shape[checked_axis(call, axis, view.rank())];
  if (size > kMostSorted) {
    refuse(fmt::format(
        "{}: too many values; got {} along the axis, expected at most {}. Sort outside of the "
        "function.",
        call, size, kMostSorted));
  }
  const DType type = gives_places ? DType::I32 : type_of(view);
  return along_axis(call, view, axis, type, [&](const AlongAxis& all) {
    std::vector<ir::ValueId> values;
    std::vector<ir::ValueId> places;
    for (std::uint32_t at = 0; at < size; ++at) {
      places.push_back(index_literal(at));
      values.push_back(all.read(places.back()));
    }
    const std::vector<ir::ValueId> where = places;
    for_each_exchange(size, [&](std::uint32_t i, std::uint32_t j) {
      ir::ValueId swap = is_before(values[j], values[i]);
      if (gives_places) {  // equal ones stay in their order
        const ir::ValueId not_less = build().op(Op::Not, {is_before(values[i], values[j])});
        const ir::ValueId is_later = build().op(Op::Lt, {places[j], places[i]});
        swap = build().op(Op::Or, {swap, build().op(Op::And, {not_less, is_later})});
        exchange_if(swap, places[i], places[j]);
      }
      exchange_if(swap, values[i], values[j]);
    });
    for (std::uint32_t at = 0; at < size; ++at) {
      all.write(where[at], gives_places ? places[at] : values[at]);
    }
  });
}

}  // namespace lw::trace
