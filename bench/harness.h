// Timing: candidates run in turn, many times over, and the least time of each counts. Results are
// checked before anything is timed. What is reported are ratios within one run, never times alone.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace lw::bench {

double now_seconds();

struct Candidate {
  std::string name;
  std::function<void()> run;
  double seconds = 0;  // the least so far
};

/// Runs all candidates in turn, `repeats` times, each for 10 ms or once; the least time is kept.
void measure(std::vector<Candidate>& candidates, int repeats);

/// The time of `one` by that of `other`, in the middle of all turns: for differences that are
/// smaller than those between minutes of a machine.
double median_ratio(const std::function<void()>& one, const std::function<void()>& other,
                    int repeats);

double seconds_of(const std::vector<Candidate>& candidates, const std::string& name);
void print_times(const std::string& title, const std::vector<Candidate>& candidates);

/// One figure against its bar: "at least" (a ratio) or "at most" (a time).
struct Figure {
  std::string what;
  double value = 0;
  double bar = 0;
  bool at_least = true;
  std::string unit = "x";
};
/// Prints the table of all figures; returns how many missed their bar.
int print_figures(const std::vector<Figure>& figures);
/// Writes them for bench/compare: a line each, what, value, bar, sign and unit separated by tabs.
void write_figures(const std::vector<Figure>& figures, const std::string& path);

[[noreturn]] void fail(const std::string& message);

struct Options {
  int repeats = 15;
  std::string only;          // a part of a workload's name
  std::string figures_path;  // figures are written here and not printed, unless empty
};

// The workloads, a folder each.
void run_mandelbrot(const Options& options, std::vector<Figure>& figures);
void run_kepler(const Options& options, std::vector<Figure>& figures);
void run_calls(const Options& options, std::vector<Figure>& figures);
void run_checks(const Options& options, std::vector<Figure>& figures);
void run_profiles(const Options& options, std::vector<Figure>& figures);
void run_stops(const Options& options, std::vector<Figure>& figures);

}  // namespace lw::bench
