// What happens, or happened, when a function is called with such arguments: plain data that prints
// itself.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "lanewise/api/options.h"

namespace lw {

struct Explanation {
  std::string name;
  Math math = Math::Strict;
  std::string program;            // as recorded: mathematical functions are not expanded in it
  std::int64_t instructions = 0;  // of the element program that runs; loops count once

  // Memory.
  std::int64_t bytes_in = 0;  // of one element, in mapped arrays
  std::int64_t bytes_out = 0;
  std::int64_t scratch_bytes = 0;    // of a worker on the tile machine
  std::int64_t projected_bytes = 0;  // of all workers of a call with such arguments and options
  std::string refusal;               // why it is refused, if the budget does not hold that
  std::vector<std::string> copied;   // arguments that a language binding copied, with the reason

  // Machine code. Without it the tile machine runs, and `error` says why if compiling failed.
  bool compiled = false;
  plan::Schedule schedule;  // lanes, registers interleaved, steps between looks
  std::string reason;
  runtime::CodeSource source = runtime::CodeSource::None;  // disk or compiled
  runtime::CompileTimes times;                             // phases
  std::int64_t code_bytes = 0;
  std::string error;

  std::optional<runtime::RunStats> last_run;  // workers, chunk, elements on each tier, cache

  std::string str() const;
};

std::ostream& operator<<(std::ostream& out, const Explanation& explanation);

}  // namespace lw
