// Running a program over arrays: chunks over workers, tier 0 until machine code is there, failures,
// cancel.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <span>

#include "lanewise/runtime/buffers.h"
#include "lanewise/runtime/cancel.h"
#include "lanewise/runtime/failures.h"
#include "lanewise/runtime/finished.h"
#include "lanewise/runtime/program.h"
#include "lanewise/runtime/progress.h"

namespace lw::runtime {

/// When machine code is made: beside the running map, before it, or not at all.
enum class CompileMode : std::uint8_t { Auto, Now, Never };

struct ExecuteOptions {
  int threads = 0;             // 0: default_threads()
  std::int64_t max_steps = 0;  // of a limited program
  std::int64_t chunk = 0;      // elements; 0: chosen
  std::int64_t memory = 0;     // bytes of scratch; 0: a small part of what the process may use
  CompileMode compile = CompileMode::Auto;
  std::uint64_t seed = 0;          // of random draws
  std::int64_t first_element = 0;  // the number of the first one
  const CancelToken* cancel = nullptr;
  /// Asked on the calling thread every 50 ms or so; true stops the map with Cancelled.
  const std::function<bool()>* interrupt = nullptr;
  double timeout = 0;  // seconds after which the map stops with Timeout; 0: never
  /// When they began, where the map is a part of a call; none: with the map.
  std::optional<std::chrono::steady_clock::time_point> begin = {};
  /// Told on the calling thread every 50 ms or so, and at the end; what it throws ends the map.
  const std::function<void(const Progress&)>* progress = nullptr;
  /// Not null: a map that is late or cancelled returns, and runs only elements that are not in it.
  Finished* finished = nullptr;
  double watchdog = 0;  // seconds without an element that ends, after which it is said; 0: never
  /// Told then, on the calling thread; null: stderr is.
  const std::function<void(const Silence&)>* on_silence = nullptr;
  OnError on_error = OnError::Raise;
  std::span<const Scalar> fill;       // of results of elements that fail: one for all or for each
  Failures* failures = nullptr;       // of OnError::Collect
  std::int64_t most_failures = 1000;  // that are told of
  bool* failed = nullptr;             // of each element: set where it fails and the others go on
};

/// What one worker did of a map.
struct WorkerShare {
  std::int64_t chunks = 0;
  std::int64_t elements = 0;
  double seconds = 0;
};

/// Scratch of all workers from some time on.
struct MemoryUseAt {
  double seconds = 0;  // since the map began
  std::int64_t bytes = 0;
};

/// What a map did, for people.
struct RunStats {
  int workers = 1;
  std::int64_t chunk = 0;
  std::int64_t tier0_elements = 0;
  std::int64_t tier1_elements = 0;
  CodeSource code = CodeSource::None;    // the machine code that was used
  std::int64_t scratch_bytes = 0;        // of all workers, as projected before
  std::int64_t peak_bytes = 0;           // that they had, at most
  double load_ms = 0;                    // looking for it on disk, and linking it
  double seconds = 0;                    // from beginning to end; 0: too short to be timed
  std::vector<WorkerShare> shares = {};  // of each worker, if it was timed
  std::vector<MemoryUseAt> memory = {};  // over time, likewise
  LaneSteps lanes = {};                  // of refilled loops, at looks every 50 ms or so
};

/// Throws ElementError for the lowest failing element unless something else is wanted, Cancelled
/// when stopped, Timeout when late and nobody wants what is finished.
RunStats execute(Program& program, const Buffers& buffers, const ExecuteOptions& options);

/// The way of maps that surely end within so many nanoseconds: machine code is there and has no
/// loops, the arrays have their elements together. It runs here and now, and asks nobody. False:
/// it is no such map, or an element fails, and `execute` must do it.
bool execute_at_once(Program& program, const Buffers& buffers, std::int64_t first_element,
                     double nanoseconds);

}  // namespace lw::runtime
