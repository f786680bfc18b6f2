// An array of elements of one type that lanewise owns. Copies share the memory.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "lanewise/types/dtype.h"
#include "lanewise/types/shape.h"

namespace lw {

class Tensor {
 public:
  Tensor() = default;
  /// Uninitialised memory for `size` values; as many as a shape has belong to one element.
  Tensor(DType type, std::int64_t size, const types::Shape& shape = {});
  template <types::ElementType T>
  explicit Tensor(std::span<const T> values) : Tensor(types::dtype_of<T>, std::ssize(values)) {
    std::copy(values.begin(), values.end(), static_cast<T*>(data()));
  }

  DType type() const { return type_; }
  std::int64_t size() const { return size_; }
  /// The shape of an element; without dimensions it is one value.
  const types::Shape& shape() const { return shape_; }
  /// How many values an element has; 0: it is a number.
  std::uint32_t row() const {
    return shape_.rank() > 0 ? static_cast<std::uint32_t>(shape_.count()) : 0;
  }
  void* data() const { return memory_.get(); }
  /// Of a result that is rows of different lengths: where each begins among the values, and where
  /// the last one ends.
  std::span<const std::int64_t> offsets() const& {
    if (offsets_ == nullptr) return {};
    return *offsets_;
  }
  std::span<const std::int64_t> offsets() const&& = delete;
  void set_offsets(std::shared_ptr<const std::vector<std::int64_t>> offsets) {
    offsets_ = std::move(offsets);
  }

  /// The elements; throws UsageError if T is not the tensor's type. They live as long as a tensor
  /// that holds them, so there is none of a temporary.
  template <types::ElementType T>
  std::span<T> span() const& {
    require_type(types::dtype_of<T>);
    return {static_cast<T*>(data()), static_cast<std::size_t>(size_)};
  }
  template <types::ElementType T>
  std::span<T> span() const&& = delete;
  template <types::ElementType T>
  T at(std::int64_t i) const {
    return span<T>()[static_cast<std::size_t>(i)];
  }

 private:
  void require_type(DType type) const;

  std::shared_ptr<std::byte[]> memory_;
  DType type_ = DType::F32;
  std::int64_t size_ = 0;
  types::Shape shape_;
  std::shared_ptr<const std::vector<std::int64_t>> offsets_;
};

}  // namespace lw
