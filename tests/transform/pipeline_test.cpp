#include <gtest/gtest.h>

#include "lanewise/ir/builder.h"
#include "lanewise/transform/passes.h"
#include "tests/support/expect_pass.h"
#include "tests/support/programs.h"

namespace lw::transform {
namespace {

int count(const ir::Function& f, ir::Op op) {
  int found = 0;
  ir::for_each(f, [&](ir::ValueId id, int) { found += f[id].op == op; });
  return found;
}

TEST(TransformPipeline, ATraceComesOutWithoutSlotsDeadCodeAndCopies) {
  test::expect_pass([](const ir::Function& f) { return run(f); }, R"(
function f(%0: f32) -> (f32) {
  %1 = slot f32
  slot_write %1 (%0)
  %2 = slot f32
  %3 = constant f32 1
  slot_write %2 (%3)
  %4 = slot_read f32 %2
  %5 = slot_read f32 %1
  %6 = mul f32 %4, %5
  slot_write %1 (%6)
  %7 = slot_read f32 %1
  return (%7)
}
)",
                    "function f(%0: f32) -> (f32) {\n  return (%0)\n}\n");
}

TEST(TransformPipeline, RunningItAgainChangesNothing) {
  for (const ir::Function& f : {test::mandelbrot_program(), test::kepler_program()}) {
    EXPECT_EQ(ir::print(run(f)), ir::print(f));
  }
}

TEST(TransformPipeline, MandelbrotSharesItsSquares) {
  const ir::Function f = test::mandelbrot_program();
  EXPECT_EQ(count(f, ir::Op::Mul), 4);  // x * x, y * y, 2 * x, (2 * x) * y
  EXPECT_EQ(count(f, ir::Op::Add), 4);
  EXPECT_EQ(count(f, ir::Op::Sub), 1);
  EXPECT_EQ(count(f, ir::Op::Slot), 0);
}

TEST(TransformPipeline, WithHighAccuracyFunctionsOfF32AreComputedInF64AndExactOnesAreNot) {
  const auto trace = [](ir::Op op, DType type) {
    ir::Builder build("f");
    const ir::ValueId x = build.param("x", type);
    build.ret(std::vector{build.op(op, {x, x})});
    return run(build.take(), {.high_accuracy = true});
  };
  EXPECT_GT(count(trace(ir::Op::Hypot, DType::F32), ir::Op::Convert), 0);
  EXPECT_EQ(count(trace(ir::Op::Nextafter, DType::F32), ir::Op::Convert), 0);
  EXPECT_EQ(count(trace(ir::Op::Atan2, DType::F64), ir::Op::Convert), 0);
}

TEST(TransformPipeline, SineAndCosineOfOneArgumentShareTheirReduction) {
  const auto trace = [](bool both) {
    ir::Builder build("f");
    const ir::ValueId x = build.param("x", DType::F32);
    const ir::ValueId sine = build.op(ir::Op::Sin, {x});
    const ir::ValueId other = both ? build.op(ir::Op::Cos, {x}) : x;
    build.ret(std::vector{build.op(ir::Op::Add, {sine, other})});
    return run(build.take());
  };
  const ir::Function f = trace(true);
  EXPECT_EQ(count(f, ir::Op::Sin) + count(f, ir::Op::Cos), 0);
  EXPECT_EQ(count(f, ir::Op::Loop), 1);  // the branch for large arguments
  EXPECT_EQ(count(f, ir::Op::Fma), count(trace(false), ir::Op::Fma));
}

}  // namespace
}  // namespace lw::transform
