// Running kernels directly, as a worker of the runtime would: no chunks, no threads.
#pragma once

#include <vector>

#include "lanewise/backend/cpu/compiler.h"
#include "lanewise/backend/tile/machine.h"

namespace lw::test {

/// The memory of a map.
struct Arrays {
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  std::vector<std::uint64_t> shared = {};
};

/// A worker that keeps the numbers of failing elements and never stops.
class Worker : public runtime::Context {
 public:
  explicit Worker(Arrays arrays);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  std::vector<std::int64_t> failing;  // in the order they were reported
  int polls = 0;

 private:
  Arrays arrays_;
};

/// Runs `kernel` on the tile machine; gives the failing elements.
std::vector<std::int64_t> run_tile(const kernel::Kernel& kernel, const Arrays& arrays,
                                   std::int64_t count);

/// The same as machine code.
std::vector<std::int64_t> run_code(const runtime::Code& code, const Arrays& arrays,
                                   std::int64_t count);

/// The instruction sets this machine runs, of those that promise speed.
std::vector<plan::Isa> fast_isas();

}  // namespace lw::test
