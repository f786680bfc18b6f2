#include "lanewise/kernel/lane.h"

namespace lw::kernel {
namespace {

/// True if `wanted` is in the block; `path` then has the blocks from there on, the innermost first.
bool find(const Kernel& k, BlockId block, BlockId wanted, std::vector<BlockId>& path) {
  bool is_here = block == wanted;
  for (const Instruction& in : k.blocks[block]) {
    is_here = is_here || (in.block != kNone && find(k, in.block, wanted, path));
  }
  if (is_here) path.push_back(block);
  return is_here;
}

}  // namespace

std::vector<base::Location> lines_around(const Kernel& kernel, BlockId block) {
  std::vector<BlockId> path;
  find(kernel, 0, block, path);
  std::vector<base::Location> lines;
  for (auto at = path.rbegin(); at != path.rend(); ++at) {
    for (const LoopLine& line : kernel.lines) {
      const bool is_new = line.location && (lines.empty() || lines.back() != line.location);
      if (line.block == *at && is_new) lines.push_back(line.location);
    }
  }
  return lines;
}

}  // namespace lw::kernel
