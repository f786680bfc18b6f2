#include "lanewise/runtime/program_cache.h"

#include <list>
#include <mutex>
#include <unordered_map>

namespace lw::runtime {
namespace {

struct Cache {
  using Entry = std::pair<std::string, std::shared_ptr<Program>>;
  std::mutex mutex;
  std::list<Entry> entries;  // most recently used first
  std::unordered_map<std::string, std::list<Entry>::iterator> by_key;
  CacheInfo info{.most_entries = 1024};

  void trim() {
    while (entries.size() > info.most_entries) {
      by_key.erase(entries.back().first);
      entries.pop_back();
    }
  }
};

/// Never destroyed: maps may run until the very end of the process.
Cache& cache() {
  static Cache& instance = *new Cache;
  return instance;
}

}  // namespace

std::shared_ptr<Program> cached_program(const std::string& key,
                                        const std::function<std::shared_ptr<Program>()>& make) {
  Cache& c = cache();
  {
    const std::lock_guard lock(c.mutex);
    if (const auto found = c.by_key.find(key); found != c.by_key.end()) {
      ++c.info.hits;
      c.entries.splice(c.entries.begin(), c.entries, found->second);
      return found->second->second;
    }
    ++c.info.misses;
  }
  std::shared_ptr<Program> program = make();  // outside of the lock; two makers do no harm
  const std::lock_guard lock(c.mutex);
  if (const auto found = c.by_key.find(key); found != c.by_key.end()) {
    return found->second->second;
  }
  c.entries.emplace_front(key, program);
  c.by_key.emplace(key, c.entries.begin());
  c.trim();
  return program;
}

CacheInfo cache_info() {
  Cache& c = cache();
  const std::lock_guard lock(c.mutex);
  CacheInfo info = c.info;
  info.entries = c.entries.size();
  return info;
}

void clear_cache() {
  Cache& c = cache();
  const std::lock_guard lock(c.mutex);
  c.by_key.clear();
  c.entries.clear();
}

void set_cache_size(std::size_t entries) {
  Cache& c = cache();
  const std::lock_guard lock(c.mutex);
  c.info.most_entries = entries;
  c.trim();
}

}  // namespace lw::runtime
