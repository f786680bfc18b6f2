#include "lanewise/base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace lw::base {

std::uint64_t hash(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

}  // namespace lw::base
