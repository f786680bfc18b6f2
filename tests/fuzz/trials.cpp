// Which shapes of machine code a program is tried in.
#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "lanewise/kernel/lower.h"
#include "lanewise/transform/passes.h"
#include "tests/fuzz/compare.h"

namespace lw::fuzz {
namespace {

using plan::Isa;

/// This machine's level at all widths, and the levels below it.
std::vector<Shape> shapes() {
  std::vector<Shape> list;
  for (const Isa isa : {Isa::V4, Isa::V3, Isa::V2}) {
    for (const int lanes : {4, 8, 16}) {
      if (isa <= plan::host_isa() && exists({isa, lanes})) list.push_back({isa, lanes});
    }
  }
  return list;
}

bool has_loop(const ir::Function& f) {
  bool found = false;
  ir::for_each(f, [&](ir::ValueId id, int) { found = found || f[id].op == ir::Op::Loop; });
  return found;
}

int size_of(const ir::Function& f) {
  int size = 0;
  ir::for_each(f, [&](ir::ValueId, int) { ++size; });
  return size;
}

Trial code_trial(const Shape& shape, int interleave, int steps) {
  Trial trial{.compile = runtime::CompileMode::Now};
  trial.wish = {.refill = false,
                .inner = false,
                .batched = false,
                .isa = shape.isa,
                .lanes = shape.lanes,
                .interleave = interleave,
                .steps = steps,
                .threshold = {}};
  return trial;
}

/// A limit that some element just reaches; or one that none does.
void limit(Trial& trial, Random& random, std::span<const ir::Evaluation> truth) {
  trial.step_counter = random.chance(50) ? DType::I32 : DType::I64;
  const auto element = static_cast<std::size_t>(random.below(static_cast<int>(truth.size())));
  trial.max_steps = std::max<std::int64_t>(1, truth[element].steps);
}

}  // namespace

bool exists(const Shape& shape) { return shape.isa != Isa::V2 || shape.lanes == 4; }

bool can_refill(const Shape& shape) { return shape.isa == Isa::V4 || shape.lanes <= 8; }

std::vector<Trial> static_trials(const std::string& pass) {
  return {{.kind = Trial::Kind::Text}, {.kind = Trial::Kind::Passes, .pass = pass}};
}

namespace {

/// The digits of a number, the lowest first: what is taken by turns.
class Turns {
 public:
  explicit Turns(std::uint64_t number) : number_(number) {}
  int next(std::size_t base) {
    const std::uint64_t digit = number_ % base;
    number_ /= base;
    return static_cast<int>(digit);
  }

 private:
  std::uint64_t number_;
};

/// Elements in lanes, positions in lanes or positions in step; at times two of them.
void add_row_trials(std::vector<Trial>& trials, Random& random, std::uint64_t seed,
                    int most_copies) {
  const std::vector<Shape> all = shapes();
  Turns turns(seed);
  const int first = turns.next(3);
  const int count = random.chance(30) ? 2 : 1;
  for (int kind = first; kind < first + count; ++kind) {
    const Shape shape = all[static_cast<std::size_t>(turns.next(all.size()))];
    const int interleave = std::min(random.between(1, 4), most_copies);
    Trial trial = code_trial(shape, interleave, random.between(1, 2));
    trial.wish.inner = kind % 3 == 1;
    trial.wish.batched = kind % 3 == 2;
    if (random.chance(20)) trial.wish.interleave.reset();  // as the planner likes
    if (random.chance(20)) trial.wish.lanes.reset();
    trials.push_back(trial);
  }
}

Trial packet_trial(Random& random, std::uint64_t seed, int most_copies, bool refillable) {
  const std::vector<Shape> all = shapes();
  Turns turns(seed);
  const Shape shape = all[static_cast<std::size_t>(turns.next(all.size()))];
  // Many copies of a large program take long to compile.
  const int interleave = std::min(1 + turns.next(4), most_copies);
  const int steps = std::min(1 + turns.next(8), std::max(1, most_copies / interleave));
  Trial trial = code_trial(shape, interleave, steps);
  if (refillable && can_refill(shape) && random.chance(75)) {
    trial.wish.refill = true;
    if (random.chance(60)) trial.wish.threshold = random.between(1, shape.lanes * interleave);
  } else if (random.chance(15)) {
    trial.wish.refill.reset();  // as the planner likes
  }
  return trial;
}

}  // namespace

std::vector<Trial> choose_trials(const ir::Function& function,
                                 std::span<const ir::Evaluation> truth, std::uint64_t seed) {
  Random random(seed ^ 0x747269616c73);
  const ir::Function program = lane_program(function);
  const bool loops = has_loop(function);
  const int most_copies = std::max(1, 240 / size_of(program));
  std::vector<Trial> trials = {{}};  // the tile machine
  if (seed % 9 == 0) {
    trials.push_back({.compile = runtime::CompileMode::Auto});
  } else if (transform::has_each(function)) {
    add_row_trials(trials, random, seed, most_copies);
  } else {
    trials.push_back(packet_trial(random, seed, most_copies, kernel::is_refillable(program)));
  }
  for (Trial& trial : trials) {
    const bool is_auto = trial.compile == runtime::CompileMode::Auto;
    if (loops && !is_auto && random.chance(35)) limit(trial, random, truth);
    trial.disturbed = random.chance(20);
    trial.sample = random.next();
  }
  return trials;
}

std::vector<Trial> all_trials(const ir::Function& function, std::span<const ir::Evaluation> truth) {
  Random random(1);
  std::vector<Trial> trials = {{}, {.compile = runtime::CompileMode::Auto}};
  const ir::Function program = lane_program(function);
  const bool loops = has_loop(function);
  const bool has_each = transform::has_each(function);
  if (loops) limit(trials.emplace_back(), random, truth);
  for (const Shape& shape : shapes()) {
    for (int interleave = 1; interleave <= 4; ++interleave) {
      for (const int steps : {1, 2, 3, 8}) {
        Trial trial = code_trial(shape, interleave, steps);
        trial.disturbed = interleave == 2;
        trials.push_back(trial);
        if (loops && steps == 2) limit(trials.emplace_back(trial), random, truth);
        if (has_each && steps == 1) {
          trials.push_back(trial);
          trials.back().wish.inner = true;
          if (loops) limit(trials.emplace_back(trials.back()), random, truth);
          trials.push_back(trial);
          trials.back().wish.batched = true;
        }
        if (!kernel::is_refillable(program) || !can_refill(shape)) continue;
        trial.wish.refill = true;
        for (const int threshold : {1, shape.lanes, shape.lanes * interleave}) {
          trial.wish.threshold = threshold;
          trials.push_back(trial);
        }
        if (loops && steps == 2) limit(trials.emplace_back(trial), random, truth);
      }
    }
  }
  return trials;
}

std::string to_string(const Trial& trial) {
  if (trial.kind == Trial::Kind::Text) return "text";
  if (trial.kind == Trial::Kind::Passes) return "passes";
  std::string text;
  switch (trial.compile) {
    case runtime::CompileMode::Never:
      text = "tile machine";
      break;
    case runtime::CompileMode::Auto:
      text = "tile machine, then machine code";
      break;
    case runtime::CompileMode::Now: {
      const plan::Wish& wish = trial.wish;
      text = fmt::format("machine code, {}, {} lanes x {} registers, {} steps a look, {}",
                         wish.inner.value_or(false)     ? "positions in lanes"
                         : wish.batched.value_or(false) ? "positions in step"
                         : !wish.refill                 ? "planner's choice"
                         : *wish.refill                 ? "refill"
                                                        : "packets",
                         wish.lanes.value_or(0), wish.interleave.value_or(0), *wish.steps,
                         plan::name_of(*wish.isa));
      if (wish.threshold) text += fmt::format(", refill at {}", *wish.threshold);
      break;
    }
  }
  if (trial.disturbed) text += ", disturbed";
  if (trial.step_counter) {
    text += fmt::format(", at most {} steps counted in {}", trial.max_steps,
                        types::name_of(*trial.step_counter));
  }
  return text;
}

}  // namespace lw::fuzz
