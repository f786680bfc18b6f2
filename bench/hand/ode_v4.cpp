// Differential equations on 512-bit registers: packets of U registers that step until all lanes
// have reached the end. A lane that is there takes steps of size zero, so nothing needs a mask but
// what a rejected step leaves alone.
#include "registers_v4.h"
// After the registers, which it uses.
#include <algorithm>

#include "functions.h"
#include "hand.h"
#include "tsit5.h"

namespace lw::hand {
namespace {

using S = Avx512Double;

template <int U>
using Doubles = Group<S, U>;

template <int U>
LW_HAND_INLINE inline Doubles<U> larger(Doubles<U> a, Doubles<U> b) {
  return Doubles<U>::of([](__m512d p, __m512d q) LW_HAND_INLINE { return _mm512_max_pd(p, q); }, a,
                        b);
}
template <int U>
LW_HAND_INLINE inline Doubles<U> smaller(Doubles<U> a, Doubles<U> b) {
  return Doubles<U>::of([](__m512d p, __m512d q) LW_HAND_INLINE { return _mm512_min_pd(p, q); }, a,
                        b);
}

/// a <= b ? p : q
template <int U>
LW_HAND_INLINE inline Doubles<U> where_at_most(Doubles<U> a, Doubles<U> b, Doubles<U> p,
                                               Doubles<U> q) {
  return Doubles<U>::of(
      [](__m512d left, __m512d right, __m512d yes, __m512d no) LW_HAND_INLINE {
        return _mm512_mask_mov_pd(no, _mm512_cmp_pd_mask(left, right, _CMP_LE_OQ), yes);
      },
      a, b, p, q);
}

template <int U>
LW_HAND_INLINE inline bool any_below(Doubles<U> a, double bound) {
  __mmask8 sum = 0;
  each<U>([&](auto u) LW_HAND_INLINE {
    sum = _kor_mask8(sum, _mm512_cmp_pd_mask(a.r[u], _mm512_set1_pd(bound), _CMP_LT_OQ));
  });
  return _kortestz_mask8_u8(sum, sum) == 0;
}

/// Of positive normal numbers: x = m * 2^e with m from 3/4 to 3/2, then the series of atanh.
template <int U>
LW_HAND_INLINE inline Doubles<U> log(Doubles<U> x) {
  using G = Doubles<U>;
  const G m = G::of(
      [](__m512d v) LW_HAND_INLINE {
        return _mm512_getmant_pd(v, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_zero);
      },
      x);
  const G e = G::of([](__m512d v, __m512d w)
                        LW_HAND_INLINE { return _mm512_getexp_pd(v) - _mm512_getexp_pd(w); },
                    x, m);
  const G f = (m - G(1)) / (m + G(1));
  const G z = f * f;
  const G p = polynomial(z, 2.0 / 3, 2.0 / 5, 2.0 / 7, 2.0 / 9, 2.0 / 11, 2.0 / 13, 2.0 / 15,
                         2.0 / 17, 2.0 / 19, 2.0 / 21);
  return fma(e, G(0x1.62e42fefa39efp-1), fma(f * z, p, f + f));
}

template <class System, int U>
LW_HAND_INLINE inline Doubles<U> solve(Doubles<U> parameter) {
  using G = Doubles<U>;
  constexpr int N = System::kSize;
  const G end(System::kEnd);
  G state[N];
  G slope[N];
  each<N>([&](auto i) LW_HAND_INLINE { state[i] = G(System::kStart[i]); });
  System::slope(state, parameter, slope);
  G t(0);
  G h(kFirstStep);
  for (int steps = 0; any_below(t, System::kEnd) && steps < kMostSteps; ++steps) {
    const G left = end - t;
    const G after = where_at_most(left, h, end, t + h);
    h = smaller(h, left);
    const Step<G, N> step = tsit5_step<System>(state, slope, h, parameter);
    const G one(1);
    t = where_at_most(step.error, one, after, t);
    each<N>([&](auto i) LW_HAND_INLINE {
      state[i] = where_at_most(step.error, one, step.state[i], state[i]);
      slope[i] = where_at_most(step.error, one, step.slope[i], slope[i]);
    });
    const G power = exp(G(-0.2) * log(larger(step.error, G(1e-10))));
    h = h * smaller(G(5), larger(G(0.2), G(0.9) * power));
  }
  return state[0];
}

template <class System, int U>
void ode(const void* const* in, void* out, int64_t begin, int64_t end) {
  constexpr int64_t W = Doubles<U>::kWidth;
  const double* parameters = static_cast<const double*>(in[0]);
  double* results = static_cast<double*>(out);
  for (int64_t i = begin; i < end; i += W) {
    const int64_t count = std::min(W, end - i);
    double lanes[W];
    std::fill(std::copy_n(parameters + i, count, lanes), lanes + W, parameters[i]);
    solve<System, U>(Doubles<U>::load(lanes)).store(lanes);
    std::copy_n(lanes, count, results + i);
  }
}

/// Far more than fit: the slopes of stages wait in the first cache while others are computed. With
/// 1 / 2 / 4 / 6 / 8 registers in flight Lorenz takes 36 / 20 / 17 / 16 / 16 ms.
constexpr int kRegisters = 6;

}  // namespace

void ode_lorenz_v4(const void* const* in, void* out, int64_t begin, int64_t end) {
  ode<Lorenz, kRegisters>(in, out, begin, end);
}

void ode_van_der_pol_v4(const void* const* in, void* out, int64_t begin, int64_t end) {
  ode<VanDerPol, kRegisters>(in, out, begin, end);
}

}  // namespace lw::hand
