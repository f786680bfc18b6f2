// The schedules that the planner had to choose between, with what each would take: for people.
#pragma once

#include <string>
#include <vector>

#include "lanewise/plan/trips.h"

namespace lw::plan {

struct Considered {
  std::string what;  // packets, refill, inner, batched
  bool chosen = false;
  double ns = 0;    // of an element, estimated; 0: no estimate
  std::string why;  // it is not chosen; empty where it is
};

/// Of the program that lanes run.
std::vector<Considered> considered(const ir::Function& program, const Choice& choice,
                                   const TripCounts& trips);

/// Instructions in the deepest loop, or all if there is none (choose.cpp).
int hot_ops(const ir::Function& program);

/// What an element's steps take, in ns: in packets, which wait for their slowest, and with refill.
struct LoopCosts {
  double steps;  // the useful ones alone
  double packets;
  double refill;
};
LoopCosts loop_costs(const Schedule& schedule, int ops, double mean_trips, double occupancy);

}  // namespace lw::plan
