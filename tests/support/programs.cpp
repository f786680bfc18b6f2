#include "tests/support/programs.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>
#include <random>
#include <sstream>

#include "lanewise/base/check.h"
#include "lanewise/transform/passes.h"

namespace lw::test {
namespace {

std::int32_t escape_steps(float a, float b) {
  float x = 0;
  float y = 0;
  std::int32_t n = 0;
  while (x * x + y * y <= 4 && n < 1000) {
    const float t = x * x - y * y + a;
    y = 2 * x * y + b;
    x = t;
    ++n;
  }
  return n;
}

double solve_kepler(double m, double e) {
  double x = m;
  for (int n = 0; n < 50; ++n) {
    const double d = (x - e * std::sin(x) - m) / (1 - e * std::cos(x));
    x -= d;
    if (std::fabs(d) < 1e-12) break;
  }
  return x;
}

template <class T, class F>
ir::Function program(const F& function, const std::string& name) {
  const std::vector<T> values(1);
  const std::array<Input, 2> inputs = {Input(values), Input(values)};
  return transform::run(api::trace_function(function, name, inputs).function);
}

}  // namespace

Points mandelbrot_points(int side, bool shuffled) {
  std::vector<int> order(static_cast<std::size_t>(side * side));
  std::iota(order.begin(), order.end(), 0);
  if (shuffled) std::shuffle(order.begin(), order.end(), std::mt19937(1));
  Points p;
  for (const int i : order) {
    p.a.push_back(-2.0f + 2.6f * static_cast<float>(i % side) / static_cast<float>(side));
    p.b.push_back(-1.3f + 2.6f * static_cast<float>(i / side) / static_cast<float>(side));
    p.steps.push_back(escape_steps(p.a.back(), p.b.back()));
  }
  return p;
}

Orbits kepler_orbits(int count) {
  std::mt19937_64 random(1);
  const auto unit = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  Orbits o;
  for (int i = 0; i < count; ++i) {
    o.m.push_back(unit() * 6.283185307179586);
    o.e.push_back(unit() * 0.9);
    o.x.push_back(solve_kepler(o.m.back(), o.e.back()));
  }
  return o;
}

ir::Function mandelbrot_program() { return program<float>(&mandelbrot, "mandelbrot"); }
ir::Function kepler_program() { return program<double>(&kepler, "kepler"); }

std::string program_text(const std::string& file) {
  std::ifstream stream(std::string(LW_TEST_PROGRAMS) + "/" + file);
  LW_CHECK(stream.good());
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

}  // namespace lw::test
