// 512-bit registers for functions.h: 16 floats or 8 doubles, masks in mask registers.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace lw::hand {
namespace {

struct Avx512Single {
  using T = float;
  using F = __m512;
  using M = __mmask16;
  static constexpr int kWidth = 16;
  static constexpr int kRegisters = 4;
  static constexpr bool kSplitsAt1p5 = true;

  static F set1(float v) { return _mm512_set1_ps(v); }
  static F load(const float* p) { return _mm512_loadu_ps(p); }
  static void store(float* p, F v) { _mm512_storeu_ps(p, v); }
  static void stream(float* p, F v) { _mm512_stream_ps(p, v); }
  static F fma(F p, F q, F r) { return _mm512_fmadd_ps(p, q, r); }
  static F fnma(F p, F q, F r) { return _mm512_fnmadd_ps(p, q, r); }
  static F sqrt(F v) { return _mm512_sqrt_ps(v); }
  static F abs(F v) { return _mm512_abs_ps(v); }
  static F clamp(F v, float least, float most) {
    return _mm512_min_ps(set1(most), _mm512_max_ps(set1(least), v));  // a NaN stays
  }
  static F copysign(F size, F sign) {
    // 0xd8: c ? b : a
    return _mm512_castsi512_ps(_mm512_ternarylogic_epi32(
        _mm512_castps_si512(size), _mm512_castps_si512(sign), _mm512_set1_epi32(INT32_MIN), 0xd8));
  }
  static F where_above(F v, float bound, F a, F b) {
    return _mm512_mask_mov_ps(b, _mm512_cmp_ps_mask(v, set1(bound), _CMP_GT_OQ), a);
  }
  static M outside(F v, float least, float most) {
    return _kor_mask16(_mm512_cmp_ps_mask(v, set1(least), _CMP_NGE_UQ),
                       _mm512_cmp_ps_mask(v, set1(most), _CMP_NLT_UQ));
  }
  static M or_(M p, M q) { return _kor_mask16(p, q); }
  static bool any(M m) { return _kortestz_mask16_u8(m, m) == 0; }
  template <int U>
  static bool any_negative(const F (&v)[U]) {
    M sum = 0;
    for (F one : v) sum = or_(sum, _mm512_movepi32_mask(_mm512_castps_si512(one)));
    return any(sum);
  }

  /// v, with the sign changed where the lowest bit of `shifted` is set.
  static F flip(F v, F shifted) {
    const __m512i sign = _mm512_slli_epi32(_mm512_castps_si512(shifted), 31);
    return _mm512_xor_ps(v, _mm512_castsi512_ps(sign));
  }
  /// As kepler_v4.cpp.
  static void turn(F shifted, F s, F c, F& sine, F& cosine) {
    const __m512i k = _mm512_castps_si512(shifted);
    const M odd = _mm512_test_epi32_mask(k, _mm512_set1_epi32(1));
    const __m512i sign = _mm512_slli_epi32(k, 30);
    const __m512i top = _mm512_set1_epi32(INT32_MIN);
    const __m512i minus_s = _mm512_xor_si512(_mm512_castps_si512(s), top);
    const __m512i si = _mm512_castps_si512(_mm512_mask_mov_ps(s, odd, c));
    const __m512i co = _mm512_mask_mov_epi32(_mm512_castps_si512(c), odd, minus_s);
    // 0x78: a ^ (b & c)
    sine = _mm512_castsi512_ps(_mm512_ternarylogic_epi32(si, sign, top, 0x78));
    cosine = _mm512_castsi512_ps(_mm512_ternarylogic_epi32(co, sign, top, 0x78));
  }
  template <bool>
  static F scale(F v, F k) {
    return _mm512_scalef_ps(v, k);
  }
  static void split(F x, F& m, F& e) {
    m = _mm512_getmant_ps(x, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_zero);
    // The exponent that goes with this mantissa.
    e = _mm512_sub_ps(_mm512_getexp_ps(x), _mm512_getexp_ps(m));
  }
};

struct Avx512Double {
  using T = double;
  using F = __m512d;
  using M = __mmask8;
  static constexpr int kWidth = 8;
  static constexpr int kRegisters = 4;

  static F set1(double v) { return _mm512_set1_pd(v); }
  static F load(const double* p) { return _mm512_loadu_pd(p); }
  static void store(double* p, F v) { _mm512_storeu_pd(p, v); }
  static void stream(double* p, F v) { _mm512_stream_pd(p, v); }
  static F fma(F p, F q, F r) { return _mm512_fmadd_pd(p, q, r); }
  static F fnma(F p, F q, F r) { return _mm512_fnmadd_pd(p, q, r); }
  static F sqrt(F v) { return _mm512_sqrt_pd(v); }
  static F abs(F v) { return _mm512_abs_pd(v); }
  static F clamp(F v, double least, double most) {
    return _mm512_min_pd(set1(most), _mm512_max_pd(set1(least), v));
  }
  static M outside(F v, double least, double most) {
    return _kor_mask8(_mm512_cmp_pd_mask(v, set1(least), _CMP_NGE_UQ),
                      _mm512_cmp_pd_mask(v, set1(most), _CMP_NLT_UQ));
  }
  static M or_(M p, M q) { return _kor_mask8(p, q); }
  static bool any(M m) { return _kortestz_mask8_u8(m, m) == 0; }

  static F flip(F v, F shifted) {
    const __m512i sign = _mm512_slli_epi64(_mm512_castpd_si512(shifted), 63);
    return _mm512_xor_pd(v, _mm512_castsi512_pd(sign));
  }
  static void turn(F shifted, F s, F c, F& sine, F& cosine) {
    const __m512i k = _mm512_castpd_si512(shifted);
    const M odd = _mm512_test_epi64_mask(k, _mm512_set1_epi64(1));
    const __m512i sign = _mm512_slli_epi64(k, 62);
    const __m512i top = _mm512_set1_epi64(INT64_MIN);
    const __m512i minus_s = _mm512_xor_si512(_mm512_castpd_si512(s), top);
    const __m512i si = _mm512_castpd_si512(_mm512_mask_mov_pd(s, odd, c));
    const __m512i co = _mm512_mask_mov_epi64(_mm512_castpd_si512(c), odd, minus_s);
    sine = _mm512_castsi512_pd(_mm512_ternarylogic_epi64(si, sign, top, 0x78));
    cosine = _mm512_castsi512_pd(_mm512_ternarylogic_epi64(co, sign, top, 0x78));
  }
  template <bool>
  static F scale(F v, F k) {
    return _mm512_scalef_pd(v, k);
  }
};

}  // namespace
}  // namespace lw::hand
