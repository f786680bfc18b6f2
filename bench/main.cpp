// lanewise_bench [--repeats N] [workload]: runs the workloads and prints one table of figures.
#include <fmt/core.h>

#include <cstdlib>
#include <string_view>

#include "harness.h"

int main(int argc, char** argv) {
  setenv("LANEWISE_DISK_CACHE", "0", 1);  // compile times are measured
  lw::bench::Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--repeats" && i + 1 < argc) {
      options.repeats = std::atoi(argv[++i]);
    } else if (word == "--help" || word[0] == '-') {
      fmt::print("lanewise_bench [--repeats N] [mandelbrot|kepler|calls]\n");
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
  lw::bench::print_figures(figures);
  return 0;
}
