// kepler on 512-bit registers, eight lanes each, masks in mask registers.
#include <immintrin.h>

#include "hand.h"
#include "kepler_lanes.h"

namespace lw::hand {
namespace {

struct Avx512 {
  using F = __m512d;
  using M = __mmask8;
  static constexpr int kWidth = 8;

  static F set1(double v) { return _mm512_set1_pd(v); }
  static F sub(F p, F q) { return _mm512_sub_pd(p, q); }
  static F mul(F p, F q) { return _mm512_mul_pd(p, q); }
  static F div(F p, F q) { return _mm512_div_pd(p, q); }
  static F fma(F p, F q, F r) { return _mm512_fmadd_pd(p, q, r); }
  static F fnma(F p, F q, F r) { return _mm512_fnmadd_pd(p, q, r); }

  static M all() { return 0xff; }
  static M first(int64_t left) {
    return static_cast<M>(left >= 8 ? 0xffU : left <= 0 ? 0U : (1U << left) - 1U);
  }
  template <int U>
  static bool any(const M (&m)[U]) {
    M sum = m[0];
    each<U>([&](auto u) LW_HAND_INLINE { sum = _kor_mask8(sum, m[u]); });
    return _kortestz_mask8_u8(sum, sum) == 0;
  }
  static F sub_where(M m, F p, F q) { return _mm512_mask_sub_pd(p, m, p, q); }
  // Lanes of m whose |d| is not below the bound; NaN is not.
  static M not_small(M m, F d, F bound) {
    return _mm512_mask_cmp_pd_mask(m, _mm512_abs_pd(d), bound, _CMP_NLT_UQ);
  }

  static F load(const double* p) { return _mm512_loadu_pd(p); }
  static F load(const double* p, M m) { return _mm512_maskz_loadu_pd(m, p); }
  static void store(double* p, F v) { _mm512_storeu_pd(p, v); }
  static void store(double* p, F v, M m) { _mm512_mask_storeu_pd(p, m, v); }

  // sin and cos of r + k * pi/2 from sin r and cos r; k mod 4 is in the low bits of `shifted`.
  // An odd k turns (s, c) into (c, -s), its second bit changes both signs.
  static void turn(F shifted, F s, F c, F& sine, F& cosine) {
    const __m512i k = _mm512_castpd_si512(shifted);
    const M odd = _mm512_test_epi64_mask(k, _mm512_set1_epi64(1));
    const __m512i sign = _mm512_slli_epi64(k, 62);
    const __m512i top = _mm512_set1_epi64(INT64_MIN);
    const __m512i minus_s = _mm512_xor_si512(_mm512_castpd_si512(s), top);
    const __m512i si = _mm512_castpd_si512(_mm512_mask_mov_pd(s, odd, c));
    const __m512i co = _mm512_mask_mov_epi64(_mm512_castpd_si512(c), odd, minus_s);
    // 0x78: a ^ (b & c)
    sine = _mm512_castsi512_pd(_mm512_ternarylogic_epi64(si, sign, top, 0x78));
    cosine = _mm512_castsi512_pd(_mm512_ternarylogic_epi64(co, sign, top, 0x78));
  }
};

}  // namespace

void kepler_packets_u2_v4(const double* m, const double* e, double* x, int64_t count) {
  kepler_packets<Avx512, 2>(m, e, x, count);
}

void kepler_packets_u4_v4(const double* m, const double* e, double* x, int64_t count) {
  kepler_packets<Avx512, 4>(m, e, x, count);
}

void kepler_packets_u6_v4(const double* m, const double* e, double* x, int64_t count) {
  kepler_packets<Avx512, 6>(m, e, x, count);
}

}  // namespace lw::hand
