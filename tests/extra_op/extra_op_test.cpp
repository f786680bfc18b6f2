// An op that extra_ops.h adds by one row is everywhere: in the enum, the typing, the text, the
// evaluator, the expansion, the derivatives, formulas, symbolic scalars, both tiers, the reference
// page, and in the tests that are made from the rows, which run for it here too.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "lanewise/ir/evaluate.h"
#include "lanewise/ir/parse.h"
#include "lanewise/ir/print.h"
#include "lanewise/lanewise.h"
#include "lanewise/transform/partials.h"
#include "lanewise/transform/passes.h"
#include "tools/reference/page.h"

namespace lw {
namespace {

constexpr const char* kText =
    "function f(%0: f64) -> (f64) {\n"
    "  %1 = hat f64 %0\n"
    "  return (%1)\n"
    "}\n";

TEST(ExtraOp, TheEnumTheRowAndTheTypingHaveIt) {
  const ops::Row& row = ops::row(ops::Op::Hat);
  EXPECT_EQ(ops::op_named("hat"), ops::Op::Hat);
  EXPECT_EQ(row.name, "hat");
  EXPECT_EQ(row.doc, "A triangle of height 1 over [-1, 1].");
  EXPECT_TRUE(ops::is_elementwise(ops::Op::Hat));
  const std::vector<DType> single = {DType::F32};
  const std::vector<DType> integer = {DType::I32};
  EXPECT_EQ(ops::result_type(ops::Op::Hat, single, DType::F32), DType::F32);
  EXPECT_EQ(ops::result_type(ops::Op::Hat, integer, DType::I32), std::nullopt);
}

TEST(ExtraOp, ItIsParsedPrintedExpandedAndEvaluated) {
  const ir::Function program = ir::parse(kText);
  EXPECT_EQ(ir::print(program), kText);
  const ir::Function expanded = transform::run(program);
  EXPECT_EQ(ir::print(expanded).find("hat"), std::string::npos);
  for (const auto& [x, y] : {std::pair(-0.25, 0.75), std::pair(0.0, 1.0), std::pair(2.0, 0.0)}) {
    const std::vector<Scalar> arguments = {x};
    EXPECT_EQ(ir::evaluate(expanded, arguments).results[0], Scalar(y));
  }
}

TEST(ExtraOp, FormulasAndDerivativesHaveIt) {
  ir::Builder build("f");
  const transform::Expr a(build, build.param("a", DType::F64));
  const transform::Expr y = hat(a);
  const std::vector<transform::Expr> operands = {a};
  const std::vector<transform::Expr> slopes = transform::partials(ops::Op::Hat, operands, y);
  ASSERT_EQ(slopes.size(), 1u);
  build.ret(std::vector{slopes[0].id()});
  const std::vector<Scalar> arguments = {0.5};
  EXPECT_EQ(ir::evaluate(transform::run(build.take()), arguments).results[0], Scalar(-1.0));
}

TEST(ExtraOp, SymbolicScalarsHaveItOnBothTiers) {
  const std::vector<float> x = {-2, -0.5, -0.0f, 0.125, 1, 7};
  const std::vector<float> expected = {0, 0.5, 1, 0.875, 0, 0};
  for (const Compile compile : {Compile::Never, Compile::Now}) {
    auto f = vectorize([](f32 a) { return hat(a); });
    std::vector<float> out(x.size());
    MapOptions options;
    options.compile = compile;
    f.into(out, options, x);
    EXPECT_EQ(out, expected);
  }
}

TEST(ExtraOp, TheReferencePageHasIt) {
  EXPECT_NE(reference::functions_page("").find(
                "\n| `hat(a)` | floats | the same | A triangle of height 1 over [-1, 1]. |"),
            std::string::npos);
}

/// Tests that are made from the rows, by their suite.
int tests_named(const std::string& suite_name, const std::string& part) {
  int found = 0;
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *all.GetTestSuite(i);
    if (suite.name() != suite_name) continue;
    for (int k = 0; k < suite.total_test_count(); ++k) {
      found += std::string(suite.GetTestInfo(k)->name()).find(part) != std::string::npos;
    }
  }
  return found;
}

TEST(ExtraOp, TheTestsMadeFromTheRowsHaveIt) {
  EXPECT_GT(tests_named("Rows/Conformance", "hat"), 0);
  EXPECT_GT(tests_named("Rows/Partials", "hat"), 0);
}

}  // namespace
}  // namespace lw
