// What the runtime needs from a backend. Backends implement this and sit above; api/backends.cpp
// hands the table down.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "lanewise/kernel/lane.h"
#include "lanewise/plan/schedule.h"
#include "lanewise/runtime/context.h"

namespace lw::runtime {

/// Steps of loops, each times the lanes that it ran for, and those in which elements were still
/// inside.
struct LaneSteps {
  std::int64_t all = 0;
  std::int64_t live = 0;
};

/// Tier 0: runs a kernel without compiling it. Any number of threads may use one.
class Interpreter {
 public:
  struct Options {
    /// Once this holds code, stop after the elements that are finished.
    const std::atomic<Run>* code = nullptr;
    /// If not empty: counts for each element how often it went round the first top-level loop;
    /// at least `count` entries, zero on entry.
    std::span<std::uint32_t> trips = {};
    /// With `trips`: stop once an element of the tile has gone round this often.
    std::uint32_t most_trips = ~0u;
    LaneSteps* lanes = nullptr;  // counts those of loops, if a profile is taken
  };
  struct Outcome {
    Status status = Status::Done;
    std::int64_t done = 0;  // elements finished from `first` on; all of them unless stopped
  };
  virtual ~Interpreter() = default;
  virtual Outcome run(Context* context, std::int64_t first, std::int64_t count,
                      const Options& options) const = 0;
  virtual std::size_t scratch_bytes() const = 0;
};

struct CompileTimes {
  double read_ms = 0;  // looking for it on disk
  double emit_ms = 0;
  double passes_ms = 0;
  double code_ms = 0;
  double link_ms = 0;
  double total_ms() const { return read_ms + emit_ms + passes_ms + code_ms + link_ms; }
};

/// Machine code as an object file, without an address of this process.
struct ObjectCode {
  std::string bytes;
  CompileTimes times;  // without linking
};

/// Tier 1: machine code in this process; its pages are freed with the object.
class Code {
 public:
  virtual ~Code() = default;
  virtual Run run() const = 0;
  virtual std::size_t bytes() const = 0;
};

/// All may be called from any thread.
struct Backend {
  std::unique_ptr<Interpreter> (*interpret)(const kernel::Kernel& kernel) = nullptr;
  ObjectCode (*compile)(const kernel::Kernel& kernel, const plan::Schedule& schedule) = nullptr;
  std::unique_ptr<Code> (*link)(const std::string& object) = nullptr;
  /// What objects depend on besides kernel and schedule. Null: they are not kept on disk.
  const std::string& (*target)() = nullptr;
};

}  // namespace lw::runtime
