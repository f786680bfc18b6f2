// Rows, images and bodies on 512-bit registers.
#include "hand.h"
#include "registers_v4.h"
// After the registers, which they use.
#include "functions.h"
#include "rows_lanes.h"

namespace lw::hand {
namespace {

struct Rows : Avx512Single {
  static F max(F p, F q) { return _mm512_max_ps(p, q); }
  static F inverse_root_estimate(F v) { return _mm512_rsqrt14_ps(v); }
  static F from_bytes(const uint8_t* p) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(bytes));
  }
  static void to_bytes(uint8_t* p, F v) {
    const __m128i bytes = _mm512_cvtepi32_epi8(_mm512_cvttps_epi32(v));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), bytes);
  }
};

}  // namespace

void softmax_rows_v4(const void* const* in, void* out, int64_t begin, int64_t end) {
  softmax_rows<Rows>(in, out, begin, end);
}

void layernorm_v4(const void* const* in, void* out, int64_t begin, int64_t end) {
  layernorm<Rows>(in, out, begin, end);
}

void nbody_v4(const void* const* in, void* out, int64_t begin, int64_t end) {
  nbody<Rows, false>(in, out, begin, end);
}

void nbody_free_v4(const void* const* in, void* out, int64_t begin, int64_t end) {
  nbody<Rows, true>(in, out, begin, end);
}

void images_sqrt_v4(const void* const* in, void* out, int64_t begin, int64_t end) {
  images_sqrt<Rows>(in, out, begin, end);
}

void bytes_to_bytes_v4(const void* const* in, void* out, int64_t begin, int64_t end) {
  bytes_to_bytes<Rows>(in, out, begin, end);
}

}  // namespace lw::hand
