#include "lanewise/runtime/program_cache.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "lanewise/base/environment.h"
#include "lanewise/base/fork.h"
#include "lanewise/runtime/disk_store.h"

namespace lw::runtime {
namespace {

struct Evicted {
  std::shared_ptr<Program> program;
  std::unique_ptr<Code> code;
};

constexpr std::size_t kMostBytes = 32u << 20;

struct Cache {
  struct Entry {
    std::shared_ptr<Program> program;
    std::size_t bytes = 0;
  };
  base::Mutex mutex;
  std::unordered_map<const Program*, Entry> entries;
  std::unordered_map<std::string, Program*> by_key;
  CacheInfo info{.most_bytes = base::environment_number("LANEWISE_CACHE_BYTES", kMostBytes)};

  std::shared_ptr<Program> find(const std::string& key) {
    const auto found = by_key.find(key);
    if (found == by_key.end()) return nullptr;
    use(*found->second);
    return entries.at(found->second).program;
  }

  static void use(Program& program) {
    ++Program::use_clock;
    program.touch();
    ++Program::use_clock;  // calls from now on are later
  }

  /// Puts a program in, or counts its bytes anew.
  std::vector<Evicted> count(const std::shared_ptr<Program>& program) {
    use(*program);
    Entry& entry = entries[program.get()];
    entry.program = program;
    by_key.emplace(program->cache_key(), program.get());  // unless another one has it
    info.bytes -= entry.bytes;
    entry.bytes = program->bytes() + 2 * program->cache_key().size();
    info.bytes += entry.bytes;
    return evict(info.most_bytes, program.get());
  }

  /// Evicts the least recently used down to `most` bytes, with some room for the next. To be
  /// destroyed without the lock: unlinking takes a while.
  std::vector<Evicted> evict(std::size_t most, const Program* kept, bool also_compiling = false) {
    std::vector<Evicted> evicted;
    if (info.bytes <= most) return evicted;
    std::vector<std::pair<std::uint64_t, const Program*>> by_age;
    for (const auto& [program, entry] : entries) {
      if (program != kept) by_age.emplace_back(program->last_used(), program);
    }
    std::sort(by_age.begin(), by_age.end());
    evicted.reserve(by_age.size());  // nothing may be lost on the way
    for (const auto& [age, program] : by_age) {
      if (info.bytes <= most - most / 8) break;
      const auto found = entries.find(program);
      std::unique_ptr<Code> code;
      const Program::Release release = found->second.program->release_code(code);
      if (release == Program::Release::Running) continue;
      if (release == Program::Release::Compiling && !also_compiling) continue;
      info.bytes -= found->second.bytes;
      const auto key = by_key.find(program->cache_key());
      if (key != by_key.end() && key->second == program) by_key.erase(key);
      evicted.push_back({std::move(found->second.program), std::move(code)});
      entries.erase(found);
    }
    info.evictions += evicted.size();
    return evicted;
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
    if (auto program = c.find(key)) {
      ++c.info.hits;
      return program;
    }
    ++c.info.misses;
  }
  std::shared_ptr<Program> program = make();  // outside of the lock; two makers do no harm
  program->set_cache_key(key);
  std::vector<Evicted> evicted;
  const std::lock_guard lock(c.mutex);
  if (auto other = c.find(key)) return other;
  evicted = c.count(program);
  return program;
}

void recount_program(const std::shared_ptr<Program>& program) {
  Cache& c = cache();
  std::vector<Evicted> evicted;
  const std::lock_guard lock(c.mutex);
  evicted = c.count(program);
}

CacheInfo cache_info() {
  Cache& c = cache();
  const DiskStore::Info disk = disk_store()->info();
  const std::lock_guard lock(c.mutex);
  CacheInfo info = c.info;
  info.entries = c.entries.size();
  info.disk_directory = disk.directory;
  info.disk_hits = disk.hits;
  info.disk_misses = disk.misses;
  info.disk_writes = disk.writes;
  return info;
}

void clear_cache() {
  Cache& c = cache();
  std::vector<Evicted> dropped;
  const std::lock_guard lock(c.mutex);
  dropped = c.evict(0, nullptr, true);
  c.info.evictions -= dropped.size();  // these were asked for
}

void set_cache_bytes(std::size_t most_bytes) {
  Cache& c = cache();
  std::vector<Evicted> evicted;
  const std::lock_guard lock(c.mutex);
  c.info.most_bytes = most_bytes;
  evicted = c.evict(most_bytes, nullptr);
}

void clear_disk_cache() { disk_store()->clear(); }

}  // namespace lw::runtime
