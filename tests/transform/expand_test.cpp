// Sine and cosine against long double. The expansion is run as machine code, which gives the bits
// of the evaluator (tests/conformance); a few points are run by the evaluator too.
#include "lanewise/transform/expand.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <xmmintrin.h>

#include <cmath>
#include <random>

#include "lanewise/ir/evaluate.h"
#include "lanewise/ir/parse.h"
#include "lanewise/ir/print.h"
#include "lanewise/kernel/lower.h"
#include "lanewise/plan/choose.h"
#include "lanewise/transform/passes.h"
#include "tests/support/run_kernel.h"

namespace lw::transform {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

ir::Function sin_and_cos(const std::string& type) {
  return run(ir::parse("function f(%0: " + type + ") -> (" + type + ", " + type +
                       ") {\n  %1 = sin " + type + " %0\n  %2 = cos " + type +
                       " %0\n  return (%1, %2)\n}\n"));
}

template <class T>
struct Results {
  std::vector<T> sin;
  std::vector<T> cos;
};

template <class T>
Results<T> compute(const std::vector<T>& xs) {
  const ir::Function f = sin_and_cos(std::string(types::name_of(types::dtype_of<T>)));
  const auto code = backend::cpu::compile(kernel::lower(f), plan::choose(f, {}, nullptr).schedule);
  Results<T> out{std::vector<T>(xs.size()), std::vector<T>(xs.size())};
  test::run_code(*code, {{xs.data()}, {out.sin.data(), out.cos.data()}}, std::ssize(xs));
  return out;
}

/// Distance in units in the last place of T at the exact value.
template <class T>
double ulps(T got, long double exact) {
  const T nearest = static_cast<T>(exact);
  if (got == nearest) return 0;
  int exponent = 0;
  std::frexp(nearest, &exponent);
  const int last = std::max(exponent - std::numeric_limits<T>::digits,
                            std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits);
  return static_cast<double>(std::fabs(static_cast<long double>(got) - exact) /
                             std::ldexp(1.0L, last));
}

template <class T>
void expect_accurate(const std::vector<T>& xs, double most) {
  const Results<T> got = compute(xs);
  double worst = 0;
  T worst_at = 0;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    const long double x = xs[i];
    const double error = std::max(ulps(got.sin[i], std::sin(x)), ulps(got.cos[i], std::cos(x)));
    if (error > worst) {
      worst = error;
      worst_at = xs[i];
    }
  }
  EXPECT_LE(worst, most) << "at " << worst_at;
}

TEST(TransformExpand, SineAndCosineAreWithinTwoUlpBelowAHundredThousand) {
  std::mt19937_64 random(7);
  std::vector<double> xs;
  for (int i = 0; i < 1000000; ++i) {
    const double unit = static_cast<double>(random() >> 11) * 0x1p-53;
    const double range = i % 2 == 0 ? 1e5 : std::pow(10.0, static_cast<double>(i % 16) - 10);
    xs.push_back((2 * unit - 1) * range);
  }
  expect_accurate(xs, 2.0);
}

TEST(TransformExpand, MultiplesOfAQuarterTurnAreWithinTwoUlp) {
  std::vector<double> xs;
  for (int n = -65536; n <= 65536; ++n) {
    const double x = n * 0.7853981633974483;
    for (const double near : {x, std::nextafter(x, kInf), std::nextafter(x, -kInf)}) {
      xs.push_back(near);
    }
  }
  expect_accurate(xs, 2.0);
}

TEST(TransformExpand, FloatsAreWithinOneAndAHalfUlp) {
  std::vector<float> xs;
  for (std::uint32_t bits = 0; bits < 0x47800000u; bits += 1201) {  // 0 ... 65536
    xs.push_back(std::bit_cast<float>(bits));
    xs.push_back(-xs.back());
  }
  expect_accurate(xs, 1.5);
}

TEST(TransformExpand, SpecialValuesAreThoseOfAnnexF) {
  const Results<double> r = compute<double>({0.0, -0.0, kNan, kInf, -kInf, 0x1p-1074, -0x1p-1022});
  EXPECT_EQ(Scalar(r.sin[0]), Scalar(0.0));
  EXPECT_EQ(Scalar(r.sin[1]), Scalar(-0.0));
  EXPECT_EQ(r.cos[0], 1);
  EXPECT_EQ(r.cos[1], 1);
  for (const std::size_t i : {2u, 3u, 4u}) {
    EXPECT_TRUE(std::isnan(r.sin[i])) << i;
    EXPECT_TRUE(std::isnan(r.cos[i])) << i;
  }
  EXPECT_EQ(r.sin[5], 0x1p-1074);
  EXPECT_EQ(r.sin[6], -0x1p-1022);
  EXPECT_EQ(r.cos[5], 1);
}

TEST(TransformExpand, NoSignallingNanHidesALargeArgument) {
  constexpr std::size_t kCount = 64;
  for (std::size_t at = 3; at < kCount; at += 8) {
    for (std::size_t other = at % 8; other < kCount; other += 8) {
      if (other == at) continue;
      std::vector<double> xs(kCount, 1.0);
      xs[at] = 1e300;
      xs[other] = std::numeric_limits<double>::signaling_NaN();
      EXPECT_NEAR(compute(xs).sin[at], std::sin(1e300), 1e-15) << at << " " << other;
    }
  }
}

TEST(TransformExpand, TheEvaluatorGivesTheSameBits) {
  const std::vector<double> xs = {0.0, -0.0, 1.0, -2.5, 3.14159, 1e5, -1e9, kNan, kInf, 0x1p-1074};
  const Results<double> r = compute(xs);
  const ir::Function f = sin_and_cos("f64");
  for (std::size_t i = 0; i < xs.size(); ++i) {
    const std::array<Scalar, 1> argument = {xs[i]};
    const auto truth = ir::evaluate(f, argument).results;
    EXPECT_EQ(truth[0], Scalar(r.sin[i])) << xs[i];
    EXPECT_EQ(truth[1], Scalar(r.cos[i])) << xs[i];
  }
}

/// sin(sin(...(x))), as text.
std::string chain(int count, const std::string& type, const std::string& op = "sin") {
  std::string text = "function f(%0: " + type + ") -> (" + type + ") {\n";
  for (int i = 0; i < count; ++i) {
    text += fmt::format("  %{} = {} {} %{}\n", i + 1, op, type, i);
  }
  return text + fmt::format("  return (%{})\n}}\n", count);
}

int parts_of(const ir::Function& f) {
  int count = 0;
  ir::for_each(
      f, [&](ir::ValueId id, int) { count += f[id].op == ops::Op::Loop && ir::is_part(f, id); });
  return count;
}

TEST(TransformExpand, WhatStandsOftenBecomesAPartEachTime) {
  EXPECT_EQ(parts_of(run(ir::parse(chain(8, "f32")))), 0);
  EXPECT_EQ(parts_of(run(ir::parse(chain(9, "f32")))), 9);
}

TEST(TransformExpand, PartsAreCompiledOnceAndGiveTheBitsOfTheEvaluator) {
  for (const std::string op : {"sin", "cos", "tanh", "lgamma", "log"}) {
    const ir::Function f = run(ir::parse(chain(12, "f32", op)));
    const plan::Schedule schedule = plan::choose(f, {}, nullptr).schedule;
    const kernel::Kernel kernel = kernel::lower(f);
    // One, and another one for the first sine, whose argument may be large.
    const std::string code = backend::cpu::assembly(kernel, schedule);
    int functions = 0;
    for (std::size_t at = code.find("\npart"); at != std::string::npos;
         at = code.find("\npart", at + 1)) {
      functions += code[code.find_first_of(":\n", at + 1)] == ':';
    }
    EXPECT_EQ(functions, op == "sin" || op == "cos" ? 2 : 1) << op;
    std::vector<float> xs;
    for (int i = 0; i < 333; ++i) xs.push_back(std::ldexp(1.0f + float(i) / 99, i % 40 - 15));
    std::vector<float> out(xs.size());
    const auto code_object = backend::cpu::compile(kernel, schedule);
    test::run_code(*code_object, {{xs.data()}, {out.data()}}, std::ssize(xs));
    for (std::size_t i = 0; i < xs.size(); ++i) {
      const auto expected = ir::evaluate(f, std::array{Scalar(xs[i])}).results[0];
      EXPECT_EQ(Scalar(out[i]), expected) << op << ' ' << xs[i];
    }
  }
}

TEST(TransformExpand, SinesOfSmallValuesHaveTheBitsOfAllSines) {
  // tanh(x) is known to be small; x that holds the same number is not.
  const ir::Function small = run(
      ir::parse("function f(%0: f32) -> (f32, f32, f32) {\n  %1 = tanh f32 %0\n  %2 = sin f32 %1\n"
                "  %3 = cos f32 %1\n  return (%1, %2, %3)\n}\n"));
  const ir::Function any = sin_and_cos("f32");
  EXPECT_LT(small.values.size(),
            run(ir::parse("function f(%0: f32, %1: f32) -> (f32, f32, f32) {\n  %2 = tanh f32 %0\n"
                          "  %3 = sin f32 %1\n  %4 = cos f32 %1\n  return (%2, %3, %4)\n}\n"))
                .values.size());
  for (int i = -400; i <= 400; ++i) {
    const float x = float(i) / 100;
    const auto got = ir::evaluate(small, std::array{Scalar(x)}).results;
    const auto expected = ir::evaluate(any, std::array{got[0]}).results;
    EXPECT_EQ(got[1], expected[0]) << x;
    EXPECT_EQ(got[2], expected[1]) << x;
  }
}

TEST(TransformRun, DoesNotDependOnTheCallersRounding) {
  const std::string text = chain(1, "f32", "tanh");
  const std::string expected = ir::print(run(ir::parse(text)));
  const unsigned saved = _mm_getcsr();
  _mm_setcsr(saved | 0x4000);  // round up
  const std::string got = ir::print(run(ir::parse(text)));
  _mm_setcsr(saved);
  EXPECT_EQ(got, expected);
}

TEST(TransformExpand, OnlyNativeOpsAreLeft) {
  for (const char* type : {"f32", "f64"}) {
    const ir::Function f = sin_and_cos(type);
    ir::for_each(
        f, [&](ir::ValueId id, int) { EXPECT_NE(ops::row(f[id].op).kind, ops::Kind::Expand); });
  }
}

}  // namespace
}  // namespace lw::transform
