// The comparison: a program run by the evaluator, element by element, is the truth. Everything else
// must give the same bits (all NaNs being one value) or fail at the same lowest element: the tile
// machine, machine code of any shape, any number of threads, any chunk size, any step limit.
#pragma once

#include <string>

#include "lanewise/ir/evaluate.h"
#include "lanewise/plan/choose.h"
#include "lanewise/runtime/execute.h"
#include "tests/fuzz/inputs.h"
#include "tests/fuzz/ways.h"

namespace lw::fuzz {

/// One thing to check about a program.
struct Trial {
  enum class Kind {
    Text,    // text parses back to the same text, for element programs and lane form
    Passes,  // every pass leaves a valid program with the same results
    Run,     // execution, in many ways
  };
  Kind kind = Kind::Run;
  std::string pass;                                            // Passes: those whose names begin so
  runtime::CompileMode compile = runtime::CompileMode::Never;  // Never: the tile machine
  plan::Wish wish;
  std::optional<DType> step_counter;
  std::int64_t max_steps = 0;
  bool disturbed = false;               // Run: the caller flushes subnormals and rounds up
  std::optional<std::uint64_t> sample;  // Run: in a few ways, others for each number; none: in all
  std::optional<Way> only;              // Run: in this way alone
};

std::string to_string(const Trial& trial);

/// Of machine code.
struct Shape {
  plan::Isa isa;
  int lanes;
};
bool exists(const Shape& shape);
bool can_refill(const Shape& shape);

/// The way in which a trial runs at present: all that is left of a check that has crashed.
class PresentWay {
 public:
  /// In memory that a process shares with those it forks.
  static PresentWay& get();

  void set(const Way& way) {
    way_ = way;
    is_set_ = true;
  }
  void clear() { is_set_ = false; }
  std::optional<Way> way() const { return is_set_ ? std::optional(way_) : std::nullopt; }

 private:
  Way way_;
  volatile bool is_set_ = false;
};

struct Verdict {
  std::string kind;        // of disagreement: text, pass, value, failure, error; empty if none
  std::string problem;     // what disagrees, for people
  std::optional<Way> way;  // Run: in which it does
  std::uint64_t digest = 0;

  bool agrees() const { return kind.empty(); }
};

/// The evaluator on every element. Programs are cut short after a number of steps that generated
/// ones never reach.
std::vector<ir::Evaluation> evaluate_all(const ir::Function& function, const Inputs& inputs,
                                         std::int64_t max_steps = 0);

/// What a lane does for an element: the program after all passes, without any `each`.
ir::Function lane_program(const ir::Function& function, std::optional<DType> step_counter = {});

/// A number that depends on all results.
std::uint64_t digest_of(std::span<const ir::Evaluation> truth);

/// Whether some element was cut short, or had an index outside where that means anything: nothing
/// can be compared then.
bool is_undefined(std::span<const ir::Evaluation> truth);

/// What is checked before anything runs, with the passes whose names begin so.
std::vector<Trial> static_trials(const std::string& pass = {});

/// The runs of a program: one or two shapes of machine code, others for each seed, in a few ways of
/// all, so that a thousand seeds see every combination several times.
std::vector<Trial> choose_trials(const ir::Function& function,
                                 std::span<const ir::Evaluation> truth, std::uint64_t seed);

/// Every shape of machine code there is, for a program that has gone wrong before.
std::vector<Trial> all_trials(const ir::Function& function, std::span<const ir::Evaluation> truth);

/// `truth` is that of the program without a step limit.
Verdict run_trial(const Trial& trial, const ir::Function& function, const Inputs& inputs,
                  std::span<const ir::Evaluation> truth);

}  // namespace lw::fuzz
