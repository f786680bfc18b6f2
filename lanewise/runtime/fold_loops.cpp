#include "lanewise/runtime/fold_loops.h"

#include "lanewise/base/error.h"

namespace lw::runtime {
namespace {

/// Integers wrap.
struct Add {
  template <class T>
  static T of(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      using U = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
    } else {
      return a + b;
    }
  }
};
struct Least {
  template <class T>
  static T of(T a, T b) {
    return a < b || a != a ? a : b;
  }
};
struct Greatest {
  template <class T>
  static T of(T a, T b) {
    return a > b || a != a ? a : b;
  }
};

template <class T, class Op>
[[gnu::always_inline]] inline void fold_column(const void* column, void* result) {
  constexpr std::int64_t kWidth = kFoldStripes;
  const T* const values = static_cast<const T*>(column);
  T stripes[kWidth];
  for (std::int64_t s = 0; s < kWidth; ++s) stripes[s] = values[s];
  for (std::int64_t i = kWidth; i < kFoldBlock; i += kWidth) {
    for (std::int64_t s = 0; s < kWidth; ++s) stripes[s] = Op::of(stripes[s], values[i + s]);
  }
  for (std::int64_t half = kWidth / 2; half > 0; half /= 2) {
    for (std::int64_t s = 0; s < half; ++s) stripes[s] = Op::of(stripes[s], stripes[s + half]);
  }
  *static_cast<T*>(result) = stripes[0];
}

template <class T, class Op>
[[gnu::always_inline]] inline void fold_each(void* left, const void* right, std::int64_t count) {
  T* const a = static_cast<T*>(left);
  const T* const b = static_cast<const T*>(right);
  for (std::int64_t i = 0; i < count; ++i) a[i] = Op::of(a[i], b[i]);
}

// The same loops once for each instruction set.
#define LW_FOLD_LOOPS(isa, target)                                            \
  template <class T, class Op>                                                \
  target void block_##isa(const void* column, void* result) {                 \
    fold_column<T, Op>(column, result);                                       \
  }                                                                           \
  template <class T, class Op>                                                \
  target void many_##isa(void* left, const void* right, std::int64_t count) { \
    fold_each<T, Op>(left, right, count);                                     \
  }                                                                           \
  struct Block_##isa {                                                        \
    template <class T, class Op>                                              \
    static constexpr FoldBlock of = block_##isa<T, Op>;                       \
  };                                                                          \
  struct Many_##isa {                                                         \
    template <class T, class Op>                                              \
    static constexpr FoldMany of = many_##isa<T, Op>;                         \
  };
LW_FOLD_LOOPS(v2, )
LW_FOLD_LOOPS(v3, [[gnu::target("avx2")]])
LW_FOLD_LOOPS(v4, [[gnu::target("avx512f,avx512vl,avx512dq,avx512bw")]])

template <class Functions>
auto find(Fold::Kind kind, DType type) {
  return types::with_type(type, [&]<class T>() -> decltype(Functions::template of<float, Add>) {
    if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
      if (kind == Fold::Kind::Sum) return Functions::template of<T, Add>;
      if (kind == Fold::Kind::Min) return Functions::template of<T, Least>;
      if (kind == Fold::Kind::Max) return Functions::template of<T, Greatest>;
    }
    throw InternalError("fold: values of this type are not folded.");
  });
}

bool has_v3() { return __builtin_cpu_supports("avx2"); }
bool has_v4() { return __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"); }

}  // namespace

FoldBlock fold_block(Fold::Kind kind, DType type) {
  return has_v4()   ? find<Block_v4>(kind, type)
         : has_v3() ? find<Block_v3>(kind, type)
                    : find<Block_v2>(kind, type);
}

FoldMany fold_many(Fold::Kind kind, DType type) {
  return has_v4()   ? find<Many_v4>(kind, type)
         : has_v3() ? find<Many_v3>(kind, type)
                    : find<Many_v2>(kind, type);
}

void count_keys(const std::int32_t* keys, std::int64_t count, std::int64_t size,
                std::int64_t* tables, std::int64_t number_of_tables) {
  const auto one = [&](std::int64_t i, std::int64_t table) {
    const auto key = static_cast<std::uint32_t>(keys[i]);
    if (key < static_cast<std::uint64_t>(size)) ++tables[table * size + key];
  };
  std::int64_t i = 0;
  // A key that comes again waits for the count before it; in another table it does not.
  for (; number_of_tables == kKeyTables && i + kKeyTables <= count; i += kKeyTables) {
    for (std::int64_t table = 0; table < kKeyTables; ++table) one(i + table, table);
  }
  for (; i < count; ++i) one(i, 0);
}

}  // namespace lw::runtime
