// What a function says of itself: explain, lower, dumps.
#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>
#include <sstream>

#include "lanewise/runtime/compile_queue.h"
#include "tests/support/programs.h"

namespace lw {
namespace {

using testing::internal::CaptureStderr;
using testing::internal::GetCapturedStderr;

class Explain : public testing::Test {
 protected:
  // Nobody else reads the environment meanwhile.
  void SetUp() override { runtime::wait_for_compiles(); }
  void TearDown() override {
    runtime::wait_for_compiles();
    unsetenv("LANEWISE_DUMP");
  }
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(Explain, NamesScheduleReasonTimesAndTiers) {
  const test::Points p = test::mandelbrot_points(64, true);
  auto f = vectorize(&test::mandelbrot, {.name = "explained", .schedule = {}});
  f.with({.threads = 1, .compile = Compile::Now}, p.a, p.b);
  const std::string text = f.explain(p.a, p.b).str();
  EXPECT_TRUE(has(text, "\n  schedule  refill, ")) << text;
  EXPECT_TRUE(has(text, "\n  not       packets: lanes would wait for the slowest")) << text;
  EXPECT_TRUE(has(text, " lanes x ")) << text;
  EXPECT_TRUE(has(text, plan::name_of(plan::host_isa()))) << text;
  EXPECT_TRUE(has(text, "\n  because   ")) << text;
  EXPECT_TRUE(has(text, " trips an element, packets of ")) << text;
  EXPECT_TRUE(has(text, "\n  compiled  ")) << text;
  EXPECT_TRUE(
      has(text, "\n  last run  0 elements by the tile machine, 4096 by machine code; 1 workers"))
      << text;
  EXPECT_TRUE(has(text, "\n  scratch   ")) << text;
}

TEST_F(Explain, IsDataThatPrintsItself) {
  const test::Points p = test::mandelbrot_points(64, true);
  auto f =
      vectorize(&test::mandelbrot, {.name = "data", .schedule = {.lanes = 8, .interleave = 3}});
  EXPECT_FALSE(f.explain(p.a, p.b).last_run.has_value());
  f.with({.threads = 1, .compile = Compile::Now, .chunk = 1000}, p.a, p.b);
  const Explanation e = f.explain(p.a, p.b);
  EXPECT_EQ(e.name, "data");
  EXPECT_EQ(e.math, Math::Strict);
  EXPECT_TRUE(e.program.starts_with("function data(%0: f32, %1: f32) -> (i32) {\n")) << e.program;
  EXPECT_GT(e.instructions, 10);
  EXPECT_EQ(e.bytes_in, 8);
  EXPECT_EQ(e.bytes_out, 4);
  EXPECT_GT(e.scratch_bytes, 0);
  EXPECT_TRUE(e.compiled);
  EXPECT_TRUE(e.schedule.refill);
  EXPECT_EQ(e.schedule.lanes, 8);
  EXPECT_EQ(e.schedule.interleave, 3);
  EXPECT_TRUE(has(e.reason, " trips an element"));
  EXPECT_NE(e.source, runtime::CodeSource::None);
  EXPECT_GT(e.times.total_ms(), 0);
  EXPECT_GT(e.code_bytes, 100);
  EXPECT_EQ(e.error, "");
  ASSERT_TRUE(e.last_run.has_value());
  EXPECT_EQ(e.last_run->workers, 1);
  EXPECT_EQ(e.last_run->chunk, 1000);
  EXPECT_EQ(e.last_run->tier0_elements, 0);
  EXPECT_EQ(e.last_run->tier1_elements, 4096);
  std::ostringstream out;
  out << e;
  EXPECT_EQ(out.str(), e.str());
}

TEST_F(Explain, KeepsWhatWasCountedAndConsidered) {
  const test::Points p = test::mandelbrot_points(64, true);
  auto f = vectorize(&test::mandelbrot, {.name = "counted", .schedule = {}});
  f.with({.threads = 2, .compile = Compile::Now, .chunk = 512}, p.a, p.b);
  const Explanation e = f.explain(p.a, p.b);
  ASSERT_FALSE(e.answer.empty());
  EXPECT_LE(e.answer.size(), 3u);
  EXPECT_TRUE(e.str().starts_with("counted: " + e.answer[0] + "\n")) << e;
  EXPECT_GE(e.trips.samples, 1024);
  EXPECT_EQ(std::accumulate(e.trips.histogram.begin(), e.trips.histogram.end(), std::int64_t{0}),
            e.trips.samples);
  EXPECT_LT(e.trips.occupancy, 1);
  ASSERT_EQ(e.considered.size(), 2u);
  EXPECT_NE(e.considered[0].chosen, e.considered[1].chosen);
  EXPECT_GT(e.considered[0].ns, e.considered[1].ns) << "packets wait";
  ASSERT_TRUE(e.last_run.has_value());
  EXPECT_GT(e.last_run->seconds, 0);
  std::int64_t elements = 0;
  for (const runtime::WorkerShare& share : e.last_run->shares) elements += share.elements;
  EXPECT_EQ(elements, 4096);
  ASSERT_FALSE(e.lines.empty());
  EXPECT_GT(e.flops, 10);
  EXPECT_TRUE(has(e.json(), "\"name\":\"counted\"")) << e.json();
  EXPECT_TRUE(e.html().starts_with("<!DOCTYPE html>"));
}

TEST_F(Explain, PrintsTheProgramAsItWasWritten) {
  const std::vector<double> xs(10);
  auto f = vectorize([](f64 x, f64 scale) { return sin(x) * scale; }, {.name = "wave"});
  const Explanation e = f.explain(xs, 2.0);
  EXPECT_EQ(e.program,
            "function wave(%0: f64, %1: f64 shared) -> (f64) {\n"
            "  %2 = sin f64 %0\n"
            "  %3 = mul f64 %2, %1\n"
            "  return (%3)\n"
            "}\n");
  EXPECT_GT(e.instructions, 10) << "with the sine expanded";
  EXPECT_EQ(e.bytes_in, 8) << "shared numbers are not counted";
  EXPECT_TRUE(has(e.str(), "\n  bytes     8 in and 8 out an element\n")) << e;
  EXPECT_TRUE(has(e.str(), " instructions, from\n    function wave(")) << e;
  EXPECT_TRUE(has(e.str(), "\n      %2 = sin f64 %0\n")) << e;
}

TEST_F(Explain, OptionsOfTheCallComeLast) {
  const std::vector<float> xs(10);
  auto f = vectorize([](f32 x) { return x * x + 1; });
  const MapOptions fast{.compile = Compile::Never, .math = Math::Fast};
  f.with(fast, xs);
  EXPECT_FALSE(f.explain(xs).last_run.has_value()) << "strict was not called";
  const Explanation e = f.explain(xs, fast);
  EXPECT_EQ(e.math, Math::Fast);
  EXPECT_TRUE(e.last_run.has_value());
  EXPECT_TRUE(has(e.program, " = fma f32 ")) << e;
  EXPECT_FALSE(has(e.program, " = mul f32 ")) << e;
  EXPECT_TRUE(has(e.str(), "\n  math      fast: other bits than strict\n")) << e;
  EXPECT_FALSE(has(f.explain(xs).str(), "  math  "));
  EXPECT_TRUE(has(f.lower(xs, fast), " = fma f32 "));
  EXPECT_FALSE(has(f.lower(xs), " = fma f32 "));
}

TEST_F(Explain, SaysWhenThereIsNoMachineCode) {
  const std::vector<float> xs(10);
  auto f = vectorize([](f32 x) { return x + 7; }, {.name = "uncompiled", .schedule = {}});
  f.with({.compile = Compile::Never}, xs);
  const std::string text = f.explain(xs).str();
  EXPECT_TRUE(text.starts_with("uncompiled: small map: 10 elements")) << text;
  EXPECT_TRUE(has(text, "\n  schedule  tile machine; machine code is not there yet\n")) << text;
  EXPECT_TRUE(has(text, "10 elements by the tile machine, 0 by machine code")) << text;
}

TEST_F(Explain, SaysWhyCompilingFailed) {
  const std::vector<float> xs(10);
  auto f = vectorize([](f32 x) { return x + 7; }, {.name = "senseless", .schedule = {.lanes = 65}});
  for (int call = 0; call < 2; ++call) EXPECT_EQ(f(xs).at<float>(0), 7);
  runtime::wait_for_compiles();
  const std::string text = f.explain(xs).str();
  EXPECT_TRUE(has(text,
                  "\n  schedule  tile machine only; compiling failed: plan: a senseless "
                  "schedule was asked for; got packets, 65 lanes"))
      << text;
  EXPECT_EQ(f(xs).at<float>(9), 7);
}

TEST_F(Explain, LowerPrintsTheElementProgramWithTheUsersLines) {
  int line = 0;
  auto f = vectorize([&](f32 x) {
    line = __LINE__ + 1;
    return x * x;
  });
  const std::string text = f.lower(std::vector<float>(1));
  EXPECT_EQ(text,
            "function f(%0: f32) -> (f32) {\n"
            "  %1 = mul f32 %0, %0  # " +
                std::string(__FILE__) + ":" + std::to_string(line) + "\n  return (%1)  # " +
                std::string(__FILE__) + ":" + std::to_string(line) + "\n}\n");
}

TEST_F(Explain, CompileReportsWhatTheCompilerDid) {
  const std::vector<float> xs(1);
  auto f = vectorize(&test::mandelbrot, {.name = "reported", .schedule = {.refill = true}});
  const std::array<Input, 2> inputs = {Input(xs), Input(xs)};
  const auto report = f.element_function().compile(inputs, {});
  EXPECT_TRUE(report.compiled);
  EXPECT_TRUE(report.choice.schedule.refill);
  EXPECT_EQ(report.choice.reason, "as asked");
  EXPECT_GT(report.times.total_ms(), 0);
}

TEST_F(Explain, EveryStageCanBeDumpedFromARealCall) {
  const test::Points p = test::mandelbrot_points(8, true);
  setenv("LANEWISE_DUMP", "trace,element,plan,kernel,code", 1);
  CaptureStderr();
  auto f = vectorize(&test::mandelbrot, {.name = "dumped", .schedule = {.refill = true}});
  f.with({.compile = Compile::Now}, p.a, p.b);
  const std::string text = GetCapturedStderr();
  const char* stages[] = {"=== lanewise trace ===\nfunction dumped(%0: f32, %1: f32) -> (i32) {",
                          "=== lanewise element ===\nfunction dumped(%0: f32, %1: f32) -> (i32) {",
                          "=== lanewise kernel ===\nkernel dumped(f32, f32; ) -> (i32) {",
                          "=== lanewise plan ===\nrefill, ",
                          "=== lanewise kernel ===\nkernel dumped(f32, f32; ) -> (i32) refill {",
                          "=== lanewise code ===\nrefill, "};
  std::size_t at = 0;
  for (const char* stage : stages) {
    at = text.find(stage, at);
    ASSERT_NE(at, std::string::npos) << stage;
  }
  EXPECT_TRUE(has(text, "because: as asked"));
  EXPECT_TRUE(has(text, "slot_write"));
  EXPECT_TRUE(has(text, "retq"));
}

TEST_F(Explain, NothingIsDumpedUnasked) {
  CaptureStderr();
  auto f = vectorize(&test::mandelbrot, {.name = "silent", .schedule = {}});
  f.with({.compile = Compile::Now}, std::vector<float>(3), std::vector<float>(3));
  EXPECT_EQ(GetCapturedStderr(), "");
}

}  // namespace
}  // namespace lw
