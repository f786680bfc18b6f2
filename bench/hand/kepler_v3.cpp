// kepler on 256-bit registers, four lanes each, masks as vectors of all ones or zeros.
#include <immintrin.h>

#include "hand.h"
#include "kepler_lanes.h"

namespace lw::hand {
namespace {

struct Avx2 {
  using F = __m256d;
  using M = __m256d;  // all bits of a lane set or none
  static constexpr int kWidth = 4;

  static F set1(double v) { return _mm256_set1_pd(v); }
  static F sub(F p, F q) { return _mm256_sub_pd(p, q); }
  static F mul(F p, F q) { return _mm256_mul_pd(p, q); }
  static F div(F p, F q) { return _mm256_div_pd(p, q); }
  static F fma(F p, F q, F r) { return _mm256_fmadd_pd(p, q, r); }
  static F fnma(F p, F q, F r) { return _mm256_fnmadd_pd(p, q, r); }

  static F top() { return set1(-0.0); }
  static M all() { return _mm256_castsi256_pd(_mm256_set1_epi64x(-1)); }
  static M first(int64_t left) {
    return _mm256_castsi256_pd(
        _mm256_cmpgt_epi64(_mm256_set1_epi64x(left), _mm256_setr_epi64x(0, 1, 2, 3)));
  }
  template <int U>
  static bool any(const M (&m)[U]) {
    M sum = m[0];
    each<U>([&](auto u) LW_HAND_INLINE { sum = _mm256_or_pd(sum, m[u]); });
    return _mm256_testz_pd(sum, sum) == 0;
  }
  static F sub_where(M m, F p, F q) { return _mm256_sub_pd(p, _mm256_and_pd(m, q)); }
  // Lanes of m whose |d| is not below the bound; NaN is not.
  static M not_small(M m, F d, F bound) {
    return _mm256_and_pd(m, _mm256_cmp_pd(_mm256_andnot_pd(top(), d), bound, _CMP_NLT_UQ));
  }

  static F load(const double* p) { return _mm256_loadu_pd(p); }
  static F load(const double* p, M m) { return _mm256_maskload_pd(p, _mm256_castpd_si256(m)); }
  static void store(double* p, F v) { _mm256_storeu_pd(p, v); }
  static void store(double* p, F v, M m) { _mm256_maskstore_pd(p, _mm256_castpd_si256(m), v); }

  // sin and cos of r + k * pi/2 from sin r and cos r; k mod 4 is in the low bits of `shifted`.
  // An odd k turns (s, c) into (c, -s), its second bit changes both signs. Written with and and
  // xor, because a blend by a mask is three instructions here.
  static void turn(F shifted, F s, F c, F& sine, F& cosine) {
    const __m256i k = _mm256_castpd_si256(shifted);
    const F odd = _mm256_castsi256_pd(
        _mm256_sub_epi64(_mm256_setzero_si256(), _mm256_and_si256(k, _mm256_set1_epi64x(1))));
    const F sign = _mm256_and_pd(_mm256_castsi256_pd(_mm256_slli_epi64(k, 62)), top());
    const F swap = _mm256_xor_pd(_mm256_and_pd(_mm256_xor_pd(s, c), odd), sign);
    sine = _mm256_xor_pd(s, swap);
    cosine = _mm256_xor_pd(_mm256_xor_pd(c, _mm256_and_pd(odd, top())), swap);
  }
};

}  // namespace

void kepler_packets_u2_v3(const double* m, const double* e, double* x, int64_t count) {
  kepler_packets<Avx2, 2>(m, e, x, count);
}

void kepler_packets_u4_v3(const double* m, const double* e, double* x, int64_t count) {
  kepler_packets<Avx2, 4>(m, e, x, count);
}

void kepler_packets_u6_v3(const double* m, const double* e, double* x, int64_t count) {
  kepler_packets<Avx2, 6>(m, e, x, count);
}

}  // namespace lw::hand
