// The error of a compiled function against its reference, in units in the last place of the exact
// result (of the smallest subnormal below the normal range; infinity counts as the next power of
// two). NaNs, infinities that are exact and signs of zeros must be as in the reference.
#pragma once

#include <cstdint>
#include <string>

#include "tools/accuracy/functions.h"

namespace lw::accuracy {

/// Where operands come from. Edge values, in all pairs, are tried in any case.
enum class Points {
  All,     // `count` floats at equal steps through all; only for functions of one f32
  Random,  // any bits, typical operands, and operands near zero and one
};

template <class T>
struct Report {
  std::int64_t points = 0;
  double ulp = 0.5;             // the largest error; 0.5 if all are correctly rounded
  std::string at;               // and where
  std::int64_t mismatches = 0;  // wrong special values
  std::string mismatch;         // the first
};

template <class T>
Report<T> measure(const Function<T>& function, Points points, std::int64_t count, int threads);
/// The same for these operands; `b` is empty if there is one.
template <class T>
Report<T> measure(const Function<T>& function, std::span<const T> a, std::span<const T> b);

extern template Report<float> measure(const Function<float>&, Points, std::int64_t, int);
extern template Report<double> measure(const Function<double>&, Points, std::int64_t, int);
extern template Report<float> measure(const Function<float>&, std::span<const float>,
                                      std::span<const float>);
extern template Report<double> measure(const Function<double>&, std::span<const double>,
                                       std::span<const double>);

}  // namespace lw::accuracy
