// The exact functions against the C++ standard library's, over pairs of edge values.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>

#include "lanewise/ir/builder.h"
#include "lanewise/ir/evaluate.h"
#include "lanewise/transform/passes.h"
#include "tests/support/edge_values.h"

namespace lw::transform {
namespace {

using ops::Op;

ir::Function program(Op op, std::vector<DType> operands) {
  ir::Builder build("f");
  std::vector<ir::ValueId> values;
  for (const DType type : operands) values.push_back(build.param("x", type));
  build.ret(std::vector{build.op(op, values)});
  return expand(build.take());
}

template <class T>
void expect_unary(Op op, const std::function<Scalar(T)>& truth) {
  const ir::Function f = program(op, {types::dtype_of<T>});
  for (const Scalar& a : test::edge_values(types::dtype_of<T>)) {
    EXPECT_EQ(ir::evaluate(f, std::vector{a}).results[0], truth(a.as<T>()))
        << ops::row(op).name << " of " << types::to_string(a);
  }
}

template <class T>
void expect_binary(Op op, const std::function<T(T, T)>& truth) {
  constexpr DType kType = types::dtype_of<T>;
  const ir::Function f = program(op, {kType, kType});
  std::vector<Scalar> values = test::edge_values(kType);
  for (const T v : {T(5.5), T(-5.5), T(0.7), T(1e30), T(3e-39), std::numeric_limits<T>::max() / 2,
                    std::numeric_limits<T>::min() * 3, T(-1e-20)}) {
    values.push_back(v);
  }
  for (const Scalar& a : values) {
    for (const Scalar& b : values) {
      EXPECT_EQ(ir::evaluate(f, std::vector{a, b}).results[0], Scalar(truth(a.as<T>(), b.as<T>())))
          << ops::row(op).name << " of " << types::to_string(a) << " and " << types::to_string(b);
    }
  }
}

template <class T>
T python_mod(T a, T b) {
  T r = std::fmod(a, b);
  if (r == 0) return std::copysign(r, b);
  return (r < 0) != (b < 0) ? r + b : r;
}

template <class T>
class Numbers : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(Numbers, Floats);

TYPED_TEST(Numbers, RemaindersAreExact) {
  using T = TypeParam;
  expect_binary<T>(Op::Fmod, [](T a, T b) { return std::fmod(a, b); });
  expect_binary<T>(Op::Remainder, [](T a, T b) { return std::remainder(a, b); });
  expect_binary<T>(Op::Mod, python_mod<T>);
}

TYPED_TEST(Numbers, NeighboursAndSmallerOnes) {
  using T = TypeParam;
  expect_binary<T>(Op::Nextafter, [](T a, T b) { return std::nextafter(a, b); });
  expect_binary<T>(Op::Fmin, [](T a, T b) { return a < b || b != b ? a : b; });
  expect_binary<T>(Op::Fmax, [](T a, T b) { return a > b || b != b ? a : b; });
}

TYPED_TEST(Numbers, KindsAndSigns) {
  using T = TypeParam;
  expect_unary<T>(Op::Isnan, [](T a) { return Scalar(std::isnan(a)); });
  expect_unary<T>(Op::Isinf, [](T a) { return Scalar(std::isinf(a)); });
  expect_unary<T>(Op::Isfinite, [](T a) { return Scalar(std::isfinite(a)); });
  expect_unary<T>(Op::Signbit, [](T a) { return Scalar(!std::isnan(a) && std::signbit(a)); });
  expect_unary<T>(Op::Sign, [](T a) {
    return Scalar(a > 0 ? T(1) : a < 0 ? T(-1) : a == 0 ? T(0) : a);
  });
  expect_unary<T>(Op::RoundAway, [](T a) { return Scalar(std::round(a)); });
}

TYPED_TEST(Numbers, MantissaAndExponent) {
  using T = TypeParam;
  expect_unary<T>(Op::FrexpMantissa, [](T a) {
    int n = 0;
    return Scalar(std::frexp(a, &n));
  });
  expect_unary<T>(Op::FrexpExponent, [](T a) {
    int n = 0;
    if (std::isfinite(a)) std::frexp(a, &n);
    return Scalar(std::int32_t{n});
  });
}

TYPED_TEST(Numbers, LdexpRoundsOnce) {
  using T = TypeParam;
  const ir::Function f = program(Op::Ldexp, {types::dtype_of<T>, DType::I32});
  for (const Scalar& a : test::edge_values(types::dtype_of<T>)) {
    for (const std::int32_t n : {0,     1,     -1,   60,    -60,   127,  128,       200,      -126,
                                 -127,  -149,  -150, -200,  300,   -300, 1023,      1024,     -1022,
                                 -1074, -1075, 2047, -2099, -2200, 2200, INT32_MAX, INT32_MIN}) {
      EXPECT_EQ(ir::evaluate(f, std::vector{a, Scalar(n)}).results[0],
                Scalar(std::ldexp(a.as<T>(), n)))
          << types::to_string(a) << " " << n;
    }
  }
}

template <class T>
class Bits : public testing::Test {};
using Integers = testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                                std::uint16_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(Bits, Integers);

TYPED_TEST(Bits, AreCounted) {
  using T = TypeParam;
  using U = std::make_unsigned_t<T>;
  expect_unary<T>(Op::Popcount, [](T a) { return Scalar(T(std::popcount(static_cast<U>(a)))); });
  expect_unary<T>(Op::Clz, [](T a) { return Scalar(T(std::countl_zero(static_cast<U>(a)))); });
  expect_unary<T>(Op::Ctz, [](T a) { return Scalar(T(std::countr_zero(static_cast<U>(a)))); });
  expect_unary<T>(Op::Sign, [](T a) { return Scalar(T(a > 0 ? 1 : a == 0 ? 0 : -1)); });
}

}  // namespace
}  // namespace lw::transform
