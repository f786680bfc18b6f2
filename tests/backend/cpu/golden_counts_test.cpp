// How many instructions the hot loop has for each register and step. Mandelbrot computes two
// squares, their sum, difference and comparison, the two next coordinates (4) and the masked count:
// ten on AVX-512, where the comparison writes the mask through a mask; one more without mask
// registers. A change of these numbers is a change of speed, and shows here before it is measured.
#include <gtest/gtest.h>

#include "lanewise/backend/cpu/compiler.h"
#include "lanewise/kernel/lower.h"
#include "lanewise/plan/choose.h"
#include "tests/backend/cpu/assembly.h"
#include "tests/support/programs.h"

namespace lw::backend::cpu {
namespace {

using plan::Isa;
using test::count;

struct Loop {
  plan::Schedule schedule;
  std::vector<test::Instruction> body;

  int units() const { return schedule.interleave * schedule.steps; }  // registers times steps
  int arithmetic() const { return count(body, test::is_vector_arithmetic); }
  int vector_spills() const { return count(body, test::is_vector_spill); }
  int mask_spills() const { return count(body, test::is_mask_spill); }
};

/// The hot loop of a kernel under the schedule the planner gives its program.
Loop hot_loop(const kernel::Kernel& kernel, const ir::Function& program, Isa isa) {
  const plan::Schedule schedule =
      plan::choose(program, {.refill = kernel.refillable, .isa = isa}, nullptr).schedule;
  return {schedule, test::hot_loop(assembly(kernel, schedule))};
}

/// Once from the C++ front end and once from lane-form text: both must give the same counts.
class CpuGoldenCounts : public testing::TestWithParam<bool> {
 protected:
  static Loop mandelbrot(bool refill, Isa isa) {
    const ir::Function f = lw::test::mandelbrot_program();
    const kernel::Kernel kernel =
        GetParam() ? kernel::parse(lw::test::program_text(refill ? "mandelbrot_refill.lane"
                                                                 : "mandelbrot_packets.lane"))
                   : kernel::lower(f, {.refill = refill});
    return hot_loop(kernel, f, isa);
  }
};

TEST_P(CpuGoldenCounts, MandelbrotPacketsOnAvx512TakeTenInstructionsAStep) {
  const Loop loop = mandelbrot(false, Isa::V4);
  EXPECT_LE(loop.arithmetic(), 10 * loop.units() + 1) << "and a constant";
  EXPECT_EQ(loop.vector_spills(), 0);
  EXPECT_LE(loop.mask_spills(), 2) << "a look";
}

TEST_P(CpuGoldenCounts, MandelbrotRefillOnAvx512TakesTenInstructionsAStepAndOneLimitTestALook) {
  const Loop loop = mandelbrot(true, Isa::V4);
  EXPECT_LE(loop.arithmetic(), 10 * loop.units() + loop.schedule.interleave + 1)
      << "and a constant";
  EXPECT_EQ(loop.vector_spills(), 0);
  EXPECT_LE(loop.mask_spills(), 2) << "a look";
}

TEST_P(CpuGoldenCounts, MandelbrotPacketsOnAvx2TakeElevenInstructionsAStep) {
  const Loop loop = mandelbrot(false, Isa::V3);
  // A look joins the masks of all registers and tests the whole.
  EXPECT_EQ(loop.arithmetic(), 11 * loop.units() + loop.schedule.interleave);
  EXPECT_LE(loop.vector_spills(), 9 * loop.units());
}

TEST_P(CpuGoldenCounts, MandelbrotRefillOnAvx2TakesElevenInstructionsAStepAndALimitTestALook) {
  const Loop loop = mandelbrot(true, Isa::V3);
  // The limit test is a comparison and an and.
  EXPECT_EQ(loop.arithmetic(), 11 * loop.units() + 2 * loop.schedule.interleave);
  EXPECT_LE(loop.vector_spills(), 6 * loop.units());
}

INSTANTIATE_TEST_SUITE_P(From, CpuGoldenCounts, testing::Bool(),
                         [](const auto& test) { return test.param ? "LaneForm" : "FrontEnd"; });

TEST(CpuGoldenKepler, AStepTakesFewerInstructionsThanTheProgramHasOps) {
  // 17 fused multiply-adds and what is around them; negations go into those and into selects.
  const ir::Function f = lw::test::kepler_program();
  for (const bool refill : {false, true}) {
    const kernel::Kernel kernel = kernel::lower(f, {.refill = refill});
    const Loop wide = hot_loop(kernel, f, Isa::V4);
    // Most spills stand in the blocks that call the code for large arguments, which is rare.
    EXPECT_LE(wide.arithmetic(), 43 * wide.units());
    EXPECT_LE(wide.vector_spills(), 44 * wide.units());
    const Loop narrow = hot_loop(kernel, f, Isa::V3);
    EXPECT_LE(narrow.arithmetic(), 56 * narrow.units());
    EXPECT_LE(narrow.vector_spills(), 56 * narrow.units());
    for (const Loop& loop : {wide, narrow}) {
      EXPECT_EQ(count(loop.body, [](const auto& in) { return in.name == "vdivpd"; }), loop.units());
      EXPECT_GE(count(loop.body, [](const auto& in) { return in.name.starts_with("vf"); }),
                17 * loop.units());
    }
  }
}

TEST(CpuGoldenLoop, APlainSumIsOneAdditionALaneRegister) {
  ir::Builder build("f");
  const ir::ValueId a = build.param("a", DType::F32);
  const ir::ValueId b = build.param("b", DType::F32);
  build.ret(std::vector{build.op(ops::Op::Add, {a, b})});
  const ir::Function f = build.take();
  for (const Isa isa : {Isa::V3, Isa::V4}) {
    const Loop loop = hot_loop(kernel::lower(f), f, isa);
    EXPECT_EQ(count(loop.body, [](const auto& in) { return in.name == "vaddps"; }),
              loop.schedule.interleave);
    EXPECT_EQ(loop.arithmetic(), loop.schedule.interleave);
    // What is left at the end is copied in for the same code; the copies begin with zeros.
    EXPECT_LE(loop.vector_spills(), 2 * loop.schedule.interleave);
  }
}

}  // namespace
}  // namespace lw::backend::cpu
