// lanewise_load: mixed calls from many threads at once, from children of forks, and for long.
//
//   --threads N    so many call at once (8)
//   --calls N      each makes so many calls (1000)
//   --children N   children forked while the threads call, which call too (0)
//   --minutes M    goes on for so long instead, and looks that nothing grows
//
// Exit code 1 if a result was wrong, a child did not end well, or memory, threads or open files
// grew.
#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "lanewise/base/error.h"
#include "tests/load/work.h"
#include "tests/support/fork.h"
#include "tests/support/resident.h"

namespace lw::load {
namespace {

using Clock = std::chrono::steady_clock;

struct Arguments {
  int threads = 8;
  int calls = 1000;
  int children = 0;
  double minutes = 0;
};

Arguments parse_arguments(int count, char** words) {
  Arguments arguments;
  for (int i = 1; i < count; i += 2) {
    const std::string_view word = words[i];
    const std::string_view text = i + 1 < count ? words[i + 1] : "";
    const auto read = [&](auto& value) {
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (error != std::errc() || end != text.data() + text.size()) {
        throw UsageError(fmt::format("{}: expected a number; got '{}'.", word, text));
      }
    };
    if (word == "--threads") {
      read(arguments.threads);
    } else if (word == "--calls") {
      read(arguments.calls);
    } else if (word == "--children") {
      read(arguments.children);
    } else if (word == "--minutes") {
      read(arguments.minutes);
    } else {
      throw UsageError(fmt::format(
          "unknown option; got '{}', expected --threads, --calls, --children or --minutes.", word));
    }
  }
  return arguments;
}

/// The most there was of what a process can use up.
struct Most {
  double mb = 0;
  std::ptrdiff_t threads = 0;
  std::ptrdiff_t files = 0;

  void look() {
    const auto entries = [](const char* path) {
      return std::distance(std::filesystem::directory_iterator(path), {});
    };
    mb = std::max(mb, static_cast<double>(test::field_bytes("/proc/self/status", "VmRSS")) / 1e6);
    threads = std::max(threads, entries("/proc/self/task"));
    files = std::max(files, entries("/proc/self/fd"));
  }
  std::string str() const {
    return fmt::format("{:.0f} MB, {} threads, {} files", mb, threads, files);
  }
};

class Load {
 public:
  explicit Load(Arguments arguments) : arguments_(arguments) {}

  int run() {
    // A child would wait for ever for what a thread that is not there was about to make first.
    for (int turn = 0; turn < kinds(); ++turn) complain(make_call(turn));
    std::vector<std::thread> threads;
    for (int t = 0; t < arguments_.threads; ++t) threads.emplace_back([this, t] { call(t); });
    if (test::kCanFork) fork_children();
    if (arguments_.minutes > 0) watch();
    for (std::thread& thread : threads) thread.join();
    fmt::print("{} calls from {} threads, {} children, {} problems\n", calls_.load(),
               arguments_.threads, children_, problems_.load());
    return problems_ == 0 ? 0 : 1;
  }

 private:
  bool goes_on(int turn) const {
    return arguments_.minutes > 0 ? passed() < 60 * arguments_.minutes : turn < arguments_.calls;
  }

  double passed() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  void call(int thread) {
    for (int turn = 0; goes_on(turn) && problems_ < 20; ++turn) {
      complain(make_call(turn * arguments_.threads + thread));
      ++calls_;
    }
  }

  void complain(const std::string& problem) {
    if (problem.empty()) return;
    ++problems_;
    fmt::print(stderr, "{}\n", problem);
  }

  /// One after the other, while the threads are at work.
  void fork_children() {
    for (; children_ < arguments_.children; ++children_) {
      const int first = children_ * kinds();
      const bool is_good = test::holds_in_child([&] {
        bool good = true;
        for (int turn = first; turn < first + kinds(); ++turn) good &= make_call(turn).empty();
        return good;
      });
      if (!is_good) complain(fmt::format("child {} did not end well", children_));
    }
  }

  /// Caches and pools are full after the first fifth.
  void watch() {
    constexpr Most kNoise = {.mb = 32, .threads = 8, .files = 8};
    Most early, late;
    for (int second = 1; goes_on(0); ++second) {
      std::this_thread::sleep_for(std::chrono::seconds(1));
      (passed() < 12 * arguments_.minutes ? early : late).look();
      if (second % 60 == 0) report(fmt::format("{} minutes", second / 60), now());
    }
    report("the first fifth, at most", early);
    report("afterwards, at most", late);
    if (late.mb > early.mb + kNoise.mb) complain("memory grows");
    if (late.threads > early.threads + kNoise.threads) complain("threads stay");
    if (late.files > early.files + kNoise.files) complain("files stay open");
  }

  static Most now() {
    Most most;
    most.look();
    return most;
  }

  static void report(std::string_view when, const Most& most) {
    fmt::print("{}: {}\n", when, most.str());
    std::fflush(stdout);
  }

  const Arguments arguments_;
  const Clock::time_point start_ = Clock::now();
  std::atomic<std::int64_t> calls_ = 0;
  std::atomic<int> problems_ = 0;
  int children_ = 0;
};

}  // namespace
}  // namespace lw::load

int main(int count, char** words) {
  try {
    return lw::load::Load(lw::load::parse_arguments(count, words)).run();
  } catch (const std::exception& error) {
    fmt::print(stderr, "lanewise_load: {}\n", error.what());
    return 2;
  }
}
