#include "tests/fuzz/ways.h"

namespace lw::fuzz {
namespace {

// Where each kind begins.
constexpr int kSeveralThreads = 5, kAroundLanes = 15, kAroundPacket = 19, kArrays = 23;

}  // namespace

std::vector<Way> all_ways(std::int64_t lanes, std::int64_t packet) {
  std::vector<Way> list;
  for (const int threads : {1, 2, 3}) {
    for (const std::int64_t chunk : {0, 1, 7, 64, 1000}) {
      list.push_back({threads, chunk, Way::kMany});
    }
  }
  for (const std::int64_t count : {std::int64_t{1}, lanes - 1, lanes, lanes + 1, packet - 1, packet,
                                   packet + 1, 2 * packet + 1}) {
    list.push_back({1, 0, count});
  }
  list.push_back({1, 0, Way::kInputs});
  list.push_back({1, 0, Way::kInputs, true});
  list.push_back({3, 7, Way::kMany, true});
  for (int i = 0; i < kWays; ++i) list[static_cast<std::size_t>(i)].number = i;
  return list;
}

std::vector<Way> some_ways(std::int64_t lanes, std::int64_t packet, Random random) {
  const std::vector<Way> all = all_ways(lanes, packet);
  std::vector<Way> list;
  int first = 0;
  for (const int end : {kSeveralThreads, kAroundLanes, kAroundPacket, kArrays, kWays}) {
    list.push_back(all[static_cast<std::size_t>(random.between(first, end - 1))]);
    first = end;
  }
  return list;
}

}  // namespace lw::fuzz
