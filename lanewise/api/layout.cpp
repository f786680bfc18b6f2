#include "lanewise/api/layout.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <numeric>
#include <utility>

namespace lw::api {
namespace {

bool is_empty(std::span<const std::int64_t> shape) {
  return std::find(shape.begin(), shape.end(), 0) != shape.end();
}

/// The memory an array touches, from its lowest byte to behind its highest.
std::pair<const std::byte*, const std::byte*> extent(std::span<const std::int64_t> shape,
                                                     const Placed& array) {
  const auto* low = static_cast<const std::byte*>(array.data);
  if (is_empty(shape)) return {low, low};
  const std::byte* high = low + array.size;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const std::int64_t reach = (shape[d] - 1) * array.strides[d];
    (reach < 0 ? low : high) += reach;
  }
  return {low, high};
}

/// True when elements of two arrays with the same strides meet, `ahead` bytes from the first of
/// one to the first of the other. Each dimension is wider than all faster ones together, so that
/// there are two steps along it at most to look at.
bool meet(std::span<const std::pair<std::int64_t, std::int64_t>> slowest_first, std::int64_t ahead,
          std::int64_t size, std::int64_t other_size) {
  if (slowest_first.empty()) return ahead < size && -ahead < other_size;
  const auto [stride, count] = slowest_first.front();
  std::int64_t steps = ahead / stride;
  if (ahead < 0 && steps * stride != ahead) --steps;
  for (const std::int64_t i : {steps, steps + 1}) {
    if (std::abs(i) < count &&
        meet(slowest_first.subspan(1), ahead - i * stride, size, other_size)) {
      return true;
    }
  }
  return false;
}

/// Strides without their signs and sizes of dimensions, the fastest first.
std::vector<std::pair<std::int64_t, std::int64_t>> dimensions_of(
    std::span<const std::int64_t> shape, const Placed& array) {
  std::vector<std::pair<std::int64_t, std::int64_t>> dimensions;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] > 1) dimensions.emplace_back(std::abs(array.strides[d]), shape[d]);
  }
  std::sort(dimensions.begin(), dimensions.end());
  return dimensions;
}

}  // namespace

bool overlaps(std::span<const std::int64_t> shape, const Placed& a, const Placed& b) {
  const auto [a_begin, a_end] = extent(shape, a);
  const auto [b_begin, b_end] = extent(shape, b);
  if (a_begin >= b_end || b_begin >= a_end) return false;
  if (std::ranges::equal(a.strides, b.strides) && !overlaps_itself(shape, a) &&
      !overlaps_itself(shape, b)) {
    auto dimensions = dimensions_of(shape, a);
    std::reverse(dimensions.begin(), dimensions.end());
    return meet(dimensions,
                static_cast<const std::byte*>(b.data) - static_cast<const std::byte*>(a.data),
                a.size, b.size);
  }
  // Where all strides are multiples of `apart`, elements meet only if they do so within that many
  // bytes.
  std::int64_t apart = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] > 1) apart = std::gcd(apart, std::gcd(a.strides[d], b.strides[d]));
  }
  if (apart == 0) return true;
  const auto* a_first = static_cast<const std::byte*>(a.data);
  const auto* b_first = static_cast<const std::byte*>(b.data);
  const std::int64_t ahead = ((b_first - a_first) % apart + apart) % apart;
  return ahead < a.size || apart - ahead < b.size;
}

bool touches(std::span<const std::int64_t> shape, const Placed& array, const void* memory,
             std::int64_t bytes) {
  const auto [begin, end] = extent(shape, array);
  const auto* other = static_cast<const std::byte*>(memory);
  return begin < other + bytes && other < end;
}

bool overlaps_itself(std::span<const std::int64_t> shape, const Placed& array) {
  if (is_empty(shape)) return false;
  if (shape.size() == 1) return shape[0] > 1 && std::abs(array.strides[0]) < array.size;
  std::int64_t reach = array.size;  // bytes that the faster dimensions take
  for (const auto& [stride, size] : dimensions_of(shape, array)) {
    if (stride < reach) return true;
    reach += stride * (size - 1);
  }
  return false;
}

Layout join_dimensions(std::span<const std::int64_t> shape, std::span<const Placed> arrays) {
  std::vector<std::size_t> ends;  // the last dimension of each joined one
  std::vector<std::int64_t> sizes;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1) continue;
    const bool follows =
        !ends.empty() && std::all_of(arrays.begin(), arrays.end(), [&](const Placed& array) {
          return array.strides[ends.back()] == array.strides[d] * shape[d];
        });
    if (follows) {
      ends.back() = d;
      sizes.back() *= shape[d];
    } else {
      ends.push_back(d);
      sizes.push_back(shape[d]);
    }
  }
  Layout layout{.shape = std::move(sizes), .strides = {}};
  for (const Placed& array : arrays) {
    for (const std::size_t d : ends) layout.strides.push_back(array.strides[d]);
    if (ends.empty()) layout.strides.push_back(array.size);  // one element
  }
  if (ends.empty()) layout.shape.push_back(1);
  return layout;
}

}  // namespace lw::api
