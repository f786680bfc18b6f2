// The derivatives in the op rows against differences, in the interval each row gives.
#include "lanewise/transform/partials.h"

#include <gtest/gtest.h>

#include <cmath>

#include "lanewise/ir/evaluate.h"
#include "lanewise/transform/passes.h"

namespace lw::transform {
namespace {

using ops::Op;

std::vector<const ops::Row*> differentiable_rows() {
  std::vector<const ops::Row*> rows;
  for (const ops::Row& row : ops::rows()) {
    if (row.kind == ops::Kind::Structural || !ops::is_accepted(row.accepts, DType::F64)) continue;
    if (row.gives == ops::Gives::Same && row.op != Op::Select && row.op != Op::Ldexp &&
        row.op != Op::Nextafter && row.op != Op::AngleRest && row.op != Op::AngleLost &&
        row.op != Op::AngleQuadrant) {
      rows.push_back(&row);
    }
  }
  return rows;
}

class Partials : public testing::TestWithParam<const ops::Row*> {
 protected:
  double value(std::vector<double> x) const {
    ir::Builder build("f");
    build.ret(std::vector{build.op(GetParam()->op, params(build))});
    return run(build.take(), x)[0];
  }

  std::vector<double> derivatives(const std::vector<double>& x) const {
    ir::Builder build("f");
    const std::vector<ir::ValueId> ids = params(build);
    const Expr y(build, build.op(GetParam()->op, ids));
    std::vector<Expr> operands;
    for (const ir::ValueId id : ids) operands.emplace_back(build, id);
    std::vector<ir::ValueId> results;
    for (const Expr& partial : partials(GetParam()->op, operands, y))
      results.push_back(partial.id());
    if (results.empty()) return std::vector<double>(x.size(), 0.0);
    build.ret(results);
    return run(build.take(), x);
  }

  std::vector<ir::ValueId> params(ir::Builder& build) const {
    std::vector<ir::ValueId> ids;
    for (int i = 0; i < GetParam()->arity; ++i) ids.push_back(build.param("x", DType::F64));
    return ids;
  }

  static std::vector<double> run(const ir::Function& f, const std::vector<double>& x) {
    std::vector<Scalar> arguments(x.begin(), x.end());
    std::vector<double> results;
    for (const Scalar& r : ir::evaluate(expand(f), arguments).results)
      results.push_back(r.as<double>());
    return results;
  }
};

TEST_P(Partials, AreNearDifferences) {
  const ops::Row& row = *GetParam();
  const auto arity = static_cast<std::size_t>(row.arity);
  for (int point = 0; point < 40; ++point) {
    std::vector<double> x;
    for (std::size_t i = 0; i < arity; ++i) {
      const double place =
          std::fmod(0.137 + 0.618033988749895 * point + 0.31 * double(i) * (point + 1), 1.0);
      x.push_back(row.low + (row.high - row.low) * (0.02 + 0.96 * place));
    }
    const std::vector<double> exact = derivatives(x);
    ASSERT_EQ(exact.size(), arity);
    for (std::size_t i = 0; i < arity; ++i) {
      const double h = 1e-5 * std::max(1.0, std::abs(x[i]));
      std::vector<double> left = x, right = x, far_left = x, far_right = x;
      left[i] -= h;
      right[i] += h;
      far_left[i] -= 2 * h;
      far_right[i] += 2 * h;
      const double near = (value(right) - value(left)) / (2 * h);
      const double wide = (value(far_right) - value(far_left)) / (4 * h);
      if (std::abs(near - wide) > 1e-4 * std::max(1.0, std::abs(near)))
        continue;  // a step or a kink
      EXPECT_NEAR(exact[i], near, 2e-6 * std::max(1.0, std::abs(near)))
          << row.name << ", operand " << i << " at " << x[0];
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, Partials, testing::ValuesIn(differentiable_rows()),
                         [](const auto& test) { return std::string(test.param->name); });

}  // namespace
}  // namespace lw::transform
