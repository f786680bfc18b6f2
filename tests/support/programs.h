// Two programs that go through everything, as a user writes them, and in plain C++.
#pragma once

#include <vector>

#include "lanewise/lanewise.h"

namespace lw::test {

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

/// Points of the mandelbrot set and their escape times by a plain loop. In image order neighbours
/// take alike; shuffled they do not.
struct Points {
  std::vector<float> a;
  std::vector<float> b;
  std::vector<std::int32_t> steps;
};
Points mandelbrot_points(int side, bool shuffled);

/// Pairs for Kepler's equation and its solutions by a plain loop with libm.
struct Orbits {
  std::vector<double> m;
  std::vector<double> e;
  std::vector<double> x;
};
Orbits kepler_orbits(int count);

/// The element program of a function: traced and through all passes.
ir::Function mandelbrot_program();
ir::Function kepler_program();

/// The text of a file in tests/programs/.
std::string program_text(const std::string& file);

}  // namespace lw::test
