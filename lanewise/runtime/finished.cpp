#include "lanewise/runtime/finished.h"

#include <fmt/core.h>

#include <algorithm>

#include "lanewise/base/error.h"
#include "lanewise/runtime/failing.h"

namespace lw {
namespace {

/// The first range that ends behind the element.
template <class Ranges>
auto behind(Ranges& ranges, std::int64_t element) {
  return std::upper_bound(ranges.begin(), ranges.end(), element,
                          [](std::int64_t e, const ElementRange& r) { return e < r.last; });
}

}  // namespace

bool Finished::has(std::int64_t element) const {
  const auto range = behind(ranges_, element);
  return range != ranges_.end() && range->first <= element;
}

std::vector<ElementRange> Finished::open() const {
  std::vector<ElementRange> open;
  std::int64_t at = 0;
  for (const ElementRange& range : ranges_) {
    if (at < range.first) open.push_back({at, range.first});
    at = range.last;
  }
  if (at < total_) open.push_back({at, total_});
  return open;
}

void Finished::begin(std::int64_t total) {
  if (has_begun_ && total != total_) {
    throw UsageError(
        fmt::format("map: finished is of another map; got one of {} elements, expected one of {}. "
                    "Give each map a Finished of its own.",
                    total_, total));
  }
  has_begun_ = true;
  total_ = total;
}

void Finished::add(ElementRange range) {
  if (range.first == range.last) return;
  count_ += range.last - range.first;
  auto next = behind(ranges_, range.first);
  const bool touches_next = next != ranges_.end() && next->first == range.last;
  if (next != ranges_.begin() && std::prev(next)->last == range.first) {
    std::prev(next)->last = touches_next ? next->last : range.last;
    if (touches_next) ranges_.erase(next);
  } else if (touches_next) {
    next->first = range.first;
  } else {
    ranges_.insert(next, range);
  }
}

namespace runtime {

void fill_unfinished(const Buffers& buffers, const kernel::Kernel& kernel,
                     const Finished& finished) {
  const Filling filling(buffers, kernel, {});
  for (const ElementRange& range : finished.open()) {
    for (std::int64_t e = range.first; e < range.last; ++e) {
      filling.fill(buffers.outputs.data(), e);
    }
  }
}

}  // namespace runtime
}  // namespace lw
