#include "tests/support/edge_values.h"

#include <cmath>
#include <limits>

namespace lw::test {
namespace {

template <class T>
std::vector<Scalar> integers() {
  using Limits = std::numeric_limits<T>;
  constexpr T kWidth = sizeof(T) * 8;
  std::vector<Scalar> values;
  for (const T v : {T(0),
                    T(1),
                    T(-1),
                    Limits::min(),
                    Limits::max(),
                    T(2),
                    T(-7),
                    kWidth,
                    T(kWidth - 1),
                    T(3),
                    T(-2),
                    T(-kWidth),
                    T(7),
                    T(10),
                    T(Limits::min() + 1),
                    T(Limits::max() - 1),
                    static_cast<T>(1000003),
                    static_cast<T>(-65536),
                    static_cast<T>(1 << 24),
                    static_cast<T>((1 << 24) + 1)}) {
    values.push_back(v);
  }
  return values;
}

template <class T>
std::vector<Scalar> floats() {
  using Limits = std::numeric_limits<T>;
  std::vector<Scalar> values;
  for (const double v : {0.0,
                         -0.0,
                         1.0,
                         -1.0,
                         std::numeric_limits<double>::quiet_NaN(),
                         std::numeric_limits<double>::infinity(),
                         -std::numeric_limits<double>::infinity(),
                         double{Limits::max()},
                         double{Limits::lowest()},
                         double{Limits::denorm_min()},
                         double{Limits::min()},
                         0.5,
                         -0.5,
                         1.5,
                         2.5,
                         -2.5,
                         3.0,
                         0.1,
                         -1e-3,
                         1e10,
                         -0x1p31,
                         0x1p31,
                         0x1p31 - 1,
                         -0x1p63,
                         0x1p63,
                         0x1p62,
                         0x1p23 + 1,
                         0x1p52 + 1,
                         4503599627370495.5}) {
    values.push_back(static_cast<T>(v));
  }
  values.push_back(static_cast<T>(65519.999999999));  // rounds to the largest f16
  values.push_back(static_cast<T>(1.00048828125 + 1e-12));
  values.push_back(static_cast<T>(1.00390625 + 1e-12));
  values.push_back(static_cast<T>(0x1.8p-24 + 0x1p-60));
  values.push_back(std::nextafter(T(1), T(2)));
  values.push_back(std::nextafter(T(0x1p31), T(0)));
  values.push_back(std::nextafter(T(-0x1p63), T(-0x1p80)));
  values.push_back(-Limits::denorm_min());
  values.push_back(-Limits::quiet_NaN());
  return values;
}

template <class T>
std::vector<Scalar> halves() {
  std::vector<Scalar> values;
  for (const Scalar& value : floats<float>()) values.push_back(T(value.as<float>()));
  const bool is_f16 = std::is_same_v<T, Half>;
  const std::uint16_t infinity = is_f16 ? 0x7c00 : 0x7f80;
  const std::uint16_t one = is_f16 ? 0x3c00 : 0x3f80;
  for (const int bits :
       {1, 0x8001, infinity - 1, one + 1, one - 1, infinity + 1, 0x8000 | infinity | 3}) {
    values.push_back(T::of_bits(static_cast<std::uint16_t>(bits)));
  }
  return values;
}

}  // namespace

std::vector<Scalar> edge_values(DType type) {
  return types::with_type(type, []<class T>() -> std::vector<Scalar> {
    if constexpr (std::is_same_v<T, bool>) {
      return {false, true};
    } else if constexpr (std::is_integral_v<T>) {
      return integers<T>();
    } else if constexpr (types::is_half_type<T>) {
      return halves<T>();
    } else {
      return floats<T>();
    }
  });
}

}  // namespace lw::test
