// The planner's choice as text, as it is kept beside the code.
#pragma once

#include <optional>
#include <string>

#include "lanewise/plan/choose.h"
#include "lanewise/plan/trips.h"

namespace lw::runtime {

struct StoredPlan {
  plan::Choice choice;
  plan::TripCounts trips;
  std::size_t scratch = 0;
};

std::string print_plan(const StoredPlan& plan);
/// Nothing if it is no such text.
std::optional<StoredPlan> parse_plan(const std::string& text);

}  // namespace lw::runtime
