// What an element has of an array: a number, or a row of them.
#pragma once

#include <string>

#include "lanewise/types/dtype.h"

namespace lw::types {

struct Item {
  DType type = DType::F32;
  std::uint32_t size = 0;  // of a row; 0: a number

  bool is_row() const { return size > 0; }
  std::int64_t values() const { return is_row() ? size : 1; }
  std::int64_t bytes() const { return static_cast<std::int64_t>(size_of(type)) * values(); }
  bool operator==(const Item&) const = default;
};

/// As "f32", or "f32[100]" for a row.
inline std::string to_string(const Item& item) {
  std::string text(name_of(item.type));
  if (item.is_row()) text += '[' + std::to_string(item.size) + ']';
  return text;
}

}  // namespace lw::types
