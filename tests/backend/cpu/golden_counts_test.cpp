// How many instructions the hot loop has for each register and step. Mandelbrot computes two
// squares, their sum, difference and comparison, the two next coordinates (4) and the masked count:
// ten on AVX-512, where the comparison writes the mask through a mask; one more without mask
// registers. A change of these numbers is a change of speed, and shows here before it is measured.
#include <gtest/gtest.h>

#include "lanewise/backend/cpu/compiler.h"
#include "lanewise/kernel/lower.h"
#include "lanewise/plan/choose.h"
#include "lanewise/trace/control.h"
#include "lanewise/trace/memory.h"
#include "lanewise/transform/passes.h"
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
  EXPECT_LE(loop.mask_spills(), 4) << "a look, some steps before what it decides";
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

/// The escape time with its test in the body, written as `leave` says.
template <class Leave>
ir::Function escape_time(const Leave& leave) {
  trace::Trace trace("f");
  const ir::ValueId pa = trace.builder().param("a", DType::F32);
  const ir::ValueId pb = trace.builder().param("b", DType::F32);
  const f32 a = f32::of(pa);
  const f32 b = f32::of(pb);
  f32 x = 0;
  f32 y = 0;
  i32 n = 0;
  While([&] { return n < 1000; },
        [&] {
          leave(x * x + y * y > 4);
          f32 t = x * x - y * y + a;
          y = 2 * x * y + b;
          x = t;
          n = n + 1;
        });
  return transform::run(trace.finish(std::vector{n.read()}));
}

TEST(CpuGoldenLoop, ABreakInABranchCostsWhatABreakIfCosts) {
  const ir::Function plain = escape_time([](const boolean& done) { BreakIf(done); });
  const ir::Function branch = escape_time([](const boolean& done) { If(done, [] { Break(); }); });
  const ir::Function nested =
      escape_time([](const boolean& done) { If(done, [&] { If(done, [] { Break(); }); }); });
  const ir::Function skip =
      escape_time([](const boolean& done) { If(!done, [] {}, [] { Break(); }); });
  for (const bool refill : {false, true}) {
    for (const Isa isa : {Isa::V3, Isa::V4}) {
      const auto loop_of = [&](const ir::Function& f) {
        return hot_loop(kernel::lower(f, {.refill = refill}), f, isa);
      };
      const int expected = loop_of(plain).arithmetic();
      EXPECT_GT(expected, 0);
      EXPECT_EQ(loop_of(branch).arithmetic(), expected);
      EXPECT_EQ(loop_of(nested).arithmetic(), expected);
      EXPECT_EQ(loop_of(skip).arithmetic(), expected);
    }
  }
}

/// Sums up an array that is filled before, by a checked index or an unchecked one.
ir::Function sum_of_array(Mode mode) {
  trace::Trace trace("f");
  const ir::ValueId px = trace.builder().param("x", DType::F32);
  const ir::ValueId pn = trace.builder().param("n", DType::I32);
  const f32 x = f32::of(px);
  const i32 n = i32::of(pn);
  Array<float> values(16, x);
  f32 sum = 0;
  For(0, 1000, [&](i32 i) {
    values.write(i & 15, sum, mode);
    sum = sum * x + values.read((i + n) & 15, mode);
  });
  return transform::run(trace.finish(std::vector{sum.read()}));
}

TEST(CpuGoldenLoop, AnIndexThatIsKnownToBeInsideCostsWhatAnUncheckedOneCosts) {
  const ir::Function checked = sum_of_array(Mode::Check);
  const ir::Function unchecked = sum_of_array(Mode::Unchecked);
  for (const Isa isa : {Isa::V3, Isa::V4}) {
    EXPECT_EQ(hot_loop(kernel::lower(checked), checked, isa).arithmetic(),
              hot_loop(kernel::lower(unchecked), unchecked, isa).arithmetic());
  }
}

/// Loops in branches of loops, three deep.
ir::Function nested_loops() {
  trace::Trace trace("f");
  const ir::ValueId pa = trace.builder().param("a", DType::I32);
  const ir::ValueId pb = trace.builder().param("b", DType::I32);
  i32 a = i32::of(pa);
  const i32 b = i32::of(pb);
  i32 n = 0;
  While([&] { return a > 0; },
        [&] {
          If(a % 2 == 1, [&] {
            i32 k = b;
            While([&] { return k > 0; },
                  [&] {
                    If(k % 3 == 0, [&] {
                      i32 m = k;
                      While([&] { return m > 0; },
                            [&] {
                              m = m - 3;
                              n = n + 1;
                            });
                    });
                    k = k - 1;
                  });
          });
          a = a - 1;
        });
  return transform::run(trace.finish(std::vector{n.read()}));
}

TEST(CpuGoldenLoop, OnlyTheInnermostOfNestedLoopsIsEmittedSeveralTimes) {
  const ir::Function f = nested_loops();
  for (const bool refill : {false, true}) {
    const auto size = [&](int steps) {
      const plan::Wish wish{.refill = refill, .isa = Isa::V3, .interleave = 1, .steps = steps};
      return test::instructions(assembly(kernel::lower(f, {.refill = refill}),
                                         plan::choose(f, wish, nullptr).schedule))
          .size();
    };
    EXPECT_LE(size(8), 4 * size(1)) << (refill ? "refill" : "packets");
  }
}

}  // namespace
}  // namespace lw::backend::cpu
