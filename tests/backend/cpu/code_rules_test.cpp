// What generated code may never contain: contraction, fast-math flags, calls to libm, estimates
// that show in a result.
#include <gtest/gtest.h>

#include <set>

#include "lanewise/backend/cpu/compiler.h"
#include "lanewise/ir/parse.h"
#include "lanewise/kernel/lower.h"
#include "lanewise/plan/choose.h"
#include "lanewise/transform/passes.h"
#include "tests/backend/cpu/assembly.h"
#include "tests/support/programs.h"
#include "tests/support/run_kernel.h"

namespace lw::backend::cpu {
namespace {

using plan::Isa;

struct Case {
  kernel::Kernel kernel;
  plan::Schedule schedule;
};

/// A program in every schedule that fits it.
std::vector<Case> all_cases(const ir::Function& f) {
  std::vector<Case> cases;
  for (const Isa isa : {Isa::V3, Isa::V4}) {
    for (const bool refill : {false, true}) {
      if (refill && !kernel::is_refillable(f)) continue;
      cases.push_back({kernel::lower(f, {.refill = refill}),
                       plan::choose(f, {.refill = refill, .isa = isa}, nullptr).schedule});
    }
  }
  return cases;
}

ir::Function sums_of_products() {
  return ir::parse(R"(
function f(%0: f32, %1: f64) -> (f32, f64) {
  %2 = mul f32 %0, %0
  %3 = add f32 %2, %0
  %4 = mul f64 %1, %1
  %5 = sub f64 %1, %4
  %6 = div f64 %5, %1
  %7 = sqrt f64 %6
  return (%3, %7)
}
)");
}

TEST(CpuCode, ProductsAndSumsAreNeverContracted) {
  for (const ir::Function& f : {lw::test::mandelbrot_program(), sums_of_products()}) {
    for (const Case& c : all_cases(f)) {
      for (const auto& in : test::instructions(assembly(c.kernel, c.schedule))) {
        EXPECT_FALSE(in.name.starts_with("vfm") || in.name.starts_with("vfn")) << in.name;
      }
    }
  }
}

TEST(CpuCode, DivisionAndSquareRootAreNoEstimates) {
  for (const Case& c : all_cases(sums_of_products())) {
    std::set<std::string> names;
    for (const auto& in : test::instructions(assembly(c.kernel, c.schedule))) {
      names.insert(in.name);
      EXPECT_FALSE(in.name.starts_with("vrcp") || in.name.starts_with("vrsqrt")) << in.name;
    }
    EXPECT_EQ(names.count("vdivpd"), 1u);
    EXPECT_EQ(names.count("vsqrtpd"), 1u);
  }
}

// Rows of a few values that straight code reads come by whole registers.
TEST(CpuCode, WholeRowsAreNotGathered) {
  const ir::Function f = ir::parse(R"(
function f(%0: f64[3]) -> (f64) {
  %1 = constant i32 0
  %2 = constant i32 1
  %3 = constant i32 2
  %4 = table_read f64 %0, %1 check
  %5 = table_read f64 %0, %2 check
  %6 = table_read f64 %0, %3 check
  %7 = sub f64 %4, %5
  %8 = sub f64 %7, %6
  return (%8)
}
)");
  const kernel::Kernel kernel = kernel::lower(f);
  for (const auto& in : kernel.body()) EXPECT_NE(in.kind, kernel::Kind::RowRead);
  const auto schedule = plan::choose(f, {.isa = Isa::V4, .interleave = 1}, nullptr).schedule;
  int shuffles = 0;
  for (const auto& in : test::instructions(assembly(kernel, schedule))) {
    shuffles += in.name.starts_with("vpermi2") || in.name.starts_with("vpermt2");
  }
  EXPECT_EQ(shuffles, 6);
}

TEST(CpuCode, FewPlacesOfATableAreReadWithoutGathers) {
  const ir::Function f = ir::parse(R"(
function f(%0: i32, %1: u32 table, %2: f64 table) -> (u32, f64) {
  %3 = constant i32 63
  %4 = and i32 %0, %3
  %5 = table_read u32 %1, %4 unchecked
  %6 = table_read f64 %2, %4 unchecked
  return (%5, %6)
}
)");
  for (const Case& c : all_cases(f)) {
    if (c.schedule.isa != Isa::V4) continue;
    bool has_permutes = false;
    for (const auto& in : test::instructions(assembly(c.kernel, c.schedule))) {
      EXPECT_EQ(in.name.find("gather"), std::string::npos) << in.name;
      has_permutes = has_permutes || in.name.starts_with("vpermt2") || in.name == "vpermi2d";
    }
    EXPECT_TRUE(has_permutes);
  }
}

// A register spilled across a cache line or a page costs a multiple of the loop around it.
TEST(CpuCode, SpilledRegistersAreAligned) {
  int spills = 0;
  for (const ir::Function& f : {lw::test::mandelbrot_program(), lw::test::kepler_program()}) {
    for (Case& c : all_cases(f)) {
      c.schedule.interleave = 4;
      for (const auto& in : test::hot_loop(assembly(c.kernel, c.schedule))) {
        if (in.operands.find("(%rsp)") == std::string::npos) continue;
        spills += in.name.starts_with("vmova") || in.name.starts_with("vmovdqa");
        EXPECT_FALSE(in.name.starts_with("vmovu") || in.name.starts_with("vmovdqu"))
            << in.name << " " << in.operands;
      }
    }
  }
  EXPECT_GT(spills, 0);
}

TEST(CpuCode, KeplerCallsNothingButThePollAndItsOwnRareCode) {
  for (const Case& c : all_cases(lw::test::kepler_program())) {
    int calls = 0;
    int fused = 0;
    for (const auto& in : test::instructions(assembly(c.kernel, c.schedule))) {
      fused += in.name.starts_with("vfm") || in.name.starts_with("vfn");
      if (!in.name.starts_with("call")) continue;
      if (in.operands.starts_with("rare") || in.operands.starts_with("lanewise_angle_")) continue;
      ++calls;
      EXPECT_EQ(in.operands, "lanewise_enter_poll@PLT");
    }
    EXPECT_GT(calls, 0);
    EXPECT_GT(fused, 0);
  }
}

TEST(CpuCode, FailuresCallTheRuntimeAndNothingElse) {
  const ir::Function f =
      transform::run(ir::parse("function f(%0: i32, %1: i32) -> (i32) {\n  %2 = div i32 %0, %1\n"
                               "  return (%2)\n}\n"));
  for (const Case& c : all_cases(f)) {
    for (const auto& in : test::instructions(assembly(c.kernel, c.schedule))) {
      if (in.name.starts_with("call")) {
        EXPECT_EQ(in.operands, "lanewise_enter_fail@PLT");
      }
    }
  }
}

TEST(CpuCode, NoInstructionHasAFastMathFlag) {
  for (const ir::Function& f :
       {lw::test::mandelbrot_program(), lw::test::kepler_program(), sums_of_products()}) {
    for (const Case& c : all_cases(f)) {
      const std::string text = llvm_ir(c.kernel, c.schedule);
      for (const char* flag : {" fast ", " reassoc ", " nnan ", " ninf ", " nsz ", " arcp ",
                               " contract ", " afn ", "minnum", "maxnum", "fptosi.sat"}) {
        EXPECT_EQ(text.find(flag), std::string::npos) << flag;
      }
    }
  }
}

TEST(CpuCode, ABranchThatAllLanesTakeHasCodeWithoutMasks) {
  const kernel::Kernel kernel = kernel::parse(R"(kernel f(f32, i32; ; arrays f32 8) -> (f32) {
  u0: f32 = constant 0
  v1: bool = active
  v2: f32 = load 0
  v3: i32 = load 1
  array 0 u0
  v4: bool = gt v2, u0
  v5: bool = and v1, v4
  branch v5 {
    v6: f32 = array_read 0 v3, v5
    v7: f32 = add v6, v2
    array_write 0 v3, v7, v5
  }
  v8: f32 = array_read 0 v3, v1
  store 0 v8
}
)");
  const plan::Schedule schedule{.isa = Isa::V4, .lanes = 16, .interleave = 1};
  // Two writes, one of which is for every lane.
  const std::string text = llvm_ir(kernel, schedule);
  int writes = 0, of_all = 0;
  for (std::size_t at = text.find("call void @llvm.masked.scatter"); at != std::string::npos;
       at = text.find("call void @llvm.masked.scatter", at + 1)) {
    ++writes;
    of_all += text.substr(at, text.find('\n', at) - at).find("<i1 true, ") != std::string::npos;
  }
  EXPECT_EQ(writes, 2) << text;
  EXPECT_EQ(of_all, 1) << text;
}

TEST(CpuCode, LanesNeverShareAWiderMaskThanARegisterHas) {
  const ir::Function f = lw::test::mandelbrot_program();
  for (const Case& c : all_cases(f)) {
    EXPECT_EQ(llvm_ir(c.kernel, c.schedule).find("<64 x i1>"), std::string::npos);
  }
}

TEST(CpuCode, ACompileReportsItsTimesAndBytes) {
  const ir::Function f = lw::test::mandelbrot_program();
  const runtime::ObjectCode object =
      compile_object(kernel::lower(f), plan::choose(f, {.refill = false}, nullptr).schedule);
  EXPECT_GT(object.times.emit_ms, 0);
  EXPECT_GT(object.times.code_ms, 0);
  EXPECT_GE(object.times.total_ms(), object.times.emit_ms + object.times.code_ms);
  EXPECT_GT(link(object.bytes)->bytes(), 100u);
}

TEST(CpuCode, MachineCodeStopsAtABackEdgeWhenThePollSaysSo) {
  const auto points = lw::test::mandelbrot_points(16, true);
  std::vector<std::int32_t> out(points.a.size(), -1);
  const ir::Function f = lw::test::mandelbrot_program();
  for (const bool refill : {false, true}) {
    const auto code = compile(kernel::lower(f, {.refill = refill}),
                              plan::choose(f, {.refill = refill}, nullptr).schedule);
    lw::test::Worker worker({{points.a.data(), points.b.data()}, {out.data()}});
    worker.attention = 1;
    EXPECT_EQ(code->run()(&worker, 0, std::ssize(out)), runtime::Status::Done);
    EXPECT_GT(worker.polls, 0);
    EXPECT_EQ(out, points.steps);
    worker.poll = [](runtime::Context*) { return 1; };
    EXPECT_EQ(code->run()(&worker, 0, std::ssize(out)), runtime::Status::Stopped);
  }
}

}  // namespace
}  // namespace lw::backend::cpu
