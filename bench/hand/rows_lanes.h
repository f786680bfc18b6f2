// Rows, images and bodies by hand, written once for every register type: an element has all lanes.
// Include it after functions.h, where a type `S` has the operations of registers_v3.h or
// registers_v4.h and those that are listed below.
//
// Sums keep our order, 64 stripes whose halves are added, and nothing is contracted; divisions are
// divisions. nbody_free leaves these rules: estimates of the inverse root, one step of Newton's
// method, and fused additions.
#pragma once

#include <algorithm>
#include <vector>

namespace lw::hand {
namespace {

// Beyond functions.h, of S:
//   F max(F, F)
//   F inverse_root_estimate(F)
//   F from_bytes(const uint8_t*)   kWidth of them
//   void to_bytes(uint8_t*, F)     what lies in 0 ... 255, cut off

template <class S>
using Stripes = Group<S, 64 / S::kWidth>;

/// s with s + 32, s + 16, ... s + 1.
template <class S, int U, class Op, class One>
LW_HAND_INLINE inline float combine(Group<S, U> stripes, Op op, One one) {
  if constexpr (U > 1) {
    Group<S, U / 2> half;
    each<U / 2>([&](auto u) LW_HAND_INLINE { half.r[u] = op(stripes.r[u], stripes.r[u + U / 2]); });
    return combine(half, op, one);
  } else {
    float lanes[S::kWidth];
    S::store(lanes, stripes.r[0]);
    for (int half = S::kWidth / 2; half > 0; half /= 2) {
      for (int s = 0; s < half; ++s) lanes[s] = one(lanes[s], lanes[s + half]);
    }
    return lanes[0];
  }
}

template <class S, int U>
LW_HAND_INLINE inline float sum_of(Group<S, U> stripes) {
  const auto add = [](auto p, auto q) LW_HAND_INLINE { return p + q; };
  return combine(stripes, add, add);
}

template <class S, int U>
LW_HAND_INLINE inline float largest_of(Group<S, U> stripes) {
  return combine(
      stripes, [](auto p, auto q) LW_HAND_INLINE { return S::max(p, q); },
      [](float p, float q) LW_HAND_INLINE { return std::max(p, q); });
}

constexpr int kRow = 1024;

template <class S>
void softmax_rows(const void* const* in, void* out, int64_t begin, int64_t end) {
  using G = Stripes<S>;
  for (int64_t i = begin; i < end; ++i) {
    const float* row = static_cast<const float*>(in[0]) + i * kRow;
    float* result = static_cast<float*>(out) + i * kRow;
    G most = G::load(row);
    for (int j = 64; j < kRow; j += 64) {
      most =
          G::of([](auto p, auto q) LW_HAND_INLINE { return S::max(p, q); }, most, G::load(row + j));
    }
    const G shift(largest_of(most));
    G total(0);
    for (int j = 0; j < kRow; j += 64) {
      const G power = exp(G::load(row + j) - shift);
      power.store(result + j);
      total = total + power;
    }
    const G sum(sum_of(total));
    for (int j = 0; j < kRow; j += 64) (G::load(result + j) / sum).store(result + j);
  }
}

template <class S>
void layernorm(const void* const* in, void* out, int64_t begin, int64_t end) {
  using G = Stripes<S>;
  const float* gain = static_cast<const float*>(in[1]);
  const float* bias = static_cast<const float*>(in[2]);
  for (int64_t i = begin; i < end; ++i) {
    const float* row = static_cast<const float*>(in[0]) + i * kRow;
    float* result = static_cast<float*>(out) + i * kRow;
    G total(0);
    for (int j = 0; j < kRow; j += 64) total = total + G::load(row + j);
    const G mean(sum_of(total) / kRow);
    G squares(0);
    for (int j = 0; j < kRow; j += 64) {
      const G centred = G::load(row + j) - mean;
      squares = squares + centred * centred;
    }
    const G scale(1 / std::sqrt(sum_of(squares) / kRow + 1e-5F));
    for (int j = 0; j < kRow; j += 64) {
      const G centred = G::load(row + j) - mean;
      (centred * scale * G::load(gain + j) + G::load(bias + j)).store(result + j);
    }
  }
}

/// The bodies in whole groups of 64; those that are not there have no mass.
struct Bodies {
  explicit Bodies(const void* const* in, int64_t count) : size((count + 63) / 64 * 64) {
    for (int k = 0; k < 4; ++k) {
      table[k].resize(static_cast<size_t>(size));
      const float* from = static_cast<const float*>(in[k + 1]);
      std::copy_n(from, count, table[k].begin());
    }
  }
  int64_t size;
  std::vector<float> table[4];  // x, y, z, mass
};
constexpr int64_t kBodies = 10'000;
constexpr double kSoftening = 1e-3F;

template <class S, bool kContracted>
void nbody(const void* const* in, void* out, int64_t begin, int64_t end) {
  using G = Stripes<S>;
  const Bodies bodies(in, kBodies);
  const float* places = static_cast<const float*>(in[0]);
  for (int64_t i = begin; i < end; ++i) {
    G sum[3] = {G(0), G(0), G(0)};
    for (int64_t j = 0; j < bodies.size; j += 64) {
      G d[3];
      for (int k = 0; k < 3; ++k) d[k] = G::load(&bodies.table[k][j]) - G(places[3 * i + k]);
      const G mass = G::load(&bodies.table[3][j]);
      if constexpr (kContracted) {
        const G squares = fma(d[0], d[0], fma(d[1], d[1], fma(d[2], d[2], G(kSoftening))));
        const G guess =
            G::of([](auto v) LW_HAND_INLINE { return S::inverse_root_estimate(v); }, squares);
        const G inverse = guess * fnma(squares * G(0.5) * guess, guess, G(1.5));
        const G weight = mass * inverse * (inverse * inverse);
        for (int k = 0; k < 3; ++k) sum[k] = fma(weight, d[k], sum[k]);
      } else {
        const G squares = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + G(kSoftening);
        const G inverse = G(1) / sqrt(squares);
        const G weight = mass * inverse * inverse * inverse;
        for (int k = 0; k < 3; ++k) sum[k] = sum[k] + weight * d[k];
      }
    }
    for (int k = 0; k < 3; ++k) static_cast<float*>(out)[3 * i + k] = sum_of(sum[k]);
  }
}

constexpr int kSide = 512;
constexpr int kPixels = kSide * kSide;
constexpr int kBlurred = kSide - 4;

template <class S>
LW_HAND_INLINE inline Stripes<S> load_bytes(const uint8_t* p) {
  Stripes<S> g;
  each<64 / S::kWidth>([&](auto u) LW_HAND_INLINE { g.r[u] = S::from_bytes(p + u * S::kWidth); });
  return g;
}

template <class S>
void images_sqrt(const void* const* in, void* out, int64_t begin, int64_t end) {
  using G = Stripes<S>;
  const uint8_t* pixels = static_cast<const uint8_t*>(in[0]);
  uint8_t* results = static_cast<uint8_t*>(out);
  for (int64_t p = begin * kPixels; p < end * kPixels; p += 64) {
    const G root = sqrt(load_bytes<S>(pixels + p) * G(255)) + G(0.5);
    each<64 / S::kWidth>(
        [&](auto u) LW_HAND_INLINE { S::to_bytes(results + p + u * S::kWidth, root.r[u]); });
  }
}

/// The five terms of a pixel in their order: `at(k)` are the k-th neighbours.
template <class G, class At>
LW_HAND_INLINE inline G blur(At at) {
  G sum = G(1.0 / 16) * at(0);
  sum = sum + G(4.0 / 16) * at(1);
  sum = sum + G(6.0 / 16) * at(2);
  sum = sum + G(4.0 / 16) * at(3);
  return sum + G(1.0 / 16) * at(4);
}

/// Calls part(j) for groups of 64 that cover the pixels of a blurred row, the last two overlapping.
template <class Part>
LW_HAND_INLINE inline void each_group_of_row(Part part) {
  for (int j = 0; j < kBlurred; j += 64) part(std::min(j, kBlurred - 64));
}

template <class S>
void images_blur(const void* const* in, void* out, int64_t begin, int64_t end) {
  using G = Stripes<S>;
  float line[kSide];
  float across[5][kBlurred];  // of the last rows
  for (int64_t i = begin; i < end; ++i) {
    const uint8_t* image = static_cast<const uint8_t*>(in[0]) + i * kPixels;
    float* result = static_cast<float*>(out) + i * kBlurred * kBlurred;
    G total(0);
    for (int p = 0; p < kPixels; p += 64) total = total + load_bytes<S>(image + p);
    const G mean(sum_of(total) / kPixels);
    G squares(0);
    for (int p = 0; p < kPixels; p += 64) {
      const G centred = load_bytes<S>(image + p) - mean;
      squares = squares + centred * centred;
    }
    const G spread(std::sqrt(sum_of(squares) / kPixels));
    for (int row = 0; row < kSide; ++row) {
      for (int j = 0; j < kSide; j += 64) {
        ((load_bytes<S>(image + row * kSide + j) - mean) / spread).store(line + j);
      }
      each_group_of_row([&](int j) LW_HAND_INLINE {
        blur<G>([&](int k) LW_HAND_INLINE {
          return G::load(line + j + k);
        }).store(across[row % 5] + j);
      });
      if (row < 4) continue;
      each_group_of_row([&](int j) LW_HAND_INLINE {
        blur<G>([&](int k) LW_HAND_INLINE {
          return G::load(across[(row + 1 + k) % 5] + j);
        }).store(result + (row - 4) * kBlurred + j);
      });
    }
  }
}

/// What is left of a workload when nothing is computed: images are read, results are written.
template <class S>
void bytes_to_bytes(const void* const* in, void* out, int64_t begin, int64_t end) {
  using G = Stripes<S>;
  const uint8_t* pixels = static_cast<const uint8_t*>(in[0]);
  uint8_t* results = static_cast<uint8_t*>(out);
  constexpr int kGroup = G::kWidth * static_cast<int>(sizeof(float));
  for (int64_t p = begin * kPixels; p < end * kPixels; p += kGroup) {
    const auto* from = reinterpret_cast<const float*>(pixels + p);
    G::load(from).store(reinterpret_cast<float*>(results + p));
  }
}

template <class S>
void bytes_to_floats(const void* const* in, void* out, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    const uint8_t* image = static_cast<const uint8_t*>(in[0]) + i * kPixels;
    float* result = static_cast<float*>(out) + i * kBlurred * kBlurred;
    for (int row = 0; row < kBlurred; ++row) {
      each_group_of_row([&](int j) LW_HAND_INLINE {
        load_bytes<S>(image + row * kSide + j).store(result + row * kBlurred + j);
      });
    }
  }
}

}  // namespace
}  // namespace lw::hand
