#include "registers_v4.h"
// After the registers, which it uses.
#include "functions.h"

namespace lw::hand {

Loop* hand_loop_v4(std::string_view formula, Real real) {
  return find_group_loop<Avx512Single, Avx512Double>(formula, real);
}

}  // namespace lw::hand
