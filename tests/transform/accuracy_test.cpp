// A sample of what tools/accuracy measures in full, and the special values of C Annex F by name.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lanewise/ir/builder.h"
#include "lanewise/ir/evaluate.h"
#include "lanewise/transform/passes.h"
#include "tests/support/edge_values.h"
#include "tools/accuracy/measure.h"

namespace lw::accuracy {
namespace {

constexpr std::int64_t kPoints = 30000;
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

template <class T>
void expect_accurate(Points points_of_one, Accuracy accuracy = Accuracy::Default) {
  for (const Function<T>& function : functions<T>(accuracy)) {
    const Points points = function.arity == 1 ? points_of_one : Points::Random;
    const Report<T> report = measure(function, points, kPoints, 1);
    EXPECT_GE(report.points, kPoints) << function.name;
    EXPECT_LE(report.ulp, bar(function)) << report.at;
    EXPECT_EQ(report.mismatches, 0) << report.mismatch;
  }
}

TEST(TransformAccuracy, SinglesAreWithinOneAndAHalfUlp) { expect_accurate<float>(Points::All); }

TEST(TransformAccuracy, SinglesOfHighAccuracyAreAllButCorrectlyRounded) {
  expect_accurate<float>(Points::All, Accuracy::High);
}

TEST(TransformAccuracy, DoublesAreWithinTwoUlp) { expect_accurate<double>(Points::Random); }

TEST(TransformAccuracy, DoublesOfHighAccuracyAreWithinOneUlp) {
  expect_accurate<double>(Points::Random, Accuracy::High);
}

template <class T>
T call(const std::string& name, double x, double y = 0, Accuracy accuracy = Accuracy::Default) {
  for (const Function<T>& function : functions<T>(accuracy)) {
    if (function.name != name) continue;
    const std::vector<T> a = {static_cast<T>(x)};
    const std::vector<T> b = {static_cast<T>(y)};
    std::vector<T> out(1);
    function.map(out, a, b);
    return out[0];
  }
  ADD_FAILURE() << "no function " << name;
  return T(0);
}

struct Special {
  const char* name;
  double x;
  double expected;
};

TEST(TransformAccuracy, SpecialValuesAreThoseOfAnnexF) {
  const Special specials[] = {
      {"exp", 0.0, 1},         {"exp", -kInf, 0},       {"exp", kInf, kInf},
      {"exp2", 0.0, 1},        {"exp2", -kInf, 0},      {"exp2", kInf, kInf},
      {"expm1", -0.0, -0.0},   {"expm1", -kInf, -1},    {"expm1", kInf, kInf},
      {"log", 0.0, -kInf},     {"log", -0.0, -kInf},    {"log", 1, 0},
      {"log", -1, kNan},       {"log", kInf, kInf},     {"log", -kInf, kNan},
      {"log2", 0.0, -kInf},    {"log2", 8, 3},          {"log2", kInf, kInf},
      {"log10", -0.0, -kInf},  {"log10", 1, 0},         {"log10", kInf, kInf},
      {"log1p", -0.0, -0.0},   {"log1p", -1, -kInf},    {"log1p", -2, kNan},
      {"log1p", kInf, kInf},   {"sinh", -0.0, -0.0},    {"sinh", -kInf, -kInf},
      {"cosh", -0.0, 1},       {"cosh", -kInf, kInf},   {"tanh", -0.0, -0.0},
      {"tanh", kInf, 1},       {"tanh", -kInf, -1},     {"asinh", -0.0, -0.0},
      {"asinh", -kInf, -kInf}, {"acosh", 1, 0},         {"acosh", 0.5, kNan},
      {"acosh", -kInf, kNan},  {"acosh", kInf, kInf},   {"atanh", -0.0, -0.0},
      {"atanh", 1, kInf},      {"atanh", -1, -kInf},    {"atanh", 2, kNan},
      {"sigmoid", 0.0, 0.5},   {"sigmoid", -kInf, 0.0}, {"sigmoid", kInf, 1}};
  for (const auto& [name, x, expected] : specials) {
    EXPECT_EQ(Scalar(call<float>(name, x)), Scalar(static_cast<float>(expected))) << name << x;
    EXPECT_EQ(Scalar(call<double>(name, x)), Scalar(expected)) << name << x;
    EXPECT_EQ(Scalar(call<double>(name, x, 0, Accuracy::High)), Scalar(expected)) << name << x;
    EXPECT_TRUE(std::isnan(call<float>(name, kNan))) << name;
    EXPECT_TRUE(std::isnan(call<double>(name, kNan))) << name;
  }
}

TEST(TransformAccuracy, SpecialPowersAreThoseOfAnnexF) {
  const double cases[][3] = {
      {0.0, -3, kInf},    {-0.0, -3, -kInf}, {-0.0, -2, kInf},  {-0.0, -kInf, kInf},
      {-0.0, 3, -0.0},    {-0.0, 2, 0.0},    {-1, kInf, 1},     {-1, -kInf, 1},
      {1, kNan, 1},       {kNan, 0.0, 1},    {kNan, -0.0, 1},   {-2, 0.5, kNan},
      {0.5, -kInf, kInf}, {2, -kInf, 0.0},   {0.5, kInf, 0.0},  {2, kInf, kInf},
      {-kInf, -3, -0.0},  {-kInf, -2, 0.0},  {-kInf, 3, -kInf}, {-kInf, 2.5, kInf},
      {kInf, -1, 0.0},    {kInf, 0.5, kInf}, {kNan, 1, kNan},   {2, kNan, kNan},
      {-2, 3, -8},        {-2, -2, 0.25},    {3, 4, 81},        {-1, kNan, kNan}};
  for (const auto& [x, y, expected] : cases) {
    EXPECT_EQ(Scalar(call<float>("pow", x, y)), Scalar(static_cast<float>(expected)))
        << x << " ^ " << y;
    EXPECT_EQ(Scalar(call<double>("pow", x, y)), Scalar(expected)) << x << " ^ " << y;
    EXPECT_EQ(Scalar(call<double>("pow", x, y, Accuracy::High)), Scalar(expected))
        << x << " ^ " << y;
  }
}

/// Bases near one have the largest exponents, which multiply the error of the logarithm; results
/// run from the subnormal ones to those next to infinity.
TEST(TransformAccuracy, PowersOfBasesNearOneAreWithinTheirBar) {
  std::vector<float> bases;
  std::vector<float> exponents;
  for (float x = 0.65f; x < 1.5f; x += 0x1.01p-17f) {
    const float log = std::log(x);
    if (std::fabs(log) < 1e-4f) continue;
    bases.push_back(x);
    exponents.push_back(std::fmod(x * 1e6f, 191.0f) / log - 103 / log);
  }
  for (const Function<float>& function : functions<float>()) {
    if (function.name != "pow") continue;
    const Report<float> report = measure<float>(function, bases, exponents);
    EXPECT_GT(report.points, 100000);
    EXPECT_LE(report.ulp, bar(function)) << report.at;
    EXPECT_EQ(report.mismatches, 0) << report.mismatch;
  }
}

TEST(TransformAccuracy, WholePowersOfTwoAreExact) {
  for (int n = -149; n <= 127; ++n) EXPECT_EQ(call<float>("exp2", n), std::ldexp(1.0f, n)) << n;
  for (int n = -1074; n <= 1023; n += 3) {
    EXPECT_EQ(call<double>("exp2", n), std::ldexp(1.0, n)) << n;
    EXPECT_EQ(call<double>("exp2", n, 0, Accuracy::High), std::ldexp(1.0, n)) << n;
  }
}

template <class T>
void expect_bits_of_evaluator(const Function<T>& function) {
  const DType type = types::dtype_of<T>;
  const bool binary = function.arity == 2;
  ir::Builder build("f");
  std::vector<ir::ValueId> params = {build.param("a", type)};
  if (binary) params.push_back(build.param("b", type));
  build.ret(std::vector{build.op(*ops::op_named(function.name), params, type)});
  const ir::Function program =
      transform::run(build.take(), {.high_accuracy = function.accuracy == Accuracy::High});
  std::vector<T> a;
  std::vector<T> b;
  const std::vector<Scalar> edges = test::edge_values(type);
  for (const Scalar& x : edges) {
    for (const Scalar& y : edges) {
      a.push_back(x.as<T>());
      b.push_back(y.as<T>());
      if (!binary) break;
    }
  }
  std::vector<T> got(a.size());
  function.map(got, a, b);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::vector<Scalar> arguments = {a[i]};
    if (binary) arguments.emplace_back(b[i]);
    EXPECT_EQ(ir::evaluate(program, arguments).results[0], Scalar(got[i]))
        << function.name << " " << a[i] << " " << b[i];
  }
}

TEST(TransformAccuracy, TheEvaluatorGivesTheSameBits) {
  for (const auto& function : functions<float>()) expect_bits_of_evaluator(function);
  for (const auto& function : functions<double>()) expect_bits_of_evaluator(function);
  for (const auto& function : functions<double>(Accuracy::High)) expect_bits_of_evaluator(function);
}

}  // namespace
}  // namespace lw::accuracy
