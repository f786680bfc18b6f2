#include "lanewise/runtime/pairs.h"

namespace lw::runtime {
namespace {

/// At any address, beside values of any other type.
template <class T>
struct Loose {
  using type [[gnu::aligned(1), gnu::may_alias]] = T;
};

template <class T>
[[gnu::always_inline]] inline void split(std::byte* first, std::byte* second, const std::byte* from,
                                         std::int64_t count) {
  using Element = typename Loose<T>::type;
  auto* __restrict a = reinterpret_cast<Element*>(first);
  auto* __restrict b = reinterpret_cast<Element*>(second);
  const auto* __restrict pairs = reinterpret_cast<const Element*>(from);
  for (std::int64_t i = 0; i < count; ++i) {
    a[i] = pairs[2 * i];
    b[i] = pairs[2 * i + 1];
  }
}

template <class T>
[[gnu::always_inline]] inline void join(std::byte* to, const std::byte* first,
                                        const std::byte* second, std::int64_t count) {
  using Element = typename Loose<T>::type;
  auto* __restrict pairs = reinterpret_cast<Element*>(to);
  const auto* __restrict a = reinterpret_cast<const Element*>(first);
  const auto* __restrict b = reinterpret_cast<const Element*>(second);
  std::int64_t i = 0;
  // Stores that lie across two lines of the cache cost twice.
  for (; i < count && reinterpret_cast<std::uintptr_t>(pairs + 2 * i) % 64 != 0; ++i) {
    pairs[2 * i] = a[i];
    pairs[2 * i + 1] = b[i];
  }
  for (; i < count; ++i) {
    pairs[2 * i] = a[i];
    pairs[2 * i + 1] = b[i];
  }
}

// The same loops once for each instruction set.
#define LW_PAIR_MOVES(isa, target)                                                       \
  template <class T>                                                                     \
  target void split_##isa(std::byte* first, std::byte* second, const std::byte* from,    \
                          std::int64_t count) {                                          \
    split<T>(first, second, from, count);                                                \
  }                                                                                      \
  template <class T>                                                                     \
  target void join_##isa(std::byte* to, const std::byte* first, const std::byte* second, \
                         std::int64_t count) {                                           \
    join<T>(to, first, second, count);                                                   \
  }                                                                                      \
  PairMoves moves_##isa(std::int64_t size) {                                             \
    return size == 4 ? PairMoves{split_##isa<std::uint32_t>, join_##isa<std::uint32_t>}  \
                     : PairMoves{split_##isa<std::uint64_t>, join_##isa<std::uint64_t>}; \
  }
LW_PAIR_MOVES(v2, )
LW_PAIR_MOVES(v3, [[gnu::target("avx2")]])
LW_PAIR_MOVES(v4, [[gnu::target("avx512f,avx512vl,avx512dq,avx512bw")]])

}  // namespace

PairMoves pair_moves(std::int64_t size) {
  static const auto moves = __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq")
                                ? moves_v4
                            : __builtin_cpu_supports("avx2") ? moves_v3
                                                             : moves_v2;
  return moves(size);
}

}  // namespace lw::runtime
