#include "lanewise/trace/each.h"

#include "lanewise/trace/space.h"

namespace lw::trace {
namespace {

Shape in_front(std::uint32_t size, const Shape& shape) {
  Shape all = {size};
  for (const std::uint32_t inner : shape) all.push_back(inner);
  return all;
}

std::vector<View> stacked(std::uint32_t size, const ResultList& of_one) {
  std::vector<Trace::Collected> collected;
  for (const ir::ValueId value : of_one.values) collected.push_back({ir::Collect::Keep, value});
  const std::vector<ir::ValueId> kept = Trace::current().end_each(collected);
  std::vector<View> views;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    views.push_back(array_view(kept[i], in_front(size, of_one.shapes[i])));
  }
  return views;
}

/// A loop that writes what the function gives; `of_one` has types and shapes of it.
std::vector<View> looped(std::uint32_t size, const ResultList& of_one,
                         const std::function<ResultList(ir::ValueId)>& function) {
  ir::Builder& build = Trace::current().builder();
  std::vector<View> views;
  for (std::size_t i = 0; i < of_one.values.size(); ++i) {
    const ir::ValueId zero = build.constant(types::scalar_of(build.type(of_one.values[i]), 0));
    const Shape shape = in_front(size, of_one.shapes[i]);
    views.push_back(
        array_view(build.array(zero, static_cast<std::uint32_t>(shape.count())), shape));
  }
  count_to(size, [&](ir::ValueId at) {
    const ResultList given = function(at);
    for (std::size_t i = 0; i < views.size(); ++i) {
      const Shape& shape = given.shapes[i];
      View part = array_view(views[i].base, shape);
      part.moving = build.op(ops::Op::Mul, {at, index_literal(shape.count())});
      write_all(part, shape.rank() > 0 ? array_view(given.values[i], shape)
                                       : number_view(given.values[i]));
    }
  });
  return views;
}

}  // namespace

std::vector<View> each_position(std::uint32_t size,
                                const std::function<ResultList(ir::ValueId)>& function) {
  Trace& trace = Trace::current();
  const ResultList of_one = function(trace.begin_each(size));
  if (!trace.has_drawn()) return stacked(size, of_one);
  trace.discard_each();
  return looped(size, of_one, function);
}

}  // namespace lw::trace
