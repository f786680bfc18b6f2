// The loops that compete with maps of the formulas (../formulas.h), by name. They take elements
// `begin` to `end`, so that threads can share an array. Null where a competitor has none.
#pragma once

#include <cstdint>
#include <string_view>

namespace lw::hand {

/// Inputs and output are arrays of float, or of double.
using Loop = void(const void* const* inputs, void* output, int64_t begin, int64_t end);

enum class Real { f32, f64 };

/// One element after the other, with libm.
Loop* scalar_loop(std::string_view formula, Real real);

/// `#pragma omp simd` with -Ofast: the compiler's vector loop with glibc's vector functions.
Loop* libmvec_loop_v3(std::string_view formula, Real real);
Loop* libmvec_loop_v4(std::string_view formula, Real real);

/// Registers by hand (functions.h). Under our rules: no contraction, functions good to 1.5 ULP for
/// every argument. Free: contraction, 4 ULP, ordinary arguments only, and stores past the caches
/// where arrays are long and little is computed.
Loop* hand_loop_v3(std::string_view formula, Real real);
Loop* hand_loop_v4(std::string_view formula, Real real);
Loop* free_loop_v3(std::string_view formula, Real real);
Loop* free_loop_v4(std::string_view formula, Real real);

}  // namespace lw::hand
