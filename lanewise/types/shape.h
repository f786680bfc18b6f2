// The sizes of an element along its dimensions: none for a number, one for a row, two for a matrix.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include "lanewise/base/error.h"

namespace lw::types {

class Shape {
 public:
  static constexpr int kMost = 6;

  Shape() = default;
  template <class Size>
  explicit Shape(std::span<const Size> sizes) {
    for (const Size size : sizes) push_back(static_cast<std::uint32_t>(size));
  }
  Shape(std::initializer_list<std::uint32_t> sizes) : Shape(std::span(sizes)) {}

  int rank() const { return rank_; }
  std::uint32_t operator[](int axis) const { return sizes_[axis]; }
  std::uint32_t& operator[](int axis) { return sizes_[axis]; }
  const std::uint32_t* begin() const { return sizes_; }
  const std::uint32_t* end() const { return sizes_ + rank_; }
  void push_back(std::uint32_t size) {
    if (rank_ == kMost) {
      throw UsageError("Shape: too many dimensions; got 7 or more, expected at most 6.");
    }
    sizes_[rank_++] = size;
  }
  /// How many values there are, or the greatest number there is.
  std::int64_t count() const {
    std::int64_t product = 1;
    for (const std::uint32_t size : *this) {
      if (__builtin_mul_overflow(product, size, &product)) return INT64_MAX;
    }
    return product;
  }
  bool operator==(const Shape&) const = default;

 private:
  std::uint32_t sizes_[kMost] = {};
  int rank_ = 0;
};

/// As "(3, 4)".
inline std::string to_string(const Shape& shape) {
  std::string text = "(";
  for (int d = 0; d < shape.rank(); ++d) text += (d ? ", " : "") + std::to_string(shape[d]);
  return text + ")";
}

}  // namespace lw::types
