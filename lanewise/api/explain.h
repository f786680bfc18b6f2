// What happens, or happened, when a function is called with such arguments: plain data that prints
// itself, as text, as JSON, and as a page with pictures.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "lanewise/api/options.h"

namespace lw {

/// A line of the user's and the share of an element's time that it is estimated to take, by the
/// costs of its instructions and the trips that were counted.
struct LineShare {
  std::string file;
  int line = 0;
  std::string text;  // empty if the file cannot be read
  double share = 0;
};

/// The last run beside what the machine can do. Rates are of all workers, in a second.
struct Roofline {
  double flops_a_byte = 0;  // of arrays, by the program
  double flops = 0;         // estimated from the program and trip counts
  double bytes = 0;         // read and written
  double most_flops = 0;    // two vector instructions a cycle, estimated
  double most_bytes = 0;    // copying, measured; 0: arrays fit into caches, so it was not
};

struct Explanation {
  std::string name;
  /// Why it takes the time it takes, in at most three lines; the first is the one that matters.
  std::vector<std::string> answer;
  Math math = Math::Strict;
  Accuracy accuracy = Accuracy::Default;
  std::string program;                 // as recorded: mathematical functions are not expanded in it
  std::int64_t recorded = 0;           // instructions of that; loops count once
  std::int64_t instructions = 0;       // of the element program that runs
  std::int64_t lane_instructions = 0;  // of its lane form
  double flops = 0;                    // of an element, estimated

  // Memory.
  std::int64_t bytes_in = 0;  // of one element, in mapped arrays
  std::int64_t bytes_out = 0;
  std::int64_t scratch_bytes = 0;    // of a worker on the tile machine
  std::int64_t projected_bytes = 0;  // of all workers of a call with such arguments and options
  std::int64_t budget_bytes = 0;     // that they may use
  std::string refusal;               // why it is refused, if the budget does not hold that
  std::vector<std::string> copied;   // arguments that a language binding copied, with the reason

  // Machine code. Without it the tile machine runs, and `error` says why if compiling failed.
  bool compiled = false;
  plan::Schedule schedule;  // lanes, registers interleaved, steps between looks
  std::string reason;
  std::vector<plan::Considered> considered;                // schedules, with estimates
  plan::TripCounts trips;                                  // of elements that were counted
  runtime::CodeSource source = runtime::CodeSource::None;  // disk or compiled
  runtime::CompileTimes times;                             // phases
  std::int64_t code_bytes = 0;
  std::string error;

  std::vector<std::string> numerics;  // what was done to arithmetic
  std::vector<std::string> scalar;    // what lanes do one after the other, and why
  std::vector<LineShare> lines;       // the most expensive first

  std::optional<runtime::RunStats> last_run;  // workers, chunk, elements on each tier, cache
  std::optional<Roofline> roofline;           // of a last run that was long enough to be timed

  /// For a terminal.
  std::string str() const;
  /// All of it as one object.
  std::string json() const;
  /// A page that needs no other file and no network.
  std::string html() const;
  /// Writes the page, or JSON where the name ends with .json. Throws ResourceError.
  void save(const std::string& path) const;
};

std::ostream& operator<<(std::ostream& out, const Explanation& explanation);

}  // namespace lw
