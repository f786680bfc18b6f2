// Why a map takes as long as it does: the first thing that explains most of the time, what stands
// beside it, and what could be done.
#include <fmt/core.h>

#include <algorithm>

#include "lanewise/api/explain_facts.h"

namespace lw::api {
namespace {

constexpr std::size_t kMostLines = 3;

/// What limited a run that was timed.
std::string limit_of(const Explanation& e, const runtime::RunStats& run) {
  const double ms = 1e3 * run.seconds;
  const auto elements = static_cast<double>(run.tier0_elements + run.tier1_elements);
  const auto bytes = e.bytes_in + e.bytes_out;
  if (run.code == runtime::CodeSource::Compiled && e.times.total_ms() > ms / 2) {
    return fmt::format("time went to compiling: {:.1f} ms beside or before a map of {:.1f} ms",
                       e.times.total_ms(), ms);
  }
  if (static_cast<double>(run.tier0_elements) > elements / 2) {
    return fmt::format("machine code was not there: the tile machine ran {:.0f} % of the elements",
                       100 * static_cast<double>(run.tier0_elements) / elements);
  }
  if (e.roofline && e.roofline->most_bytes > 0 &&
      e.roofline->bytes > 0.5 * e.roofline->most_bytes) {
    return fmt::format("bound by memory: {} bytes an element at {:.2f} of the copy bandwidth",
                       bytes, e.roofline->bytes / e.roofline->most_bytes);
  }
  if (e.trips.samples > 0 && e.trips.mean > 0) {
    if (static_cast<double>(e.trips.most) > elements * e.trips.mean / 4) {
      return fmt::format("bound by the longest element: {} steps or more, {:.1f} in the mean",
                         e.trips.most, e.trips.mean);
    }
    if (!e.schedule.refill && !e.schedule.inner && e.trips.occupancy < 0.6) {
      return fmt::format("lanes wait: packets use {:.0f} % of theirs, elements differ in steps",
                         100 * e.trips.occupancy);
    }
    return fmt::format("bound by the steps of loops: {:.1f} an element in the mean, {} at most",
                       e.trips.mean, e.trips.most);
  }
  return fmt::format("bound by arithmetic: {} instructions an element", e.instructions);
}

/// The time, and how evenly workers had it.
std::string time_of(const runtime::RunStats& run) {
  const auto elements = static_cast<double>(run.tier0_elements + run.tier1_elements);
  std::string text = fmt::format("{:.3f} ms for {:.0f} elements, {:.2f} ns each", 1e3 * run.seconds,
                                 elements, 1e9 * run.seconds / elements);
  double most = 0;
  double sum = 0;
  for (const runtime::WorkerShare& share : run.shares) {
    most = std::max(most, share.seconds);
    sum += share.seconds;
  }
  if (run.shares.size() > 1 && most > 0) {
    text += fmt::format("; {} workers, busy {:.0f} % of the slowest", run.shares.size(),
                        100 * sum / (most * static_cast<double>(run.shares.size())));
  }
  return text;
}

}  // namespace

std::vector<std::string> answer(const Explanation& e) {
  std::vector<std::string> lines;
  if (!e.refusal.empty()) lines.emplace_back("refused: the memory budget is too small");
  if (!e.last_run) {
    lines.push_back(e.compiled ? "not run yet; machine code is there"
                               : "not run yet; machine code is not there yet");
  } else if (e.last_run->seconds <= 0) {
    const std::int64_t elements = e.last_run->tier0_elements + e.last_run->tier1_elements;
    lines.push_back(
        fmt::format("small map: {} elements; the call itself takes most of the time", elements));
    lines.emplace_back("map more elements at a time where that is possible");
  } else {
    lines.push_back(limit_of(e, *e.last_run));
    lines.push_back(time_of(*e.last_run));
  }
  if (!e.error.empty()) lines.push_back("compiling failed: " + e.error);
  if (!e.lines.empty() && e.lines[0].share < 0.999) {
    lines.push_back(fmt::format("most in line {} ({:.0f} %, estimated): {}", e.lines[0].line,
                                100 * e.lines[0].share, e.lines[0].text));
  }
  if (lines.size() > kMostLines) lines.resize(kMostLines);
  return lines;
}

}  // namespace lw::api
