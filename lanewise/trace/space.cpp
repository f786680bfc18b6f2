#include "lanewise/trace/space.h"

#include <algorithm>

namespace lw::trace {
namespace {

ir::Builder& build() { return Trace::current().builder(); }

template <class End>
void count(const End& end, const std::function<void(ir::ValueId)>& body) {
  Trace& trace = Trace::current();
  const ir::ValueId counter = trace.new_slot(index_literal(0));
  trace.begin_loop();
  const ir::ValueId now = trace.read(counter);
  trace.break_if(build().op(ops::Op::Ge, {now, end()}), "For");
  trace.begin_body();
  body(now);
  trace.end_body();
  trace.write(counter, build().op(ops::Op::Add, {now, index_literal(1)}));
  trace.end_loop();
}

}  // namespace

Steps steps_of(const View& view) {
  Steps steps(static_cast<std::size_t>(view.rank()));
  for (int d = 0; d < view.rank(); ++d) {
    steps[d] = view.is_number || view.shape[d] == 1 ? 0 : view.strides[d];
  }
  return steps;
}

Joined join(std::span<const std::uint32_t> sizes, const std::vector<Steps>& steps) {
  Joined joined{{}, std::vector<Steps>(steps.size())};
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 1) continue;
    bool follows = !joined.sizes.empty();
    for (std::size_t i = 0; follows && i < steps.size(); ++i) {
      follows = joined.steps[i].back() == steps[i][d] * sizes[d];
    }
    if (follows) {
      joined.sizes.back() *= sizes[d];
    } else {
      joined.sizes.push_back(sizes[d]);
    }
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (follows) joined.steps[i].pop_back();
      joined.steps[i].push_back(steps[i][d]);
    }
  }
  return joined;
}

ir::ValueId index_literal(std::int64_t value) {
  return build().constant(Scalar(static_cast<std::int32_t>(value)));
}

ir::ValueId place_of(const View& view, Positions positions, std::span<const std::int64_t> steps) {
  ir::ValueId total = ir::kNone;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    if (steps[i] == 0) continue;
    ir::ValueId term = positions[i];
    if (steps[i] != 1) term = build().op(ops::Op::Mul, {term, index_literal(steps[i])});
    total = total == ir::kNone ? term : build().op(ops::Op::Add, {total, term});
  }
  if (total == ir::kNone) {
    total = index_literal(view.offset);
  } else if (view.offset != 0) {
    total = build().op(ops::Op::Add, {total, index_literal(view.offset)});
  }
  if (view.moving == ir::kNone) return total;
  return build().op(ops::Op::Add, {view.moving, total});
}

ir::ValueId read_at(const View& view, Positions positions, std::span<const std::int64_t> steps) {
  if (view.is_number) return view.base;
  return build().read(view.base, place_of(view, positions, steps), ir::IndexMode::Unchecked);
}

ir::ValueId keep_all(std::span<const std::uint32_t> sizes,
                     const std::function<ir::ValueId(Positions)>& body) {
  std::vector<ir::ValueId> positions;
  const std::function<ir::ValueId()> inside = [&] {
    if (positions.size() == sizes.size()) return body(positions);
    Trace& trace = Trace::current();
    positions.push_back(trace.begin_each(sizes[positions.size()]));
    const Trace::Collected kept = {ir::Collect::Keep, inside()};
    positions.pop_back();
    return trace.end_each({&kept, 1})[0];
  };
  return inside();
}

View kept_view(ir::ValueId kept, const Shape& shape, const Shape& sizes) {
  if (std::all_of(sizes.begin(), sizes.end(), [](std::uint32_t size) { return size == 1; })) {
    return number_view(kept, shape);
  }
  View view = array_view(kept, sizes);
  for (int d = 0; d < shape.rank(); ++d) {
    if (sizes[d] == 1) view.strides[d] = 0;
  }
  view.shape = shape;
  return view;
}

void count_to(std::uint32_t size, const std::function<void(ir::ValueId)>& body) {
  count([&] { return index_literal(size); }, body);
}

void count_up_to(ir::ValueId end, const std::function<void(ir::ValueId)>& body) {
  count([&] { return end; }, body);
}

void loop_over(std::span<const std::uint32_t> sizes, const std::function<void(Positions)>& body,
               std::int64_t most_straight) {
  std::int64_t total = 1;
  for (const std::uint32_t size : sizes) total *= size;
  std::vector<ir::ValueId> positions;
  const std::function<void()> inside = [&] {
    if (positions.size() == sizes.size()) return body(positions);
    const auto step = [&](ir::ValueId at) {
      positions.push_back(at);
      inside();
      positions.pop_back();
    };
    const std::uint32_t size = sizes[positions.size()];
    if (total > most_straight) return count_to(size, step);
    for (std::uint32_t at = 0; at < size; ++at) step(index_literal(at));
  };
  inside();
}

Steps together(std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
  Steps both(a.begin(), a.end());
  both.insert(both.end(), b.begin(), b.end());
  return both;
}

std::vector<ir::ValueId> together(Positions a, Positions b) {
  std::vector<ir::ValueId> both(a.begin(), a.end());
  both.insert(both.end(), b.begin(), b.end());
  return both;
}

void write_all(const View& array, const View& values) {
  const Joined joined =
      join(std::span(array.shape.begin(), array.shape.end()), {steps_of(array), steps_of(values)});
  loop_over(joined.sizes, [&](Positions positions) {
    const ir::ValueId value = read_at(values, positions, joined.steps[1]);
    build().array_write(array.base, place_of(array, positions, joined.steps[0]), value,
                        ir::IndexMode::Unchecked);
  });
}

}  // namespace lw::trace
