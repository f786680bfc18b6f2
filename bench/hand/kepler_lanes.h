// The kepler loop, written once for every register type. Include it only where an instruction set's
// operations are defined as a type `S` in an unnamed namespace (see mandelbrot_lanes.h).
#pragma once

#include <cstdint>

#include "lanes.h"

namespace lw::hand {

// sin and cos, good to about one ulp for |x| < 100 and useless beyond 2^50. Cody-Waite: x is
// k * pi/2 + r, pi/2 in two parts; the first subtraction is exact under fma. Then fdlibm's minimax
// polynomials on [-pi/4, pi/4] by pairs (Estrin), because the chain of a step is what two registers
// wait for; k's low bits choose and sign the results.
template <class S>
LW_HAND_INLINE inline void sin_cos(typename S::F x, typename S::F& sine, typename S::F& cosine) {
  using F = typename S::F;
  const auto c = [](double v) LW_HAND_INLINE { return S::set1(v); };
  const F shifter = c(0x1.8p52);  // its ulp is one: an addition rounds to an integer
  const F shifted = S::fma(x, c(0x1.45f306dc9c883p-1), shifter);
  const F k = S::sub(shifted, shifter);
  const F r = S::fnma(k, c(0x1.1a62633145c07p-54), S::fnma(k, c(0x1.921fb54442d18p+0), x));
  const F z = S::mul(r, r);
  const F zz = S::mul(z, z);
  F p = S::fma(z, c(0x1.5d93a5acfd57cp-33), c(-0x1.ae5e68a2b9cebp-26));
  const F p2 = S::fma(z, c(0x1.71de357b1fe7dp-19), c(-0x1.a01a019c161d5p-13));
  const F p1 = S::fma(z, c(0x1.111111110f8a6p-7), c(-0x1.5555555555549p-3));
  p = S::fma(zz, S::fma(zz, p, p2), p1);
  F q = S::fma(z, c(-0x1.8fae9be8838d4p-37), c(0x1.1ee9ebdb4b1c4p-29));
  const F q2 = S::fma(z, c(-0x1.27e4f809c52adp-22), c(0x1.a01a019cb159p-16));
  const F q1 = S::fma(z, c(-0x1.6c16c16c15177p-10), c(0x1.555555555554cp-5));
  q = S::fma(zz, S::fma(zz, q, q2), q1);
  q = S::fma(z, q, c(-0.5));
  p = S::fma(S::mul(r, z), p, r);
  q = S::fma(z, q, c(1));
  S::turn(shifted, p, q, sine, cosine);
}

// One group of U registers; without kWhole only the first `left` lanes exist.
template <class S, int U, bool kWhole>
LW_HAND_INLINE inline void kepler_packet(const double* m, const double* e, double* x,
                                         int64_t left) {
  using F = typename S::F;
  constexpr int W = S::kWidth;
  F vm[U];
  F ve[U];
  F vx[U];
  typename S::M alive[U];
  each<U>([&](auto u) LW_HAND_INLINE {
    alive[u] = kWhole ? S::all() : S::first(left - u * W);
    vm[u] = kWhole ? S::load(m + u * W) : S::load(m + u * W, alive[u]);
    ve[u] = kWhole ? S::load(e + u * W) : S::load(e + u * W, alive[u]);
    vx[u] = vm[u];
  });
  int step = 0;
  do {
    each<U>([&](auto u) LW_HAND_INLINE {
      F s;
      F c;
      sin_cos<S>(vx[u], s, c);
      const F f = S::sub(S::sub(vx[u], S::mul(ve[u], s)), vm[u]);
      const F d = S::div(f, S::sub(S::set1(1), S::mul(ve[u], c)));
      vx[u] = S::sub_where(alive[u], vx[u], d);
      alive[u] = S::not_small(alive[u], d, S::set1(1e-12));
    });
  } while (S::any(alive) && ++step < 50);
  each<U>([&](auto u) LW_HAND_INLINE {
    if constexpr (kWhole) {
      S::store(x + u * W, vx[u]);
    } else {
      S::store(x + u * W, vx[u], S::first(left - u * W));
    }
  });
}

// Groups of U registers. The steps are few, so every step looks at the mask.
template <class S, int U>
void kepler_packets(const double* m, const double* e, double* x, int64_t count) {
  constexpr int64_t N = int64_t{U} * S::kWidth;
  int64_t i = 0;
  for (; i + N <= count; i += N) kepler_packet<S, U, true>(m + i, e + i, x + i, N);
  if (i < count) kepler_packet<S, U, false>(m + i, e + i, x + i, count - i);
}

}  // namespace lw::hand
