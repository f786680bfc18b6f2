// What a map needs beyond inputs and outputs, known before it begins, and how it is made to fit the
// budget: smaller blocks first, then fewer workers. None of it changes a result.
#pragma once

#include "lanewise/runtime/execute.h"

namespace lw::runtime {

struct Room {
  int workers = 1;
  std::int64_t block = 0;     // elements of strided arrays that a worker holds
  std::int64_t partials = 0;  // elements whose results, to be folded, a worker holds
  std::int64_t bytes = 0;     // the projected peak of scratch
};

/// How many of the workers have registers of the tile machine. Before some loops are compiled, one
/// counts their steps there; all else begins there where machine code is not awaited.
inline int interpreting(const Program& program, const ExecuteOptions& options, int workers) {
  if (options.compile == CompileMode::Never) return workers;
  if (program.code() != nullptr) return 0;
  if (options.compile == CompileMode::Now) return program.wants_sample() ? 1 : 0;
  return workers;
}

/// What the registers of these workers take.
inline std::int64_t register_bytes(const Program& program, const ExecuteOptions& options,
                                   int workers) {
  return interpreting(program, options, workers) *
         static_cast<std::int64_t>(program.interpreter().scratch_bytes());
}

/// What a worker's machine code takes, if it is used: arrays that do not lie on the stack.
inline std::int64_t code_bytes(const Program& program, const ExecuteOptions& options) {
  if (options.compile == CompileMode::Never) return 0;
  return static_cast<std::int64_t>(program.most_code_scratch());
}

/// Bytes of scratch that a call may use.
std::int64_t budget_of(const ExecuteOptions& options);

/// Room for at most `workers`. Throws ResourceError, naming the largest needs, if one worker does
/// not fit.
Room find_room(const Program& program, const Buffers& buffers, const ExecuteOptions& options,
               int workers);

}  // namespace lw::runtime
