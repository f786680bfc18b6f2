// Philox4x32-10 of Salmon et al. (2011): four words for a counter and a key.
#pragma once

#include <array>
#include <cstdint>

namespace lw::hand {

using PhiloxWords = std::array<uint32_t, 4>;

constexpr PhiloxWords philox(PhiloxWords c, uint32_t key0, uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t p = uint64_t{c[0]} * 0xD2511F53U;
    const uint64_t q = uint64_t{c[2]} * 0xCD9E8D57U;
    c = {static_cast<uint32_t>(q >> 32) ^ c[1] ^ key0, static_cast<uint32_t>(q),
         static_cast<uint32_t>(p >> 32) ^ c[3] ^ key1, static_cast<uint32_t>(p)};
    key0 += 0x9E3779B9U;
    key1 += 0xBB67AE85U;
  }
  return c;
}

// The known answers that Random123 is published with.
constexpr uint32_t kOnes = 0xffffffffU;
static_assert(philox({}, 0, 0) == PhiloxWords{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
static_assert(philox({kOnes, kOnes, kOnes, kOnes}, kOnes, kOnes) ==
              PhiloxWords{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
static_assert(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0xa4093822, 0x299f31d0) ==
              PhiloxWords{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});

}  // namespace lw::hand
