// What a function says of itself: explain, lower, dumps.
#include <gtest/gtest.h>

#include <cstdlib>

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
  const std::string text = f.explain(p.a, p.b);
  EXPECT_TRUE(text.starts_with("explained: refill, ")) << text;
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

TEST_F(Explain, SaysWhenThereIsNoMachineCode) {
  const std::vector<float> xs(10);
  auto f = vectorize([](f32 x) { return x + 7; }, {.name = "uncompiled", .schedule = {}});
  f.with({.compile = Compile::Never}, xs);
  const std::string text = f.explain(xs);
  EXPECT_TRUE(text.starts_with("uncompiled: tile machine; machine code is not there yet\n"))
      << text;
  EXPECT_TRUE(has(text, "10 elements by the tile machine, 0 by machine code")) << text;
}

TEST_F(Explain, SaysWhyCompilingFailed) {
  const std::vector<float> xs(10);
  auto f = vectorize([](f32 x) { return x + 7; }, {.name = "senseless", .schedule = {.lanes = 65}});
  EXPECT_EQ(f(xs).at<float>(0), 7);
  runtime::wait_for_compiles();
  const std::string text = f.explain(xs);
  EXPECT_TRUE(
      text.starts_with("senseless: tile machine only; compiling failed: plan: a senseless "
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
