#include "lanewise/runtime/fold_tree.h"

namespace lw::runtime {

void FoldStack::push(std::int64_t block) {
  nodes_.emplace_back(0, block);
  while (nodes_.size() > 1) {
    const FoldNode right = nodes_.back();
    FoldNode& left = nodes_[nodes_.size() - 2];
    if ((left.second & 1) != 0 || right != FoldNode(left.first, left.second + 1)) return;
    combine_(cells_.data() + (nodes_.size() - 2) * width_,
             cells_.data() + (nodes_.size() - 1) * width_);
    nodes_.pop_back();
    left = {left.first + 1, left.second >> 1};
  }
}

void FoldTree::take(FoldStack& stack) {
  for (std::size_t i = 0; i < stack.nodes_.size(); ++i) {
    const auto begin = stack.cells_.begin() + static_cast<std::ptrdiff_t>(i * width_);
    add(stack.nodes_[i], Cells(begin, begin + static_cast<std::ptrdiff_t>(width_)));
  }
  stack.nodes_.clear();
}

void FoldTree::add(FoldNode node, Cells cells) {
  for (auto& [level, number] = node;;) {
    const auto neighbour = nodes_.find({level, number ^ 1});
    if (neighbour == nodes_.end()) break;
    if ((number & 1) == 0) {
      combine_(cells.data(), neighbour->second.data());
    } else {
      combine_(neighbour->second.data(), cells.data());
      cells = std::move(neighbour->second);
    }
    nodes_.erase(neighbour);
    ++level;
    number >>= 1;
  }
  nodes_.emplace(node, std::move(cells));
}

std::vector<FoldCell> FoldTree::finish() {
  while (nodes_.size() > 1) {
    auto lowest = nodes_.extract(nodes_.begin());  // its neighbour is missing
    const std::int64_t number = lowest.key().second;
    if (nodes_.size() == 1 && (number ^ nodes_.begin()->first.second) == -1 && number >= -1 &&
        number <= 0) {  // all numbers below 0, and all others
      Cells& other = nodes_.begin()->second;
      if (number == 0) std::swap(lowest.mapped(), other);
      combine_(lowest.mapped().data(), other.data());
      return std::move(lowest.mapped());
    }
    add({lowest.key().first + 1, lowest.key().second >> 1}, std::move(lowest.mapped()));
  }
  return nodes_.empty() ? Cells() : std::move(nodes_.begin()->second);
}

}  // namespace lw::runtime
