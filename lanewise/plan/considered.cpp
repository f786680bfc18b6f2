#include "lanewise/plan/considered.h"

#include "lanewise/kernel/lower.h"

namespace lw::plan {
namespace {

/// Lanes that hold elements, or positions of one.
std::vector<Considered> of_rows(const Schedule& schedule) {
  const bool inner = schedule.inner;
  return {{.what = "inner",
           .chosen = inner,
           .why = inner ? "" : "a table that all share is read once for many elements"},
          {.what = "batched",
           .chosen = !inner,
           .why = inner ? "no product of a row with a table that all share" : ""},
          {.what = "packets", .why = "lanes would read their rows by gathers"}};
}

}  // namespace

LoopCosts loop_costs(const Schedule& schedule, int ops, double mean_trips, double occupancy) {
  // Rough: two arithmetic instructions a cycle, and measured costs of taking and retiring.
  const double step_ns = 0.2 * ops;
  const double refill_ns = schedule.isa == Isa::V4 ? 3 : 6;
  const double steps = mean_trips / schedule.lanes * step_ns;
  return {.steps = steps, .packets = steps / occupancy, .refill = steps + refill_ns};
}

std::vector<Considered> considered(const ir::Function& program, const Choice& choice,
                                   const TripCounts& trips) {
  const Schedule& s = choice.schedule;
  if (s.inner || s.batched > 0) return of_rows(s);
  Considered packets{.what = "packets", .chosen = !s.refill};
  Considered refill{.what = "refill", .chosen = s.refill};
  if (!ir::has_loops(program)) {
    packets.ns = estimate_element_ns(program, 1);
    refill.why = "no loop";
  } else if (!kernel::is_refillable(program)) {
    refill.why = "the loop is not one that lanes can be refilled in";
  } else if (trips.samples == 0) {
    refill.why = "trip counts are not known";
  } else {
    const LoopCosts costs = loop_costs(s, hot_ops(program), trips.mean, trips.occupancy);
    packets.ns = costs.packets;
    refill.ns = costs.refill;
    if (choice.reason == "as asked") {
      (s.refill ? packets : refill).why = "the other was asked for";
    } else if (s.refill) {
      packets.why = "lanes would wait for the slowest of their packet";
    } else {
      refill.why = costs.refill < costs.packets ? "it would scatter the steps of the loops inside"
                                                : "taking and storing costs more than waiting";
    }
  }
  return {packets, refill};
}

}  // namespace lw::plan
