#include "lanewise/api/tensor.h"

#include <fmt/core.h>

#include <new>

#include "lanewise/base/error.h"

namespace lw {

Tensor::Tensor(DType type, std::int64_t size) : type_(type), size_(size) {
  const std::size_t bytes = static_cast<std::size_t>(size) * types::size_of(type);
  constexpr std::align_val_t kAlign{64};
  auto* memory = static_cast<std::byte*>(
      ::operator new[](bytes > 0 ? bytes : 1, kAlign, std::nothrow));
  if (memory == nullptr) {
    throw ResourceError(fmt::format("Tensor: no memory; got a wish for {} elements of {}, {} bytes.",
                                    size, types::name_of(type), bytes));
  }
  memory_ = std::shared_ptr<std::byte[]>(memory, [](std::byte* p) {
    ::operator delete[](p, std::align_val_t{64});
  });
}

void Tensor::require_type(DType type) const {
  if (type == type_) return;
  throw UsageError(fmt::format("Tensor: another element type; got {}, expected {}.",
                               types::name_of(type), types::name_of(type_)));
}

}  // namespace lw
