// The ensemble of decision trees on 512-bit registers.
#include <immintrin.h>

#include "hand.h"
#include "tree_lanes.h"

namespace lw::hand {
namespace {

struct Avx512 {
  using F = __m512;
  using I = __m512i;
  static constexpr int kWidth = 16;

  static F zero() { return _mm512_setzero_ps(); }
  static F set1(float v) { return _mm512_set1_ps(v); }
  static I set1(int32_t v) { return _mm512_set1_epi32(v); }
  static I multiples(int32_t v) {
    const I lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    return _mm512_mullo_epi32(lanes, set1(v));
  }
  static F add(F p, F q) { return _mm512_add_ps(p, q); }
  static I add(I p, I q) { return _mm512_add_epi32(p, q); }
  static F gather(const float* p, I i) { return _mm512_i32gather_ps(i, p, 4); }
  static I gather(const int32_t* p, I i) { return _mm512_i32gather_epi32(i, p, 4); }
  static void store(float* p, F v) { _mm512_storeu_ps(p, v); }

  // 2 * node + 1, and one more to the right.
  static I child(I node, F value, F threshold) {
    const I left = add(add(node, node), set1(1));
    const __mmask16 right = _mm512_cmp_ps_mask(value, threshold, _CMP_GT_OQ);
    return _mm512_mask_add_epi32(left, right, left, set1(1));
  }
};

/// The questions of one level, in registers up to 64 of them: a permute reads as a gather does, at
/// a fifth of the cost.
template <int kLevel>
class Level {
 public:
  LW_HAND_INLINE Level(const int32_t* feature, const float* threshold)
      : feature_(feature + kSize - 1), threshold_(threshold + kSize - 1) {
    each<kRegisters>([&](auto r) LW_HAND_INLINE {
      f_[r] = _mm512_maskz_loadu_epi32(kLoaded, feature_ + r * 16);
      t_[r] = _mm512_castps_si512(_mm512_maskz_loadu_ps(kLoaded, threshold_ + r * 16));
    });
  }
  /// i counts within the level.
  LW_HAND_INLINE __m512i feature(__m512i i) const {
    if constexpr (kRegisters == 0) return Avx512::gather(feature_, i);
    return pick(f_, i);
  }
  LW_HAND_INLINE __m512 threshold(__m512i i) const {
    if constexpr (kRegisters == 0) return Avx512::gather(threshold_, i);
    return _mm512_castsi512_ps(pick(t_, i));
  }

 private:
  static constexpr int kSize = 1 << kLevel;
  static constexpr int kRegisters = kSize > 64 ? 0 : kSize < 16 ? 1 : kSize / 16;
  static constexpr __mmask16 kLoaded = kSize < 16 ? (1 << kSize) - 1 : 0xffff;

  LW_HAND_INLINE static __m512i pick(const __m512i (&r)[4], __m512i i) {
    if constexpr (kRegisters == 1) return _mm512_permutexvar_epi32(i, r[0]);
    const __m512i low = _mm512_permutex2var_epi32(r[0], i, r[1]);
    if constexpr (kRegisters == 2) return low;
    const __mmask16 is_high = _mm512_test_epi32_mask(i, Avx512::set1(32));
    return _mm512_mask_mov_epi32(low, is_high, _mm512_permutex2var_epi32(r[2], i, r[3]));
  }

  const int32_t* feature_;
  const float* threshold_;
  __m512i f_[4];
  __m512i t_[4];
};

}  // namespace

void tree_ensemble_v4(const void* const* in, void* out, int64_t begin, int64_t end) {
  tree_ensemble<Avx512, 8>(in, out, begin, end);
}

void tree_ensemble_permutes_v4(const void* const* in, void* out, int64_t begin, int64_t end) {
  using S = Avx512;
  constexpr int U = 8;
  const Ensemble e(in);
  const __m512i offsets = S::multiples(Ensemble::kFeatures);
  each_group<16 * U>(in, out, begin, end, [&](int64_t first) LW_HAND_INLINE {
    const float* rows = e.rows + first * Ensemble::kFeatures;
    __m512 sum[U];
    each<U>([&](auto u) LW_HAND_INLINE { sum[u] = S::zero(); });
    for (int tree = 0; tree < Ensemble::kTrees; ++tree) {
      __m512i i[U];
      each<U>([&](auto u) LW_HAND_INLINE { i[u] = S::set1(0); });
      each<Ensemble::kLevels>([&](auto k) LW_HAND_INLINE {
        const Level<k> level(e.feature + tree * Ensemble::kInner,
                             e.threshold + tree * Ensemble::kInner);
        each<U>([&](auto u) LW_HAND_INLINE {
          const __m512 value =
              S::gather(rows + u * 16 * Ensemble::kFeatures, S::add(level.feature(i[u]), offsets));
          const __mmask16 right = _mm512_cmp_ps_mask(value, level.threshold(i[u]), _CMP_GT_OQ);
          i[u] = S::add(i[u], i[u]);
          i[u] = _mm512_mask_add_epi32(i[u], right, i[u], S::set1(1));
        });
      });
      const float* leaf = e.leaf + tree * Ensemble::kLeaves;
      each<U>([&](auto u) LW_HAND_INLINE { sum[u] = S::add(sum[u], S::gather(leaf, i[u])); });
    }
    each<U>([&](auto u)
                LW_HAND_INLINE { S::store(static_cast<float*>(out) + first + u * 16, sum[u]); });
  });
}

}  // namespace lw::hand
