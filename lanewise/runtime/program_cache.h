// Programs that have been loaded, by content: making the same function twice costs one compile.
// Least recently used ones are dropped beyond a bound; their code pages go with the last user.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "lanewise/runtime/program.h"

namespace lw::runtime {

struct CacheInfo {
  std::size_t entries = 0;
  std::size_t most_entries = 0;
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
};

/// The program of this key, made by `make` if it is new.
std::shared_ptr<Program> cached_program(const std::string& key,
                                        const std::function<std::shared_ptr<Program>()>& make);
CacheInfo cache_info();
void clear_cache();
void set_cache_size(std::size_t entries);

}  // namespace lw::runtime
