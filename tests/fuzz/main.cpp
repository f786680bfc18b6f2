// lanewise_fuzz: random programs through every tier, compared bit for bit with the evaluator.
//
//   --programs N   how many (1000)
//   --seed S       the first seed (1); each program has its own
//   --jobs N       processes that share them (1)
//   --failures N   stops after so many programs that went wrong (5)
//   --minutes M    goes on for so long instead
//   --digest       prints a number that depends on all results, and nothing else, on stdout: equal
//                  for builds with different compilers and for any number of jobs
//   --one FILE     checks one program, as text, in every shape there is
//   --reduce S     takes at most so many seconds to make a program smaller (120)
//   --isolate      runs each check in a process of its own
//   --crashed      the same, for a seed that crashed; how this program starts itself anew then
//
// A program that goes wrong is made smaller and written to fuzz-failure-<seed>.txt, which --one
// reads. Exit code 1 if there was one.
#include <fmt/core.h>

#include <cstdlib>
#include <limits>

#include "tests/fuzz/arguments.h"
#include "tests/fuzz/crashes.h"
#include "tests/fuzz/workers.h"

namespace lw::fuzz {
namespace {

constexpr unsigned kMostSeconds = 240;  // for one program
constexpr std::int64_t kBatch = 2000;   // programs, after which processes begin anew

class Fuzzer {
 public:
  explicit Fuzzer(Arguments arguments)
      : arguments_(std::move(arguments)),
        options_{.isolate = arguments_.isolate, .reduce_seconds = arguments_.reduce_seconds} {}

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
    Seeds seeds{.first = arguments_.seed, .seconds = arguments_.minutes * 60};
    std::int64_t left = arguments_.programs;
    if (arguments_.minutes > 0) left = std::numeric_limits<std::int64_t>::max();
    while (left > 0 && tally_.failures < arguments_.failures) {
      seeds.count = std::min(left, kBatch);
      seeds.most_failures = arguments_.failures - tally_.failures;
      const Tally found = run_workers(seeds, arguments_.jobs, [&](std::uint64_t seed) {
        expect_crash_of(seed, kMostSeconds);
        return check_seed(seed, options_);
      });
      tally_.add(found);
      seeds.first += static_cast<std::uint64_t>(seeds.count);
      left -= seeds.count;
      if (found.programs < seeds.count) break;
    }
  }

  int finish() const {
    const bool is_isolated = options_.isolate;
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
