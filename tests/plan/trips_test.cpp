#include "lanewise/plan/trips.h"

#include <gtest/gtest.h>

namespace lw::plan {
namespace {

TEST(PlanTrips, AreCountedByPowersOfTwo) {
  const TripCounts trips = count_trips({.trips = {0, 1, 2, 3, 4, 7, 8, 100}, .run = 4}, 2);
  EXPECT_EQ(trips.samples, 8);
  EXPECT_EQ(trips.mean, 125.0 / 8);
  EXPECT_EQ(trips.most, 100);
  EXPECT_EQ(trips.histogram, (std::vector<std::int64_t>{1, 1, 2, 2, 1, 0, 0, 1}));
  EXPECT_DOUBLE_EQ(trips.occupancy, 125.0 / (2 * (1 + 3 + 7 + 100)));
}

TEST(PlanTrips, NothingCountedIsNothing) {
  EXPECT_EQ(count_trips({}, 8).samples, 0);
  EXPECT_EQ(parse_trips("").samples, 0);
  EXPECT_EQ(parse_trips("3 x").samples, 0);
}

TEST(PlanTrips, ALineIsReadBack) {
  const TripCounts trips = count_trips({.trips = {3, 5, 9}, .run = 64}, 4);
  const TripCounts read = parse_trips(print_trips(trips));
  EXPECT_EQ(read.samples, 3);
  EXPECT_EQ(read.mean, trips.mean);
  EXPECT_EQ(read.most, 9);
  EXPECT_EQ(read.occupancy, trips.occupancy);
  EXPECT_EQ(read.histogram, trips.histogram);
}

}  // namespace
}  // namespace lw::plan
