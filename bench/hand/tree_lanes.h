// The ensemble of decision trees by gathers, written once for every register type: a lane is a row,
// U registers of rows go down a tree together. Include it only where an instruction set's
// operations are defined as a type `S` in an unnamed namespace (see mandelbrot_lanes.h).
#pragma once

#include <cstdint>

#include "lanes.h"
#include "programs.h"

namespace lw::hand {

struct Ensemble {
  static constexpr int kFeatures = 28;
  static constexpr int kTrees = 500;
  static constexpr int kLevels = 8;
  static constexpr int kInner = 255;  // nodes of a tree that ask
  static constexpr int kLeaves = 256;

  explicit Ensemble(const void* const* in)
      : rows(static_cast<const float*>(in[0])),
        feature(static_cast<const int32_t*>(in[1])),
        threshold(static_cast<const float*>(in[2])),
        leaf(static_cast<const float*>(in[3])) {}
  const float* rows;
  const int32_t* feature;
  const float* threshold;
  const float* leaf;
};

/// Calls group(i) for groups of `count` rows that cover begin ... end, the last two overlapping.
template <int64_t count, class Group>
LW_HAND_INLINE inline void each_group(const void* const* in, void* out, int64_t begin, int64_t end,
                                      Group group) {
  if (end - begin < count) return scalar_program("tree_ensemble")(in, out, begin, end);
  for (int64_t i = begin; i < end; i += count) group(i + count <= end ? i : end - count);
}

template <class S, int U>
void tree_ensemble(const void* const* in, void* out, int64_t begin, int64_t end) {
  using F = typename S::F;
  using I = typename S::I;
  constexpr int W = S::kWidth;
  const Ensemble e(in);
  const I offsets = S::multiples(Ensemble::kFeatures);
  each_group<W * U>(in, out, begin, end, [&](int64_t first) LW_HAND_INLINE {
    const float* rows = e.rows + first * Ensemble::kFeatures;
    const auto value = [&](auto u, I feature) LW_HAND_INLINE {
      return S::gather(rows + u * W * Ensemble::kFeatures, S::add(feature, offsets));
    };
    F sum[U];
    each<U>([&](auto u) LW_HAND_INLINE { sum[u] = S::zero(); });
    for (int tree = 0; tree < Ensemble::kTrees; ++tree) {
      const int32_t* feature = e.feature + tree * Ensemble::kInner;
      const float* threshold = e.threshold + tree * Ensemble::kInner;
      I node[U];
      // All rows are at the root: its question needs no gather.
      each<U>([&](auto u) LW_HAND_INLINE {
        node[u] = S::child(S::set1(0), value(u, S::set1(feature[0])), S::set1(threshold[0]));
      });
      for (int level = 1; level < Ensemble::kLevels; ++level) {
        each<U>([&](auto u) LW_HAND_INLINE {
          const F asked = value(u, S::gather(feature, node[u]));
          node[u] = S::child(node[u], asked, S::gather(threshold, node[u]));
        });
      }
      const float* leaf = e.leaf + tree * Ensemble::kLeaves - Ensemble::kInner;
      each<U>([&](auto u) LW_HAND_INLINE { sum[u] = S::add(sum[u], S::gather(leaf, node[u])); });
    }
    each<U>([&](auto u)
                LW_HAND_INLINE { S::store(static_cast<float*>(out) + first + u * W, sum[u]); });
  });
}

}  // namespace lw::hand
