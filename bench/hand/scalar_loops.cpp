#include "plain_loop.h"

namespace lw::hand {

Loop* scalar_loop(std::string_view formula, Real real) { return find_plain_loop(formula, real); }

}  // namespace lw::hand
