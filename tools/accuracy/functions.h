// The functions whose accuracy is measured, each with a reference of more bits: glibc's functions
// of long double, which has 64 bits of significand.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "lanewise/api/options.h"

namespace lw::accuracy {

template <class T>
struct Function {
  std::string name;
  int arity;
  double low;  // typical operands lie between
  double high;
  double least;  // smaller results are measured in its last place
  /// The compiled function over arrays; `b` is not read if there is one operand.
  std::function<void(std::span<T> out, std::span<const T> a, std::span<const T> b)> map;
  long double (*reference)(long double x, long double y);
  Accuracy accuracy;
};

/// The error that is allowed.
template <class T>
double bar(const Function<T>& function) {
  if (function.accuracy == Accuracy::High) return std::is_same_v<T, float> ? 0.51 : 1;
  return function.least > 0 ? 4 : std::is_same_v<T, float> ? 1.5 : 2;
}

template <class T>
std::vector<Function<T>> functions(Accuracy accuracy = Accuracy::Default);
extern template std::vector<Function<float>> functions<float>(Accuracy);
extern template std::vector<Function<double>> functions<double>(Accuracy);

}  // namespace lw::accuracy
