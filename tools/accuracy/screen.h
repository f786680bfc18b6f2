// A fast look at many results of a function of one f32: what is out of the ordinary is left to the
// careful judge. The references are glibc's vector functions of double, which are good to 4 units
// in their last place: 1e-8 of one of f32.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace lw::accuracy {

struct Screened {
  float ulp = 0;       // the largest ordinary error; those of correct roundings count 0
  std::size_t at = 0;  // and its operand
  std::vector<std::size_t> doubts;  // NaN, infinity or another sign on one side only
};

/// Looks at `got`, the results for `operands`, for the function of this name. Results below `least`
/// in magnitude are measured in its last place.
Screened screen(std::string_view name, std::span<const float> operands, std::span<const float> got,
                float least);

}  // namespace lw::accuracy
