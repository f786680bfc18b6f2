// The binary tree over blocks of elements in which partials are combined: 2k with 2k + 1, on every
// level. Neighbours are combined as soon as both are there, so that few wait.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

namespace lw::runtime {

/// A value of any type, and the number of the element it is of, where that matters.
struct FoldCell {
  std::uint64_t bits = 0;
  std::int64_t place = -1;
};
/// Combines cells, as many as a block has, with those that come behind them.
using CombineCells = std::function<void(FoldCell* left, const FoldCell* right)>;

/// Some part of the tree: a level, and the number on it.
using FoldNode = std::pair<int, std::int64_t>;

/// The blocks that one worker has folded, in ascending order.
class FoldStack {
 public:
  FoldStack(std::size_t width, CombineCells combine)
      : width_(width), combine_(std::move(combine)) {}

  /// Room for the cells of the next block; `push` says that they are there.
  FoldCell* next() {
    cells_.resize((nodes_.size() + 1) * width_);
    return cells_.data() + nodes_.size() * width_;
  }
  void push(std::int64_t block);
  /// Parts of the tree whose neighbours are not there.
  std::size_t waiting() const { return nodes_.size(); }
  std::size_t bytes() const { return cells_.capacity() * sizeof(FoldCell); }

 private:
  friend class FoldTree;
  std::size_t width_;
  CombineCells combine_;
  std::vector<FoldNode> nodes_;
  std::vector<FoldCell> cells_;
};

/// The blocks of all of them.
class FoldTree {
 public:
  FoldTree(std::size_t width, CombineCells combine) : width_(width), combine_(std::move(combine)) {}

  /// Takes all over that a worker has.
  void take(FoldStack& stack);
  /// What remains when no block comes any more; empty: there was none.
  std::vector<FoldCell> finish();

 private:
  using Cells = std::vector<FoldCell>;
  void add(FoldNode node, Cells cells);

  std::size_t width_;
  CombineCells combine_;
  std::map<FoldNode, Cells> nodes_;  // whose neighbours are not there
};

}  // namespace lw::runtime
