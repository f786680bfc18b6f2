// The caches of compiled functions.
//
// In memory, programs are kept up to LANEWISE_CACHE_BYTES (32 MB), the least recently used are
// dropped; a function that lost its code gets it back at its next call. On disk, machine code is
// kept between processes: in LANEWISE_CACHE_DIR, else $XDG_CACHE_HOME/lanewise, else
// ~/.cache/lanewise, up to LANEWISE_DISK_CACHE_BYTES (256 MB); LANEWISE_DISK_CACHE=0 switches it
// off.
#pragma once

#include "lanewise/runtime/program_cache.h"

namespace lw {

/// Entries, bytes, hits, misses, evictions; where the disk cache is and what it did here.
using runtime::cache_info;
using runtime::CacheInfo;

/// Drops all programs in memory that are not running. The disk cache stays.
using runtime::clear_cache;

/// Sets the bound in bytes of what is kept in memory.
using runtime::set_cache_bytes;

/// Removes all that the disk cache holds.
using runtime::clear_disk_cache;

}  // namespace lw
