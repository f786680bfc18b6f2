// How far a map has come, and what it says of itself when it does not come further.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lanewise/base/location.h"
#include "lanewise/runtime/finished.h"

namespace lw {

struct Progress {
  std::int64_t done = 0;   // elements
  std::int64_t total = 0;  // likewise
  double seconds = 0;      // since the call began
  double rate = 0;         // elements in a second, of this call
  double left = 0;         // seconds that it takes at this rate; infinity: nothing is known yet
};

/// For MapOptions::progress: a line on stderr that is written over until all is done.
std::function<void(const Progress&)> progress_line(std::string name = "map");
/// The line: "root: 42.0 %, 1.20e+06 elements/s, 3 s left".
std::string to_string(const Progress& progress, const std::string& name);

/// What one worker is at.
struct Running {
  int worker = 0;
  ElementRange elements;
  double seconds = 0;  // since it began them
  /// The loop that it was in when it last looked up, with those around it before it; none: in none,
  /// or it is not known.
  std::vector<base::Location> loops = {};
};

/// Of a map in which no element has ended for some time (MapOptions::watchdog).
struct Silence {
  std::string function;
  double seconds = 0;                 // of silence
  std::vector<Running> running;       // none: machine code is being made
  std::vector<base::Location> loops;  // of the function, where they are known
};

/// As stderr has it.
std::string to_string(const Silence& silence);

}  // namespace lw
