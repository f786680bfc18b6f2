// lanewise_fuzz: random programs through every tier, compared bit for bit with the evaluator.
//
//   --programs N   how many (1000)
//   --seed S       the first seed (1); each program has its own
//   --jobs N       processes that share them (1)
//   --failures N   stops after so many programs that went wrong (5; in a long run 100)
//   --minutes M    goes on for so long instead
//   --digest       prints a number that depends on all results, and nothing else, on stdout: equal
//                  for builds with different compilers and for any number of jobs
//   --long FILE    keeps where it stands in a file, every few minutes, and goes on from there when
//                  it is started again; --programs counts all of them
//   --pass NAME    runs nothing: compares what programs give before and after passes whose names
//                  begin so ("simplify", "serialize"; "" for all)
//   --one FILE     checks one program, as text, in every shape there is
//   --reduce S     takes at most so many seconds to make a program smaller (120)
//   --isolate      runs each check in a process of its own
//   --crashed      the same, for a seed that crashed; how this program starts itself anew then
//
// A program that goes wrong is made smaller and written to fuzz-failure-<seed>.txt, which --one
// reads. Exit code 1 if there was one.
#include <fmt/core.h>

#include <chrono>
#include <cstdlib>
#include <limits>

#include "lanewise/base/error.h"
#include "tests/fuzz/arguments.h"
#include "tests/fuzz/crashes.h"
#include "tests/fuzz/state.h"

namespace lw::fuzz {
namespace {

constexpr unsigned kMostSeconds = 240;  // for one program
// Programs, after which processes begin anew; a long run keeps where it stands so often. At the end
// of each, all wait for the one that is slowest.
constexpr std::int64_t kBatch = 2000;

class Fuzzer {
 public:
  explicit Fuzzer(Arguments arguments)
      : arguments_(std::move(arguments)),
        options_{.isolate = arguments_.isolate,
                 .reduce_seconds = arguments_.reduce_seconds,
                 .pass = arguments_.pass} {}

  int run() {
    if (!arguments_.file.empty()) {
      one_file();
    } else if (arguments_.isolate) {
      for (std::int64_t i = 0; i < arguments_.programs; ++i) {
        const std::uint64_t seed = arguments_.seed + static_cast<std::uint64_t>(i);
        tally_.add(seed, check_seed(seed, options_));
      }
    } else {
      many();
    }
    return finish();
  }

 private:
  void one_file() {
    options_.isolate = true;
    tally_.add(0, check_file(arguments_.file, arguments_.seed, options_));
  }

  /// In batches, each with processes of its own, so that what those keep does not add up.
  void many() {
    catch_crashes(arguments_.reduce_seconds);
    const bool is_long = !arguments_.state.empty();
    const auto start = std::chrono::steady_clock::now();
    const auto seconds_left = [&] {
      const auto passed = std::chrono::steady_clock::now() - start;
      return arguments_.minutes * 60 - std::chrono::duration<double>(passed).count();
    };
    State state{.next = arguments_.seed};
    if (is_long) state = load_state(arguments_.state, arguments_.seed);
    std::int64_t most_failures = arguments_.failures;
    if (most_failures == 0) most_failures = is_long ? 100 : 5;
    const bool by_time = arguments_.minutes > 0;
    const std::int64_t end =
        by_time && !is_long ? std::numeric_limits<std::int64_t>::max() : arguments_.programs;
    while (state.tally.programs < end && state.tally.failures < most_failures) {
      if (by_time && seconds_left() <= 0) break;
      // What is kept in the file ends with a whole batch.
      const Seeds seeds{.first = state.next,
                        .count = std::min(end - state.tally.programs, kBatch),
                        .most_failures = is_long ? kBatch : most_failures - state.tally.failures,
                        .seconds = by_time && !is_long ? seconds_left() : 0};
      state.tally.add(run_workers(seeds, arguments_.jobs, [&](std::uint64_t seed) {
        expect_crash_of(seed, kMostSeconds);
        return check_seed(seed, options_);
      }));
      state.next += static_cast<std::uint64_t>(seeds.count);
      if (is_long) save_state(arguments_.state, state);
    }
    tally_ = state.tally;
  }

  int finish() const {
    const bool is_isolated = options_.isolate;
    if (options_.pass && !is_isolated && tally_.coverage[Counter::Passes] == 0) {
      throw UsageError(
          fmt::format("--pass: nothing was compared; got '{}', expected how the name "
                      "of a pass begins that these programs go through.",
                      *options_.pass));
    }
    if (!is_isolated) fmt::print(stderr, "{}\n", tally_.coverage.to_string());
    if (arguments_.digest) fmt::print("{:016x}\n", tally_.digest);
    const std::string last =
        tally_.failures == 0
            ? fmt::format("{} programs agree", tally_.programs)
            : fmt::format("{} of {} programs disagree", tally_.failures, tally_.programs);
    fmt::print(arguments_.digest ? stderr : stdout, "{}\n", last);
    if (tally_.failures == 0 && arguments_.crashed) {
      fmt::print(stderr, "seed {} crashed or hung, but does not by itself\n", arguments_.seed);
    }
    return tally_.failures == 0 && !arguments_.crashed ? 0 : 1;
  }

  Arguments arguments_;
  CheckOptions options_;
  Tally tally_;
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
