// What the hand-written loops of both programs share.
#pragma once

#include <utility>

// On functions and lambdas alike: a call left standing would put every register into memory.
#define LW_HAND_INLINE __attribute__((always_inline))

namespace lw::hand {

// Calls f with 0, 1, ... N-1 as constants. A loop would leave it to the compiler whether the
// elements of an array become registers.
template <int N, class F>
LW_HAND_INLINE inline void each(F f) {
  [&]<int... i>(std::integer_sequence<int, i...>) LW_HAND_INLINE {
    (f(std::integral_constant<int, i>{}), ...);
  }(std::make_integer_sequence<int, N>{});
}

}  // namespace lw::hand
