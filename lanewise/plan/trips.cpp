#include "lanewise/plan/trips.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <sstream>

namespace lw::plan {

double packet_occupancy(const Sample& sample, int lanes) {
  double useful = 0;
  double all = 0;
  const auto count = sample.trips.size();
  for (std::size_t run = 0; run < count; run += static_cast<std::size_t>(sample.run)) {
    const std::size_t run_end = std::min(count, run + static_cast<std::size_t>(sample.run));
    for (std::size_t i = run; i < run_end; i += static_cast<std::size_t>(lanes)) {
      const std::size_t end = std::min(run_end, i + static_cast<std::size_t>(lanes));
      std::uint32_t slowest = 0;
      for (std::size_t j = i; j < end; ++j) {
        slowest = std::max(slowest, sample.trips[j]);
        useful += sample.trips[j];
      }
      all += static_cast<double>(slowest) * static_cast<double>(end - i);
    }
  }
  return all > 0 ? useful / all : 1;
}

TripCounts count_trips(const Sample& sample, int lanes) {
  TripCounts counts;
  if (sample.trips.empty()) return counts;
  counts.samples = std::ssize(sample.trips);
  counts.mean = std::accumulate(sample.trips.begin(), sample.trips.end(), 0.0) /
                static_cast<double>(counts.samples);
  counts.most = *std::max_element(sample.trips.begin(), sample.trips.end());
  counts.occupancy = packet_occupancy(sample, lanes);
  for (const std::uint32_t trips : sample.trips) {
    const auto place = static_cast<std::size_t>(std::bit_width(trips));
    if (counts.histogram.size() <= place) counts.histogram.resize(place + 1);
    ++counts.histogram[place];
  }
  return counts;
}

std::string print_trips(const TripCounts& trips) {
  std::string line =
      fmt::format("{} {} {} {}", trips.samples, trips.mean, trips.most, trips.occupancy);
  for (const std::int64_t count : trips.histogram) line += fmt::format(" {}", count);
  return line;
}

TripCounts parse_trips(const std::string& line) {
  TripCounts trips;
  std::istringstream in(line);
  in.imbue(std::locale::classic());
  in >> trips.samples >> trips.mean >> trips.most >> trips.occupancy;
  if (!in || trips.samples < 0 || trips.mean < 0) return {};
  for (std::int64_t count = 0; in >> count;) trips.histogram.push_back(count);
  return trips;
}

}  // namespace lw::plan
