// The values on which implementations part ways.
#pragma once

#include <vector>

#include "lanewise/types/scalar.h"

namespace lw::test {

inline std::vector<DType> all_types() {
  std::vector<DType> types;
  for (int i = 0; i < types::kDTypeCount; ++i) types.push_back(static_cast<DType>(i));
  return types;
}

/// The most telling ones first: a shorter list is a prefix.
std::vector<Scalar> edge_values(DType type);

}  // namespace lw::test
