#include "lanewise/trace/each.h"

namespace lw::trace {

std::vector<View> stacked(std::uint32_t size, const ResultList& of_one) {
  std::vector<Trace::Collected> collected;
  for (const ir::ValueId value : of_one.values) collected.push_back({ir::Collect::Keep, value});
  const std::vector<ir::ValueId> kept = Trace::current().end_each(collected);
  std::vector<View> views;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    Shape shape = {size};
    for (const std::uint32_t inner : of_one.shapes[i]) shape.push_back(inner);
    views.push_back(array_view(kept[i], shape));
  }
  return views;
}

}  // namespace lw::trace
