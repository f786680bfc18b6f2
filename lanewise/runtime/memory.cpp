#include "lanewise/runtime/memory.h"

#include <fmt/core.h>

#include <atomic>
#include <new>
#include <utility>

#include "lanewise/base/error.h"

namespace lw::runtime {
namespace {

constexpr std::align_val_t kLine{64};

struct Counter {
  std::atomic<std::int64_t> live{0};
  std::atomic<std::int64_t> peak{0};
};

Counter counters[static_cast<int>(Purpose::Compiler) + 1];
std::atomic<std::int64_t> failing{0};  // 0: none

MemoryUse use_of(Purpose purpose) {
  const Counter& c = counters[static_cast<int>(purpose)];
  return {static_cast<std::size_t>(c.live.load(std::memory_order_relaxed)),
          static_cast<std::size_t>(c.peak.load(std::memory_order_relaxed))};
}

}  // namespace

MemoryInfo memory_info() {
  return {.outputs = use_of(Purpose::Outputs),
          .pool = use_of(Purpose::Pool),
          .scratch = use_of(Purpose::Scratch),
          .code = use_of(Purpose::Code),
          .compiler = use_of(Purpose::Compiler)};
}

std::string to_string(const MemoryInfo& info) {
  std::string text;
  const auto line = [&](const char* name, const MemoryUse& use) {
    text += fmt::format("{:<9} {:>13} bytes, at most {:>13}\n", name, use.live, use.peak);
  };
  line("outputs", info.outputs);
  line("pool", info.pool);
  line("scratch", info.scratch);
  line("code", info.code);
  line("compiler", info.compiler);
  return text;
}

void reset_memory_peaks() {
  for (Counter& c : counters) c.peak.store(c.live.load());
}

void count_memory(Purpose purpose, std::int64_t bytes) {
  Counter& c = counters[static_cast<int>(purpose)];
  const std::int64_t live = c.live.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  std::int64_t peak = c.peak.load(std::memory_order_relaxed);
  while (live > peak && !c.peak.compare_exchange_weak(peak, live, std::memory_order_relaxed)) {
  }
}

Block::Block(Purpose purpose, std::size_t bytes) : bytes_(bytes), purpose_(purpose) {
  if (!is_failing_allocation()) {
    data_ = static_cast<std::byte*>(::operator new[](bytes, kLine, std::nothrow));
  }
  if (data_ == nullptr) {
    throw ResourceError(fmt::format(
        "map: no memory for scratch; got a refusal of {} bytes. Use fewer threads.", bytes));
  }
  count_memory(purpose_, static_cast<std::int64_t>(bytes_));
}

Block::Block(Block&& other) noexcept { *this = std::move(other); }

Block& Block::operator=(Block&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(purpose_, other.purpose_);
  return *this;
}

Block::~Block() {
  if (data_ == nullptr) return;
  count_memory(purpose_, -static_cast<std::int64_t>(bytes_));
  ::operator delete[](data_, kLine);
}

void fail_allocation(std::int64_t n) { failing.store(n); }

bool is_failing_allocation() {
  return failing.load(std::memory_order_relaxed) > 0 && failing.fetch_sub(1) == 1;
}

}  // namespace lw::runtime
