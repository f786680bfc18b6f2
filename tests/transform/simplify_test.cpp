// Before and after simplify; what it leaves unused is taken away by remove_dead.
#include <gtest/gtest.h>

#include "lanewise/transform/passes.h"
#include "tests/support/expect_pass.h"

namespace lw::transform {
namespace {

using test::expect_pass;

ir::Function simplified(const ir::Function& f) { return remove_dead(simplify(f)); }

/// Simplifies `function f(%0: type) -> (type)` with these lines between, which end in `result`.
std::string simplified_body(const std::string& type, const std::string& lines,
                            const std::string& result) {
  const std::string head = "function f(%0: " + type + ") -> (" + type + ") {\n";
  const std::string text =
      ir::print(simplified(ir::parse(head + lines + "  return (" + result + ")\n}\n")));
  return text.substr(head.size(), text.size() - head.size() - 2);
}

/// x op literal
std::string with_literal(const std::string& type, const std::string& op,
                         const std::string& literal) {
  return simplified_body(
      type, "  %1 = constant " + type + " " + literal + "\n  %2 = " + op + " " + type + " %0, %1\n",
      "%2");
}

/// literal op x
std::string with_literal_first(const std::string& type, const std::string& op,
                               const std::string& literal) {
  return simplified_body(
      type, "  %1 = constant " + type + " " + literal + "\n  %2 = " + op + " " + type + " %1, %0\n",
      "%2");
}

constexpr const char* kX = "  return (%0)\n";

std::string kept(const std::string& type, const std::string& op, const std::string& literal) {
  return "  %1 = constant " + type + " " + literal + "\n  %2 = " + op + " " + type +
         " %0, %1\n  return (%2)\n";
}

TEST(TransformSimplify, FloatIdentitiesThatKeepEveryBitAreApplied) {
  EXPECT_EQ(with_literal("f32", "mul", "1"), kX);
  EXPECT_EQ(with_literal_first("f32", "mul", "1"), kX);
  EXPECT_EQ(with_literal("f64", "div", "1"), kX);
  EXPECT_EQ(with_literal("f64", "sub", "0"), kX);
  EXPECT_EQ(with_literal("f64", "add", "-0"), kX);
  EXPECT_EQ(with_literal_first("f64", "add", "-0"), kX);
}

TEST(TransformSimplify, FloatIdentitiesThatChangeBitsAreNotApplied) {
  EXPECT_EQ(with_literal("f32", "add", "0"), kept("f32", "add", "0"));  // -0 + 0 is +0
  EXPECT_EQ(with_literal("f32", "mul", "0"), kept("f32", "mul", "0"));  // NaN, infinity, -x
  EXPECT_EQ(with_literal("f32", "sub", "-0"), kept("f32", "sub", "-0"));
  const std::string difference = "  %1 = sub f64 %0, %0\n  return (%1)\n";  // infinity - infinity
  EXPECT_EQ(simplified_body("f64", "  %1 = sub f64 %0, %0\n", "%1"), difference);
  const std::string quotient = "  %1 = div f64 %0, %0\n  return (%1)\n";
  EXPECT_EQ(simplified_body("f64", "  %1 = div f64 %0, %0\n", "%1"), quotient);
}

TEST(TransformSimplify, IntegerIdentitiesAreApplied) {
  EXPECT_EQ(with_literal("i32", "add", "0"), kX);
  EXPECT_EQ(with_literal("i32", "sub", "0"), kX);
  EXPECT_EQ(with_literal("i64", "mul", "1"), kX);
  EXPECT_EQ(with_literal("i64", "div", "1"), kX);
  EXPECT_EQ(with_literal("bool", "and", "true"), kX);
  EXPECT_EQ(with_literal_first("bool", "and", "true"), kX);
  EXPECT_EQ(with_literal("i32", "and", "1"), kept("i32", "and", "1"));
}

TEST(TransformSimplify, PowersOfTwoDivideIntegersWithoutADivider) {
  EXPECT_EQ(with_literal("i32", "div", "8"), kept("i32", "shr", "3"));
  EXPECT_EQ(with_literal("u64", "div", "4611686018427387904"), kept("u64", "shr", "62"));
  EXPECT_EQ(with_literal("i64", "rem", "2"), kept("i64", "and", "1"));
  EXPECT_EQ(with_literal("u8", "rem", "128"), kept("u8", "and", "127"));
  EXPECT_EQ(with_literal("i32", "div", "6"), kept("i32", "div", "6"));
  EXPECT_EQ(with_literal("i8", "rem", "-128"), kept("i8", "rem", "-128"));
  EXPECT_EQ(with_literal("i32", "div", "-1"), kept("i32", "div", "-1"));
  EXPECT_EQ(with_literal("f32", "div", "2"), kept("f32", "div", "2"));
  EXPECT_EQ(with_literal_first("i32", "div", "8"),
            "  %1 = constant i32 8\n  %2 = div i32 %1, %0\n"
            "  return (%2)\n");
}

TEST(TransformSimplify, DoubleNegationAndSelectsOfOneValueVanish) {
  EXPECT_EQ(simplified_body("bool", "  %1 = not bool %0\n  %2 = not bool %1\n", "%2"), kX);
  EXPECT_EQ(simplified_body("bool", "  %1 = select bool %0, %0, %0\n", "%1"), kX);
  EXPECT_EQ(simplified_body("f32",
                            "  %1 = constant bool false\n  %2 = neg f32 %0\n"
                            "  %3 = select f32 %1, %2, %0\n",
                            "%3"),
            kX);
  EXPECT_EQ(simplified_body("f32", "  %1 = convert f32 %0\n", "%1"), kX);
}

TEST(TransformSimplify, ConstantsAreFoldedAsTheEvaluatorComputesThem) {
  expect_pass(simplified, R"(
function f() -> (i32, f32, bool, f64) {
  %0 = constant i32 -7
  %1 = constant i32 2
  %2 = div i32 %0, %1
  %3 = constant f32 16777216
  %4 = constant f32 1
  %5 = add f32 %3, %4
  %6 = lt bool %3, %5
  %7 = constant f64 0
  %8 = div f64 %7, %7
  return (%2, %5, %6, %8)
}
)",
              R"(
function f() -> (i32, f32, bool, f64) {
  %0 = constant i32 -4
  %1 = constant f32 16777216
  %2 = constant bool false
  %3 = constant f64 nan
  return (%0, %1, %2, %3)
}
)");
}

TEST(TransformSimplify, ADivisionByALiteralZeroIsNotFoldedAway) {
  const char* text = R"(
function f() -> (i32) {
  %0 = constant i32 7
  %1 = constant i32 0
  %2 = div i32 %0, %1
  return (%2)
}
)";
  expect_pass(simplified, text, text);
}

TEST(TransformSimplify, EqualValuesAreMerged) {
  expect_pass(simplified, R"(
function f(%0: f32, %1: f32) -> (f32) {
  %2 = mul f32 %0, %1
  %3 = mul f32 %0, %1
  %4 = mul f32 %1, %0
  %5 = add f32 %2, %3
  %6 = add f32 %5, %4
  return (%6)
}
)",
              R"(
function f(%0: f32, %1: f32) -> (f32) {
  %2 = mul f32 %0, %1
  %3 = mul f32 %1, %0
  %4 = add f32 %2, %2
  %5 = add f32 %4, %3
  return (%5)
}
)");
}

TEST(TransformSimplify, ZerosOfDifferentSignAreNotMerged) {
  const char* text = R"(
function f(%0: f32) -> (f32, f32) {
  %1 = constant f32 0
  %2 = constant f32 -0
  return (%1, %2)
}
)";
  expect_pass(simplified, text, text);
}

TEST(TransformSimplify, AValueFromBeforeALoopServesInsideOneOfTheLoopDoesNotServeAfterIt) {
  expect_pass(simplified, R"(
function f(%0: f32, %1: bool) -> (f32) {
  %2 = neg f32 %0
  %3 = loop (%4: f32 = %2) {
    %5 = neg f32 %0
    %6 = abs f32 %0
    %7 = add f32 %5, %6
    break_if %1 (%7)
    next (%4)
  }
  %8 = result f32 %3 0
  %9 = abs f32 %0
  %10 = add f32 %8, %9
  return (%10)
}
)",
              R"(
function f(%0: f32, %1: bool) -> (f32) {
  %2 = neg f32 %0
  %3 = loop (%4: f32 = %2) {
    %5 = abs f32 %0
    %6 = add f32 %2, %5
    break_if %1 (%6)
    next (%4)
  }
  %7 = result f32 %3 0
  %8 = abs f32 %0
  %9 = add f32 %7, %8
  return (%9)
}
)");
}

}  // namespace
}  // namespace lw::transform
