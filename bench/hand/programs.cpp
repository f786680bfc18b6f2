// The table of the hand-written competitors of programs.
//
//   bandwidth  reads and writes, nothing else: there is no result to look at
//   packets  lanes that start together and run until the slowest has finished
//   hand     the best loop that gives the bits our rules ask for, or functions of our accuracy
//   free     what contraction, or another layout, gives beyond that
#include "programs.h"

#include "hand.h"

namespace lw::hand {
namespace {

template <Mandelbrot* function>
void mandelbrot(const void* const* in, void* out, int64_t begin, int64_t end) {
  function(static_cast<const float*>(in[0]) + begin, static_cast<const float*>(in[1]) + begin,
           static_cast<int32_t*>(out) + begin, end - begin, 1000);
}

template <Kepler* function>
void kepler(const void* const* in, void* out, int64_t begin, int64_t end) {
  function(static_cast<const double*>(in[0]) + begin, static_cast<const double*>(in[1]) + begin,
           static_cast<double*>(out) + begin, end - begin);
}

struct Row {
  std::string_view workload;  // its beginning
  std::string_view competitor;
  Loop* v3;
  Loop* v4;
};
constexpr Row kRows[] = {
    {"mandelbrot_", "packets", mandelbrot<mandelbrot_packets_strict_v3>,
     mandelbrot<mandelbrot_packets_strict_v4>},
    {"mandelbrot_", "hand", mandelbrot<mandelbrot_refill_strict_v3>,
     mandelbrot<mandelbrot_refill_strict_v4>},
    {"mandelbrot_", "free", mandelbrot<mandelbrot_refill_free_v3>,
     mandelbrot<mandelbrot_refill_free_v4>},
    {"kepler", "hand", kepler<kepler_packets_u4_v3>, kepler<kepler_packets_u4_v4>},
    {"tree_ensemble", "hand", tree_ensemble_v3, tree_ensemble_v4},
    {"tree_ensemble", "free", nullptr, tree_ensemble_permutes_v4},
    {"ode_lorenz", "packets", nullptr, ode_lorenz_v4},
    {"ode_van_der_pol", "packets", nullptr, ode_van_der_pol_v4},
    {"softmax_rows", "hand", softmax_rows_v3, softmax_rows_v4},
    {"layernorm", "hand", layernorm_v3, layernorm_v4},
    {"nbody", "hand", nbody_v3, nbody_v4},
    {"nbody", "free", nbody_free_v3, nbody_free_v4},
    {"images_sqrt", "hand", images_sqrt_v3, images_sqrt_v4},
    {"images_sqrt", "bandwidth", bytes_to_bytes_v3, bytes_to_bytes_v4},
    // Rows of 508 lie across lines: half of the wide loads and stores would take two.
    {"images_blur", "hand", images_blur_v3, images_blur_v3},
    {"images_blur", "bandwidth", bytes_to_floats_v3, bytes_to_floats_v3},
};

const Row* find(std::string_view workload, std::string_view competitor) {
  for (const Row& row : kRows) {
    if (workload.starts_with(row.workload) && row.competitor == competitor) return &row;
  }
  return nullptr;
}

}  // namespace

Loop* program_v3(std::string_view workload, std::string_view competitor) {
  const Row* row = find(workload, competitor);
  return row == nullptr ? nullptr : row->v3;
}

Loop* program_v4(std::string_view workload, std::string_view competitor) {
  const Row* row = find(workload, competitor);
  return row == nullptr ? nullptr : row->v4;
}

}  // namespace lw::hand
