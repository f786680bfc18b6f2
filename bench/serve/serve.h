// lanewise_bench serve: answers the driver (bench/compare) on stdin and stdout, a line each, words
// separated by tabs.
//
//   prepare NAME WORKLOAD DTYPE SIZE THREADS INPUTS OUTPUT
//       reads the inputs, one array after the other, from the file INPUTS, runs the competitor NAME
//       once and writes its results to the file OUTPUT: "ok", or "missing WHY"
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
