// A competitor of the comparison on one workload, inside the process that runs it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "lanewise/plan/schedule.h"
#include "lanewise/types/dtype.h"

namespace lw::bench {

/// On a cache line's boundary.
struct Array {
  Array(DType element, std::int64_t count);
  void* data() const { return memory.get(); }
  std::int64_t bytes() const { return size * static_cast<std::int64_t>(types::size_of(type)); }

  DType type;
  std::int64_t size;
  std::shared_ptr<void> memory;
};

/// What is to be computed. All competitors of a case read the same inputs and write the same
/// output: where memory lies decides about a loop that does little else.
struct Case {
  std::string workload;
  DType type;  // of the arithmetic
  std::int64_t size;
  int threads;
  plan::Isa isa;
  std::vector<Array> inputs;  // a value, or a row, for each element
  std::vector<Array> tables;  // shared by all elements
  Array output;
};

struct Competitor {
  std::function<void()> run;
  std::function<const void*()> output;  // of the last run
  bool once = false;                    // a run cannot be repeated to be seen warm
  std::function<void()> settle;         // ends what a run leaves behind, so that others have peace
};

/// Why there is no such competitor.
struct Missing {
  std::string why;
};

using MaybeCompetitor = std::variant<Competitor, Missing>;

/// "scalar", "libmvec", "hand", "free", "packets", "bandwidth", each also with ", new output".
MaybeCompetitor loop_competitor(const std::string& name, const Case& c);
/// "lanewise", "lanewise, new output", "lanewise, tier 0", "lanewise, packets", "lanewise, refill".
MaybeCompetitor lanewise_competitor(const std::string& name, const Case& c);

/// Numbers about lanewise alone, in seconds or bytes.
///   compile WORKLOAD   the least time of a few compiles on the compile thread
///   memory SIZE        peak above inputs, outputs and what the warm process had, of wave
///   compiler_memory SIZE
///                      what of that is the compiler's
///   pool_memory SIZE   what is kept of a result that was dropped
///   disk_hit WORKLOAD, disk_hit_first WORKLOAD
///                      loading a program that another process has compiled, the least of a few
///                      and the first of this process
double lanewise_figure(const std::string& what, const std::string& argument, plan::Isa isa);

}  // namespace lw::bench
