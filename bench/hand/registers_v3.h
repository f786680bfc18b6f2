// 256-bit registers for functions.h: 8 floats or 4 doubles, masks as vectors of all ones or zeros.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace lw::hand {
namespace {

struct Avx2Single {
  using T = float;
  using F = __m256;
  using M = __m256;
  static constexpr int kWidth = 8;
  static constexpr int kRegisters = 2;
  static constexpr bool kSplitsAt1p5 = false;

  static F set1(float v) { return _mm256_set1_ps(v); }
  static F top() { return set1(-0.0F); }
  static F load(const float* p) { return _mm256_loadu_ps(p); }
  static void store(float* p, F v) { _mm256_storeu_ps(p, v); }
  static void stream(float* p, F v) { _mm256_stream_ps(p, v); }
  static F fma(F p, F q, F r) { return _mm256_fmadd_ps(p, q, r); }
  static F fnma(F p, F q, F r) { return _mm256_fnmadd_ps(p, q, r); }
  static F sqrt(F v) { return _mm256_sqrt_ps(v); }
  static F abs(F v) { return _mm256_andnot_ps(top(), v); }
  static F clamp(F v, float least, float most) {
    return _mm256_min_ps(set1(most), _mm256_max_ps(set1(least), v));  // a NaN stays
  }
  static F copysign(F size, F sign) { return _mm256_or_ps(abs(size), _mm256_and_ps(top(), sign)); }
  static F where_above(F v, float bound, F a, F b) {
    return _mm256_blendv_ps(b, a, _mm256_cmp_ps(v, set1(bound), _CMP_GT_OQ));
  }
  static M outside(F v, float least, float most) {
    return _mm256_or_ps(_mm256_cmp_ps(v, set1(least), _CMP_NGE_UQ),
                        _mm256_cmp_ps(v, set1(most), _CMP_NLT_UQ));
  }
  static M or_(M p, M q) { return _mm256_or_ps(p, q); }
  static bool any(M m) { return _mm256_testz_ps(m, m) == 0; }
  template <int U>
  static bool any_negative(const F (&v)[U]) {
    M sum = _mm256_setzero_ps();
    for (F one : v) sum = or_(sum, one);
    return any(sum);
  }

  /// v, with the sign changed where the lowest bit of `shifted` is set.
  static F flip(F v, F shifted) {
    const __m256i sign = _mm256_slli_epi32(_mm256_castps_si256(shifted), 31);
    return _mm256_xor_ps(v, _mm256_castsi256_ps(sign));
  }
  /// As kepler_v3.cpp.
  static void turn(F shifted, F s, F c, F& sine, F& cosine) {
    const __m256i k = _mm256_castps_si256(shifted);
    const F odd = _mm256_castsi256_ps(
        _mm256_sub_epi32(_mm256_setzero_si256(), _mm256_and_si256(k, _mm256_set1_epi32(1))));
    const F sign = _mm256_and_ps(_mm256_castsi256_ps(_mm256_slli_epi32(k, 30)), top());
    const F swap = _mm256_xor_ps(_mm256_and_ps(_mm256_xor_ps(s, c), odd), sign);
    sine = _mm256_xor_ps(s, swap);
    cosine = _mm256_xor_ps(_mm256_xor_ps(c, _mm256_and_ps(odd, top())), swap);
  }
  /// v * 2^k. In two steps for results that are infinite or subnormal; free ones are neither.
  template <bool kFree>
  static F scale(F v, F k) {
    const auto power = [](__m256i e) {
      return _mm256_castsi256_ps(
          _mm256_slli_epi32(_mm256_add_epi32(e, _mm256_set1_epi32(127)), 23));
    };
    const __m256i e = _mm256_cvtps_epi32(k);
    if constexpr (kFree) return _mm256_mul_ps(v, power(e));
    const __m256i half = _mm256_srai_epi32(e, 1);
    return _mm256_mul_ps(_mm256_mul_ps(v, power(half)), power(_mm256_sub_epi32(e, half)));
  }
  static void split(F x, F& m, F& e) {
    // Adding the bits of 1 - sqrt(1/2) carries into the exponent where the mantissa is large.
    const __m256i bits = _mm256_add_epi32(_mm256_castps_si256(x), _mm256_set1_epi32(0x004afb0d));
    e = _mm256_cvtepi32_ps(_mm256_sub_epi32(_mm256_srai_epi32(bits, 23), _mm256_set1_epi32(127)));
    m = _mm256_castsi256_ps(_mm256_add_epi32(_mm256_and_si256(bits, _mm256_set1_epi32(0x007fffff)),
                                             _mm256_set1_epi32(0x3f3504f3)));
  }
};

struct Avx2Double {
  using T = double;
  using F = __m256d;
  using M = __m256d;
  static constexpr int kWidth = 4;
  static constexpr int kRegisters = 2;

  static F set1(double v) { return _mm256_set1_pd(v); }
  static F top() { return set1(-0.0); }
  static F load(const double* p) { return _mm256_loadu_pd(p); }
  static void store(double* p, F v) { _mm256_storeu_pd(p, v); }
  static void stream(double* p, F v) { _mm256_stream_pd(p, v); }
  static F fma(F p, F q, F r) { return _mm256_fmadd_pd(p, q, r); }
  static F fnma(F p, F q, F r) { return _mm256_fnmadd_pd(p, q, r); }
  static F sqrt(F v) { return _mm256_sqrt_pd(v); }
  static F abs(F v) { return _mm256_andnot_pd(top(), v); }
  static F clamp(F v, double least, double most) {
    return _mm256_min_pd(set1(most), _mm256_max_pd(set1(least), v));
  }
  static M outside(F v, double least, double most) {
    return _mm256_or_pd(_mm256_cmp_pd(v, set1(least), _CMP_NGE_UQ),
                        _mm256_cmp_pd(v, set1(most), _CMP_NLT_UQ));
  }
  static M or_(M p, M q) { return _mm256_or_pd(p, q); }
  static bool any(M m) { return _mm256_testz_pd(m, m) == 0; }

  static F flip(F v, F shifted) {
    const __m256i sign = _mm256_slli_epi64(_mm256_castpd_si256(shifted), 63);
    return _mm256_xor_pd(v, _mm256_castsi256_pd(sign));
  }
  static void turn(F shifted, F s, F c, F& sine, F& cosine) {
    const __m256i k = _mm256_castpd_si256(shifted);
    const F odd = _mm256_castsi256_pd(
        _mm256_sub_epi64(_mm256_setzero_si256(), _mm256_and_si256(k, _mm256_set1_epi64x(1))));
    const F sign = _mm256_and_pd(_mm256_castsi256_pd(_mm256_slli_epi64(k, 62)), top());
    const F swap = _mm256_xor_pd(_mm256_and_pd(_mm256_xor_pd(s, c), odd), sign);
    sine = _mm256_xor_pd(s, swap);
    cosine = _mm256_xor_pd(_mm256_xor_pd(c, _mm256_and_pd(odd, top())), swap);
  }
  template <bool kFree>
  static F scale(F v, F k) {
    const auto power = [](__m256i e) {
      return _mm256_castsi256_pd(
          _mm256_slli_epi64(_mm256_add_epi64(e, _mm256_set1_epi64x(1023)), 52));
    };
    const __m128i e = _mm256_cvtpd_epi32(k);
    if constexpr (kFree) return _mm256_mul_pd(v, power(_mm256_cvtepi32_epi64(e)));
    const __m128i half = _mm_srai_epi32(e, 1);
    return _mm256_mul_pd(_mm256_mul_pd(v, power(_mm256_cvtepi32_epi64(half))),
                         power(_mm256_cvtepi32_epi64(_mm_sub_epi32(e, half))));
  }
};

}  // namespace
}  // namespace lw::hand
