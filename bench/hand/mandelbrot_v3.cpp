// mandelbrot on 256-bit registers: masks are vectors of all ones or zeros, elements enter by a
// permute from a table of ranks and leave by scalar stores.
#include <immintrin.h>

#include "hand.h"
#include "mandelbrot_lanes.h"

namespace lw::hand {
namespace {

// For every set of dead lanes: the rank of each dead lane among them, 0 for the others.
struct alignas(32) Ranks {
  int32_t of[256][8];
};
constexpr Ranks kRanks = [] {
  Ranks t{};
  for (unsigned set = 0; set < 256; ++set) {
    int32_t rank = 0;
    for (unsigned lane = 0; lane < 8; ++lane) {
      if ((set >> lane & 1U) != 0) t.of[set][lane] = rank++;
    }
  }
  return t;
}();

struct Avx2 {
  using F = __m256;
  using I = __m256i;
  using M = __m256;  // all bits of a lane set or none
  static constexpr int kWidth = 8;
  static constexpr bool kFewRegisters = true;

  static F set1(float v) { return _mm256_set1_ps(v); }
  static I set1i(int32_t v) { return _mm256_set1_epi32(v); }
  static I zero() { return _mm256_setzero_si256(); }
  static I iota() { return _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7); }
  static F add(F p, F q) { return _mm256_add_ps(p, q); }
  static F sub(F p, F q) { return _mm256_sub_ps(p, q); }
  static F mul(F p, F q) { return _mm256_mul_ps(p, q); }
  static F fma(F p, F q, F r) { return _mm256_fmadd_ps(p, q, r); }
  static F fms(F p, F q, F r) { return _mm256_fmsub_ps(p, q, r); }
  static I addi(I p, I q) { return _mm256_add_epi32(p, q); }
  static I min(I p, I q) { return _mm256_min_epi32(p, q); }

  static I bits(M m) { return _mm256_castps_si256(m); }
  static M mask(I v) { return _mm256_castsi256_ps(v); }
  static M all() { return mask(set1i(-1)); }
  static M first(int64_t left) {
    return mask(_mm256_cmpgt_epi32(set1i(static_cast<int32_t>(left < 8 ? left : 8)), iota()));
  }
  static M not_(M m) { return _mm256_xor_ps(m, all()); }
  static M or_(M p, M q) { return _mm256_or_ps(p, q); }
  static M still(M m, F v, F bound) {
    return _mm256_and_ps(m, _mm256_cmp_ps(v, bound, _CMP_LE_OQ));
  }
  static M below(M m, I v, I bound) { return _mm256_and_ps(m, mask(_mm256_cmpgt_epi32(bound, v))); }
  static I count(I n, M m) { return _mm256_sub_epi32(n, bits(m)); }
  template <int U>
  static bool any(const M (&m)[U]) {
    M sum = m[0];
    each<U>([&](auto u) LW_HAND_INLINE { sum = or_(sum, m[u]); });
    return _mm256_testz_ps(sum, sum) == 0;
  }
  static int32_t size(M m) {
    return __builtin_popcount(static_cast<unsigned>(_mm256_movemask_ps(m)));
  }
  template <int U>
  static int count_alive(const M (&m)[U]) {
    int sum = 0;
    each<U>([&](auto u) LW_HAND_INLINE { sum += size(m[u]); });
    return sum;
  }

  static F load(const float* p) { return _mm256_loadu_ps(p); }
  static F load(const float* p, M m) { return _mm256_maskload_ps(p, bits(m)); }
  static void store(int32_t* p, I v) { _mm256_storeu_si256(reinterpret_cast<I*>(p), v); }
  static void store(int32_t* p, I v, M m) { _mm256_maskstore_epi32(p, bits(m), v); }

  static F keep(M m, F v) { return _mm256_and_ps(m, v); }
  static I keepi(M m, I v) { return _mm256_and_si256(bits(m), v); }

  // Stores all lanes, finished or not: a wrong count is overwritten when its lane finishes, and
  // asking lane by lane costs more. Through memory, because taking lanes out of registers would
  // keep the ports busy that do the arithmetic.
  static void retire(int32_t* n, I id, I v, M /*alive*/) {
    struct alignas(32) Stored {
      int32_t id[8];
      int32_t v[8];
    } s;
    store(s.id, id);
    store(s.v, v);
    asm("" : "+m"(s));
    each<8>([&](auto lane) LW_HAND_INLINE { n[s.id[lane]] = s.v[lane]; });
  }

  // Dead lanes take consecutive elements in lane order: the r-th dead lane has rank r.
  static I ranks(M dead) {
    return _mm256_load_si256(
        reinterpret_cast<const I*>(kRanks.of[static_cast<unsigned>(_mm256_movemask_ps(dead))]));
  }
  static F pick(M dead, I rank, F fresh, F old) {
    return _mm256_blendv_ps(old, _mm256_permutevar8x32_ps(fresh, rank), dead);
  }
  static I number(M dead, I rank, int32_t next, I old) {
    return bits(_mm256_blendv_ps(mask(old), mask(addi(rank, set1i(next))), dead));
  }
};

}  // namespace

void mandelbrot_packets_strict_v3(const float* a, const float* b, int32_t* n, int64_t count,
                                  int32_t limit) {
  packets<Avx2, Form::strict, 4, 8>(a, b, n, count, limit);
}

void mandelbrot_packets_free_v3(const float* a, const float* b, int32_t* n, int64_t count,
                                int32_t limit) {
  packets<Avx2, Form::free, 4, 8>(a, b, n, count, limit);
}

void mandelbrot_refill_strict_v3(const float* a, const float* b, int32_t* n, int64_t count,
                                 int32_t limit) {
  refill<Avx2, Form::strict, 5, 8, 5, 5>(a, b, n, count, limit);
}

void mandelbrot_refill_exact_v3(const float* a, const float* b, int32_t* n, int64_t count,
                                int32_t limit) {
  refill<Avx2, Form::exact, 5, 8, 5, 5>(a, b, n, count, limit);
}

void mandelbrot_refill_free_v3(const float* a, const float* b, int32_t* n, int64_t count,
                               int32_t limit) {
  refill<Avx2, Form::free, 5, 8, 5, 5>(a, b, n, count, limit);
}

void mandelbrot_refill_lean_v3(const float* a, const float* b, int32_t* n, int64_t count,
                               int32_t limit) {
  refill<Avx2, Form::lean, 5, 8, 5, 5>(a, b, n, count, limit);
}

}  // namespace lw::hand
