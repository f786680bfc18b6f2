// The programs as plain loops: an element program each, and the table of all. Without contraction,
// so that these are also what strict results are compared with.
#include <algorithm>
#include <cmath>

#include "hand.h"
#include "philox.h"
#include "programs.h"
#include "scalar_ray.h"
#include "tsit5.h"

namespace lw::hand {
namespace {

template <class T>
const T* array(const void* const* arrays, int k) {
  return static_cast<const T*>(arrays[k]);
}

void mandelbrot(const void* const* in, void* out, int64_t begin, int64_t end) {
  mandelbrot_scalar(array<float>(in, 0) + begin, array<float>(in, 1) + begin,
                    static_cast<int32_t*>(out) + begin, end - begin, 1000);
}

void kepler(const void* const* in, void* out, int64_t begin, int64_t end) {
  kepler_scalar(array<double>(in, 0) + begin, array<double>(in, 1) + begin,
                static_cast<double*>(out) + begin, end - begin);
}

template <class System>
double ode_element(double parameter) {
  constexpr int N = System::kSize;
  double state[N];
  std::copy_n(System::kStart, N, state);
  double slope[N];
  System::slope(state, parameter, slope);
  double t = 0;
  double h = kFirstStep;
  for (int steps = 0; t < System::kEnd && steps < kMostSteps; ++steps) {
    const bool clipped = h >= System::kEnd - t;
    if (clipped) h = System::kEnd - t;
    const Step<double, N> step = tsit5_step<System>(state, slope, h, parameter);
    if (step.error <= 1) {
      t = clipped ? System::kEnd : t + h;
      std::copy_n(step.state, N, state);
      std::copy_n(step.slope, N, slope);
    }
    const double factor = 0.9 * std::pow(std::max(step.error, 1e-10), -0.2);
    h = h * std::min(5.0, std::max(0.2, factor));
  }
  return state[0];
}

template <class System>
void ode(const void* const* in, void* out, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    static_cast<double*>(out)[i] = ode_element<System>(array<double>(in, 0)[i]);
  }
}

void tree_ensemble(const void* const* in, void* out, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    const float* row = array<float>(in, 0) + i * 28;
    float sum = 0;
    for (int tree = 0; tree < 500; ++tree) {
      const int32_t* feature = array<int32_t>(in, 1) + tree * 255;
      const float* threshold = array<float>(in, 2) + tree * 255;
      int node = 0;
      for (int level = 0; level < 8; ++level) {
        node = 2 * node + 1 + static_cast<int>(row[feature[node]] > threshold[node]);
      }
      sum += array<float>(in, 3)[tree * 256 + node - 255];
    }
    static_cast<float*>(out)[i] = sum;
  }
}

int32_t first_passage_element(int64_t element) {
  constexpr uint64_t kSeed = 42;
  const auto low = [](uint64_t v) { return static_cast<uint32_t>(v); };
  const auto number = static_cast<uint64_t>(element);
  int32_t x = 0;
  int32_t steps = 0;
  do {
    const PhiloxWords counter = {low(static_cast<uint64_t>(steps)), 0, low(number),
                                 low(number >> 32)};
    const uint32_t bit = philox(counter, low(kSeed), low(kSeed >> 32))[0] >> 31;
    x += bit != 0 ? 1 : -1;
    steps += 1;
  } while (std::abs(x) < 32);
  return steps;
}

void first_passage(const void* const*, void* out, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) static_cast<int32_t*>(out)[i] = first_passage_element(i);
}

/// An American put on the tree of Cox, Ross and Rubinstein.
float binomial_element(float spot, float strike, float time) {
  constexpr int kSteps = 64;
  const float dt = time / kSteps;
  const float up = std::exp(0.3F * std::sqrt(dt));
  const float down = 1 / up;
  const float p = (std::exp(0.02F * dt) - down) / (up - down);
  const float discount = std::exp(-0.02F * dt);
  const float up2 = up * up;
  float lowest = spot;
  for (int i = 0; i < kSteps; ++i) lowest *= down;
  float value[kSteps + 1];
  float price = lowest;
  for (int i = 0; i <= kSteps; ++i, price *= up2) value[i] = std::max(strike - price, 0.0F);
  for (int step = kSteps - 1; step >= 0; --step) {
    lowest *= up;
    price = lowest;
    for (int i = 0; i <= step; ++i, price *= up2) {
      value[i] = std::max(discount * (p * value[i + 1] + (1 - p) * value[i]), strike - price);
    }
  }
  return value[0];
}

void binomial_options(const void* const* in, void* out, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    static_cast<float*>(out)[i] =
        binomial_element(array<float>(in, 0)[i], array<float>(in, 1)[i], array<float>(in, 2)[i]);
  }
}

double implied_vol_element(double price, double spot, double strike, double time) {
  constexpr double kInterest = 0.02;
  const double moneyness = std::log(spot / strike);
  const double root = std::sqrt(time);
  const double discounted = strike * std::exp(-kInterest * time);
  const auto normal = [](double x) { return 0.5 * std::erfc(-x * 0.7071067811865476); };
  double sigma = 0.3;
  for (int step = 0; step < 50; ++step) {
    const double d1 = (moneyness + (kInterest + sigma * sigma / 2) * time) / (sigma * root);
    const double d2 = d1 - sigma * root;
    const double difference = spot * normal(d1) - discounted * normal(d2) - price;
    if (std::fabs(difference) < 1e-10) break;
    const double vega = spot * root * std::exp(-d1 * d1 / 2) * 0.3989422804014327;
    sigma = std::clamp(sigma - difference / std::max(vega, 1e-8), 0.001, 5.0);
  }
  return sigma;
}

void implied_vol(const void* const* in, void* out, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    static_cast<double*>(out)[i] =
        implied_vol_element(array<double>(in, 0)[i], array<double>(in, 1)[i],
                            array<double>(in, 2)[i], array<double>(in, 3)[i]);
  }
}

void collatz(const void* const* in, void* out, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    int64_t n = array<int64_t>(in, 0)[i];
    int32_t steps = 0;
    for (; n != 1; ++steps) n = n % 2 == 0 ? n / 2 : 3 * n + 1;
    static_cast<int32_t*>(out)[i] = steps;
  }
}

void ray_bvh(const void* const* in, void* out, int64_t begin, int64_t end) {
  const Scene scene = {array<float>(in, 6), array<int32_t>(in, 7), array<int32_t>(in, 8),
                       array<float>(in, 9)};
  for (int64_t i = begin; i < end; ++i) {
    const auto at = [&](int k) { return array<float>(in, k)[i]; };
    static_cast<float*>(out)[i] =
        nearest_hit(scene, {{at(0), at(1), at(2)}, {at(3), at(4), at(5)}});
  }
}

void accumulate(const void* const* in, void* out, int64_t begin, int64_t end) {
  const uint32_t* x = array<uint32_t>(in, 0);  // i32 that wraps
  auto* sums = static_cast<uint32_t*>(out);
  for (int64_t i = begin; i < end; ++i) {
    uint32_t sum = 0;
    for (uint32_t k = 0; k < 100; ++k) sum += x[i] * k;
    sums[i] = sum;
  }
}

struct Row {
  std::string_view workload;
  Loop* loop;
};
constexpr Row kRows[] = {
    {"mandelbrot_image", mandelbrot},
    {"mandelbrot_shuffled", mandelbrot},
    {"mandelbrot_escaping", mandelbrot},
    {"kepler", kepler},
    {"ode_lorenz", ode<Lorenz>},
    {"ode_van_der_pol", ode<VanDerPol>},
    {"tree_ensemble", tree_ensemble},
    {"first_passage", first_passage},
    {"binomial_options", binomial_options},
    {"implied_vol", implied_vol},
    {"collatz", collatz},
    {"ray_bvh", ray_bvh},
    {"accumulate", accumulate},
};

}  // namespace

Loop* scalar_program(std::string_view workload) {
  for (const Row& row : kRows) {
    if (row.workload == workload) return row.loop;
  }
  return nullptr;
}

}  // namespace lw::hand
