// lanewise_bench [--repeats N] [workload]: runs the workloads that have no Python competitors and
// prints one table of figures. lanewise_bench serve [v3|v4]: takes part in bench/compare.
#include <fmt/core.h>

#include <cstdlib>
#include <string_view>

#include "harness.h"
#include "serve/serve.h"

int main(int argc, char** argv) {
  setenv("LANEWISE_DISK_CACHE", "0", 1);  // compile times are measured
  if (argc > 1 && std::string_view(argv[1]) == "serve") {
    return lw::bench::serve(argc > 2 ? argv[2] : "");
  }
  lw::bench::Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--repeats" && i + 1 < argc) {
      options.repeats = std::atoi(argv[++i]);
    } else if (word == "--figures" && i + 1 < argc) {
      options.figures_path = argv[++i];
    } else if (word == "--help" || word[0] == '-') {
      fmt::print(
          "lanewise_bench [--repeats N] [--figures FILE] "
          "[mandelbrot|kepler|calls|checks|profiles|stops]\n"
          "lanewise_bench serve [v3|v4]\n");
      return word == "--help" ? 0 : 2;
    } else {
      options.only = word;
    }
  }
  std::vector<lw::bench::Figure> figures;
  const auto wanted = [&](const char* name) {
    return options.only.empty() || options.only == name;
  };
  if (wanted("mandelbrot")) run_mandelbrot(options, figures);
  if (wanted("kepler")) run_kepler(options, figures);
  if (wanted("calls")) run_calls(options, figures);
  if (wanted("checks")) run_checks(options, figures);
  if (wanted("profiles")) run_profiles(options, figures);
  if (wanted("stops")) run_stops(options, figures);
  if (options.figures_path.empty()) {
    lw::bench::print_figures(figures);
  } else {
    lw::bench::write_figures(figures, options.figures_path);
  }
  return 0;
}
