// mandelbrot on 512-bit registers: masks live in mask registers, a comparison under the old mask
// is a sticky mask for nothing, elements enter by expand and leave by scatter.
#include <immintrin.h>

#include "hand.h"
#include "mandelbrot_lanes.h"

namespace lw::hand {
namespace {

struct Avx512 {
  using F = __m512;
  using I = __m512i;
  using M = __mmask16;
  static constexpr int kWidth = 16;
  static constexpr bool kFewRegisters = false;

  static F set1(float v) { return _mm512_set1_ps(v); }
  static I set1i(int32_t v) { return _mm512_set1_epi32(v); }
  static I zero() { return _mm512_setzero_si512(); }
  static I iota() {
    return _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  }
  static F add(F p, F q) { return _mm512_add_ps(p, q); }
  static F sub(F p, F q) { return _mm512_sub_ps(p, q); }
  static F mul(F p, F q) { return _mm512_mul_ps(p, q); }
  static F fma(F p, F q, F r) { return _mm512_fmadd_ps(p, q, r); }
  static F fms(F p, F q, F r) { return _mm512_fmsub_ps(p, q, r); }
  static I addi(I p, I q) { return _mm512_add_epi32(p, q); }
  static I min(I p, I q) { return _mm512_min_epi32(p, q); }

  static M all() { return 0xffff; }
  static M first(int64_t left) {
    return static_cast<M>(left >= 16 ? 0xffffU : left <= 0 ? 0U : (1U << left) - 1U);
  }
  static M not_(M m) { return _knot_mask16(m); }
  static M or_(M p, M q) { return _kor_mask16(p, q); }
  static M still(M m, F v, F bound) { return _mm512_mask_cmp_ps_mask(m, v, bound, _CMP_LE_OQ); }
  static M below(M m, I v, I bound) { return _mm512_mask_cmplt_epi32_mask(m, v, bound); }
  // Written out, because Clang makes two instructions of a subtraction of constants under a mask.
  static I count(I n, M m) {
    asm("vpsubd %[ones], %[n], %[n] %{%[m]%}" : [n] "+v"(n) : [m] "Yk"(m), [ones] "v"(set1i(-1)));
    return n;
  }
  template <int U>
  static bool any(const M (&m)[U]) {
    M bits = m[0];
    each<U>([&](auto u) LW_HAND_INLINE { bits = _kor_mask16(bits, m[u]); });
    return _kortestz_mask16_u8(bits, bits) == 0;
  }
  template <int U>
  static int count_alive(const M (&m)[U]) {
    int sum = 0;
    each<U>([&](auto u) LW_HAND_INLINE {
      // Through memory: a mask register moved to a general one takes a port from the arithmetic,
      // a store and a load do not.
      M bits;
      asm("kmovw %1, %0" : "=m"(bits) : "k"(m[u]));
      sum += __builtin_popcount(bits);
    });
    return sum;
  }

  static F load(const float* p) { return _mm512_loadu_ps(p); }
  static F load(const float* p, M m) { return _mm512_maskz_loadu_ps(m, p); }
  static void store(int32_t* p, I v) { _mm512_storeu_si512(p, v); }
  static void store(int32_t* p, I v, M m) { _mm512_mask_storeu_epi32(p, m, v); }

  static F keep(M m, F v) { return _mm512_maskz_mov_ps(m, v); }
  static I keepi(M m, I v) { return _mm512_maskz_mov_epi32(m, v); }

  static void retire(int32_t* n, I id, I v, M alive) {
    _mm512_mask_i32scatter_epi32(n, _knot_mask16(alive), id, v, 4);
  }

  // Dead lanes take consecutive elements in lane order: the r-th dead lane has rank r.
  // One expand for the ranks and a permute for each input: a permute is one instruction on its
  // port, an expand two.
  static I ranks(M dead) { return _mm512_maskz_expand_epi32(dead, iota()); }
  static F pick(M dead, I rank, F fresh, F old) {
    return _mm512_mask_permutexvar_ps(old, dead, rank, fresh);
  }
  static I number(M dead, I rank, int32_t next, I old) {
    return _mm512_mask_add_epi32(old, dead, rank, set1i(next));
  }
  static int32_t size(M dead) { return __builtin_popcount(dead); }
};

}  // namespace

void mandelbrot_packets_strict_v4(const float* a, const float* b, int32_t* n, int64_t count,
                                  int32_t limit) {
  packets<Avx512, Form::strict, 4, 8>(a, b, n, count, limit);
}

void mandelbrot_packets_free_v4(const float* a, const float* b, int32_t* n, int64_t count,
                                int32_t limit) {
  packets<Avx512, Form::free, 4, 8>(a, b, n, count, limit);
}

void mandelbrot_refill_strict_v4(const float* a, const float* b, int32_t* n, int64_t count,
                                 int32_t limit) {
  refill<Avx512, Form::strict, 4, 8, 8, 5>(a, b, n, count, limit);
}

void mandelbrot_refill_exact_v4(const float* a, const float* b, int32_t* n, int64_t count,
                                int32_t limit) {
  refill<Avx512, Form::exact, 4, 8, 8, 5>(a, b, n, count, limit);
}

void mandelbrot_refill_free_v4(const float* a, const float* b, int32_t* n, int64_t count,
                               int32_t limit) {
  refill<Avx512, Form::free, 4, 8, 8, 5>(a, b, n, count, limit);
}

void mandelbrot_refill_lean_v4(const float* a, const float* b, int32_t* n, int64_t count,
                               int32_t limit) {
  refill<Avx512, Form::lean, 4, 8, 8, 5>(a, b, n, count, limit);
}

}  // namespace lw::hand
