#include <nanobind/stl/string.h>

#include "bindings.h"
#include "lanewise/runtime/memory.h"
#include "lanewise/runtime/program_cache.h"
#include "lanewise/runtime/thread_pool.h"

namespace lw::python {

namespace nb = nanobind;

void bind_settings(nb::module_& module) {
  module.def("num_threads", &runtime::default_threads, "Threads used when nothing else is said.");
  module.def("set_num_threads", &runtime::set_default_threads, "0 goes back to the default.");
  module.def(
      "cache_info",
      [] {
        const runtime::CacheInfo info = runtime::cache_info();
        return nb::make_tuple(info.entries, info.bytes, info.most_bytes, info.hits, info.misses,
                              info.evictions, info.disk_directory, info.disk_hits, info.disk_misses,
                              info.disk_writes);
      },
      "The fields of CacheInfo in settings.py.");
  module.def(
      "memory_info",
      [] {
        const runtime::MemoryInfo info = runtime::memory_info();
        const auto use = [](const runtime::MemoryUse& u) { return nb::make_tuple(u.live, u.peak); };
        return nb::make_tuple(use(info.outputs), use(info.pool), use(info.scratch), use(info.code),
                              use(info.compiler));
      },
      "The fields of MemoryInfo in settings.py.");
  module.def("clear_cache", &runtime::clear_cache, "Forget all programs.");
  module.def("clear_disk_cache", &runtime::clear_disk_cache,
             "Remove the machine code that is kept on disk.");
}

}  // namespace lw::python
