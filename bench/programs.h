// The element functions of the benchmarks, as a user writes them.
#pragma once

#include <utility>

#include "lanewise/lanewise.h"

namespace lw::bench {

/// Escape time of the point a + bi, at most 1000 steps.
inline i32 mandelbrot(f32 a, f32 b) {
  f32 x = 0;
  f32 y = 0;
  i32 n = 0;
  While([&] { return x * x + y * y <= 4 && n < 1000; },
        [&] {
          f32 t = x * x - y * y + a;
          y = 2 * x * y + b;
          x = t;
          n = n + 1;
        });
  return n;
}

/// Kepler's equation x - e sin x = m by Newton's method.
inline f64 kepler(f64 m, f64 e) {
  f64 x = m;
  i32 n = 0;
  While([&] { return n < 50; },
        [&] {
          f64 d = (x - e * sin(x) - m) / (1 - e * cos(x));
          x = x - d;
          BreakIf(abs(d) < 1e-12);
          n = n + 1;
        });
  return x;
}

/// `function` under a fixed schedule.
template <class F>
auto scheduled(F function, std::string name, plan::Isa isa, bool refill) {
  VectorizeOptions options;
  options.name = std::move(name);
  options.schedule.isa = isa;
  options.schedule.refill = refill;
  return vectorize(function, options);
}

}  // namespace lw::bench
