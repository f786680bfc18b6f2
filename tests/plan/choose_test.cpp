#include "lanewise/plan/choose.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "lanewise/base/error.h"
#include "lanewise/ir/parse.h"
#include "tests/support/message_of.h"
#include "tests/support/programs.h"

namespace lw::plan {
namespace {

ir::Function straight() {
  return ir::parse("function f(%0: f32) -> (f32) {\n  %1 = neg f32 %0\n  return (%1)\n}\n");
}

/// A loop that all elements leave together.
ir::Function even_loop() {
  return ir::parse(R"(
function f(%0: f32, %1: bool shared) -> (f32) {
  %2 = loop () {
    break_if %1 ()
    next ()
  }
  return (%0)
}
)");
}

Sample alternating(std::uint32_t few, std::uint32_t many) {
  Sample sample;
  for (int i = 0; i < 256; ++i) sample.trips.push_back(i % 16 == 0 ? many : few);
  return sample;
}

TEST(PlanChoose, DivergentCountsArePlannedWithRefill) {
  const Sample sample = alternating(5, 1000);
  for (const Isa isa : {Isa::V3, Isa::V4}) {
    const Choice choice = choose(test::mandelbrot_program(), {.isa = isa}, &sample);
    EXPECT_TRUE(choice.schedule.refill);
    EXPECT_EQ(choice.reason.substr(0, choice.reason.find(';')),
              isa == Isa::V4 ? "67.2 trips an element, packets of 64 would use 7 % of their lanes"
                             : "67.2 trips an element, packets of 32 would use 7 % of their lanes");
    EXPECT_TRUE(choice.reason.ends_with(" ns an element, refill less")) << choice.reason;
  }
}

TEST(PlanChoose, EvenCountsArePlannedAsPackets) {
  const Sample sample = alternating(1000, 1000);
  const Choice choice = choose(test::mandelbrot_program(), {.isa = Isa::V4}, &sample);
  EXPECT_FALSE(choice.schedule.refill);
  EXPECT_EQ(choice.reason,
            "1000.0 trips an element, packets of 64 would use 100 % of their lanes; waiting costs "
            "less than refill");
}

TEST(PlanChoose, ShortLoopsWithLittleSpreadArePlannedAsPackets) {
  const Sample sample = alternating(4, 6);
  EXPECT_FALSE(choose(test::mandelbrot_program(), {.isa = Isa::V4}, &sample).schedule.refill);
}

TEST(PlanChoose, WithoutCountsOrAFittingLoopPacketsAreChosenWithTheReason) {
  const Sample sample = alternating(5, 1000);
  EXPECT_EQ(choose(test::mandelbrot_program(), {}, nullptr).reason,
            "packets: trip counts are not known");
  EXPECT_EQ(choose(straight(), {}, &sample).reason, "no loop: every element takes the same steps");
  EXPECT_EQ(choose(even_loop(), {}, &sample).reason,
            "packets: the loop is not one that lanes can be refilled in");
  EXPECT_FALSE(choose(even_loop(), {}, &sample).schedule.refill);
}

TEST(PlanChoose, AWishIsKept) {
  const Choice choice = choose(
      test::mandelbrot_program(),
      {.refill = true, .isa = Isa::V4, .lanes = 8, .interleave = 2, .steps = 5, .threshold = 3},
      nullptr);
  EXPECT_EQ(choice.schedule, (Schedule{.refill = true,
                                       .isa = Isa::V4,
                                       .lanes = 8,
                                       .interleave = 2,
                                       .steps = 5,
                                       .threshold = 3}));
  EXPECT_EQ(choice.reason, "as asked");
  const Sample sample = alternating(5, 1000);
  EXPECT_FALSE(choose(test::mandelbrot_program(), {.refill = false}, &sample).schedule.refill);
}

TEST(PlanChoose, ARegisterHoldsAsManyLanesAsFitOfTheWidestValue) {
  EXPECT_EQ(choose(test::mandelbrot_program(), {.isa = Isa::V4}, nullptr).schedule.lanes, 16);
  EXPECT_EQ(choose(test::mandelbrot_program(), {.isa = Isa::V3}, nullptr).schedule.lanes, 8);
  EXPECT_EQ(choose(test::kepler_program(), {.isa = Isa::V4}, nullptr).schedule.lanes, 8);
  EXPECT_EQ(choose(test::kepler_program(), {.isa = Isa::V3}, nullptr).schedule.lanes, 4);
  EXPECT_EQ(choose(straight(), {.isa = Isa::V2}, nullptr).schedule.lanes, 4);
}

TEST(PlanChoose, AWideResultBehindALoopDoesNotTakeLanes) {
  const ir::Function f = ir::parse(R"(function f(%0: f32) -> (i64) {
  %1 = constant i32 0
  %2 = constant i32 1
  %3 = constant f32 2
  %4 = loop (%5: f32 = %0, %6: i32 = %1) {
    %7 = lt bool %5, %3
    break_if %7 (%5, %6)
    %8 = div f32 %5, %3
    %9 = add i32 %6, %2
    next (%8, %9)
  }
  %10 = result i32 %4 1
  %11 = convert i64 %10
  return (%11)
}
)");
  EXPECT_EQ(choose(f, {.isa = Isa::V4}, nullptr).schedule.lanes, 16);
  EXPECT_EQ(choose(f, {.isa = Isa::V3}, nullptr).schedule.lanes, 8);
}

TEST(PlanChoose, StepsBetweenLooksDivideTheStepsUntilTheLimit) {
  const auto steps = [](bool refill) {
    return choose(test::mandelbrot_program(), {.refill = refill, .isa = Isa::V4}, nullptr)
        .schedule.steps;
  };
  EXPECT_EQ(1000 % steps(false), 0);
  EXPECT_EQ(1000 % steps(true), 0);
  EXPECT_GT(steps(true), 1);
  EXPECT_EQ(choose(test::kepler_program(), {}, nullptr).schedule.steps, 1);  // a step is long
}

TEST(PlanErrors, RefillThatCannotBeIsRefused) {
  const std::string words =
      "plan: refill was asked for; got a program or lane count it does not fit, expected one "
      "top-level loop that elements leave at different steps, and at most 8 lanes below AVX-512. "
      "Leave the schedule to the planner.";
  const auto refusal = [](const ir::Function& f, const Wish& wish) {
    return test::message_of<UsageError>([&] { choose(f, wish, nullptr); });
  };
  EXPECT_EQ(refusal(straight(), {.refill = true}), words);
  EXPECT_EQ(refusal(even_loop(), {.refill = true}), words);
  EXPECT_EQ(refusal(test::mandelbrot_program(), {.refill = true, .isa = Isa::V3, .lanes = 16}),
            words);
  EXPECT_NO_THROW(choose(straight(), {.refill = false}, nullptr));
}

TEST(PlanErrors, SenselessSchedulesAreRefused) {
  const auto refusal = [](Wish wish) {
    wish.isa = Isa::V4;
    return test::message_of<UsageError>([&] { choose(straight(), wish, nullptr); });
  };
  EXPECT_EQ(refusal({.lanes = 0, .interleave = 2}),
            "plan: a senseless schedule was asked for; got packets, 0 lanes x 2 registers, 1 steps "
            "a look, x86-64-v4.");
  for (const Wish& wish :
       {Wish{.lanes = 65}, Wish{.lanes = -4}, Wish{.interleave = 0}, Wish{.interleave = 9},
        Wish{.steps = 0}, Wish{.steps = 65}, Wish{.threshold = 0}, Wish{.threshold = 1000}}) {
    EXPECT_TRUE(refusal(wish).starts_with("plan: a senseless schedule was asked for; got packets"))
        << refusal(wish);
  }
}

TEST(PlanOccupancy, IsUsefulStepsOverStepsWaitedFor) {
  EXPECT_DOUBLE_EQ(packet_occupancy({.trips = {4, 4, 4, 4}}, 4), 1);
  EXPECT_DOUBLE_EQ(packet_occupancy({.trips = {1, 1, 1, 5}}, 4), 8.0 / 20);
  EXPECT_DOUBLE_EQ(packet_occupancy({.trips = {1, 1, 5, 5}}, 2), 1);
  EXPECT_DOUBLE_EQ(packet_occupancy({.trips = {1, 1, 5, 5}}, 4), 12.0 / 20);
  EXPECT_DOUBLE_EQ(packet_occupancy({.trips = {2, 4, 6}}, 2), 12.0 / (8 + 6));
}

TEST(PlanOccupancy, PacketsEndWithTheRunOfNeighbours) {
  EXPECT_DOUBLE_EQ(packet_occupancy({.trips = {1, 1, 5, 5}, .run = 2}, 4), 1);
}

TEST(PlanOccupancy, WithoutCountsEveryLaneIsInUse) {
  EXPECT_DOUBLE_EQ(packet_occupancy({}, 16), 1);
  EXPECT_DOUBLE_EQ(packet_occupancy({.trips = {0, 0}}, 16), 1);
}

TEST(PlanEstimate, GrowsWithTripsAndDepth) {
  const ir::Function f = test::mandelbrot_program();
  EXPECT_GT(estimate_element_ns(f, 1000), 100 * estimate_element_ns(f, 1) / 10);
  EXPECT_EQ(estimate_element_ns(straight(), 1), estimate_element_ns(straight(), 1000));
  EXPECT_GT(estimate_element_ns(straight(), 1), 0);
}

TEST(PlanEstimate, GrowsWithPositions) {
  const auto row = [](int size) {
    return ir::parse(
        fmt::format("function f(%0: f32[{0}]) -> (f32) {{\n"
                    "  %1 = each {0} (%2: i32) {{\n"
                    "    %3 = table_read f32 %0, %2 unchecked\n"
                    "    collect sum %3\n"
                    "  }}\n"
                    "  %4 = result f32 %1 0\n"
                    "  return (%4)\n"
                    "}}\n",
                    size));
  };
  EXPECT_GT(estimate_element_ns(row(100'000), 1), 500 * estimate_element_ns(row(10), 1));
}

/// The sum of a row of a table, of as many values as the element says.
ir::Function sum_of_row(const std::string& before = "") {
  return ir::parse("function f(%0: f32 table, %1: i32, %2: i32) -> (f32) {\n" + before +
                   "  %10 = each 1000 of %2 (%11: i32) {\n"
                   "    %12 = add i32 %1, %11\n"
                   "    %13 = table_read f32 %0, %12 unchecked\n"
                   "    collect sum %13\n"
                   "  }\n"
                   "  %14 = result f32 %10 0\n"
                   "  return (%14)\n"
                   "}\n");
}

TEST(PlanInner, LongRowsHaveAllLanesToThemselves) {
  const Sample shorter{.trips = {1, 5, 9}};
  const Sample longer{.trips = {10, 90, 50}};
  const ir::Function f = sum_of_row();
  EXPECT_TRUE(counts_positions(f));
  EXPECT_TRUE(is_inner_better(f, {}, &longer));
  EXPECT_FALSE(is_inner_better(f, {}, &shorter));
  EXPECT_FALSE(is_inner_better(f, {}, nullptr));
  EXPECT_TRUE(is_inner_better(f, {.inner = true}, &shorter));
  EXPECT_FALSE(is_inner_better(f, {.inner = false}, &longer));
  EXPECT_EQ(choose_inner(f, {}, longer).reason,
            "elements have 50.0 positions: lanes share one element");
  EXPECT_GT(estimate_element_ns(f, 1000), 100 * estimate_element_ns(f, 1) / 10);
}

TEST(PlanInner, LargeElementsAreContentWithARegisterOfPositions) {
  const auto image = [](const std::string& size, const std::string& positions) {
    return ir::parse("function f(%0: f32[" + size + "]) -> (f32) {\n  %1 = each " + positions +
                     " (%2: i32) {\n    %3 = table_read f32 %0, %2 unchecked\n"
                     "    collect sum %3\n  }\n  %4 = result f32 %1 0\n  return (%4)\n}\n");
  };
  EXPECT_TRUE(is_inner_better(image("784", "32"), {}, nullptr));
  EXPECT_FALSE(is_inner_better(image("784", "26"), {}, nullptr));
  EXPECT_TRUE(is_inner_better(image("4096", "26"), {}, nullptr));
  EXPECT_FALSE(is_inner_better(image("4096", "15"), {}, nullptr));
}

TEST(PlanInner, LoopsOfOneElementMakeNoUseOfLanes) {
  const Sample longer{.trips = {10, 90, 50}};
  const ir::Function f = sum_of_row(
      "  %3 = loop (%4: i32 = %2) {\n"
      "    %5 = constant i32 1\n"
      "    %6 = shr i32 %4, %5\n"
      "    %7 = lt bool %6, %5\n"
      "    break_if %7 (%6)\n"
      "    next (%6)\n"
      "  }\n");
  EXPECT_FALSE(counts_positions(f));
  EXPECT_FALSE(is_inner_better(f, {}, &longer));
}

TEST(PlanSchedule, PrintsOneLine) {
  EXPECT_EQ(to_string(Schedule{.refill = true,
                               .isa = Isa::V4,
                               .lanes = 16,
                               .interleave = 4,
                               .steps = 8,
                               .threshold = 8}),
            "refill, 16 lanes x 4 registers, 8 steps a look, refill at 8, x86-64-v4");
  EXPECT_EQ(to_string(Schedule{.isa = Isa::V3, .lanes = 8, .interleave = 2, .steps = 4}),
            "packets, 8 lanes x 2 registers, 4 steps a look, x86-64-v3");
}

TEST(PlanSchedule, LevelsHaveTheRegistersOfTheirMachines) {
  EXPECT_EQ(register_bytes(Isa::V2), 16);
  EXPECT_EQ(register_bytes(Isa::V3), 32);
  EXPECT_EQ(register_bytes(Isa::V4), 64);
  EXPECT_STREQ(name_of(Isa::V2), "x86-64-v2");
}

}  // namespace
}  // namespace lw::plan
