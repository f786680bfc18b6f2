#include "lanewise/runtime/disk_entry.h"

#include <cstdint>
#include <cstring>
#include <utility>

#include "lanewise/base/hash.h"

namespace lw::runtime {
namespace {

constexpr char kMagic[8] = {'l', 'a', 'n', 'e', 'w', 'i', 's', 'e'};
constexpr std::uint64_t kFormat = 1;

/// A file: this, then the key, the plan and the object.
struct Header {
  char magic[8];
  std::uint64_t format;
  std::uint64_t checksum;  // of the file with 0 here
  std::uint64_t key_bytes, plan_bytes, object_bytes;
};

/// Puts another checksum there and gives the one that was.
std::uint64_t exchange_checksum(std::string& bytes, std::uint64_t checksum) {
  Header header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  std::swap(header.checksum, checksum);
  std::memcpy(bytes.data(), &header, sizeof(header));
  return checksum;
}

}  // namespace

void seal(std::string& bytes) {
  if (bytes.size() < sizeof(Header)) return;
  exchange_checksum(bytes, 0);
  exchange_checksum(bytes, base::hash(bytes));
}

std::string encode(std::string_view key, const DiskEntry& entry) {
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  header.format = kFormat;
  header.key_bytes = key.size();
  header.plan_bytes = entry.plan.size();
  header.object_bytes = entry.object.size();
  std::string bytes(sizeof(header), '\0');
  bytes.reserve(sizeof(header) + key.size() + entry.plan.size() + entry.object.size());
  std::memcpy(bytes.data(), &header, sizeof(header));
  bytes.append(key).append(entry.plan).append(entry.object);
  seal(bytes);
  return bytes;
}

Verdict decode(std::string& bytes, std::string_view key, DiskEntry& entry) {
  Header header;
  if (bytes.size() < sizeof(header)) return Verdict::Damaged;
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (std::memcmp(header.magic, kMagic, sizeof(kMagic)) != 0 || header.format != kFormat) {
    return Verdict::Damaged;
  }
  if (const auto checksum = exchange_checksum(bytes, 0); base::hash(bytes) != checksum) {
    return Verdict::Damaged;
  }
  std::string_view rest = std::string_view(bytes).substr(sizeof(header));
  const auto take = [&](std::uint64_t count) {
    const std::string_view part = rest.substr(0, count);
    rest.remove_prefix(part.size());
    return part;
  };
  if (take(header.key_bytes) != key) return Verdict::OtherKey;
  entry.plan = take(header.plan_bytes);
  entry.object = take(header.object_bytes);
  const bool has_all =
      entry.plan.size() == header.plan_bytes && entry.object.size() == header.object_bytes;
  return has_all && rest.empty() ? Verdict::Good : Verdict::Damaged;
}

}  // namespace lw::runtime
