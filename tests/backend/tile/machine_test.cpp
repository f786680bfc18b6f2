#include "lanewise/backend/tile/machine.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "lanewise/ir/evaluate.h"
#include "lanewise/ir/parse.h"
#include "lanewise/kernel/lower.h"
#include "tests/support/programs.h"
#include "tests/support/run_kernel.h"

namespace lw::backend::tile {
namespace {

runtime::Status never_called(runtime::Context*, std::int64_t, std::int64_t) {
  return runtime::Status::Done;
}

class TileMachine : public testing::Test {
 protected:
  const test::Points points_ = test::mandelbrot_points(32, true);
  const Machine machine_{kernel::lower(test::mandelbrot_program())};
  std::vector<std::int32_t> out_ = std::vector<std::int32_t>(points_.a.size(), -1);
  test::Worker worker_{{{points_.a.data(), points_.b.data()}, {out_.data()}}};
};

TEST_F(TileMachine, PacksLanesAndGivesEveryElementItsOwnResult) {
  const auto outcome = machine_.run(&worker_, 0, std::ssize(out_), {});
  EXPECT_EQ(outcome.status, runtime::Status::Done);
  EXPECT_EQ(outcome.done, std::ssize(out_));
  EXPECT_EQ(out_, points_.steps);
}

TEST_F(TileMachine, ComputesExactlyTheRangeItIsGiven) {
  const std::int64_t tile = machine_.tile_lanes();
  for (const std::int64_t count : {std::int64_t{1}, tile - 1, tile, tile + 1, 2 * tile + 3}) {
    std::fill(out_.begin(), out_.end(), -1);
    EXPECT_EQ(machine_.run(&worker_, 5, count, {}).done, count);
    for (std::int64_t i = 0; i < std::ssize(out_); ++i) {
      const auto at = static_cast<std::size_t>(i);
      ASSERT_EQ(out_[at], i >= 5 && i < 5 + count ? points_.steps[at] : -1) << i;
    }
  }
}

TEST(TileMachineTerms, PolynomialsOfAnyDegreeAreThoseOfTheEvaluator) {
  for (int degree = 1; degree <= 20; ++degree) {
    for (const bool from_lanes : {false, true}) {
      // Its value is bits too, which take over its place; one term between is read twice.
      std::string text = "function f(%0: f32) -> (i32, f32) {\n  %1 = constant f32 0.75\n";
      int last = from_lanes ? 0 : 1;
      int next = 2;
      for (int i = 0; i < degree; ++i) {
        text += fmt::format("  %{} = constant f32 {}\n", next, 1.5 - i * 0.25);
        text += fmt::format("  %{} = fma f32 %{}, %0, %{}\n", next + 1, last, next);
        last = next + 1;
        next += 2;
      }
      const int middle = degree > 6 ? 9 : last;
      text += fmt::format("  %{} = mul f32 %{}, %{}\n", next, middle, last);
      text += fmt::format("  %{} = raw_bits i32 %{}\n", next + 1, last);
      text += fmt::format("  return (%{}, %{})\n}}\n", next + 1, next);
      const ir::Function f = ir::parse(text);
      const Machine machine(kernel::lower(f));
      std::vector<float> x(600);
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i) / 300 - 1;
      std::vector<std::int32_t> bits(x.size());
      std::vector<float> product(x.size());
      test::Worker worker({{x.data()}, {bits.data(), product.data()}});
      machine.run(&worker, 0, std::ssize(x), {});
      for (std::size_t i = 0; i < x.size(); ++i) {
        const auto expected = ir::evaluate(f, std::array{Scalar(x[i])}).results;
        ASSERT_EQ(Scalar(bits[i]), expected[0]) << text << x[i];
        ASSERT_EQ(Scalar(product[i]), expected[1]) << text << x[i];
      }
    }
  }
}

TEST_F(TileMachine, CountsHowOftenEachElementWentRound) {
  std::vector<std::uint32_t> trips(out_.size());
  machine_.run(&worker_, 0, std::ssize(out_), {.trips = trips});
  for (std::size_t i = 0; i < trips.size(); ++i) {
    // The step in which it leaves counts too.
    ASSERT_EQ(static_cast<std::int32_t>(trips[i]), points_.steps[i] + 1) << i;
  }
}

TEST_F(TileMachine, StopsCountingWhereAnElementHasGoneRoundOftenEnough) {
  std::vector<std::uint32_t> trips(out_.size());
  const auto outcome =
      machine_.run(&worker_, 0, std::ssize(out_), {.trips = trips, .most_trips = 10});
  EXPECT_EQ(outcome.status, runtime::Status::Done);
  EXPECT_EQ(outcome.done, 0);
  EXPECT_EQ(*std::max_element(trips.begin(), trips.end()), 10u);
}

TEST_F(TileMachine, GivesUpOnceThereIsMachineCode) {
  const std::atomic<runtime::Run> code = &never_called;
  EXPECT_EQ(machine_.run(&worker_, 0, std::ssize(out_), {.code = &code}).done, 0);
  const std::atomic<runtime::Run> none = nullptr;
  EXPECT_EQ(machine_.run(&worker_, 0, std::ssize(out_), {.code = &none}).done, std::ssize(out_));
}

TEST_F(TileMachine, StopsAtABackEdgeWhenThePollSaysSo) {
  worker_.poll = [](runtime::Context*) { return 1; };
  worker_.attention = 1;
  const auto outcome = machine_.run(&worker_, 0, std::ssize(out_), {});
  EXPECT_EQ(outcome.status, runtime::Status::Stopped);
  EXPECT_EQ(outcome.done, 0);
}

TEST_F(TileMachine, AsksOnlyWhenAttentionIsWanted) {
  machine_.run(&worker_, 0, 64, {});
  EXPECT_EQ(worker_.polls, 0);
  worker_.attention = 1;
  machine_.run(&worker_, 0, 64, {});
  EXPECT_GT(worker_.polls, 0);
}

TEST(TileMachineFailures, EveryFailingElementIsReportedAndTheOthersFinish) {
  const kernel::Kernel kernel =
      kernel::lower(ir::parse("function f(%0: i32, %1: i32) -> (i32) {\n  %2 = div i32 %0, %1\n"
                              "  return (%2)\n}\n"));
  std::vector<std::int32_t> a(1000, 60);
  std::vector<std::int32_t> b(1000, 7);
  std::vector<std::int32_t> out(1000);
  for (const std::size_t i : {3u, 255u, 256u, 700u}) b[i] = 0;
  const auto failing = test::run_tile(kernel, {{a.data(), b.data()}, {out.data()}}, 1000);
  EXPECT_EQ(failing, (std::vector<std::int64_t>{3, 255, 256, 700}));
  EXPECT_EQ(out[4], 8);
  EXPECT_EQ(out[999], 8);
}

TEST(TileMachineFailures, AnElementThatLeftOrFailedIsNotReportedAgain) {
  // Element i counts down from i; at 3 those with b = 0 divide by it, in a block that the others
  // leave before, and all leave the loop at 1.
  const kernel::Kernel kernel = kernel::lower(ir::parse(R"(
function f(%0: i32, %1: i32) -> (i32) {
  %2 = constant i32 1
  %3 = constant i32 3
  %4 = constant bool true
  %5 = loop (%6: i32 = %0) {
    %7 = loop () {
      %8 = ne bool %6, %3
      break_if %8 ()
      %9 = div i32 %6, %1
      break_if %4 ()
      next ()
    }
    %10 = le bool %6, %2
    break_if %10 (%6)
    %11 = sub i32 %6, %2
    next (%11)
  }
  %12 = result i32 %5 0
  return (%12)
}
)"));
  std::vector<std::int32_t> a(700);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<std::int32_t>(i % 40);
  std::vector<std::int32_t> b(700, 1);
  std::vector<std::int32_t> out(700);
  for (const std::size_t i : {1u, 39u, 300u, 699u}) b[i] = 0;  // element 1 never comes to 3
  auto failing = test::run_tile(kernel, {{a.data(), b.data()}, {out.data()}}, 700);
  std::sort(failing.begin(), failing.end());
  EXPECT_EQ(failing, (std::vector<std::int64_t>{39, 300, 699}));
  EXPECT_EQ(out[2], 1);
  EXPECT_EQ(out[38], 1);
}

TEST(TileMachineScratch, HasARowOfLanesForEveryPlaceOfAnArray) {
  const auto machine = [](int size) {
    return Machine(kernel::lower(
        ir::parse(fmt::format("function f(%0: i32, %1: f32) -> (f32) {{\n  %2 = array f32 %1 {}\n"
                              "  %3 = array_read f32 %2, %0 clip\n  return (%3)\n}}\n",
                              size))));
  };
  const Machine small = machine(1);
  const Machine large = machine(101);
  EXPECT_GE(
      large.scratch_bytes(),
      small.scratch_bytes() + 100 * sizeof(float) * static_cast<std::size_t>(large.tile_lanes()));
}

TEST(TileMachineScratch, IsBoundedByTheProgramNotByTheElements) {
  const Machine small(kernel::lower(
      ir::parse("function f(%0: f32) -> (f32) {\n  %1 = neg f32 %0\n  return (%1)\n}\n")));
  const Machine large(kernel::lower(test::kepler_program()));
  EXPECT_GT(small.scratch_bytes(), 0u);
  EXPECT_LT(small.scratch_bytes(), large.scratch_bytes());
  EXPECT_LT(large.scratch_bytes(), std::size_t{256} << 10);
}

}  // namespace
}  // namespace lw::backend::tile
