// Values that all elements read by index, as the caller has them.
#pragma once

#include <cstdint>

namespace lw::types {

struct Table {
  const void* data = nullptr;
  std::int64_t size = 0;
};

}  // namespace lw::types
