#include "lanewise/runtime/output_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <new>
#include <unordered_map>
#include <vector>

#include "lanewise/base/environment.h"
#include "lanewise/base/fork.h"
#include "lanewise/runtime/memory.h"
#include "lanewise/runtime/memory_limit.h"
#include "lanewise/runtime/ticker.h"

namespace lw::runtime {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kMostIdle = 256;  // blocks

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Sizes within an eighth of each other share a class.
std::size_t size_class(std::size_t bytes) {
  const std::size_t step = std::max(kPage, std::bit_floor(bytes) / 8);
  return (bytes + step - 1) / step * step;
}

/// New pages; null if there are none. Large blocks begin at a huge page.
void* map_pages(std::size_t bytes) {
  const std::size_t extra = bytes >= kHugePage ? kHugePage : 0;
  void* mapped =
      mmap(nullptr, bytes + extra, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  if (extra == 0) return mapped;
  auto* const begin = static_cast<std::byte*>(mapped);
  const std::size_t before = -reinterpret_cast<std::uintptr_t>(begin) % kHugePage;
  if (before > 0) munmap(begin, before);
  if (before < extra) munmap(begin + before + bytes, extra - before);
  madvise(begin + before, bytes, MADV_HUGEPAGE);  // a wish: small pages do as well
  return begin + before;
}

class Pool {
 public:
  Pool() { idle_.reserve(2 * kMostIdle); }  // giving back must not fail

  void* take(std::size_t bytes) {
    const std::size_t size = size_class(bytes);
    if (size < bytes || is_failing_allocation()) return nullptr;
    void* memory = take_idle(size);
    if (memory == nullptr) memory = map_pages(size);
    if (memory == nullptr) {  // perhaps the idle blocks are what is missing
      trim(0);
      memory = map_pages(size);
    }
    if (memory == nullptr) return nullptr;
    try {
      const std::lock_guard lock(mutex_);
      held_.emplace(memory, size);
    } catch (const std::bad_alloc&) {
      munmap(memory, size);
      return nullptr;
    }
    count_memory(Purpose::Outputs, static_cast<std::int64_t>(size));
    return memory;
  }

  void give_back(void* memory) noexcept {
    {
      const std::lock_guard lock(mutex_);
      const auto found = held_.find(memory);
      const std::size_t size = found->second;
      held_.erase(found);
      count_memory(Purpose::Outputs, -static_cast<std::int64_t>(size));
      count_memory(Purpose::Pool, static_cast<std::int64_t>(size));
      idle_.push_back({memory, size, now_seconds()});
      idle_bytes_ += size;
    }
    trim(kForever);
    stay_awake();  // the ticker gives all back when nothing happens any more
  }

  std::size_t size_of(const void* memory) {
    const std::lock_guard lock(mutex_);
    return held_.at(const_cast<void*>(memory));
  }

  /// Frees what is unused for longer, and what is beyond the bound. True: nothing is left.
  bool trim(double unused_seconds) noexcept {
    for (;;) {
      Idle oldest{};
      {
        const std::lock_guard lock(mutex_);
        if (idle_.empty()) return true;
        const bool is_beyond = idle_bytes_ > most_bytes_ || idle_.size() > kMostIdle;
        if (!is_beyond && now_seconds() - idle_.front().since < unused_seconds) return false;
        oldest = idle_.front();
        remove(idle_.begin());
      }
      munmap(oldest.memory, oldest.size);
    }
  }

  void set_most_bytes(std::size_t bytes) {
    {
      const std::lock_guard lock(mutex_);
      most_bytes_ = bytes;
    }
    trim(kForever);
  }

 private:
  static constexpr double kForever = 1e30;

  struct Idle {
    void* memory;
    std::size_t size;
    double since;
  };

  /// The one used last, whose memory is nearest.
  void* take_idle(std::size_t size) {
    const std::lock_guard lock(mutex_);
    for (auto block = idle_.end(); block != idle_.begin();) {
      --block;
      if (block->size != size) continue;
      void* const memory = block->memory;
      remove(block);
      return memory;
    }
    return nullptr;
  }

  void remove(std::vector<Idle>::iterator block) {
    idle_bytes_ -= block->size;
    count_memory(Purpose::Pool, -static_cast<std::int64_t>(block->size));
    idle_.erase(block);
  }

  base::Mutex mutex_;
  std::vector<Idle> idle_;  // longest unused first
  std::size_t idle_bytes_ = 0;
  std::size_t most_bytes_ = base::environment_number("LANEWISE_POOL_BYTES", memory_limit() / 16);
  std::unordered_map<void*, std::size_t> held_;  // by callers
};

/// Never destroyed: results may be dropped until the very end. A child of a fork has its own copy
/// of every block.
Pool& pool() {
  static Pool& instance = *new Pool;
  return instance;
}

}  // namespace

void* take_output(std::size_t bytes) { return pool().take(bytes); }
void return_output(void* memory) noexcept { pool().give_back(memory); }
std::size_t output_bytes(const void* memory) { return pool().size_of(memory); }
bool trim_output_pool(double unused_seconds) noexcept { return pool().trim(unused_seconds); }
void set_output_pool_bytes(std::size_t most_bytes) { pool().set_most_bytes(most_bytes); }

}  // namespace lw::runtime
