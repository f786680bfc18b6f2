#include "lanewise/runtime/disk_entry.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

namespace lw::runtime {
namespace {

constexpr std::size_t kPlanBytes = 32;  // where the header says the length of the plan

TEST(RuntimeDiskEntry, WhatIsEncodedIsDecoded) {
  std::string bytes = encode("key", {.plan = "a plan", .object = "object"});
  DiskEntry entry;
  EXPECT_EQ(decode(bytes, "key", entry), Verdict::Good);
  EXPECT_EQ(entry.plan, "a plan");
  EXPECT_EQ(entry.object, "object");
  seal(bytes);  // decoding clears the checksum
  EXPECT_EQ(decode(bytes, "kez", entry), Verdict::OtherKey);
}

TEST(RuntimeDiskEntry, LengthsBeyondTheEndAreDamage) {
  for (const std::uint64_t length :
       {std::uint64_t{13}, std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
    std::string bytes = encode("key", {.plan = "a plan object", .object = ""});
    std::memcpy(bytes.data() + kPlanBytes, &length, sizeof(length));
    seal(bytes);
    DiskEntry entry;
    EXPECT_EQ(decode(bytes, "key", entry), length == 13 ? Verdict::Good : Verdict::Damaged);
  }
}

}  // namespace
}  // namespace lw::runtime
