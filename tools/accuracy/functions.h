// The functions whose accuracy is measured, each with a reference of more bits: glibc's functions
// of double for f32, those of long double (64 bits of significand) for f64.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace lw::accuracy {

template <class T>
using Wide = std::conditional_t<std::is_same_v<T, float>, double, long double>;

template <class T>
struct Function {
  std::string name;
  int arity;
  double low;  // typical operands lie between
  double high;
  /// The compiled function over arrays; `b` is not read if there is one operand.
  std::function<void(std::span<T> out, std::span<const T> a, std::span<const T> b)> map;
  Wide<T> (*reference)(Wide<T> x, Wide<T> y);
};

template <class T>
std::vector<Function<T>> functions();
extern template std::vector<Function<float>> functions<float>();
extern template std::vector<Function<double>> functions<double>();

}  // namespace lw::accuracy
