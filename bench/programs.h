// The element functions of the benchmarks, as a user writes them.
#pragma once

#include <utility>
#include <vector>

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

/// The method of Tsitouras (2011) of order 5(4) with steps of adapted size, from 0 to `end`: the
/// first value of the state there. `slope(state)` is the system.
template <std::size_t N, class Slope>
f64 integrate(const double (&start)[N], double end, const Slope& slope) {
  using State = std::vector<f64>;
  constexpr double kStages[6][6] = {
      {0.161},
      {-0.008480655492356989, 0.335480655492357},
      {2.8971530571054935, -6.359448489975075, 4.3622954328695815},
      {5.325864828439257, -11.748883564062828, 7.4955393428898365, -0.09249506636175525},
      {5.86145544294642, -12.92096931784711, 8.159367898576159, -0.071584973281401,
       -0.028269050394068383},
      {0.09646076681806523, 0.01, 0.4798896504144996, 1.379008574103742, -3.290069515436081,
       2.324710524099774},
  };
  constexpr double kErrors[7] = {
      -0.00178001105222577714, -0.0008164344596567469, 0.007880878010261995, -0.1447110071732629,
      0.5823571654525552,      -0.45808210592918697,   0.015151515151515152};
  constexpr double kTolerance = 1e-6;
  State y(std::begin(start), std::end(start));
  State first = slope(y);
  f64 t = 0;
  f64 h = 0.01;
  i32 steps = 0;
  While([&] { return t < end && steps < 100000; },
        [&] {
          const boolean clipped = h >= end - t;
          h = select(clipped, end - t, h);
          std::vector<State> k = {first};
          State next = y;
          for (const auto& weights : kStages) {
            for (std::size_t i = 0; i < N; ++i) {
              f64 sum = weights[0] * k[0][i];
              for (std::size_t j = 1; j < k.size(); ++j) sum += weights[j] * k[j][i];
              next[i] = y[i] + h * sum;
            }
            k.push_back(slope(next));
          }
          f64 error = 0;
          for (std::size_t i = 0; i < N; ++i) {
            f64 sum = kErrors[0] * k[0][i];
            for (std::size_t j = 1; j < k.size(); ++j) sum += kErrors[j] * k[j][i];
            const f64 allowed = kTolerance + kTolerance * max(abs(y[i]), abs(next[i]));
            error = max(error, abs(h * sum) / allowed);
          }
          If(error <= 1, [&] {
            t = select(clipped, f64(end), t + h);
            y = next;
            first = k[6];
          });
          h = h * min(5.0, max(0.2, 0.9 * pow(max(error, 1e-10), -0.2)));
          steps = steps + 1;
        });
  return y[0];
}

inline f64 ode_lorenz(f64 rho) {
  return integrate({1, 1, 1}, 5, [&](const std::vector<f64>& s) {
    return std::vector<f64>{10 * (s[1] - s[0]), s[0] * (rho - s[2]) - s[1],
                            s[0] * s[1] - 8.0 / 3 * s[2]};
  });
}

inline f64 ode_van_der_pol(f64 mu) {
  return integrate({2, 0}, 20, [&](const std::vector<f64>& s) {
    return std::vector<f64>{f64(s[1]), mu * (1 - s[0] * s[0]) * s[1] - s[0]};
  });
}

/// 500 trees of depth 8 over 28 features.
inline f32 tree_ensemble(Table<float> rows, Table<std::int32_t> feature, Table<float> threshold,
                         Table<float> leaf) {
  const i32 row = element<std::int32_t>() * 28;
  f32 sum = 0;
  For(0, 500, [&](i32 tree) {
    i32 node = 0;
    For(0, 8, [&](i32) {
      const i32 at = tree * 255 + node;
      const boolean right = rows[row + feature[at]] > threshold[at];
      node = 2 * node + 1 + cast<std::int32_t>(right);
    });
    sum += leaf[tree * 256 + node - 255];
  });
  return sum;
}

/// A walk by single steps, until it is 32 away.
inline i32 first_passage() {
  i32 x = 0;
  i32 steps = 0;
  While([&] { return abs(x) < 32; },
        [&] {
          const u32 bit = u32::of(random::draw().word[0]) >> 31;
          x += select(bit != 0, i32(1), i32(-1));
          steps += 1;
        });
  return steps;
}

/// An American put on the tree of Cox, Ross and Rubinstein.
inline f32 binomial_options(f32 spot, f32 strike, f32 time) {
  constexpr int kSteps = 64;
  const f32 dt = time / kSteps;
  const f32 up = exp(0.3F * sqrt(dt));
  const f32 down = 1 / up;
  const f32 p = (exp(0.02F * dt) - down) / (up - down);
  const f32 discount = exp(-0.02F * dt);
  const f32 up2 = up * up;
  f32 lowest = spot;
  For(0, kSteps, [&](i32) { lowest *= down; });
  Array<float> value(kSteps + 1);
  f32 price = lowest;
  For(0, kSteps + 1, [&](i32 i) {
    value[i] = max(strike - price, 0);
    price *= up2;
  });
  For(kSteps - 1, -1, -1, [&](i32 step) {
    lowest *= up;
    price = lowest;
    For(0, step + 1, [&](i32 i) {
      value[i] = max(discount * (p * value[i + 1] + (1 - p) * value[i]), strike - price);
      price *= up2;
    });
  });
  return value[0];
}

/// The volatility that explains the price of a call, by Newton's method.
inline f64 implied_vol(f64 price, f64 spot, f64 strike, f64 time) {
  constexpr double kInterest = 0.02;
  const f64 moneyness = log(spot / strike);
  const f64 root = sqrt(time);
  const f64 discounted = strike * exp(-kInterest * time);
  const auto normal = [](const f64& x) { return 0.5 * erfc(-x * 0.7071067811865476); };
  f64 sigma = 0.3;
  For(0, 50, [&](i32) {
    const f64 d1 = (moneyness + (kInterest + sigma * sigma / 2) * time) / (sigma * root);
    const f64 d2 = d1 - sigma * root;
    const f64 difference = spot * normal(d1) - discounted * normal(d2) - price;
    BreakIf(abs(difference) < 1e-10);
    const f64 vega = spot * root * exp(-d1 * d1 / 2) * 0.3989422804014327;
    sigma = clamp(sigma - difference / max(vega, 1e-8), 0.001, 5);
  });
  return sigma;
}

inline i32 collatz(i64 n) {
  i32 steps = 0;
  While([&] { return n != 1; },
        [&] {
          n = select((n & 1) == 0, n >> 1, 3 * n + 1);
          steps += 1;
        });
  return steps;
}

/// The distance along a ray to the nearest triangle, by a tree of boxes.
inline f32 ray_bvh(f32 ox, f32 oy, f32 oz, f32 dx, f32 dy, f32 dz, Table<float> boxes,
                   Table<std::int32_t> left, Table<std::int32_t> count, Table<float> triangles) {
  struct Vec {
    f32 x, y, z;
    Vec operator-(const Vec& b) const { return {x - b.x, y - b.y, z - b.z}; }
    Vec operator*(const Vec& b) const { return {x * b.x, y * b.y, z * b.z}; }
  };
  const auto dot = [](const Vec& a, const Vec& b) { return a.x * b.x + a.y * b.y + a.z * b.z; };
  const auto cross = [](const Vec& a, const Vec& b) {
    return Vec{a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
  };
  const auto at = [](const Table<float>& t, const i32& i) { return Vec{t[i], t[i + 1], t[i + 2]}; };
  const Vec origin = {ox, oy, oz};
  const Vec direction = {dx, dy, dz};
  const Vec inverse = {1 / dx, 1 / dy, 1 / dz};
  Array<std::int32_t> stack(32);
  i32 depth = 1;
  f32 best = 1e30F;
  While([&] { return depth > 0; },
        [&] {
          depth = depth - 1;
          const i32 node = stack[depth];
          const Vec low = (at(boxes, node * 6) - origin) * inverse;
          const Vec high = (at(boxes, node * 6 + 3) - origin) * inverse;
          const f32 enter =
              max(max(min(low.x, high.x), min(low.y, high.y)), max(min(low.z, high.z), 0));
          const f32 leave =
              min(min(max(low.x, high.x), max(low.y, high.y)), min(max(low.z, high.z), best));
          ContinueIf(!(enter <= leave));
          const i32 first = left[node];
          const i32 some = count[node];
          For(first, first + some, [&](i32 i) {
            const Vec corner = at(triangles, i * 9);
            const Vec edge1 = at(triangles, i * 9 + 3) - corner;
            const Vec edge2 = at(triangles, i * 9 + 6) - corner;
            const Vec p = cross(direction, edge2);
            const f32 scale = 1 / dot(edge1, p);
            const Vec offset = origin - corner;
            const f32 u = dot(offset, p) * scale;
            const Vec q = cross(offset, edge1);
            const f32 v = dot(direction, q) * scale;
            const f32 t = dot(edge2, q) * scale;
            best =
                select(u >= 0 && u <= 1 && v >= 0 && u + v <= 1 && t > 1e-4F && t < best, t, best);
          });
          If(some == 0, [&] {
            stack[depth] = first + 1;
            stack[depth + 1] = first;
            depth = depth + 2;
          });
        });
  return best;
}

inline i32 accumulate(i32 x) {
  i32 sum = 0;
  For(0, 100, [&](i32 i) { sum += x * i; });
  return sum;
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
