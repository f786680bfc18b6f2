// A formula over floats or doubles as a plain loop. Each file that includes this is compiled with
// the options that make it a competitor.
#pragma once

#include "../formulas.h"
#include "loops.h"

#if defined(LW_HAND_SIMD) && !defined(__clang__)
// GCC makes one call of a sine and a cosine of one argument, for which there is no vector function.
// It does not see through these names.
extern "C" {
[[gnu::const, gnu::simd("notinbranch")]] float lw_cos_f32(float) noexcept __asm__("cosf");
[[gnu::const, gnu::simd("notinbranch")]] double lw_cos_f64(double) noexcept __asm__("cos");
}
#endif

namespace lw::hand {
namespace {

#if defined(LW_HAND_SIMD) && !defined(__clang__)
inline float separate_cos(float x) { return lw_cos_f32(x); }
inline double separate_cos(double x) { return lw_cos_f64(x); }
#else
template <class T>
T separate_cos(T x) {
  return std::cos(x);
}
#endif

template <class Formula, class T>
T element(Formula formula, const T* const* in, int64_t i) {
  return formulas::apply(formula, [&](int k) { return in[k][i]; });
}
template <class T>
T element(formulas::Wave, const T* const* in, int64_t i) {
  const T x = in[0][i];
  return std::sin(x) + separate_cos(x) * std::exp(x);
}

template <class Formula, class T>
void plain_loop(const void* const* inputs, void* output, int64_t begin, int64_t end) {
  const T* in[3] = {};
  for (int k = 0; k < Formula::kInputs; ++k) in[k] = static_cast<const T*>(inputs[k]);
  T* __restrict out = static_cast<T*>(output);
#ifdef LW_HAND_SIMD
#pragma omp simd
#endif
  for (int64_t i = begin; i < end; ++i) {
    out[i] = element(Formula{}, in, i);
  }
}

#ifdef LW_HAND_SIMD
// Sine by sine over blocks that stay in the first cache: GCC vectorises no loop around a loop of
// calls, and one register after the other would wait for each sine (101 ns an element instead of
// 31 with AVX-512).
template <class T>
void sine_chain_blocks(const void* const* inputs, void* output, int64_t begin, int64_t end) {
  constexpr int64_t kBlock = 1024;
  const T* in = static_cast<const T*>(inputs[0]);
  T* out = static_cast<T*>(output);
  for (int64_t i = begin; i < end; i += kBlock) {
    const int64_t stop = i + kBlock < end ? i + kBlock : end;
    const T* from = in;
    for (int k = 0; k < formulas::SineChain::kLength; ++k, from = out) {
#pragma omp simd
      for (int64_t j = i; j < stop; ++j) out[j] = std::sin(from[j]);
    }
  }
}
#endif

Loop* find_plain_loop(std::string_view formula, Real real) {
#ifdef LW_HAND_SIMD
  if (formula == "sine_chain") {
    return real == Real::f32 ? &sine_chain_blocks<float> : &sine_chain_blocks<double>;
  }
#endif
  Loop* found = nullptr;
  formulas::with_formula(formula, [&]<class Formula>(Formula) {
    found = real == Real::f32 ? &plain_loop<Formula, float> : &plain_loop<Formula, double>;
  });
  return found;
}

}  // namespace
}  // namespace lw::hand
