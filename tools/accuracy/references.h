// References that the C library has not, or not with a name of their own for every type.
#pragma once

#include <cmath>
#include <limits>

namespace lw::accuracy {

inline double lgamma_reference(double x) {
  int sign = 0;  // std::lgamma writes it to a variable that all threads share
  return ::lgamma_r(x, &sign);
}
inline long double lgamma_reference(long double x) {
  int sign = 0;
  return ::lgammal_r(x, &sign);
}

/// digamma(x) - digamma(z) with its zero z = 1.46..., whose rest is in `z_low`: every term has the
/// sign of x - z, so nothing cancels.
template <class Real>
Real digamma_of_positive(Real x) {
  constexpr Real z = Real(1.4616321449683623412626595423257213L);
  constexpr Real z_low = Real(1.4616321449683623412626595423257213L - static_cast<long double>(z));
  if (x > 1e9L) return std::log(x) - 1 / (2 * x);
  const Real distance = (x - z) - z_low;
  constexpr int kSteps = 16;
  Real sum = 0;
  for (int k = kSteps - 1; k >= 0; --k) sum += 1 / ((x + k) * (z + k));
  const Real a = x + kSteps;
  const Real b = z + kSteps;
  // What is left is the difference of log(a) - 1 / (2 a) - 1 / (12 a^2) + ... at a and b.
  const auto series = [](Real t) {
    const Real w = 1 / (t * t);
    return w * w *
           (Real(1) / 120 -
            w * (Real(1) / 252 -
                 w * (Real(1) / 240 - w * (Real(1) / 132 - w * (691 / Real(32760) - w / 12)))));
  };
  const Real square = (a + b) / (12 * a * a * b * b);
  return std::log1p(distance / b) + distance * (sum + 1 / (2 * a * b) + square) +
         (series(a) - series(b));
}

template <class Real>
Real digamma_reference(Real x) {
  constexpr Real kPi = Real(3.14159265358979323846264338327950288L);
  if (std::isnan(x) || (x < 0 && x == std::floor(x))) return std::numeric_limits<Real>::quiet_NaN();
  if (x == 0) return std::copysign(std::numeric_limits<Real>::infinity(), -x);
  if (std::isinf(x)) return x;
  if (std::fabs(x) < 1e-12L) return -1 / x - Real(0.57721566490153286060651209008240243L);
  if (x > 0) return digamma_of_positive(x);
  return digamma_of_positive(1 - x) - kPi / std::tan(kPi * (x - std::nearbyint(x)));
}

}  // namespace lw::accuracy
