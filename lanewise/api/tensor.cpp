#include "lanewise/api/tensor.h"

#include <fmt/core.h>

#include <new>

#include "lanewise/base/error.h"
#include "lanewise/runtime/output_pool.h"

namespace lw {

Tensor::Tensor(DType type, std::int64_t size, const types::Shape& shape)
    : type_(type), size_(size), shape_(shape) {
  if (size < 0) {
    throw UsageError(
        fmt::format("Tensor: a negative size; got {}, expected 0 or more elements.", size));
  }
  std::size_t bytes = 0;
  try {
    if (__builtin_mul_overflow(size, types::size_of(type), &bytes)) throw std::bad_alloc();
    if (bytes < runtime::kPooledBytes) {
      memory_ = std::make_shared_for_overwrite<std::byte[]>(bytes);
    } else {
      void* const memory = runtime::take_output(bytes);
      if (memory == nullptr) throw std::bad_alloc();
      memory_.reset(static_cast<std::byte*>(memory), runtime::return_output);
    }
  } catch (const std::bad_alloc&) {
    throw ResourceError(
        fmt::format("Tensor: no memory; got a wish for {} elements of {} bytes each.", size,
                    types::size_of(type)));
  }
}

void Tensor::require_type(DType type) const {
  if (type == type_) return;
  throw UsageError(fmt::format("Tensor: another element type; got {}, expected {}.",
                               types::name_of(type), types::name_of(type_)));
}

}  // namespace lw
