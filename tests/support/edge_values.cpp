#include "tests/support/edge_values.h"

#include <cmath>
#include <limits>

namespace lw::test {
namespace {

template <class T>
std::vector<Scalar> integers() {
  using Limits = std::numeric_limits<T>;
  constexpr T kWidth = Limits::digits + 1;
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
                    T(1000003),
                    T(-65536),
                    T(T(1) << 24),
                    T((1 << 24) + 1)}) {
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
  values.push_back(std::nextafter(T(1), T(2)));
  values.push_back(std::nextafter(T(0x1p31), T(0)));
  values.push_back(std::nextafter(T(-0x1p63), T(-0x1p80)));
  values.push_back(-Limits::denorm_min());
  values.push_back(-Limits::quiet_NaN());
  return values;
}

}  // namespace

std::vector<Scalar> edge_values(DType type) {
  switch (type) {
    case DType::Bool:
      return {false, true};
    case DType::I32:
      return integers<std::int32_t>();
    case DType::I64:
      return integers<std::int64_t>();
    case DType::F32:
      return floats<float>();
    case DType::F64:
      return floats<double>();
  }
  return {};
}

}  // namespace lw::test
