#include "lanewise/kernel/invariant.h"

#include <gtest/gtest.h>

namespace lw::kernel {
namespace {

/// Of the instructions with a block, in order: does it do the same for every element?
std::vector<bool> blocks_of(const std::string& lines, const std::string& site = "") {
  const Kernel k = parse(
      "kernel f(f32[40], f32; f32; tables f32; arrays f32 40 flat) -> (f32) inner {\n" + site +
      "  u0: i32 = constant 0\n  u1: f32 = load 1\n  u2: f32 = shared 0\n" + lines + "}\n");
  const std::vector<bool> found = find_invariant(k);
  std::vector<bool> of_blocks;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (k.body()[i].block != kNone) of_blocks.push_back(found[i]);
  }
  return of_blocks;
}

std::string sum_of(const std::string& read, const std::string& factor, int at) {
  const auto n = [&](int i) { return std::to_string(at + i); };
  return "  each 40 {\n    v" + n(0) + ": bool = active\n    v" + n(1) + ": f32 = " + read +
         " 0 u0, v" + n(0) + " step 1\n    v" + n(2) + ": f32 = mul v" + n(1) + ", " + factor +
         "\n    array_write 0 u0, v" + n(2) + ", v" + n(0) + " step 1\n    u" + n(3) +
         ": f32 = collect 1 v" + n(2) + "\n  }\n";
}

TEST(Invariant, WhatNeedsTablesAndSharedNumbersOnlyIs) {
  EXPECT_EQ(blocks_of(sum_of("table_read", "u2", 10) + "  store 0 u13\n"), std::vector{true});
}

TEST(Invariant, WhatNeedsTheElementIsNot) {
  EXPECT_EQ(blocks_of(sum_of("row_read", "u2", 10) + "  store 0 u13\n"), std::vector{false});
  EXPECT_EQ(blocks_of(sum_of("table_read", "u1", 10) + "  store 0 u13\n"), std::vector{false});
}

TEST(Invariant, WhatIsMadeOfItIsToo) {
  const std::string lines = sum_of("table_read", "u2", 10) + sum_of("table_read", "u13", 20);
  const std::string apart = sum_of("table_read", "u2", 10) + "  u15: f32 = mul u13, u1\n" +
                            "  each 40 {\n    v16: bool = active\n" +
                            "    v17: f32 = array_read 0 u0, v16 step 1\n" +
                            "    v18: f32 = mul v17, u15\n    u19: f32 = collect 1 v18\n  }\n";
  EXPECT_EQ(blocks_of(lines + "  store 0 u23\n"), (std::vector{true, true}));
  EXPECT_EQ(blocks_of(apart + "  store 0 u19\n"), (std::vector{true, false}));
}

TEST(Invariant, AnArrayThatAnElementChangesIsNot) {
  EXPECT_EQ(
      blocks_of(sum_of("table_read", "u2", 10) + sum_of("row_read", "u2", 20) + "  store 0 u13\n"),
      (std::vector{false, false}));
}

TEST(Invariant, NothingIsReadBeforeAFailureThatMayKeepItInside) {
  EXPECT_EQ(blocks_of("  u5: bool = gt u1, u2\n  fail 0 u5\n" + sum_of("table_read", "u2", 10) +
                          "  store 0 u13\n",
                      "  site 0 0\n"),
            std::vector{false});
}

}  // namespace
}  // namespace lw::kernel
