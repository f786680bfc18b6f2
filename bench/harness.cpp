#include "harness.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <limits>

namespace lw::bench {

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// A short candidate runs several times in its turn, so that it is seen warm as a long one is.
constexpr double kTurn = 10e-3;

/// The least time of a run within a turn.
static double take_turn(const std::function<void()>& run) {
  double least = std::numeric_limits<double>::max();
  const double turn = now_seconds();
  do {
    const double start = now_seconds();
    run();
    least = std::min(least, now_seconds() - start);
  } while (now_seconds() - turn < kTurn);
  return least;
}

void measure(std::vector<Candidate>& candidates, int repeats) {
  for (Candidate& c : candidates) c.seconds = std::numeric_limits<double>::max();
  for (int i = 0; i < repeats; ++i) {
    for (Candidate& c : candidates) c.seconds = std::min(c.seconds, take_turn(c.run));
  }
}

double median_ratio(const std::function<void()>& one, const std::function<void()>& other,
                    int repeats) {
  std::vector<double> ratios(static_cast<std::size_t>(repeats));
  for (double& ratio : ratios) {
    const double seconds = take_turn(one);
    ratio = seconds / take_turn(other);
  }
  const auto middle = ratios.begin() + std::ssize(ratios) / 2;
  std::nth_element(ratios.begin(), middle, ratios.end());
  return *middle;
}

double seconds_of(const std::vector<Candidate>& candidates, const std::string& name) {
  for (const Candidate& c : candidates) {
    if (c.name == name) return c.seconds;
  }
  fail("no candidate named " + name);
}

void print_times(const std::string& title, const std::vector<Candidate>& candidates) {
  double best = std::numeric_limits<double>::max();
  for (const Candidate& c : candidates) best = std::min(best, c.seconds);
  fmt::print("{}\n", title);
  for (const Candidate& c : candidates) {
    fmt::print("  {:<34} {:>9.3f} ms  {:>7.2f} x the best\n", c.name, c.seconds * 1e3,
               c.seconds / best);
  }
}

int print_figures(const std::vector<Figure>& figures) {
  int missed = 0;
  fmt::print("\n{:<64} {:>10} {:>12}\n", "figure", "measured", "bar");
  for (const Figure& f : figures) {
    const bool met = f.at_least ? f.value >= f.bar : f.value <= f.bar;
    missed += !met;
    fmt::print("{:<64} {:>7.2f} {:<2} {} {:>6.2f} {:<2} {}\n", f.what, f.value, f.unit,
               f.at_least ? ">=" : "<=", f.bar, f.unit, met ? "" : "  missed");
  }
  fmt::print("{} figures, {} missed\n", figures.size(), missed);
  return missed;
}

void write_figures(const std::vector<Figure>& figures, const std::string& path) {
  std::ofstream file(path);
  for (const Figure& f : figures) {
    file << fmt::format("{}\t{}\t{}\t{}\t{}\n", f.what, f.value, f.bar,
                        f.at_least ? ">=" : "<=", f.unit);
  }
}

void fail(const std::string& message) {
  fmt::print(stderr, "bench: {}\n", message);
  std::exit(1);
}

}  // namespace lw::bench
