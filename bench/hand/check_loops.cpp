// Self-check of the loops over formulas: every competitor against scalar loops in f64, at counts
// that fill no register, and under our rules at arguments that are out of the ordinary.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <vector>

#include "check_loops.h"
#include "loops.h"

namespace lw::hand {
namespace {

using Find = Loop*(std::string_view, Real);

struct Variant {
  const char* name;
  Find* find;
  bool needs_v4;
  bool ours;  // keeps our rules
};

constexpr Variant kVariants[] = {
    {"scalar", scalar_loop, false, true},         {"libmvec v3", libmvec_loop_v3, false, false},
    {"libmvec v4", libmvec_loop_v4, true, false}, {"hand v3", hand_loop_v3, false, true},
    {"hand v4", hand_loop_v4, true, true},        {"free v3", free_loop_v3, false, false},
    {"free v4", free_loop_v4, true, false},
};

/// Results must differ by less than `units` of the last place of the scale, which is at least
/// `scale`; special values must be equal.
template <class T>
bool is_close(T value, double truth, double units, double scale) {
  if (std::isnan(truth)) return std::isnan(value);
  const T rounded = static_cast<T>(truth);
  if (std::isinf(rounded)) {
    // At the very edge of the range a result may still be finite.
    return std::isinf(value) ? std::signbit(value) == std::signbit(truth)
                             : std::fabs(value) > std::numeric_limits<T>::max() * 0.99;
  }
  const double unit = std::numeric_limits<T>::epsilon();
  const double least = std::numeric_limits<T>::denorm_min();
  const double allowed = std::max(units * unit * std::max(std::fabs(truth), scale), least);
  return std::fabs(static_cast<double>(value) - truth) <= allowed;
}

template <class T>
bool check(const Variant& v, const char* formula, std::vector<T> x, double units, double scale) {
  Loop* loop = v.find(formula, sizeof(T) == 4 ? Real::f32 : Real::f64);
  if (loop == nullptr) return true;
  std::vector<double> wide(x.begin(), x.end());
  std::vector<double> truth(x.size());
  const void* wide_inputs[] = {wide.data(), wide.data(), wide.data()};
  scalar_loop(formula, Real::f64)(wide_inputs, truth.data(), 0, std::ssize(x));
  const void* inputs[] = {x.data(), x.data(), x.data()};
  for (const int64_t count : {int64_t{0}, int64_t{1}, int64_t{17}, int64_t{65}, std::ssize(x)}) {
    std::vector<T> out(x.size() + 1, T(-7));
    const int64_t end = std::min(count, std::ssize(x));
    const int64_t begin = std::min<int64_t>(end, 1);
    loop(inputs, out.data(), begin, end);
    for (int64_t i = 0; i < std::ssize(out); ++i) {
      const T value = out[static_cast<size_t>(i)];
      const bool inside = i >= begin && i < end;
      if (inside ? is_close(value, truth[static_cast<size_t>(i)], units, scale) : value == T(-7)) {
        continue;
      }
      std::printf("%s, %s f%d: element %lld of %lld is %g", v.name, formula,
                  static_cast<int>(8 * sizeof(T)), static_cast<long long>(i),
                  static_cast<long long>(end), static_cast<double>(value));
      if (inside) {
        std::printf(" instead of %g at %g", truth[static_cast<size_t>(i)],
                    static_cast<double>(x[static_cast<size_t>(i)]));
      }
      std::printf("\n");
      return false;
    }
  }
  return true;
}

template <class T>
std::vector<T> ordinary() {
  std::vector<T> x;
  for (int i = 0; i < 1000; ++i) x.push_back(T(0.01) + T(i) / 200);
  return x;
}

template <class T>
std::vector<T> extreme() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> x = {T(1),
                      T(0),
                      T(-0.0),
                      Limits::infinity(),
                      -Limits::infinity(),
                      Limits::quiet_NaN(),
                      Limits::max(),
                      Limits::lowest(),
                      Limits::min(),
                      Limits::denorm_min(),
                      -Limits::denorm_min(),
                      T(-1),
                      T(1e5),
                      T(1e10),
                      T(-3e8),
                      T(88.7),
                      T(88.73),
                      T(-87.4),
                      T(-100),
                      T(-103.9),
                      T(-104.1),
                      T(709.7),
                      T(709.8),
                      T(-745),
                      T(-746),
                      T(32767.9),
                      T(32768),
                      T(-708.5)};
  // In the middle of ordinary ones too.
  for (int i = 0; i < 100; ++i) x.push_back(T(i) / 10);
  x[90] = Limits::quiet_NaN();
  return x;
}

template <class T>
bool check_type(const Variant& v) {
  bool right = true;
  for (const char* formula : {"square", "saxpy", "exp", "log", "sin", "pow", "tanh"}) {
    right = check(v, formula, ordinary<T>(), 5, 1e-2) && right;
  }
  for (const char* formula : {"wave", "poly", "black_scholes", "sine_chain"}) {
    right = check(v, formula, ordinary<T>(), formula[0] == 's' ? 100 : 16, 1) && right;
  }
  if (!v.ours) return right;
  for (const char* formula : {"square", "exp", "log", "sin"}) {
    right = check(v, formula, extreme<T>(), sizeof(T) == 4 ? 1.6 : 2.5, 0) && right;
  }
  return right;
}

}  // namespace

bool check_loops(bool has_v3, bool has_v4) {
  bool right = true;
  for (const Variant& v : kVariants) {
    if (v.needs_v4 ? !has_v4 : !has_v3) continue;
    right = check_type<float>(v) && right;
    right = check_type<double>(v) && right;
  }
  std::printf("loops over formulas: %s\n", right ? "right" : "WRONG");
  return right;
}

}  // namespace lw::hand
