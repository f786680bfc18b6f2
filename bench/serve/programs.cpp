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
    {"ode_lorenz", make<&ode_lorenz>},
    {"ode_van_der_pol", make<&ode_van_der_pol>},
    {"tree_ensemble", make<&tree_ensemble>},
    {"first_passage", make<&first_passage>},
    {"binomial_options", make<&binomial_options>},
    {"implied_vol", make<&implied_vol>},
    {"collatz", make<&collatz>},
    {"ray_bvh", make<&ray_bvh>},
    {"accumulate", make<&accumulate>},
};

}  // namespace

Function program_function(const std::string& workload, const plan::Wish& wish) {
  for (const Program& p : kPrograms) {
    if (workload == p.workload) return p.make(workload, wish);
  }
  return nullptr;
}

}  // namespace lw::bench
