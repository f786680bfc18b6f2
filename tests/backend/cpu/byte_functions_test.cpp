// Functions of one byte: their results come from registers, and are those of the evaluator.
#include <gtest/gtest.h>

#include <numeric>

#include "lanewise/backend/cpu/compiler.h"
#include "lanewise/ir/evaluate.h"
#include "lanewise/ir/parse.h"
#include "lanewise/kernel/lower.h"
#include "lanewise/plan/choose.h"
#include "lanewise/transform/passes.h"
#include "tests/backend/cpu/assembly.h"
#include "tests/support/run_kernel.h"

namespace lw::backend::cpu {
namespace {

using plan::Isa;

bool has_permutes_of_words(const ir::Function& f) {
  const auto schedule = plan::choose(f, {.isa = Isa::V4}, nullptr).schedule;
  const auto list = test::instructions(assembly(kernel::lower(f), schedule));
  return test::count(list, [](const auto& in) {
           return in.name == "vpermi2w" || in.name == "vpermt2w";
         }) > 0;
}

/// All bytes, and some once more behind a whole number of registers.
void expect_results_of_evaluator(const ir::Function& f) {
  std::vector<std::uint8_t> in(256 + 77);
  std::iota(in.begin(), in.end(), std::uint8_t{0});
  for (const Isa isa : lw::test::fast_isas()) {
    for (const int lanes : {4, 8, 16}) {
      for (const int interleave : {1, 3, 4}) {
        std::vector<std::uint8_t> out(in.size());
        const auto code = compile(
            kernel::lower(f),
            plan::choose(f, {.refill = false, .isa = isa, .lanes = lanes, .interleave = interleave},
                         nullptr)
                .schedule);
        lw::test::run_code(*code, {{in.data()}, {out.data()}},
                           static_cast<std::int64_t>(in.size()));
        for (std::size_t i = 0; i < in.size(); ++i) {
          const Scalar argument = Scalar::load(f.params[0].type, &in[i]);
          const Scalar expected = ir::evaluate(f, {&argument, 1}, {}).results[0];
          ASSERT_EQ(out[i], expected.as<std::uint8_t>())
              << "of " << i % 256 << ", " << lanes << " lanes x " << interleave;
        }
      }
    }
  }
}

TEST(ByteFunctions, ThoseOfFloats) {
  const ir::Function f = ir::parse(R"(
function f(%0: u8) -> (u8) {
  %1 = convert f32 %0
  %2 = constant f32 255
  %3 = mul f32 %1, %2
  %4 = sqrt f32 %3
  %5 = convert u8 %4
  return (%5)
}
)");
  EXPECT_TRUE(has_permutes_of_words(f));
  expect_results_of_evaluator(f);
}

TEST(ByteFunctions, ThoseWithBranchesInside) {
  const ir::Function f = transform::run(ir::parse(R"(
function f(%0: u8) -> (u8) {
  %1 = convert f32 %0
  %2 = constant f32 255
  %3 = div f32 %1, %2
  %4 = constant f32 2.2
  %5 = pow f32 %3, %4
  %6 = mul f32 %5, %2
  %7 = convert u8 %6
  return (%7)
}
)"));
  EXPECT_TRUE(has_permutes_of_words(f));
  expect_results_of_evaluator(f);
}

TEST(ByteFunctions, WhatIsReadElsewhereIsStillComputed) {
  const ir::Function f = ir::parse(R"(
function f(%0: i8) -> (i8, f64) {
  %1 = convert f64 %0
  %2 = sqrt f64 %1
  %3 = convert i8 %2
  return (%3, %2)
}
)");
  EXPECT_TRUE(has_permutes_of_words(f));
  std::vector<std::int8_t> in(256);
  std::iota(in.begin(), in.end(), std::int8_t{-128});
  std::vector<std::int8_t> bytes(in.size());
  std::vector<double> roots(in.size());
  const auto code = compile(kernel::lower(f), plan::choose(f, {}, nullptr).schedule);
  lw::test::run_code(*code, {{in.data()}, {bytes.data(), roots.data()}}, 256);
  for (std::size_t i = 0; i < in.size(); ++i) {
    const Scalar argument = in[i];
    const auto expected = ir::evaluate(f, {&argument, 1}, {}).results;
    EXPECT_EQ(Scalar(bytes[i]), expected[0]);
    EXPECT_EQ(Scalar(roots[i]), expected[1]);
  }
}

TEST(ByteFunctions, ShortOnesAndThoseOfTwoBytesAreComputed) {
  EXPECT_FALSE(has_permutes_of_words(ir::parse(R"(
function f(%0: u8) -> (u8) {
  %1 = constant u8 7
  %2 = xor u8 %0, %1
  %3 = add u8 %2, %1
  return (%3)
}
)")));
  EXPECT_FALSE(has_permutes_of_words(ir::parse(R"(
function f(%0: u8, %1: u8) -> (u8) {
  %2 = convert f32 %0
  %3 = convert f32 %1
  %4 = div f32 %2, %3
  %5 = sqrt f32 %4
  %6 = convert u8 %5
  return (%6)
}
)")));
}

}  // namespace
}  // namespace lw::backend::cpu
