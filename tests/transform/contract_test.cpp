#include <gtest/gtest.h>

#include "lanewise/transform/passes.h"
#include "tests/support/expect_pass.h"

namespace lw::transform {
namespace {

ir::Function contracted(const ir::Function& f) { return remove_dead(contract(f)); }

/// Contracts `function f(%0: type, %1: type, %2: type) -> (type)` with these lines between.
std::string body(const std::string& type, const std::string& lines, const std::string& result) {
  const std::string head =
      "function f(%0: " + type + ", %1: " + type + ", %2: " + type + ") -> (" + type + ") {\n";
  const ir::Function f = contracted(ir::parse(head + lines + "  return (" + result + ")\n}\n"));
  ir::verify(f);
  const std::string text = ir::print(f);
  return text.substr(head.size(), text.size() - head.size() - 2);
}

TEST(TransformContract, AProductAndASumBecomeOneFma) {
  EXPECT_EQ(body("f32", "  %3 = mul f32 %0, %1\n  %4 = add f32 %3, %2\n", "%4"),
            "  %3 = fma f32 %0, %1, %2\n  return (%3)\n");
  EXPECT_EQ(body("f64", "  %3 = mul f64 %0, %1\n  %4 = add f64 %2, %3\n", "%4"),
            "  %3 = fma f64 %0, %1, %2\n  return (%3)\n");
  EXPECT_EQ(body("f16", "  %3 = mul f16 %0, %1\n  %4 = add f16 %3, %2\n", "%4"),
            "  %3 = fma f16 %0, %1, %2\n  return (%3)\n");
}

TEST(TransformContract, ADifferenceNegatesOneSide) {
  EXPECT_EQ(body("f32", "  %3 = mul f32 %0, %1\n  %4 = sub f32 %3, %2\n", "%4"),
            "  %3 = neg f32 %2\n  %4 = fma f32 %0, %1, %3\n  return (%4)\n");
  EXPECT_EQ(body("f32", "  %3 = mul f32 %0, %1\n  %4 = sub f32 %2, %3\n", "%4"),
            "  %3 = neg f32 %0\n  %4 = fma f32 %3, %1, %2\n  return (%4)\n");
}

TEST(TransformContract, OfTwoProductsTheFirstIsTaken) {
  EXPECT_EQ(
      body("f32", "  %3 = mul f32 %0, %1\n  %4 = mul f32 %1, %2\n  %5 = add f32 %3, %4\n", "%5"),
      "  %3 = mul f32 %1, %2\n  %4 = fma f32 %0, %1, %3\n  return (%4)\n");
}

TEST(TransformContract, AProductThatIsNeededElsewhereStays) {
  EXPECT_EQ(
      body("f32", "  %3 = mul f32 %0, %1\n  %4 = add f32 %3, %2\n  %5 = div f32 %4, %3\n", "%5"),
      "  %3 = mul f32 %0, %1\n  %4 = fma f32 %0, %1, %2\n  %5 = div f32 %4, %3 near\n"
      "  return (%5)\n");
}

TEST(TransformContract, IntegersAreLeftAlone) {
  const std::string lines = "  %3 = mul i32 %0, %1\n  %4 = add i32 %3, %2\n";
  EXPECT_EQ(body("i32", lines, "%4"), lines + "  return (%4)\n");
}

TEST(TransformContract, DivisionsByALiteralBecomeProducts) {
  EXPECT_EQ(body("f64", "  %3 = constant f64 10\n  %4 = div f64 %0, %3\n", "%4"),
            "  %3 = constant f64 0.1\n  %4 = mul f64 %0, %3\n  return (%4)\n");
  EXPECT_EQ(
      body("f32", "  %3 = constant f32 4\n  %4 = div f32 %0, %3\n  %5 = add f32 %4, %1\n", "%5"),
      "  %3 = constant f32 0.25\n  %4 = fma f32 %0, %3, %1\n  return (%4)\n");
}

TEST(TransformContract, DivisionsWithoutAnOrdinaryReciprocalStay) {
  for (const char* literal : {"0", "-0", "inf", "nan", "1e-45", "2e38"}) {
    const std::string lines =
        std::string("  %3 = constant f32 ") + literal + "\n  %4 = div f32 %0, %3\n";
    const std::string text = body("f32", lines, "%4");
    EXPECT_NE(text.find("= div f32 %0, %3\n"), std::string::npos) << text;
  }
}

TEST(TransformContract, QuotientsAndRootsAreNear) {
  EXPECT_EQ(body("f32", "  %3 = div f32 %0, %1\n  %4 = sqrt f32 %3\n", "%4"),
            "  %3 = div f32 %0, %1 near\n  %4 = sqrt f32 %3 near\n  return (%4)\n");
  EXPECT_EQ(body("f64", "  %3 = rsqrt f64 %0\n", "%3"),
            "  %3 = sqrt f64 %0 near\n  %4 = constant f64 1\n  %5 = div f64 %4, %3 near\n"
            "  return (%5)\n");
  const std::string half = "  %3 = div f16 %0, %1\n";
  EXPECT_EQ(body("f16", half, "%3"), half + "  return (%3)\n");
}

// The squares are kept for an addition of their own.
TEST(TransformContract, WhatFusionBringsTogetherBecomesOneFmaToo) {
  const std::string text = R"(function f(%0: f32[100], %1: f32) -> (f32) {
  %2 = each 100 (%3: i32) {
    %4 = table_read f32 %0, %3 check
    %5 = mul f32 %4, %4
    collect keep %5
  }
  %6 = result f32 %2 0
  %7 = each 100 (%8: i32) {
    %9 = array_read f32 %6, %8 check
    %10 = add f32 %9, %1
    %11 = exp f32 %10
    collect sum %11
  }
  %12 = result f32 %7 0
  return (%12)
}
)";
  const ir::Function strict = run(ir::parse(text));
  const ir::Function fast = run(ir::parse(text), {.contract = true});
  const auto count = [](const ir::Function& f, ir::Op op) {
    int found = 0;
    ir::for_each(f, [&](ir::ValueId id, int) { found += f[id].op == op; });
    return found;
  };
  EXPECT_EQ(count(fast, ir::Op::Fma), count(strict, ir::Op::Fma) + 1);
  EXPECT_EQ(count(fast, ir::Op::Mul), count(strict, ir::Op::Mul) - 1);
  EXPECT_EQ(count(fast, ir::Op::Add), count(strict, ir::Op::Add) - 1) << "none of the exponential";
}

TEST(TransformContract, MathematicalFunctionsAreExpandedAsEver) {
  const std::string text =
      "function f(%0: f32) -> (f32) {\n  %1 = exp f32 %0\n  %2 = pow f32 %1, %0\n"
      "  %3 = sin f32 %2\n  return (%3)\n}\n";
  EXPECT_EQ(ir::print(run(ir::parse(text), {.contract = true})), ir::print(run(ir::parse(text))));
}

}  // namespace
}  // namespace lw::transform
