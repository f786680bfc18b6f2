// Rows, images and bodies on 256-bit registers.
#include "hand.h"
#include "registers_v3.h"
// After the registers, which they use.
#include "functions.h"
#include "rows_lanes.h"

namespace lw::hand {
namespace {

struct Rows : Avx2Single {
  static F max(F p, F q) { return _mm256_max_ps(p, q); }
  static F inverse_root_estimate(F v) { return _mm256_rsqrt_ps(v); }
  static F from_bytes(const uint8_t* p) {
    const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
    return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(bytes));
  }
  static void to_bytes(uint8_t* p, F v) {
    const __m256i whole = _mm256_cvttps_epi32(v);
    const __m128i words =
        _mm_packus_epi32(_mm256_castsi256_si128(whole), _mm256_extracti128_si256(whole, 1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm_packus_epi16(words, words));
  }
};

}  // namespace

void softmax_rows_v3(const void* const* in, void* out, int64_t begin, int64_t end) {
  softmax_rows<Rows>(in, out, begin, end);
}

void layernorm_v3(const void* const* in, void* out, int64_t begin, int64_t end) {
  layernorm<Rows>(in, out, begin, end);
}

void nbody_v3(const void* const* in, void* out, int64_t begin, int64_t end) {
  nbody<Rows, false>(in, out, begin, end);
}

void nbody_free_v3(const void* const* in, void* out, int64_t begin, int64_t end) {
  nbody<Rows, true>(in, out, begin, end);
}

void images_sqrt_v3(const void* const* in, void* out, int64_t begin, int64_t end) {
  images_sqrt<Rows>(in, out, begin, end);
}

void images_blur_v3(const void* const* in, void* out, int64_t begin, int64_t end) {
  images_blur<Rows>(in, out, begin, end);
}

void bytes_to_bytes_v3(const void* const* in, void* out, int64_t begin, int64_t end) {
  bytes_to_bytes<Rows>(in, out, begin, end);
}

void bytes_to_floats_v3(const void* const* in, void* out, int64_t begin, int64_t end) {
  bytes_to_floats<Rows>(in, out, begin, end);
}

}  // namespace lw::hand
