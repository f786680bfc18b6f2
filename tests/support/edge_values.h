// The values on which implementations part ways.
#pragma once

#include <vector>

#include "lanewise/types/scalar.h"

namespace lw::test {

inline std::vector<DType> all_types() {
  return {DType::Bool, DType::I32, DType::I64, DType::F32, DType::F64};
}

/// The most telling ones first: a shorter list is a prefix.
std::vector<Scalar> edge_values(DType type);

}  // namespace lw::test
