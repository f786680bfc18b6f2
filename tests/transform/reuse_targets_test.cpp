#include <gtest/gtest.h>

#include <cmath>

#include "lanewise/ir/evaluate.h"
#include "lanewise/ir/parse.h"
#include "lanewise/ir/print.h"
#include "lanewise/transform/passes.h"

namespace lw::transform {
namespace {

std::string reused(const std::string& text) { return ir::print(reuse_targets(ir::parse(text))); }

/// A sum of something long, and its quotients by the sum, for rows that begin at %0; `between`
/// stands between the two, and `place` is where the quotients go.
std::string quotients(const std::string& between, const std::string& place) {
  std::string text =
      "function f(%0: i32, %1: i32, %2: f32 table, %3: f32 target) -> (f32) {\n"
      "  %4 = each 100 of %1 (%5: i32) {\n"
      "    %6 = add i32 %0, %5\n"
      "    %7 = table_read f32 %2, %6 unchecked\n";
  const auto powers = [&](int from) {
    for (int i = 0; i < 8; ++i) {
      text += "    %" + std::to_string(from + i + 1) + " = mul f32 %" + std::to_string(from + i) +
              ", %" + std::to_string(from) + "\n";
    }
  };
  powers(7);
  text += "    collect sum %15\n  }\n  %16 = result f32 %4 0\n" + between +
          "  %20 = each 100 of %1 (%21: i32) {\n"
          "    %22 = add i32 %0, %21\n"
          "    %23 = table_read f32 %2, %22 unchecked\n";
  powers(23);
  return text + "    %32 = div f32 %31, %16\n    collect keep %32, %3, " + place +
         "\n  }\n  return (%16)\n}\n";
}

TEST(ReuseTargets, WhatIsComputedTwiceIsKeptWhereTheResultGoes) {
  EXPECT_EQ(reused(quotients("", "%0")),
            R"(function f(%0: i32, %1: i32, %2: f32 table, %3: f32 target) -> (f32) {
  %4 = each 100 of %1 (%5: i32) {
    %6 = add i32 %0, %5
    %7 = table_read f32 %2, %6 unchecked
    %8 = mul f32 %7, %7
    %9 = mul f32 %8, %7
    %10 = mul f32 %9, %7
    %11 = mul f32 %10, %7
    %12 = mul f32 %11, %7
    %13 = mul f32 %12, %7
    %14 = mul f32 %13, %7
    %15 = mul f32 %14, %7
    collect sum %15
    collect keep %15, %3, %0
  }
  %16 = result f32 %4 0
  %17 = each 100 of %1 (%18: i32) {
    %19 = add i32 %0, %18
    %20 = table_read f32 %3, %19 unchecked
    %21 = div f32 %20, %16
    collect keep %21, %3, %0
  }
  return (%16)
}
)");
}

TEST(ReuseTargets, ElementsWriteTheSameToTheirPlaces) {
  const ir::Function f = ir::parse(quotients("", "%0"));
  const float values[] = {7, 1.5f, 2, 7};
  const types::Table tables[] = {{values, 4}, {values, 4}};  // the target is not touched
  const Scalar row[] = {Scalar(std::int32_t{1}), Scalar(std::int32_t{2})};
  const ir::Evaluation before = ir::evaluate(f, row, {.tables = tables});
  const ir::Evaluation after = ir::evaluate(reuse_targets(f), row, {.tables = tables});
  EXPECT_EQ(before.written.at(3), after.written.at(3));
  const float first = std::pow(1.5f, 9.0f);
  const std::map<std::int64_t, Scalar> expected = {{1, Scalar(first / (first + 512))},
                                                   {2, Scalar(512 / (first + 512))}};
  EXPECT_EQ(after.written.at(3), expected);
}

TEST(ReuseTargets, ARowOutsideOfTheTargetFails) {
  const ir::Function f = ir::parse(quotients("", "%0"));
  const float values[] = {1, 2, 3, 4};
  const types::Table tables[] = {{values, 4}, {values, 3}};
  const Scalar row[] = {Scalar(std::int32_t{2}), Scalar(std::int32_t{2})};
  const ir::Evaluation found = ir::evaluate(f, row, {.tables = tables});
  ASSERT_TRUE(found.failure.has_value());
  EXPECT_EQ(found.failure->kind, ir::FailKind::Index);
}

TEST(ReuseTargets, NotWhereThePlaceIsKnownLater) {
  const std::string later = quotients("  %17 = sub i32 %1, %0\n", "%17");
  EXPECT_EQ(reused(later), ir::print(ir::parse(later)));
}

}  // namespace
}  // namespace lw::transform
