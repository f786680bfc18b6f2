#include "tests/fuzz/checker.h"

#include <fmt/core.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "lanewise/base/error.h"
#include "lanewise/ir/parse.h"
#include "lanewise/ir/print.h"
#include "lanewise/runtime/compile_queue.h"
#include "lanewise/transform/passes.h"
#include "tests/fuzz/checks.h"
#include "tests/fuzz/coverage.h"
#include "tests/fuzz/generator.h"
#include "tests/fuzz/isolate.h"
#include "tests/fuzz/reduce.h"

namespace lw::fuzz {
namespace {

// For a program that is to be smaller; those of a hang have to be told from slow ones.
constexpr unsigned kMostOfCandidate = 5, kHangs = 3;

class Checker {
 public:
  Checker(const CheckOptions& options, std::string name)
      : options_(options), name_(std::move(name)) {}

  /// `choose(truth)` gives the runs.
  template <class Choose>
  Outcome check(const Case& program, const Choose& choose) {
    coverage().count(program.function);
    const auto truth = evaluate_all(program.function, program.inputs);
    if (is_undefined(truth)) {
      throw UsageError(fmt::format("{}: the program does not end, or reads outside.", name_));
    }
    outcome_.digest = digest_of(truth);
    const bool agrees = do_agree(program, truth, static_trials(options_.pass.value_or("")));
    if (agrees && !options_.pass) do_agree(program, truth, choose(truth));
    return outcome_;
  }

 private:
  Verdict verdict(const Trial& trial, const Case& program, std::span<const ir::Evaluation> truth) {
    const auto job = [&] { return run_trial(trial, program.function, program.inputs, truth); };
    return options_.isolate ? run_isolated(job) : job();
  }

  bool do_agree(const Case& program, std::span<const ir::Evaluation> truth,
                const std::vector<Trial>& trials) {
    for (const Trial& trial : trials) {
      const Verdict found = verdict(trial, program, truth);
      outcome_.digest = combine(outcome_.digest, found.digest);
      if (found.agrees()) continue;
      outcome_.agrees = false;
      report(program, trial, found);
      return false;
    }
    return true;
  }

  void report(const Case& program, const Trial& trial, const Verdict& found) {
    alarm(0);
    runtime::wait_for_compiles();
    fmt::print(stderr, "{}: {}: {}; reducing\n", name_, to_string(trial), found.problem);
    Trial narrow = trial;
    narrow.only = found.way;
    const unsigned seconds = found.kind == "hang" ? kHangs : kMostOfCandidate;
    const auto rerun = [&](const Case& candidate) -> Verdict {
      const auto truth = evaluate_all(candidate.function, candidate.inputs);
      if (is_undefined(truth)) return {};
      return run_isolated(
          [&] { return run_trial(narrow, candidate.function, candidate.inputs, truth); }, seconds);
    };
    const Case smallest = reduce(
        program, [&](const Case& candidate) { return rerun(candidate).kind == found.kind; },
        options_.reduce_seconds);
    const Verdict last = rerun(smallest);
    const std::string text =
        fmt::format("# {} ({})\n# {}\n{}{}", to_string(trial), found.kind,
                    last.agrees() ? found.problem + " (not every time)" : last.problem,
                    print_inputs(smallest.function, smallest.inputs), ir::print(smallest.function));
    const std::string path = fmt::format("fuzz-failure-{}.txt", name_);
    std::ofstream(path) << text;
    fmt::print(stderr, "{}:\n{}", path, text);
  }

  const CheckOptions& options_;
  std::string name_;
  Outcome outcome_;
};

}  // namespace

Outcome check_seed(std::uint64_t seed, const CheckOptions& options) {
  const ir::Function function = generate(seed);
  Random random(seed);
  // Those with numbers cannot be repeated; those with many positions take long.
  const int least = transform::has_each(function) ? 30 : reads_numbers(function) ? 300 : 70;
  const Inputs inputs =
      make_inputs(function, seed, least + random.between(0, least < 70 ? 30 : 130));
  return Checker(options, fmt::format("{}", seed))
      .check({function, inputs},
             [&](const auto& truth) { return choose_trials(function, truth, seed); });
}

Outcome check_file(const std::string& path, std::uint64_t seed, const CheckOptions& options) {
  std::ifstream stream(path);
  if (!stream) throw UsageError(fmt::format("--one: cannot read '{}'.", path));
  std::ostringstream text;
  text << stream.rdbuf();
  const ir::Function function = ir::parse(text.str());
  const Inputs ours = make_inputs(function, seed, transform::has_each(function) ? 60 : 300);
  const Inputs inputs = parse_inputs(function, text.str()).value_or(ours);
  return Checker(options, "one").check({function, inputs}, [&](const auto& truth) {
    return all_trials(function, truth);
  });
}

}  // namespace lw::fuzz
