#include <nanobind/stl/string.h>

#include "bindings.h"
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
        return nb::make_tuple(info.entries, info.most_entries, info.hits, info.misses);
      },
      "Entries, most entries, hits, misses.");
  module.def("clear_cache", &runtime::clear_cache, "Forget all programs.");
}

}  // namespace lw::python
