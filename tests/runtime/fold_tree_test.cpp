// The tree over blocks: its shape depends on their numbers alone, whoever folds which of them.
#include "lanewise/runtime/fold_tree.h"

#include <gtest/gtest.h>

#include <map>

namespace lw::runtime {
namespace {

/// Depends on how things are nested and on their order.
std::uint64_t both(std::uint64_t a, std::uint64_t b) { return a * 31 + b * b + 7; }

void combine(FoldCell* left, const FoldCell* right) {
  left[0].bits = both(left[0].bits, right[0].bits);
  left[1].bits = both(left[1].bits, right[1].bits);
}

std::uint64_t expected(std::map<std::int64_t, std::uint64_t> nodes) {
  while (nodes.size() > 1) {
    if (nodes.size() == 2 && nodes.begin()->first == -1 && nodes.rbegin()->first == 0) {
      return both(nodes[-1], nodes[0]);  // all numbers below 0, and all others
    }
    std::map<std::int64_t, std::uint64_t> parents;
    for (const auto& [number, value] : nodes) {
      const auto [at, is_new] = parents.emplace(number >> 1, value);
      if (!is_new) at->second = both(at->second, value);
    }
    nodes = parents;
  }
  return nodes.begin()->second;
}

TEST(RuntimeFoldTree, WhatIsThereIsCombinedWithItsNeighboursOnEveryLevel) {
  std::uint64_t state = 1;
  const auto draw = [&](std::uint64_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % below;
  };
  for (int trial = 0; trial < 200; ++trial) {
    const auto first = static_cast<std::int64_t>(draw(200)) - 100;
    const auto count = static_cast<std::int64_t>(1 + draw(70));
    std::map<std::int64_t, std::uint64_t> blocks;
    FoldTree tree(2, combine);
    std::vector<FoldStack> stacks(3, FoldStack(2, combine));
    for (std::int64_t block = first; block < first + count; ++block) {
      if (draw(8) == 0) continue;
      blocks[block] = draw(1u << 30);
      FoldStack& stack = stacks[draw(3)];
      FoldCell* const cells = stack.next();
      cells[0].bits = blocks[block];
      cells[1].bits = blocks[block] + 1;
      stack.push(block);
      if (draw(4) == 0) tree.take(stack);
    }
    for (FoldStack& stack : stacks) tree.take(stack);
    const std::vector<FoldCell> result = tree.finish();
    if (blocks.empty()) {
      EXPECT_TRUE(result.empty());
      continue;
    }
    EXPECT_EQ(result[0].bits, expected(blocks));
    for (auto& [block, value] : blocks) ++value;
    EXPECT_EQ(result[1].bits, expected(blocks));
  }
}

TEST(RuntimeFoldTree, NeighboursDoNotWait) {
  FoldStack stack(1, [](FoldCell* left, const FoldCell* right) { left->bits += right->bits; });
  for (std::int64_t block = 0; block < 1024; ++block) {
    stack.next()->bits = 1;
    stack.push(block);
  }
  EXPECT_EQ(stack.waiting(), 1u);
  FoldTree tree(1, [](FoldCell* left, const FoldCell* right) { left->bits += right->bits; });
  tree.take(stack);
  EXPECT_EQ(stack.waiting(), 0u);
  EXPECT_EQ(tree.finish()[0].bits, 1024u);
}

}  // namespace
}  // namespace lw::runtime
