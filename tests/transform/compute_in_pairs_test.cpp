#include <gtest/gtest.h>

#include <cmath>

#include "lanewise/ir/evaluate.h"
#include "lanewise/transform/passes.h"
#include "tests/support/expect_pass.h"

namespace lw::transform {
namespace {

double value_of(const ir::Function& f, std::vector<Scalar> arguments) {
  return ir::evaluate(f, arguments).results[0].as<double>();
}

ir::Function high(const std::string& text) { return run(ir::parse(text), {.high_accuracy = true}); }

TEST(TransformComputeInPairs, ArithmeticExactFunctionsAndOtherTypesStay) {
  const std::string text = R"(
function f(%0: f64, %1: f64, %2: f32) -> (f64, f32) {
  %3 = mul f64 %0, %1
  %4 = add f64 %3, %0
  %5 = div f64 %4, %1
  %6 = sqrt f64 %5
  %7 = fma f64 %6, %0, %1
  %8 = fmod f64 %7, %0
  %9 = nextafter f64 %8, %1
  %10 = sin f32 %2
  return (%9, %10)
}
)";
  test::expect_pass(compute_in_pairs, text, text);
}

TEST(TransformComputeInPairs, TheArithmeticAroundAFunctionIsRoundedAsEver) {
  const ir::Function both = high(R"(
function f(%0: f64, %1: f64) -> (f64) {
  %2 = mul f64 %0, %1
  %3 = exp f64 %2
  %4 = add f64 %3, %1
  return (%4)
}
)");
  const ir::Function alone = high(R"(
function f(%0: f64) -> (f64) {
  %1 = exp f64 %0
  return (%1)
}
)");
  for (double x = -3; x < 3; x += 0.0917) {
    const double y = std::cos(7 * x);
    EXPECT_EQ(value_of(both, {x, y}), value_of(alone, {x * y}) + y) << x;
  }
}

TEST(TransformComputeInPairs, FunctionsThatStandOftenBecomeParts) {
  const ir::Function f = high(R"(
function f(%0: f64) -> (f64) {
  %1 = sin f64 %0
  %2 = sin f64 %1
  %3 = sin f64 %2
  return (%3)
}
)");
  int parts = 0;
  ir::for_each(f,
               [&](ir::ValueId id, int) { parts += f[id].op == ir::Op::Loop && is_part(f, id); });
  EXPECT_EQ(parts, 3);
  const ir::Function once =
      high("function f(%0: f64) -> (f64) {\n  %1 = sin f64 %0\n  return (%1)\n}\n");
  for (const double x : {0.5, -2.0, 1e6, 1e300, -0.0}) {
    double expected = x;
    for (int i = 0; i < 3; ++i) expected = value_of(once, {expected});
    EXPECT_EQ(Scalar(value_of(f, {x})), Scalar(expected)) << x;
  }
}

/// Where plain f64 is off by more than one unit in the last place.
TEST(TransformComputeInPairs, WhatTheFormulaLosesIsPutRight) {
  struct Case {
    const char* op;
    double x;
    double expected;
    double plain;
  };
  const Case cases[] = {
      {"sin", -0x1.55092112eb745p+995, -0x1.f6608af3330dp-2, -0x1.f6608af3330d1p-2},
      {"exp", 0x1.ae7199c2e108p+8, 0x1.ffab4475d48fcp+620, 0x1.ffab4475d48fbp+620},
      {"tan", -0x1.993c3f8514b84p+964, -0x1.fee7d615b38dbp+0, -0x1.fee7d615b38d9p+0},
      {"atan", 0x1.0000605a8a0aap+0, 0x1.9220159ebaba2p-1, 0x1.9220159ebaba4p-1},
      {"erfc", 0x1.37c6363ea4d0fp-1, 0x1.8e7ce72048f4dp-2, 0x1.8e7ce72048f4bp-2},
      {"digamma", 0x1.e427d84a84fb8p+2, 0x1.f4bacb8d79376p+0, 0x1.f4bacb8d79373p+0}};
  for (const auto& [op, x, expected, plain] : cases) {
    const std::string text =
        std::string("function f(%0: f64) -> (f64) {\n  %1 = ") + op + " f64 %0\n  return (%1)\n}\n";
    EXPECT_EQ(value_of(high(text), {x}), expected) << op;
    EXPECT_EQ(value_of(run(ir::parse(text)), {x}), plain) << op;
  }
}

}  // namespace
}  // namespace lw::transform
