// Scalar loops: the meaning of both programs, and the reference for their results.
// -ffp-contract=off keeps the compiler from forming fma, so these results are the strict ones.
#include <cmath>

#include "hand.h"

namespace lw::hand {

void mandelbrot_scalar(const float* a, const float* b, int32_t* n, int64_t count, int32_t limit) {
  for (int64_t i = 0; i < count; ++i) {
    const float ca = a[i];
    const float cb = b[i];
    float x = 0;
    float y = 0;
    int32_t k = 0;
    while (x * x + y * y <= 4 && k < limit) {
      const float t = x * x - y * y + ca;
      y = 2 * x * y + cb;
      x = t;
      ++k;
    }
    n[i] = k;
  }
}

void kepler_scalar(const double* m, const double* e, double* x, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    double v = m[i];
    for (int step = 0; step < 50; ++step) {
      const double d = (v - e[i] * std::sin(v) - m[i]) / (1 - e[i] * std::cos(v));
      v = v - d;
      if (std::fabs(d) < 1e-12) break;
    }
    x[i] = v;
  }
}

}  // namespace lw::hand
