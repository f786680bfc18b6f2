#include "lanewise/runtime/division.h"

#include <algorithm>

#include "lanewise/runtime/staging.h"
#include "lanewise/runtime/thread_pool.h"

namespace lw::runtime {
namespace {

constexpr std::int64_t kSmallChunk = 16 << 10;
constexpr std::int64_t kLargeChunk = 1 << 20;
constexpr double kWorthThreads = 50e3;  // ns of work below which nobody is woken
constexpr double kStagedByte = 0.04;    // ns

/// What it takes to bring an element to its kernel and back, where it does not lie ready.
double staged_ns(const Program& program, const Buffers& buffers) {
  if (!buffers.is_staged()) return 0;
  return static_cast<double>(Staging::bytes(buffers, program.kernel(), 1)) * kStagedByte;
}

}  // namespace

Division divide(const Program& program, const Buffers& buffers, const ExecuteOptions& options) {
  const std::int64_t n = buffers.count;
  int workers = options.threads > 0 ? options.threads : default_threads();
  const double element_ns = program.element_ns() + staged_ns(program, buffers);
  if (static_cast<double>(n) * element_ns < kWorthThreads) workers = 1;
  // Few but long elements make small chunks, each still worth waking somebody for.
  const auto worth = static_cast<std::int64_t>(kWorthThreads / element_ns);
  Division division;
  division.grain = program.is_inner() ? 1 : 64;
  division.small_chunk =
      std::min(kSmallChunk, std::max({n / (8 * workers), worth, division.grain}));
  const std::int64_t least = options.chunk > 0 ? options.chunk : division.small_chunk;
  workers = static_cast<int>(std::clamp<std::int64_t>((n + least - 1) / least, 1, workers));
  if (options.memory != 0 || workers > 1 || buffers.is_staged() || !buffers.folds.empty()) {
    division.room = find_room(program, buffers, options, workers);
  } else {  // there is always room for one worker
    division.room.bytes = code_bytes(program, options) + register_bytes(program, options, 1);
  }
  return division;
}

std::int64_t Chunks::size_at(std::int64_t first) const {
  const std::int64_t left = count_ - first;
  if (wanted_ > 0) return whole_blocks(first, std::min({wanted_, left, kMaxChunk}));
  const int workers = division_.workers();
  const std::int64_t grain = division_.grain;
  const std::int64_t share = workers == 1 ? kLargeChunk : left / (2 * workers);
  const std::int64_t size =
      (std::clamp(share, division_.small_chunk, kLargeChunk) + grain - 1) / grain * grain;
  return whole_blocks(first, std::min({size, left, division_.most_chunk}));
}

/// A chunk of about so many elements that ends where a block of accumulators does. Where those
/// wait for one another in the order of the elements, it is as large as their buffer.
std::int64_t Chunks::whole_blocks(std::int64_t first, std::int64_t count) const {
  if (folding_ == nullptr) return count;
  if (folding_->is_ordered() && division_.workers() > 1) count = division_.room.partials;
  return std::min(folding_->end_of_blocks(first, count), count_) - first;
}

}  // namespace lw::runtime
