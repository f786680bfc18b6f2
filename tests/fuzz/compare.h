// The comparison: a program run by the evaluator, element by element, is the truth. Everything else
// must give the same bits (all NaNs being one value) or fail at the same lowest element: the tile
// machine, machine code of any shape, any number of threads, any chunk size, any step limit.
#pragma once

#include <string>

#include "lanewise/ir/evaluate.h"
#include "lanewise/plan/choose.h"
#include "lanewise/runtime/execute.h"
#include "tests/fuzz/inputs.h"

namespace lw::fuzz {

/// One way to run a program.
struct Way {
  static constexpr std::int64_t kInputs = 0;  // as many elements as there are inputs
  static constexpr std::int64_t kMany = -1;   // inputs repeated until threads pay

  int threads = 1;
  std::int64_t chunk = 0;  // 0: everything
  std::int64_t count = kInputs;
  bool strided = false;  // elements of arrays stand apart
};

/// One thing to check about a program.
struct Trial {
  enum class Kind {
    Text,    // text parses back to the same text, for element programs and lane form
    Passes,  // every pass leaves a valid program with the same results
    Run,     // execution, in many ways
  };
  Kind kind = Kind::Run;
  runtime::CompileMode compile = runtime::CompileMode::Never;  // Never: the tile machine
  plan::Wish wish;
  std::optional<DType> step_counter;
  std::int64_t max_steps = 0;
  bool disturbed = false;   // Run: the caller flushes subnormals and rounds up
  std::optional<Way> only;  // Run: in this way alone
};

std::string to_string(const Trial& trial);

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

/// Whether some element was cut short, or had an index outside where that means anything: nothing
/// can be compared then.
bool is_undefined(std::span<const ir::Evaluation> truth);

/// What is checked before anything runs.
std::vector<Trial> static_trials();

/// The runs of a program: a few shapes of machine code, others for each seed, so that a thousand
/// seeds see every combination several times.
std::vector<Trial> choose_trials(const ir::Function& function,
                                 std::span<const ir::Evaluation> truth, std::uint64_t seed);

/// Every shape of machine code there is, for a program that has gone wrong before.
std::vector<Trial> all_trials(const ir::Function& function, std::span<const ir::Evaluation> truth);

/// `truth` is that of the program without a step limit.
Verdict run_trial(const Trial& trial, const ir::Function& function, const Inputs& inputs,
                  std::span<const ir::Evaluation> truth);

/// What has been looked at so far, to see that nothing is left out.
struct Coverage {
  std::int64_t runs = 0;
  std::int64_t several_workers = 0;
  std::int64_t failing = 0;   // runs with a failing element
  std::int64_t compiled = 0;  // trials with machine code
  std::int64_t refilled = 0;  // of these, with refill
  std::int64_t inner = 0;     // of these, with positions in lanes
  std::int64_t batched = 0;   // of these, with positions in step
  std::int64_t limited = 0;   // trials with a step limit
  std::int64_t folded = 0;    // runs with results that are folded
  std::int64_t folded_rows = 0;
  std::int64_t keyed = 0;

  // Programs.
  std::int64_t branches = 0;
  std::int64_t rare = 0;
  std::int64_t blocks = 0;  // that never go round, with several exits
  std::int64_t exits = 0;   // out of several loops
  std::int64_t arrays = 0;
  std::int64_t tables = 0;
  std::int64_t numbers = 0;  // of elements
  std::int64_t draws = 0;
  std::int64_t rows = 0;  // as parameters
  std::int64_t each = 0;
  std::int64_t nested = 0;   // an `each` inside of another, of a branch or of a loop
  std::int64_t counted = 0;  // an `each` whose elements differ in their positions
};
Coverage& coverage();
void count_program(const ir::Function& function);

}  // namespace lw::fuzz
