#include "lanewise/runtime/program.h"

#include <gtest/gtest.h>

#include "lanewise/api/backends.h"
#include "lanewise/base/error.h"
#include "lanewise/ir/parse.h"
#include "lanewise/runtime/compile_queue.h"
#include "tests/support/fake_backend.h"
#include "tests/support/message_of.h"
#include "tests/support/programs.h"

namespace lw::runtime {
namespace {

std::shared_ptr<Program> mandelbrot(plan::Wish wish = {}, Backend backend = api::cpu_backend()) {
  return std::make_shared<Program>(test::mandelbrot_program(), wish, backend);
}

ObjectCode refuse(const kernel::Kernel&, const plan::Schedule&) {
  throw InternalError("compile: no");
}

TEST(RuntimeProgram, HasTierZeroFromTheStartAndCodeOnceCompiled) {
  const auto program = mandelbrot();
  EXPECT_TRUE(program->has_loops());
  EXPECT_TRUE(program->wants_sample());
  EXPECT_EQ(program->code(), nullptr);
  EXPECT_FALSE(program->report().compiled);
  program->compile({});
  EXPECT_NE(program->code(), nullptr);
  EXPECT_TRUE(program->report().compiled);
  EXPECT_GT(program->report().code_bytes, 0u);
  EXPECT_EQ(program->report().choice.reason, "packets: trip counts are not known");
  EXPECT_FALSE(program->wants_sample());
}

TEST(RuntimeProgram, CompilesOnceHoweverOftenItIsAsked) {
  const auto program = mandelbrot();
  program->compile({});
  const auto code = program->code();
  program->compile({});
  program->compile_in_background({});
  wait_for_compiles();
  EXPECT_EQ(program->code(), code);
}

TEST(RuntimeProgram, AWishForTheScheduleNeedsNoSample) {
  EXPECT_FALSE(mandelbrot({.refill = true})->wants_sample());
  const Program straight(ir::parse("function f(%0: f32) -> (f32) {\n  return (%0)\n}\n"), {},
                         api::cpu_backend());
  EXPECT_FALSE(straight.wants_sample());
  EXPECT_FALSE(straight.has_loops());
}

TEST(RuntimeProgram, AFailedBackgroundCompileIsReportedAndTierZeroGoesOn) {
  const auto program = mandelbrot({}, {.interpret = test::make_tile_machine, .compile = refuse});
  program->compile_in_background({});
  wait_for_compiles();
  EXPECT_EQ(program->code(), nullptr);
  EXPECT_EQ(program->report().error, "compile: no");
}

TEST(RuntimeProgram, AFailedCompileOfTheCallersOwnReachesTheCaller) {
  const auto program = mandelbrot({}, {.interpret = test::make_tile_machine, .compile = refuse});
  EXPECT_EQ(test::message_of<InternalError>([&] { program->compile({}); }), "compile: no");
}

TEST(RuntimeProgram, OneDroppedBeforeItsTurnIsNotCompiled) {
  std::weak_ptr<Program> dropped;
  std::atomic<bool> go = false;
  submit_compile([&] {
    while (!go) {
    }
  });
  {
    const auto program = mandelbrot();
    dropped = program;
    program->compile_in_background({});
  }
  EXPECT_TRUE(dropped.expired());
  go = true;
  wait_for_compiles();
}

}  // namespace
}  // namespace lw::runtime
