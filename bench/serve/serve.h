// lanewise_bench serve: answers the driver (bench/compare) on stdin and stdout, a line each, words
// separated by tabs.
//
//   prepare NAME WORKLOAD DTYPE OUTPUT SIZE THREADS ARRAYS INPUTS RESULTS
//       reads the arrays, one after the other, from the file INPUTS, runs the competitor NAME once
//       and writes its results, for SIZE elements, to the file RESULTS: "ok", or "value BYTES" that
//       this first call needed, or "missing WHY". ARRAYS is "input:f32:1000 leaf:f32:500x256", say:
//       inputs, which have a value or a row for each element, then tables by name, which belong to
//       all. OUTPUT is type and shape of the results, as f32:1000x3; DTYPE is what is computed in.
//   run NAME             runs it for 10 ms or once: "value SECONDS", the least of a call
//   figure WHAT OF       see lanewise_figure: "value X", or "missing WHY"
//   release              forgets all competitors: "ok"
//
// The Python competitors (bench/compare/peers) answer the same.
#pragma once

#include <string_view>

namespace lw::bench {

/// `isa` is "v3", "v4", or empty for the highest this machine has.
int serve(std::string_view isa);

}  // namespace lw::bench
