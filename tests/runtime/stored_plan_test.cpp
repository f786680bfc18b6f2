#include "lanewise/runtime/stored_plan.h"

#include <gtest/gtest.h>

namespace lw::runtime {
namespace {

TEST(RuntimeStoredPlan, WhatIsPrintedIsReadAgain) {
  const plan::Schedule schedule{.refill = true, .isa = plan::Isa::V4, .lanes = 16, .threshold = 4};
  const plan::TripCounts trips{.samples = 3, .mean = 8.25, .most = 20, .histogram = {0, 1, 2}};
  const StoredPlan plan{{schedule, "uneven\nloops"}, trips, 70000};
  const auto read = parse_plan(print_plan(plan));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->choice.schedule, schedule);
  EXPECT_EQ(read->choice.reason, "uneven\nloops");
  EXPECT_EQ(read->trips.mean, 8.25);
  EXPECT_EQ(read->trips.histogram, trips.histogram);
  EXPECT_EQ(read->scratch, 70000u);
}

TEST(RuntimeStoredPlan, OtherTextIsNoPlan) {
  EXPECT_TRUE(parse_plan("0 0 0 2 16 4 4 8 0\n0 0 0 1\n"));
  for (const char* text : {"", "\n\n", "0 0 0 2 16 4 4 8 0", "0 0 0 2 16 4 4 8 0\n",
                           "0 0 0 2 16 4 4 8 0\n0 0 0 1",     // cut before the reason
                           "2 0 0 2 16 4 4 8 0\n0 0 0 1\n",   // no bool
                           "0 0 0 3 16 4 4 8 0\n0 0 0 1\n",   // no level
                           "0 0 0 -1 16 4 4 8 0\n0 0 0 1\n",  //
                           "0 0 0 2 0 4 4 8 0\n0 0 0 1\n",    // no lanes
                           "0 0 0 2 16 900000 4 8 0\n0 0 0 1\n"}) {
    EXPECT_FALSE(parse_plan(text)) << text;
  }
}

TEST(RuntimeStoredPlan, CountsBelowZeroAreNone) {
  for (const char* trips : {"-5 8 9 1", "5 -8 9 1", "5 x"}) {
    const auto plan = parse_plan(std::string("0 0 0 2 16 4 4 8 0\n") + trips + "\n");
    ASSERT_TRUE(plan) << trips;
    EXPECT_EQ(plan->trips.samples, 0) << trips;
  }
}

}  // namespace
}  // namespace lw::runtime
