// The loops of the tile machine: one per native op and type, over n lanes, built once for each
// instruction set (see loops.cpp) and chosen when the process starts.
#pragma once

#include "lanewise/ops/op.h"

namespace lw::backend::tile {

/// dst[i] = op(a[i], b[i], c[i]) for i < n. Operands the op lacks are null.
using LaneLoop = void (*)(void* dst, const void* a, const void* b, const void* c, int n);

struct LoopTable {
  /// The loop for an op on operands of `type` giving `result`.
  LaneLoop (*find)(ops::Op op, DType type, DType result);
  /// How many of the n bools are set.
  int (*count)(const void* mask, int n);
};

const LoopTable& loops_v2();
const LoopTable& loops_v3();
const LoopTable& loops_v4();

/// The table for this machine.
const LoopTable& loops();

}  // namespace lw::backend::tile
