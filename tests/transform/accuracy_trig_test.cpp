// The trigonometric functions, their inverses, erf, roots and gamma functions against glibc in more
// bits, on samples; tools/accuracy tries all floats. Special values are those of C's Annex F.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "lanewise/lanewise.h"

namespace lw::transform {
namespace {

template <class T>
using Wide = std::conditional_t<std::is_same_v<T, float>, double, long double>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kPi = 3.141592653589793;

template <class T, class F, class... A>
std::vector<T> compute(F function, const A&... arguments) {
  MapOptions options;
  options.threads = 1;
  options.compile = Compile::Now;
  std::vector<T> out(std::get<0>(std::tie(arguments...)).size());
  auto f = vectorize(function);
  f.into(out, options, arguments...);
  return out;
}

/// Distance in units in the last place of T at the exact value.
template <class T>
double ulps(T got, Wide<T> exact) {
  const T nearest = static_cast<T>(exact);
  if (Scalar(got) == Scalar(nearest)) return 0;
  if (!std::isfinite(got) || !std::isfinite(nearest)) return kInf;
  int exponent = 0;
  std::frexp(nearest, &exponent);
  if (nearest == 0) exponent = std::numeric_limits<T>::min_exponent;
  const int last =
      std::max(exponent, std::numeric_limits<T>::min_exponent) - std::numeric_limits<T>::digits;
  return static_cast<double>(std::fabs(got - exact) / std::ldexp(Wide<T>(1), last));
}

/// Numbers in the interval, evenly and near zero, and any bits at all.
template <class T>
std::vector<T> samples(double low, double high, bool any_bits, unsigned seed = 1) {
  std::mt19937_64 random(seed);
  std::vector<T> list;
  for (int i = 0; i < 20000; ++i) {
    const double unit = static_cast<double>(random() >> 11) * 0x1p-53;
    list.push_back(static_cast<T>(low + (high - low) * unit));
    if (low <= 0 && high >= 0) list.push_back(list.back() * static_cast<T>(std::exp2(-i % 64)));
    using Bits = std::conditional_t<std::is_same_v<T, float>, std::uint32_t, std::uint64_t>;
    if (any_bits) list.push_back(std::bit_cast<T>(static_cast<Bits>(random())));
  }
  return list;
}

template <class T>
void expect_within(double most, const std::vector<T>& got,
                   const std::function<Wide<T>(std::size_t)>& exact,
                   const std::function<std::string(std::size_t)>& text) {
  double worst = 0;
  std::size_t worst_at = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double error = ulps<T>(got[i], exact(i));
    if (error > worst) {
      worst = error;
      worst_at = i;
    }
  }
  EXPECT_LE(worst, most) << text(worst_at) << " gives " << got[worst_at];
}

template <class T>
double bar(double wide = 2) {
  return std::is_same_v<T, float> ? 1.5 : wide;
}

#define LW_CALL_1(name) [](Variable<T> a) { return name(a); }
#define LW_CALL_2(name) [](Variable<T> a, Variable<T> b) { return name(a, b); }

template <class T>
class TransformTrigAccuracy : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(TransformTrigAccuracy, Floats);

#define LW_UNARY_TEST(Title, name, low, high, any_bits, most, reference)                \
  TYPED_TEST(TransformTrigAccuracy, Title) {                                            \
    using T = TypeParam;                                                                \
    const auto xs = samples<T>(low, high, any_bits);                                    \
    expect_within<T>(                                                                   \
        most, compute<T>(LW_CALL_1(name), xs),                                          \
        [&](std::size_t i) {                                                            \
          const Wide<T> x = xs[i];                                                      \
          return Wide<T>(reference);                                                    \
        },                                                                              \
        [&](std::size_t i) { return #name " of " + types::to_string(Scalar(xs[i])); }); \
  }

LW_UNARY_TEST(Sine, sin, -65000, 65000, true, bar<T>(), std::sin(x))
LW_UNARY_TEST(Cosine, cos, -65000, 65000, true, bar<T>(), std::cos(x))
LW_UNARY_TEST(Tangent, tan, -65000, 65000, true, bar<T>(), std::tan(x))
LW_UNARY_TEST(ArcSine, asin, -1, 1, true, bar<T>(), std::asin(x))
LW_UNARY_TEST(ArcCosine, acos, -1, 1, true, bar<T>(), std::acos(x))
LW_UNARY_TEST(ArcTangent, atan, -5, 5, true, bar<T>(), std::atan(x))
LW_UNARY_TEST(ErrorFunction, erf, -6, 6, true, bar<T>(), std::erf(x))
LW_UNARY_TEST(ErrorFunctionComplement, erfc, -6, 28, true, bar<T>(), std::erfc(x))
LW_UNARY_TEST(CubeRoot, cbrt, -9, 9, true, bar<T>(), std::cbrt(x))
LW_UNARY_TEST(ReciprocalSquareRoot, rsqrt, 0, 9, true, bar<T>(), 1 / std::sqrt(x))
LW_UNARY_TEST(LogGamma, lgamma, 2.1, 50, false, bar<T>(4), std::lgamma(x))

#define LW_BINARY_TEST(Title, name, low, high, reference)                \
  TYPED_TEST(TransformTrigAccuracy, Title) {                             \
    using T = TypeParam;                                                 \
    const auto xs = samples<T>(low, high, true, 1);                      \
    const auto ys = samples<T>(low, high, true, 2);                      \
    expect_within<T>(                                                    \
        bar<T>(), compute<T>(LW_CALL_2(name), xs, ys),                   \
        [&](std::size_t i) {                                             \
          const Wide<T> x = xs[i];                                       \
          const Wide<T> y = ys[i];                                       \
          return Wide<T>(reference);                                     \
        },                                                               \
        [&](std::size_t i) {                                             \
          return #name " of " + types::to_string(Scalar(xs[i])) + ", " + \
                 types::to_string(Scalar(ys[i]));                        \
        });                                                              \
  }

LW_BINARY_TEST(ArcTangentOfTwo, atan2, -4, 4, std::atan2(x, y))
LW_BINARY_TEST(Length, hypot, -4, 4, std::hypot(x, y))

/// Derivatives of lgamma by hand: digamma at whole numbers is a harmonic sum less Euler's constant.
TYPED_TEST(TransformTrigAccuracy, DigammaOfWholeNumbersIsAHarmonicSum) {
  using T = TypeParam;
  std::vector<T> xs;
  std::vector<long double> truth;
  long double sum = -0.577215664901532860606512090082L;
  for (int n = 1; n < 100; ++n) {
    xs.push_back(static_cast<T>(n));
    truth.push_back(sum);
    sum += 1.0L / n;
  }
  expect_within<T>(
      bar<T>(8), compute<T>(LW_CALL_1(digamma), xs),
      [&](std::size_t i) { return Wide<T>(truth[i]); },
      [&](std::size_t i) { return "digamma of " + types::to_string(Scalar(xs[i])); });
}

/// One line: function, arguments, result; compared as bits, all NaNs being one value.
TYPED_TEST(TransformTrigAccuracy, SpecialValuesAreThoseOfAnnexF) {
  using T = TypeParam;
  const auto expect = [](const char* name, auto function,
                         std::vector<std::pair<double, double>> list) {
    std::vector<T> xs;
    for (const auto& [x, y] : list) xs.push_back(static_cast<T>(x));
    const std::vector<T> got = compute<T>(function, xs);
    for (std::size_t i = 0; i < list.size(); ++i) {
      EXPECT_EQ(Scalar(got[i]), Scalar(static_cast<T>(list[i].second)))
          << name << "(" << xs[i] << ")";
    }
  };
  constexpr double kTiny = std::numeric_limits<T>::denorm_min();
  expect("sin", LW_CALL_1(sin),
         {{0.0, 0.0}, {-0.0, -0.0}, {kTiny, kTiny}, {kInf, kNan}, {-kInf, kNan}, {kNan, kNan}});
  expect("cos", LW_CALL_1(cos),
         {{0.0, 1}, {-0.0, 1}, {kTiny, 1}, {kInf, kNan}, {-kInf, kNan}, {kNan, kNan}});
  expect("tan", LW_CALL_1(tan),
         {{0.0, 0.0}, {-0.0, -0.0}, {-kTiny, -kTiny}, {kInf, kNan}, {-kInf, kNan}, {kNan, kNan}});
  expect("asin", LW_CALL_1(asin),
         {{0.0, 0.0},
          {-0.0, -0.0},
          {1, kPi / 2},
          {-1, -kPi / 2},
          {1.5, kNan},
          {-kInf, kNan},
          {kNan, kNan}});
  expect("acos", LW_CALL_1(acos),
         {{1, 0.0},
          {-1, kPi},
          {0, kPi / 2},
          {-0.0, kPi / 2},
          {1.5, kNan},
          {kInf, kNan},
          {kNan, kNan}});
  expect(
      "atan", LW_CALL_1(atan),
      {{0.0, 0.0}, {-0.0, -0.0}, {kTiny, kTiny}, {kInf, kPi / 2}, {-kInf, -kPi / 2}, {kNan, kNan}});
  expect("erf", LW_CALL_1(erf), {{0.0, 0.0}, {-0.0, -0.0}, {kInf, 1}, {-kInf, -1}, {kNan, kNan}});
  expect("erfc", LW_CALL_1(erfc), {{0.0, 1}, {-0.0, 1}, {kInf, 0.0}, {-kInf, 2}, {kNan, kNan}});
  expect("cbrt", LW_CALL_1(cbrt),
         {{0.0, 0.0}, {-0.0, -0.0}, {27, 3}, {-8, -2}, {kInf, kInf}, {-kInf, -kInf}, {kNan, kNan}});
  expect("rsqrt", LW_CALL_1(rsqrt),
         {{0.0, kInf}, {-0.0, -kInf}, {4, 0.5}, {kInf, 0.0}, {-1, kNan}, {kNan, kNan}});
  expect("lgamma", LW_CALL_1(lgamma),
         {{1, 0.0},
          {2, 0.0},
          {0.0, kInf},
          {-0.0, kInf},
          {-3, kInf},
          {kInf, kInf},
          {-kInf, kInf},
          {kNan, kNan}});
  expect("digamma", LW_CALL_1(digamma),
         {{0.0, -kInf}, {-0.0, kInf}, {-3, kNan}, {kInf, kInf}, {-kInf, kNan}, {kNan, kNan}});
}

TYPED_TEST(TransformTrigAccuracy, SpecialPairsAreThoseOfAnnexF) {
  using T = TypeParam;
  std::vector<T> edges;
  for (const double v : {0.0, -0.0, 1.0, -1.0, kInf, -kInf, kNan, 2.0, -0.5}) {
    edges.push_back(static_cast<T>(v));
  }
  for (const T v : {std::numeric_limits<T>::denorm_min(), std::numeric_limits<T>::max(),
                    std::numeric_limits<T>::min()}) {
    edges.push_back(v);
    edges.push_back(-v);
  }
  std::vector<T> xs;
  std::vector<T> ys;
  for (const T x : edges) {
    for (const T y : edges) {
      xs.push_back(x);
      ys.push_back(y);
    }
  }
  const auto angles = compute<T>(LW_CALL_2(atan2), xs, ys);
  const auto lengths = compute<T>(LW_CALL_2(hypot), xs, ys);
  for (std::size_t i = 0; i < xs.size(); ++i) {
    const std::string pair =
        types::to_string(Scalar(xs[i])) + ", " + types::to_string(Scalar(ys[i]));
    EXPECT_LE(ulps<T>(angles[i], std::atan2(Wide<T>(xs[i]), Wide<T>(ys[i]))), 1) << pair;
    EXPECT_LE(ulps<T>(lengths[i], std::hypot(Wide<T>(xs[i]), Wide<T>(ys[i]))), 1) << pair;
  }
}

}  // namespace
}  // namespace lw::transform
