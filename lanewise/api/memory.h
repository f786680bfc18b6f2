// What lanewise uses of the memory, and the pool that results come from.
//
// Results of 256 KB and more come from a pool: what is dropped serves the next result. It keeps at
// most LANEWISE_POOL_BYTES (a sixteenth of what the process may use), and gives all back when
// nothing has run for some seconds.
#pragma once

#include "lanewise/runtime/memory.h"
#include "lanewise/runtime/output_pool.h"

namespace lw {

/// Bytes now and at most: results, the pool, scratch, programs and their code, the compiler.
using runtime::memory_info;
using runtime::MemoryInfo;
using runtime::MemoryUse;
/// Lets the peaks begin at what there is now.
using runtime::reset_memory_peaks;

/// Sets the bound in bytes of what the pool keeps; 0: nothing.
using runtime::set_output_pool_bytes;
/// Gives all that the pool keeps back.
using runtime::trim_output_pool;

}  // namespace lw
