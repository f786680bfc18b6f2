#include "lanewise/kernel/lane.h"

namespace lw::kernel {
namespace {

void append(const Kernel& from, BlockId block, std::vector<Instruction>& to) {
  for (const Instruction& in : from.blocks[block]) {
    if (is_part(in)) {
      append(from, in.block, to);
    } else {
      to.push_back(in);
    }
  }
}

}  // namespace

FlatLayout flat_layout(const Kernel& kernel) {
  FlatLayout layout;
  for (const Array& array : kernel.arrays) {
    const bool has_memory = array.is_flat && array.output == kNone;
    layout.offsets.push_back(has_memory ? layout.bytes : kNone);
    if (has_memory) layout.bytes += line_bytes(array.size, array.type);
  }
  if (layout.bytes <= kMostOnStack) {
    layout.offsets.assign(layout.offsets.size(), kNone);
    layout.bytes = 0;
  }
  return layout;
}

bool has_parts(const Kernel& kernel) {
  bool found = false;
  for_each(kernel, [&](const Instruction& in, int) { found = found || is_part(in); });
  return found;
}

Kernel without_parts(const Kernel& kernel) {
  Kernel flat = kernel;
  for (BlockId block = 0; block < kernel.blocks.size(); ++block) {
    flat.blocks[block].clear();
    append(kernel, block, flat.blocks[block]);
  }
  return flat;
}

}  // namespace lw::kernel
