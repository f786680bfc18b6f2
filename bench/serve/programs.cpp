// The workloads with loops as element functions (../programs.h): one row each.
#include "../programs.h"

#include "function.h"

namespace lw::bench {
namespace {

struct Program {
  const char* workload;
  Function (*make)(const std::string& name, const plan::Wish& wish);
};

template <auto function>
Function make(const std::string& name, const plan::Wish& wish) {
  return make_function(function, name, wish);
}

constexpr Program kPrograms[] = {
    {"mandelbrot_image", make<&mandelbrot>},
    {"mandelbrot_shuffled", make<&mandelbrot>},
    {"mandelbrot_escaping", make<&mandelbrot>},
    {"kepler", make<&kepler>},
};

}  // namespace

Function program_function(const std::string& workload, const plan::Wish& wish) {
  for (const Program& p : kPrograms) {
    if (workload == p.workload) return p.make(workload, wish);
  }
  return nullptr;
}

}  // namespace lw::bench
