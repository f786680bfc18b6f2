// Programs that have been loaded, by content: making the same function twice costs one compile.
// Bounded by the bytes of their tables and code (LANEWISE_CACHE_BYTES): beyond the bound the code
// of those that were not used for longest is freed, of functions that still exist too. A program
// that is running stays, and so does the one that came last.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "lanewise/runtime/program.h"

namespace lw::runtime {

struct CacheInfo {
  std::size_t entries = 0;
  std::size_t bytes = 0;       // tables and code, roughly
  std::size_t most_bytes = 0;  // the bound
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t evictions = 0;
  std::string disk_directory;  // empty: nothing is kept on disk
  std::uint64_t disk_hits = 0;
  std::uint64_t disk_misses = 0;
  std::uint64_t disk_writes = 0;
};

/// The program of this key, made by `make` if it is new.
std::shared_ptr<Program> cached_program(const std::string& key,
                                        const std::function<std::shared_ptr<Program>()>& make);
/// Counts the bytes of a cached program anew; one whose code was freed before comes back.
void recount_program(const std::shared_ptr<Program>& program);

CacheInfo cache_info();
/// Forgets all programs that are not running; on disk nothing changes.
void clear_cache();
void set_cache_bytes(std::size_t most_bytes);
void clear_disk_cache();

}  // namespace lw::runtime
