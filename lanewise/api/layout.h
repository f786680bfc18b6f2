// How the arrays of a call lie in memory: which bytes they touch, whether they meet, and the fewest
// dimensions that describe all of them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace lw::api {

/// An array of a call: its first element, and the bytes from one to the next along each dimension.
struct Placed {
  const void* data = nullptr;
  std::int64_t size = 0;  // bytes of an element
  std::span<const std::int64_t> strides;
};

/// True when elements of the two may share memory. False for members of the same structs. Strides
/// without a common measure are taken to meet wherever their extents do.
bool overlaps(std::span<const std::int64_t> shape, const Placed& a, const Placed& b);

/// True when some element of the array may lie in these bytes.
bool touches(std::span<const std::int64_t> shape, const Placed& array, const void* memory,
             std::int64_t bytes);

/// True when two elements of the array may share memory.
bool overlaps_itself(std::span<const std::int64_t> shape, const Placed& array);

/// Dimensions of all arrays, joined where they follow one another in every array.
struct Layout {
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;  // those of the first array along each dimension, and so on
};
Layout join_dimensions(std::span<const std::int64_t> shape, std::span<const Placed> arrays);

}  // namespace lw::api
