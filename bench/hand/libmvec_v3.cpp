#define LW_HAND_SIMD
#include "plain_loop.h"

namespace lw::hand {

Loop* libmvec_loop_v3(std::string_view formula, Real real) {
  return find_plain_loop(formula, real);
}

}  // namespace lw::hand
