// What a file of the disk store holds, as bytes.
//
// The whole key, which is compared, and a checksum over all of it, so that neither a collision of
// hashes nor a damaged file can give wrong code.
#pragma once

#include <string>
#include <string_view>

namespace lw::runtime {

struct DiskEntry {
  std::string plan;
  std::string object;
};

std::string encode(std::string_view key, const DiskEntry& entry);

enum class Verdict { Good, Damaged, OtherKey };

/// Reads `entry` where the bytes are good. Clears the checksum in them.
Verdict decode(std::string& bytes, std::string_view key, DiskEntry& entry);

/// Sets the checksum of bytes that begin like a file; of shorter ones, does nothing.
void seal(std::string& bytes);

}  // namespace lw::runtime
