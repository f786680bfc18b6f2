// One step of the method of Tsitouras (2011) of order 5(4), written once for doubles and for groups
// of registers. bench/compare/tsit5.py has the same coefficients.
#pragma once

#include <cmath>

#include "lanes.h"

namespace lw::hand {
// Every file has its own: they are compiled for different instruction sets.
namespace {

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
constexpr double kFirstStep = 0.01;
constexpr int kMostSteps = 100000;

struct Lorenz {
  static constexpr int kSize = 3;
  static constexpr double kStart[kSize] = {1, 1, 1};
  static constexpr double kEnd = 5;
  template <class V>
  LW_HAND_INLINE static void slope(const V (&s)[kSize], V rho, V (&k)[kSize]) {
    k[0] = V(10) * (s[1] - s[0]);
    k[1] = s[0] * (rho - s[2]) - s[1];
    k[2] = s[0] * s[1] - V(8.0 / 3) * s[2];
  }
};

struct VanDerPol {
  static constexpr int kSize = 2;
  static constexpr double kStart[kSize] = {2, 0};
  static constexpr double kEnd = 20;
  template <class V>
  LW_HAND_INLINE static void slope(const V (&s)[kSize], V mu, V (&k)[kSize]) {
    k[0] = s[1];
    k[1] = mu * (V(1) - s[0] * s[0]) * s[1] - s[0];
  }
};

/// Not std::fmax, which takes care of NaN.
inline double larger(double a, double b) { return a < b ? b : a; }

template <class V, int N>
struct Step {
  V state[N];
  V slope[N];  // at the new state
  V error;     // in tolerances
};

/// A step of size h from a state with slope `first`.
template <class System, class V, int N = System::kSize>
LW_HAND_INLINE inline Step<V, N> tsit5_step(const V (&state)[N], const V (&first)[N], V h,
                                            V parameter) {
  V k[7][N];
  Step<V, N> step;
  each<N>([&](auto i) LW_HAND_INLINE { k[0][i] = first[i]; });
  each<6>([&](auto stage) LW_HAND_INLINE {
    each<N>([&](auto i) LW_HAND_INLINE {
      V sum = V(kStages[stage][0]) * k[0][i];
      each<stage>([&](auto j)
                      LW_HAND_INLINE { sum = sum + V(kStages[stage][j + 1]) * k[j + 1][i]; });
      step.state[i] = state[i] + h * sum;
    });
    System::slope(step.state, parameter, k[stage + 1]);
  });
  step.error = V(0);
  each<N>([&](auto i) LW_HAND_INLINE {
    using std::abs;
    V sum = V(kErrors[0]) * k[0][i];
    each<6>([&](auto j) LW_HAND_INLINE { sum = sum + V(kErrors[j + 1]) * k[j + 1][i]; });
    const V size = larger(abs(state[i]), abs(step.state[i]));
    const V allowed = V(kTolerance) + V(kTolerance) * size;
    step.error = larger(step.error, abs(h * sum) / allowed);
    step.slope[i] = k[6][i];
  });
  return step;
}

}  // namespace
}  // namespace lw::hand
