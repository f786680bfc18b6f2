// How long a map that would not end goes on after it was cancelled, wherever it is: in a loop in
// lanes, refilled or not, in loops over rows, on the tile machine, and while it is compiled. What
// is called afterwards must work.
#include <fmt/core.h>

#include <algorithm>
#include <thread>

#include "../harness.h"
#include "lanewise/lanewise.h"
#include "lanewise/runtime/compile_queue.h"

namespace lw::bench {
namespace {

constexpr int kRounds = 20;  // of each kind
constexpr int kElements = 3000;

/// Ends for no element between 0 and 4; others are left at once.
f32 endless(f32 x) {
  While([&] { return x > 0 && x < 4; }, [&] { x = x * 0.5f + 1; });
  return x;
}

/// The same with a row that is gone through at each step.
f32 endless_rows(Row<float> row) {
  f32 x = row[0];
  While([&] { return x > 0 && x < 4; }, [&] { x = x * 0.5f + 1 + min(sum(row), 0.0f); });
  return x;
}

/// Stops it some time after its beginning, and calls `usable` behind it.
template <class Run, class Usable>
class Stopped {
 public:
  Stopped(const Run& run, const Usable& usable) : run_(run), usable_(usable) {}

  void round(int number) {
    MapOptions options{.threads = 1 + number % 2};
    options.cancel.emplace();
    double asked = 0;
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(5 + 7 * number));
      asked = now_seconds();
      options.cancel->cancel();
    });
    bool is_stopped = false;
    try {
      run_(options);
    } catch (const Cancelled&) {
      is_stopped = true;
    }
    const double back = now_seconds();
    other.join();
    slowest_ = std::max(slowest_, back - asked);
    stopped_ += is_stopped && back - asked < kMost && usable_() ? 1 : 0;
  }

  int stopped() const { return stopped_; }
  double slowest() const { return slowest_; }

  static constexpr double kMost = 0.2;  // seconds

 private:
  const Run& run_;
  const Usable& usable_;
  int stopped_ = 0;
  double slowest_ = 0;
};

struct Sum {
  int stopped = 0;
  int rounds = 0;
  double slowest = 0;
};

template <class Run, class Usable>
void stop(const char* name, const Run& run, const Usable& usable, Sum& sum) {
  Stopped<Run, Usable> kind(run, usable);
  for (int i = 0; i < kRounds; ++i) kind.round(i);
  fmt::print("stops, {}: {} of {}, slowest {:.1f} ms\n", name, kind.stopped(), kRounds,
             kind.slowest() * 1e3);
  sum.stopped += kind.stopped();
  sum.rounds += kRounds;
  sum.slowest = std::max(sum.slowest, kind.slowest());
}

/// A function that is compiled once, in lanes or on the tile machine.
template <class F>
void stop_running(const char* name, F function, Compile compile, std::optional<bool> refill,
                  std::uint32_t row, Sum& sum) {
  auto f = vectorize(function, {.name = "endless", .schedule = {.refill = refill}});
  const auto size = static_cast<std::size_t>(kElements) * row;
  const std::vector<float> never(size, 1.0f);
  const std::vector<float> ends(size, 5.0f);
  std::vector<float> out(kElements);
  const auto call = [&](MapOptions options, const std::vector<float>& values) {
    options.compile = compile;
    const Input input(values);
    f.into(out, options, row > 1 ? input.in_rows(row) : input);
  };
  const auto usable = [&] {
    std::fill(out.begin(), out.end(), 0.0f);
    call({}, ends);
    return out == std::vector<float>(kElements, 5.0f);
  };
  if (!usable()) fail("stops: wrong result");
  stop(name, [&](const MapOptions& options) { call(options, never); }, usable, sum);
}

/// A new function each time, whose compile takes longer than the cancel waits.
void stop_compiling(Sum& sum) {
  int factor = 0;
  const std::vector<float> x(kElements, 1.0f);
  auto square = vectorize([](f32 v) { return v * v; });
  const auto run = [&](MapOptions options) {
    const auto first = static_cast<float>(++factor);
    auto f = vectorize([&](f32 v) {
      for (int i = 0; i < 200; ++i) v = sin(v) * (first + static_cast<float>(i)) + exp(-v * v);
      return v;
    });
    options.compile = Compile::Now;
    f.with(options, x);
  };
  const auto usable = [&] {
    runtime::wait_for_compiles();  // one that was given up goes on
    return square(x).at<float>(kElements - 1) == 1;
  };
  stop("compiling", run, usable, sum);
}

}  // namespace

void run_stops(const Options&, std::vector<Figure>& figures) {
  Sum sum;
  stop_running("packets", &endless, Compile::Now, false, 1, sum);
  stop_running("refill", &endless, Compile::Now, true, 1, sum);
  stop_running("rows", &endless_rows, Compile::Now, std::nullopt, 1000, sum);
  stop_running("tile machine", &endless, Compile::Never, std::nullopt, 1, sum);
  stop_compiling(sum);
  figures.push_back({fmt::format("maps stopped within 200 ms and usable after, of {}", sum.rounds),
                     double(sum.stopped), double(sum.rounds), true, ""});
  figures.push_back({"cancel, slowest", sum.slowest * 1e3, 200, false, "ms"});
}

}  // namespace lw::bench
