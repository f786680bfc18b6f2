// lanewise_fuzz: random programs through every tier, compared bit for bit with the evaluator.
//
//   --programs N   how many (1000)
//   --seed S       the first seed (1); each program has its own
//   --minutes M    goes on for so long instead
//   --digest       prints a number that depends on all results, and nothing else, on stdout: equal
//                  for builds with different compilers
//   --one FILE     checks one program, as text, in every shape there is
//   --reduce S     takes at most so many seconds to make a program smaller (120)
//   --isolate      runs each check in a process of its own
//   --crashed      the same, for a seed that crashed; how this program starts itself anew then
//
// A program that goes wrong is made smaller and written to fuzz-failure-<seed>.txt, which --one
// reads. Exit code 1 if there was one.
#include <fmt/core.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>

#include "lanewise/base/error.h"
#include "lanewise/ir/parse.h"
#include "lanewise/ir/print.h"
#include "lanewise/runtime/compile_queue.h"
#include "lanewise/transform/passes.h"
#include "tests/fuzz/checks.h"
#include "tests/fuzz/generator.h"
#include "tests/fuzz/isolate.h"
#include "tests/fuzz/reduce.h"

namespace lw::fuzz {
namespace {

constexpr int kMostFailures = 5;
constexpr unsigned kMostSeconds = 240;  // for one program
// For one that is to be smaller; those of a hang have to be told from slow ones.
constexpr unsigned kMostOfCandidate = 5, kHangs = 3;

struct Arguments {
  std::int64_t programs = 1000;
  std::uint64_t seed = 1;
  double minutes = 0;
  double reduce_seconds = 120;
  bool digest = false;
  bool isolate = false;
  bool crashed = false;
  std::string file;
};

Arguments parse_arguments(int count, char** words) {
  Arguments arguments;
  const auto number = [&](int& i, auto& value) {
    const std::string_view text = i + 1 < count ? words[++i] : "";
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) {
      throw UsageError(fmt::format("{}: expected a number; got '{}'.", words[i - 1], text));
    }
  };
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    if (word == "--programs") {
      number(i, arguments.programs);
    } else if (word == "--seed") {
      number(i, arguments.seed);
    } else if (word == "--minutes") {
      number(i, arguments.minutes);
    } else if (word == "--reduce") {
      number(i, arguments.reduce_seconds);
    } else if (word == "--digest") {
      arguments.digest = true;
    } else if (word == "--isolate" || word == "--crashed") {
      arguments.isolate = true;
      arguments.crashed = word == "--crashed";
    } else if (word == "--one" && i + 1 < count) {
      arguments.file = words[++i];
    } else {
      throw UsageError(fmt::format(
          "unknown option; got '{}', expected --programs N, --seed S, --minutes M, --digest, "
          "--one FILE, --reduce S, --isolate or --crashed.",
          word));
    }
  }
  return arguments;
}

// --- crashes ---

char present_seed[32] = "1";

/// A check that crashes or hangs is run again in processes of their own, where it can be reduced.
extern "C" void run_isolated_instead(int) {
  char* words[] = {const_cast<char*>("lanewise_fuzz"),
                   const_cast<char*>("--seed"),
                   present_seed,
                   const_cast<char*>("--programs"),
                   const_cast<char*>("1"),
                   const_cast<char*>("--crashed"),
                   nullptr};
  execv("/proc/self/exe", words);
  _exit(1);
}

void catch_crashes() {
  struct sigaction action = {};
  action.sa_handler = run_isolated_instead;
  action.sa_flags = SA_NODEFER;
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM}) {
    sigaction(number, &action, nullptr);
  }
}

// --- one program ---

class Fuzzer {
 public:
  explicit Fuzzer(Arguments arguments) : arguments_(std::move(arguments)) {}

  int run() {
    if (!arguments_.isolate) catch_crashes();
    if (!arguments_.file.empty()) {
      one_file();
    } else {
      many();
    }
    return finish();
  }

 private:
  void many() {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    const auto is_time_left = [&] {
      return std::chrono::duration<double>(Clock::now() - start).count() < arguments_.minutes * 60;
    };
    for (std::uint64_t seed = arguments_.seed; failures_ < kMostFailures; ++seed) {
      if (arguments_.minutes > 0 ? !is_time_left() : programs_ >= arguments_.programs) break;
      fmt::format_to_n(present_seed, sizeof present_seed - 1, "{}{}", seed, '\0');
      if (!arguments_.isolate) alarm(kMostSeconds);
      const ir::Function function = generate(seed);
      Random random(seed);
      // Those with numbers cannot be repeated; those with many positions take long.
      const int least = transform::has_each(function) ? 30 : reads_numbers(function) ? 300 : 100;
      const Inputs inputs =
          make_inputs(function, seed, least + random.between(0, least < 100 ? 60 : 200));
      check({function, inputs}, fmt::format("{}", seed),
            [&](const auto& truth) { return choose_trials(function, truth, seed); });
    }
  }

  void one_file() {
    std::ifstream stream(arguments_.file);
    if (!stream) throw UsageError(fmt::format("--one: cannot read '{}'.", arguments_.file));
    std::ostringstream text;
    text << stream.rdbuf();
    const ir::Function function = ir::parse(text.str());
    arguments_.isolate = true;
    const Inputs ours =
        make_inputs(function, arguments_.seed, transform::has_each(function) ? 60 : 300);
    const Inputs inputs = parse_inputs(function, text.str()).value_or(ours);
    check({function, inputs}, "one",
          [&](const auto& truth) { return all_trials(function, truth); });
  }

  Verdict verdict(const Trial& trial, const Case& program, std::span<const ir::Evaluation> truth) {
    const auto job = [&] { return run_trial(trial, program.function, program.inputs, truth); };
    return arguments_.isolate ? run_isolated(job) : job();
  }

  /// `choose(truth)` gives the runs.
  template <class Choose>
  void check(const Case& program, const std::string& name, const Choose& choose) {
    ++programs_;
    count_program(program.function);
    const auto truth = evaluate_all(program.function, program.inputs);
    if (is_undefined(truth)) {
      throw UsageError(fmt::format("{}: the program does not end, or reads outside.", name));
    }
    if (do_agree(program, truth, static_trials(), name)) {
      do_agree(program, truth, choose(truth), name);
    }
  }

  bool do_agree(const Case& program, std::span<const ir::Evaluation> truth,
                const std::vector<Trial>& trials, const std::string& name) {
    for (const Trial& trial : trials) {
      const Verdict found = verdict(trial, program, truth);
      digest_ = combine(digest_, found.digest);
      if (found.agrees()) continue;
      ++failures_;
      report(program, trial, found, name);
      return false;
    }
    return true;
  }

  // --- disagreements ---

  void report(const Case& program, const Trial& trial, const Verdict& found,
              const std::string& name) {
    alarm(0);
    runtime::wait_for_compiles();
    fmt::print(stderr, "{}: {}: {}; reducing\n", name, to_string(trial), found.problem);
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
        arguments_.reduce_seconds);
    const Verdict last = rerun(smallest);
    const std::string text =
        fmt::format("# {} ({})\n# {}\n{}{}", to_string(trial), found.kind,
                    last.agrees() ? found.problem + " (not every time)" : last.problem,
                    print_inputs(smallest.function, smallest.inputs), ir::print(smallest.function));
    const std::string path = fmt::format("fuzz-failure-{}.txt", name);
    std::ofstream(path) << text;
    fmt::print(stderr, "{}:\n{}", path, text);
  }

  int finish() const {
    const Coverage& c = coverage();
    if (!arguments_.isolate) {
      fmt::print(
          stderr,
          "{} runs, {} with several workers, {} with failing elements; "
          "{} compiled, {} with refill, {} with positions in lanes, {} in step; {} with a step "
          "limit; {} folded, {} rows, {} with keys\n",
          c.runs, c.several_workers, c.failing, c.compiled, c.refilled, c.inner, c.batched,
          c.limited, c.folded, c.folded_rows, c.keyed);
      fmt::print(stderr,
                 "programs with branches {}, rare ones {}, blocks left early {}, exits out of "
                 "several {}, arrays {}, tables {}, numbers {}, draws {}, rows {}, each {}, nested "
                 "ones {}, counted ones {}\n",
                 c.branches, c.rare, c.blocks, c.exits, c.arrays, c.tables, c.numbers, c.draws,
                 c.rows, c.each, c.nested, c.counted);
    }
    if (arguments_.digest) fmt::print("{:016x}\n", digest_);
    const std::string last = failures_ == 0
                                 ? fmt::format("{} programs agree", programs_)
                                 : fmt::format("{} of {} programs disagree", failures_, programs_);
    fmt::print(arguments_.digest ? stderr : stdout, "{}\n", last);
    if (failures_ == 0 && arguments_.crashed) {
      fmt::print(stderr, "seed {} crashed or hung, but does not by itself\n", arguments_.seed);
    }
    return failures_ == 0 && !arguments_.crashed ? 0 : 1;
  }

  Arguments arguments_;
  std::int64_t programs_ = 0;
  int failures_ = 0;
  std::uint64_t digest_ = 0;
};

}  // namespace
}  // namespace lw::fuzz

int main(int count, char** words) {
  setenv("LANEWISE_DISK_CACHE", "0", 1);  // every program is to be compiled
  try {
    return lw::fuzz::Fuzzer(lw::fuzz::parse_arguments(count, words)).run();
  } catch (const std::exception& error) {
    fmt::print(stderr, "lanewise_fuzz: {}\n", error.what());
    return 2;
  }
}
