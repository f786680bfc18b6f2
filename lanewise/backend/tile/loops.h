// The loops of the tile machine: one per native op and type, over n lanes, built once for each
// instruction set (see loops.cpp) and chosen when the process starts.
#pragma once

#include <cstddef>

#include "lanewise/ops/op.h"

namespace lw::backend::tile {

/// dst[i] = op(a[i], b[i], c[i]) for i < n. Operands the op lacks are null.
using LaneLoop = void (*)(void* dst, const void* a, const void* b, const void* c, int n);

/// The most terms that one loop adds to a polynomial.
inline constexpr int kMostTerms = 8;
/// sum = sum * x[i] + term for each term in turn, from first[i] (or the one value `first`) to
/// dst[i]. The terms are at these offsets from `base`.
using TermsLoop = void (*)(void* dst, const void* first, bool is_one, const void* x,
                           const std::byte* base, const std::uint32_t* terms, int n);

struct LoopTable {
  /// The loop for an op on operands of `type` giving `result`.
  LaneLoop (*find)(ops::Op op, DType type, DType result);
  /// The loop for this many terms of f32 or f64.
  TermsLoop (*terms)(int count, DType type);
  /// How many of the n bools are set.
  int (*count)(const void* mask, int n);
};

const LoopTable& loops_v2();
const LoopTable& loops_v3();
const LoopTable& loops_v4();

/// The table for this machine.
const LoopTable& loops();

}  // namespace lw::backend::tile
