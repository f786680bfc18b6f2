// Self-check of the hand-written competitors: results against the scalar loops, then the smallest
// of 15 times, all variants interleaved so that a slow minute of the machine meets every one of
// them. Exit status 1 if a result is wrong.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "check_loops.h"
#include "hand.h"

namespace {

using namespace lw::hand;

constexpr int kRuns = 15;
constexpr int32_t kLimit = 1000;

bool has_v3() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}

bool has_v4() {
  return has_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512cd");
}

template <class Run>
double milliseconds(Run run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
  return time.count();
}

struct MandelbrotVariant {
  const char* name;
  Mandelbrot* run;
  bool exact;  // counts must be those of the scalar loop
};

struct KeplerVariant {
  const char* name;
  Kepler* run;
};

std::vector<MandelbrotVariant> mandelbrot_variants() {
  std::vector<MandelbrotVariant> all;
  if (has_v4()) {
    all.insert(all.end(), {{"v4 packets strict", mandelbrot_packets_strict_v4, true},
                           {"v4 packets free", mandelbrot_packets_free_v4, false},
                           {"v4 refill strict", mandelbrot_refill_strict_v4, true},
                           {"v4 refill exact", mandelbrot_refill_exact_v4, true},
                           {"v4 refill free", mandelbrot_refill_free_v4, false},
                           {"v4 refill lean", mandelbrot_refill_lean_v4, false}});
  }
  if (has_v3()) {
    all.insert(all.end(), {{"v3 packets strict", mandelbrot_packets_strict_v3, true},
                           {"v3 packets free", mandelbrot_packets_free_v3, false},
                           {"v3 refill strict", mandelbrot_refill_strict_v3, true},
                           {"v3 refill exact", mandelbrot_refill_exact_v3, true},
                           {"v3 refill free", mandelbrot_refill_free_v3, false},
                           {"v3 refill lean", mandelbrot_refill_lean_v3, false}});
  }
  return all;
}

std::vector<KeplerVariant> kepler_variants() {
  std::vector<KeplerVariant> all{{"scalar, libm", kepler_scalar}};
  if (has_v4()) {
    all.insert(all.end(), {{"v4 packets u2", kepler_packets_u2_v4},
                           {"v4 packets u4", kepler_packets_u4_v4},
                           {"v4 packets u6", kepler_packets_u6_v4}});
  }
  if (has_v3()) {
    all.insert(all.end(), {{"v3 packets u2", kepler_packets_u2_v3},
                           {"v3 packets u4", kepler_packets_u4_v3},
                           {"v3 packets u6", kepler_packets_u6_v3}});
  }
  return all;
}

struct Points {
  std::string name;
  std::vector<float> a;
  std::vector<float> b;
  std::vector<int32_t> n;  // the scalar loop's counts

  void add(float pa, float pb, int32_t pn) {
    a.push_back(pa);
    b.push_back(pb);
    n.push_back(pn);
  }
  [[nodiscard]] int64_t size() const { return static_cast<int64_t>(a.size()); }
};

// The image in three orders: rows, shuffled, and shuffled without the points that reach the limit.
std::vector<Points> make_points(double& scalar_time) {
  constexpr int kSide = 1024;
  Points image{"image", {}, {}, {}};
  for (int row = 0; row < kSide; ++row) {
    for (int column = 0; column < kSide; ++column) {
      image.add(-2.0F + 2.6F * static_cast<float>(column) / kSide,
                -1.3F + 2.6F * static_cast<float>(row) / kSide, 0);
    }
  }
  scalar_time = milliseconds([&] {
    mandelbrot_scalar(image.a.data(), image.b.data(), image.n.data(), image.size(), kLimit);
  });
  std::vector<size_t> order(image.a.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), std::mt19937(1));
  Points shuffled{"shuffled", {}, {}, {}};
  Points escaping{"escaping", {}, {}, {}};
  for (const size_t i : order) {
    shuffled.add(image.a[i], image.b[i], image.n[i]);
    if (image.n[i] < kLimit) escaping.add(image.a[i], image.b[i], image.n[i]);
  }
  return {image, shuffled, escaping};
}

// Short and odd counts, limits that eight does not divide, inputs that are no numbers; nothing may
// be written behind the end.
bool check_mandelbrot_edges(const MandelbrotVariant& v, const Points& points) {
  constexpr int32_t kUntouched = -7;
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> a(points.a.begin(), points.a.begin() + 1000);
  std::vector<float> b(points.b.begin(), points.b.begin() + 1000);
  a[3] = nan;
  b[5] = inf;
  a[70] = -inf;
  b[71] = nan;
  a[130] = 3e38F;
  for (const int32_t limit : {-1, 0, 1, 3, 8, 50, 203, 1000}) {
    for (const int64_t count : {0, 1, 7, 8, 39, 40, 41, 63, 64, 65, 79, 127, 128, 129, 200, 1000}) {
      std::vector<int32_t> expected(1001, kUntouched);
      std::vector<int32_t> actual(1001, kUntouched);
      mandelbrot_scalar(a.data(), b.data(), expected.data(), count, limit);
      v.run(a.data(), b.data(), actual.data(), count, limit);
      if (expected != actual) {
        std::printf("%s: wrong for count %lld, limit %d\n", v.name, static_cast<long long>(count),
                    limit);
        return false;
      }
    }
  }
  return true;
}

bool run_mandelbrot() {
  double scalar_time = 0;
  const std::vector<Points> sets = make_points(scalar_time);
  const std::vector<MandelbrotVariant> variants = mandelbrot_variants();
  bool right = true;
  for (const MandelbrotVariant& v : variants) {
    if (v.exact) right = check_mandelbrot_edges(v, sets[1]) && right;
  }

  std::vector<std::vector<double>> best(variants.size(), std::vector<double>(sets.size(), 1e9));
  std::vector<std::vector<int64_t>> wrong(variants.size(), std::vector<int64_t>(sets.size(), 0));
  for (int run = 0; run < kRuns; ++run) {
    for (size_t s = 0; s < sets.size(); ++s) {
      const Points& p = sets[s];
      std::vector<int32_t> n(p.n.size());
      for (size_t i = 0; i < variants.size(); ++i) {
        std::fill(n.begin(), n.end(), -1);
        const double time = milliseconds(
            [&] { variants[i].run(p.a.data(), p.b.data(), n.data(), p.size(), kLimit); });
        best[i][s] = std::min(best[i][s], time);
        wrong[i][s] = 0;
        for (size_t k = 0; k < n.size(); ++k) wrong[i][s] += n[k] != p.n[k] ? 1 : 0;
        if (variants[i].exact && wrong[i][s] != 0) right = false;
      }
    }
  }

  std::printf("mandelbrot f32, 1024^2, limit %d, ms (counts unlike scalar)\n", kLimit);
  std::printf("%-20s %8.2f\n", "scalar", scalar_time);
  std::printf("%-20s", "");
  for (const Points& p : sets) std::printf(" %16s", p.name.c_str());
  std::printf("\n");
  for (size_t i = 0; i < variants.size(); ++i) {
    std::printf("%-20s", variants[i].name);
    for (size_t s = 0; s < sets.size(); ++s) {
      std::printf(" %8.2f (%5lld)", best[i][s], static_cast<long long>(wrong[i][s]));
    }
    std::printf("%s\n", variants[i].exact ? "" : "  counts may differ");
  }
  return right;
}

bool run_kepler() {
  constexpr size_t kCount = 1000000;
  constexpr double kTolerance = 4e-14;
  std::vector<double> m(kCount);
  std::vector<double> e(kCount);
  std::vector<double> expected(kCount);
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> any_m(0, 2 * std::numbers::pi);
  std::uniform_real_distribution<double> any_e(0, 0.9);
  for (size_t i = 0; i < kCount; ++i) {
    m[i] = any_m(random);
    e[i] = any_e(random);
  }
  kepler_scalar(m.data(), e.data(), expected.data(), kCount);

  const std::vector<KeplerVariant> variants = kepler_variants();
  std::vector<double> best(variants.size(), 1e9);
  std::vector<double> worst(variants.size(), 0);
  const auto compare = [&](size_t i, const std::vector<double>& x, size_t count) {
    for (size_t k = 0; k < count; ++k) {
      const double error = std::fabs(x[k] - expected[k]);
      worst[i] = error <= worst[i] ? worst[i] : error;  // takes a NaN, and keeps it
    }
  };
  bool right = true;
  for (size_t i = 0; i < variants.size(); ++i) {
    for (const size_t count : {0, 1, 3, 4, 7, 8, 17, 31, 33, 47, 49, 100}) {
      std::vector<double> x(count + 1, -1);
      variants[i].run(m.data(), e.data(), x.data(), static_cast<int64_t>(count));
      compare(i, x, count);
      right = right && x[count] == -1;
    }
  }
  for (int run = 0; run < kRuns; ++run) {
    for (size_t i = 0; i < variants.size(); ++i) {
      std::vector<double> x(kCount);
      const double time =
          milliseconds([&] { variants[i].run(m.data(), e.data(), x.data(), kCount); });
      best[i] = std::min(best[i], time);
      compare(i, x, kCount);
    }
  }

  std::printf("kepler f64, 10^6, ms (largest difference from scalar)\n");
  for (size_t i = 0; i < variants.size(); ++i) {
    std::printf("%-20s %8.2f (%.1e)\n", variants[i].name, best[i], worst[i]);
    right = right && worst[i] <= kTolerance;
  }
  return right;
}

}  // namespace

int main() {
  const bool loops_right = check_loops(has_v3(), has_v4());
  const bool mandelbrot_right = run_mandelbrot();
  const bool kepler_right = run_kepler();
  const bool right = loops_right && mandelbrot_right && kepler_right;
  std::printf("%s\n", right ? "all right" : "WRONG RESULTS");
  return right ? 0 : 1;
}
