#define LW_HAND_FREE
#include "registers_v3.h"
// After the registers, which it uses.
#include "functions.h"

namespace lw::hand {

Loop* free_loop_v3(std::string_view formula, Real real) {
  return find_group_loop<Avx2Single, Avx2Double>(formula, real);
}

}  // namespace lw::hand
