// The planner: from the element program, the machine and counts to a schedule. A pure function; the
// only place where such choices are made, each with its reason. No choice changes a bit of a
// result.
#pragma once

#include <optional>
#include <vector>

#include "lanewise/ir/function.h"
#include "lanewise/plan/schedule.h"

namespace lw::plan {

/// How often sampled elements went round the program's loop; `run` neighbours at a time.
struct Sample {
  std::vector<std::uint32_t> trips;
  int run = 64;
};

/// What the caller insists on; the rest is chosen.
struct Wish {
  std::optional<bool> refill;
  std::optional<bool> inner;
  std::optional<bool> batched;
  std::optional<Isa> isa;
  std::optional<int> lanes;
  std::optional<int> interleave;
  std::optional<int> steps;
  std::optional<int> threshold;
};

/// Short text that is equal exactly for equal wishes.
std::string to_string(const Wish& wish);

struct Choice {
  Schedule schedule;
  std::string reason;
};

/// `sample` may be null: then only static cost counts. Throws UsageError for a wish that cannot be
/// met, such as refill for a program without a loop.
Choice choose(const ir::Function& program, const Wish& wish, const Sample* sample);

/// True when lanes should hold positions of one element: elements are long. `sample` may be null.
bool is_inner_better(const ir::Function& program, const Wish& wish, const Sample* sample);
/// True when the trips that are counted are the positions of an `each` whose elements differ in
/// them: it is the first that goes round.
bool counts_positions(const ir::Function& program);
/// The schedule for that; the program has no `each` inside of another.
Choice choose_inner(const ir::Function& program, const Wish& wish, const Sample& sample);
/// True when elements should stay together as the rows of a matrix: they are multiplied with tables
/// that all share.
bool is_batched_better(const ir::Function& program, const Wish& wish);
Choice choose_batched(const ir::Function& program, const Wish& wish);

/// Bytes of all arrays that an element has of its own; at most kMostArrayBytes can be run in lanes.
std::size_t array_bytes(const ir::Function& program);
/// The same, with what is kept of all positions.
std::size_t kept_bytes(const ir::Function& program);
inline constexpr std::size_t kMostArrayBytes = 32 << 10;

/// Useful lane steps as a share of all, when `lanes` neighbours wait for their slowest.
double packet_occupancy(const Sample& sample, int lanes);

/// Rough time of one element in nanoseconds of one core, for deciding what is worth a thread.
double estimate_element_ns(const ir::Function& program, double mean_trips);

}  // namespace lw::plan
