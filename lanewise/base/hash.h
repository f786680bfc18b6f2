// Content hashing for cache keys.
#pragma once

#include <cstdint>
#include <string_view>

namespace lw::base {

/// 64 bits of the content; stable between processes.
std::uint64_t hash(std::string_view bytes);

}  // namespace lw::base
