#include "lanewise/api/profile.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <ostream>
#include <utility>

#include "lanewise/base/error.h"
#include "lanewise/runtime/timeline.h"

namespace lw {
namespace {

double seconds_of(std::int64_t ns) { return 1e-9 * static_cast<double>(ns); }

ProfileRow row_of(const runtime::FunctionTotals& totals, double all_seconds) {
  const auto tile = totals.tile_elements.load();
  const auto code = totals.code_elements.load();
  ProfileRow row{.name = totals.name,
                 .calls = totals.calls.load(),
                 .elements = tile + code,
                 .seconds = seconds_of(totals.call_ns.load()),
                 .compile_seconds = seconds_of(totals.compile_ns.load())};
  if (all_seconds > 0) row.share = row.seconds / all_seconds;
  if (row.seconds > 0) row.workers = seconds_of(totals.busy_ns.load()) / row.seconds;
  if (row.elements > 0) {
    row.machine_code = static_cast<double>(code) / static_cast<double>(row.elements);
    row.ns_an_element = 1e9 * row.seconds / static_cast<double>(row.elements);
  }
  return row;
}

}  // namespace

std::string ProfileSummary::str() const {
  std::size_t width = 8;
  for (const ProfileRow& row : rows) width = std::max(width, row.name.size());
  std::string text = fmt::format("{:<{}} {:>8} {:>13} {:>10} {:>6} {:>10} {:>7} {:>5} {:>10}\n",
                                 "function", width, "calls", "elements", "ms", "share",
                                 "ns/element", "workers", "code", "compile ms");
  double share = 0;
  for (const ProfileRow& row : rows) {
    text += fmt::format(
        "{:<{}} {:>8} {:>13} {:>10.3f} {:>5.1f}% {:>10.3f} {:>7.2f} {:>4.0f}% {:>10.1f}\n",
        row.name, width, row.calls, row.elements, 1e3 * row.seconds, 100 * row.share,
        row.ns_an_element, row.workers, 100 * row.machine_code, 1e3 * row.compile_seconds);
    share += row.share;
  }
  text += fmt::format("{:.3f} ms in all, {:.1f}% of it in maps\n", 1e3 * seconds, 100 * share);
  if (dropped > 0) text += fmt::format("{} events found no room in the trace\n", dropped);
  return text;
}

std::ostream& operator<<(std::ostream& out, const ProfileSummary& summary) {
  return out << summary.str();
}

Profile::Profile(std::string path)
    : timeline_(runtime::Timeline::begin()), path_(std::move(path)), process_(getpid()) {}

Profile::~Profile() {
  try {
    stop();
  } catch (const Error& error) {
    fmt::print(stderr, "lanewise: {}\n", error.what());
  }
}

void Profile::stop() {
  timeline_->end();
  if (std::exchange(is_stopped_, true) || path_.empty() || getpid() != process_) return;
  std::ofstream file(path_, std::ios::binary);
  file << json();
  file.close();
  if (!file) {
    throw ResourceError(fmt::format(
        "profile: the trace cannot be written; got {}, expected a file that can be.", path_));
  }
}

ProfileSummary Profile::summary() const {
  ProfileSummary summary{.seconds = seconds_of(timeline_->duration())};
  for (const runtime::FunctionTotals* totals : timeline_->functions()) {
    summary.rows.push_back(row_of(*totals, summary.seconds));
  }
  std::sort(summary.rows.begin(), summary.rows.end(), [](const ProfileRow& a, const ProfileRow& b) {
    return a.seconds != b.seconds ? a.seconds > b.seconds : a.name < b.name;
  });
  for (const runtime::Track* track : timeline_->tracks()) summary.dropped += track->dropped();
  return summary;
}

std::string Profile::json() const { return timeline_->json(); }

}  // namespace lw
