#include "lanewise/runtime/machine.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>

#include "lanewise/base/fork.h"
#include "lanewise/runtime/thread_pool.h"
#include "lanewise/runtime/timeline.h"

namespace lw::runtime {
namespace {

constexpr std::size_t kBytes = 32 << 20;  // of each of two arrays
constexpr std::size_t kPart = 1 << 20;
constexpr int kTurns = 3;

double measure_copy(int workers) {
  // Not the scratch of any map, so it is not counted as that.
  const std::unique_ptr<std::byte[]> from(new (std::nothrow) std::byte[kBytes]);
  const std::unique_ptr<std::byte[]> to(new (std::nothrow) std::byte[kBytes]);
  if (from == nullptr || to == nullptr) return 0;  // unknown
  std::memset(from.get(), 1, kBytes);
  std::memset(to.get(), 1, kBytes);
  std::int64_t least = INT64_MAX;
  for (int turn = 0; turn < kTurns; ++turn) {
    std::atomic<std::size_t> next{0};
    const std::int64_t start = now_ns();
    parallel(
        workers,
        [&](int) {
          for (std::size_t at; (at = next.fetch_add(kPart)) < kBytes;) {
            std::memcpy(to.get() + at, from.get() + at, kPart);
          }
        },
        [] {});
    least = std::min(least, now_ns() - start);
  }
  return 2.0 * kBytes / (1e-9 * static_cast<double>(least));
}

double measure_clock() {
  constexpr std::int64_t kAdditions = 1 << 20;
  std::int64_t least = INT64_MAX;
  for (int turn = 0; turn < kTurns; ++turn) {
    std::int64_t sum = turn;
    const std::int64_t start = now_ns();
    for (std::int64_t i = 0; i < kAdditions / 8; ++i) {
      for (int k = 0; k < 8; ++k) asm volatile("add $1, %0" : "+r"(sum));
    }
    least = std::min(least, now_ns() - start);
  }
  return kAdditions / (1e-9 * static_cast<double>(least));
}

}  // namespace

double copy_bandwidth(int workers) {
  constexpr int kMost = 64;  // more are not faster
  static std::atomic<double> known[kMost + 1];
  static base::RenewedMutex mutex;
  std::atomic<double>& bandwidth = known[std::clamp(workers, 0, kMost)];
  const std::lock_guard lock(mutex);  // each with the whole memory to itself
  if (bandwidth == 0) bandwidth = measure_copy(workers);
  return bandwidth;
}

double clock_rate() {
  static const double rate = measure_clock();
  return rate;
}

}  // namespace lw::runtime
