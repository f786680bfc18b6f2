// The ensemble of decision trees on 256-bit registers.
#include <immintrin.h>

#include "hand.h"
#include "tree_lanes.h"

namespace lw::hand {
namespace {

struct Avx2 {
  using F = __m256;
  using I = __m256i;
  static constexpr int kWidth = 8;

  static F zero() { return _mm256_setzero_ps(); }
  static F set1(float v) { return _mm256_set1_ps(v); }
  static I set1(int32_t v) { return _mm256_set1_epi32(v); }
  static I multiples(int32_t v) {
    return _mm256_mullo_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), set1(v));
  }
  static F add(F p, F q) { return _mm256_add_ps(p, q); }
  static I add(I p, I q) { return _mm256_add_epi32(p, q); }
  static F gather(const float* p, I i) { return _mm256_i32gather_ps(p, i, 4); }
  static I gather(const int32_t* p, I i) { return _mm256_i32gather_epi32(p, i, 4); }
  static void store(float* p, F v) { _mm256_storeu_ps(p, v); }

  // 2 * node + 1, and one more to the right.
  static I child(I node, F value, F threshold) {
    const I right = _mm256_castps_si256(_mm256_cmp_ps(value, threshold, _CMP_GT_OQ));
    return _mm256_sub_epi32(add(add(node, node), set1(1)), right);
  }
};

}  // namespace

void tree_ensemble_v3(const void* const* in, void* out, int64_t begin, int64_t end) {
  tree_ensemble<Avx2, 6>(in, out, begin, end);
}

}  // namespace lw::hand
