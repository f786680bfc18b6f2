#include "lanewise/api/row_accumulators.h"

#include <fmt/core.h>

#include "lanewise/trace/space.h"

namespace lw::api {

std::int64_t checked_row_size(std::int64_t size) {
  if (size < 1 || size > ir::kMostInArray) {
    throw UsageError(
        fmt::format("accumulator: wrong number of values; got {}, expected 1 to {}. Add them in "
                    "several accumulators, or add what is made of them.",
                    size, ir::kMostInArray));
  }
  return size;
}

void add_row(std::vector<ir::ValueId>& partials, ir::Collect how, std::int64_t size,
             const trace::View& values) {
  if (values.shape.count() != size) {
    trace::refuse(
        fmt::format("accumulator: another number of values; got the shape {}, expected {} values.",
                    types::to_string(values.shape), size));
  }
  trace::Trace& trace = trace::Trace::current();
  trace.require_own(0);  // its array is there before all that is recorded
  const trace::View added = trace::reshape(values, {&size, 1});
  if (partials.empty()) {
    partials = {
        trace.first_array(ir::neutral(how, type_of(values)), static_cast<std::uint32_t>(size))};
  }
  const trace::View own = trace::array_view(partials[0], {static_cast<std::uint32_t>(size)});
  const trace::Sizes sizes = {own.shape[0]};
  const ir::ValueId kept = trace::keep_all(sizes, [&](trace::Positions at) {
    return trace.builder().op(ir::combining_op(how),
                              {trace::read_at(own, at, trace::steps_of(own)),
                               trace::read_at(added, at, trace::steps_of(added))});
  });
  trace::write_all(own, trace::array_view(kept, own.shape));
}

}  // namespace lw::api
