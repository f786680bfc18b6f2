// What the native ops compute, for one value. The evaluator and the tile machine read the `meaning`
// column of ops.def, which is spelled with these functions. Everything here is total: no input
// traps or is undefined, except that a zero divisor must have been replaced before `div` and `rem`.
// Must be compiled with -ffp-contract=off.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "lanewise/ops/op.h"

// The tile machine compiles this header once per instruction set; each build has its own copies of
// the functions, so that the linker never puts wide code where narrow code was meant.
#ifndef LW_ISA
#define LW_ISA base
#endif

#include "lanewise/ops/reduce_angle.h"

namespace lw::ops::meaning {
inline namespace LW_ISA {

template <class T>
using Unsigned = std::make_unsigned_t<T>;

/// Unsigned, so that overflow wraps; no narrower than int, to which C++ would promote it.
template <class T>
using Wrapping = std::conditional_t<sizeof(T) < sizeof(unsigned), unsigned, Unsigned<T>>;

/// Computes on unsigned integers.
template <class T, class F>
constexpr T wrapping(F f, T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(f(static_cast<Wrapping<T>>(a), static_cast<Wrapping<T>>(b)));
  } else {
    return f(a, b);
  }
}

template <class T>
constexpr T add(T a, T b) {
  return wrapping([](auto x, auto y) { return x + y; }, a, b);
}

template <class T>
constexpr T sub(T a, T b) {
  return wrapping([](auto x, auto y) { return x - y; }, a, b);
}

/// The upper half of the product of twice the width.
template <class T>
constexpr T mul_high(T a, T b) {
  if constexpr (sizeof(T) == 8) {
    __extension__ using Signed = __int128;
    __extension__ using Unsigned = unsigned __int128;
    using Wide = std::conditional_t<std::is_signed_v<T>, Signed, Unsigned>;
    return static_cast<T>((static_cast<Wide>(a) * static_cast<Wide>(b)) >> 64);
  } else {
    using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
    return static_cast<T>((static_cast<Wide>(a) * static_cast<Wide>(b)) >> (8 * sizeof(T)));
  }
}

template <class T>
constexpr T mul(T a, T b) {
  return wrapping([](auto x, auto y) { return x * y; }, a, b);
}

template <class T>
constexpr T neg(T a) {
  if constexpr (std::is_integral_v<T>) {
    return sub(T(0), a);
  } else {
    return -a;
  }
}

template <class T>
T abs(T a) {
  if constexpr (std::is_integral_v<T>) {
    return std::is_signed_v<T> && a < T(0) ? neg(a) : a;
  } else {
    return std::fabs(a);
  }
}

template <class T>
constexpr T div(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if constexpr (std::is_unsigned_v<T>) return static_cast<T>(a / b);
    if (b == T(-1)) return neg(a);
    const T q = static_cast<T>(a / b);
    return static_cast<T>(q - ((a % b != 0) && ((a < 0) != (b < 0))));
  } else {
    return a / b;
  }
}

template <class T>
constexpr T rem(T a, T b) {
  if constexpr (std::is_unsigned_v<T>) return static_cast<T>(a % b);
  if (b == T(-1)) return 0;
  const T r = static_cast<T>(a % b);
  return static_cast<T>((r != 0 && ((r < 0) != (b < 0))) ? r + b : r);
}

template <class T>
constexpr T min(T a, T b) {
  return (a < b || a != a) ? a : b;
}

template <class T>
constexpr T max(T a, T b) {
  return (a > b || a != a) ? a : b;
}

template <class T>
T copysign(T a, T b) {
  return b != b ? std::fabs(a) : std::copysign(a, b);
}

template <class T>
constexpr T bit_not(T a) {
  if constexpr (std::is_same_v<T, bool>) {
    return !a;
  } else {
    return static_cast<T>(~a);
  }
}

template <class T>
constexpr bool is_shift_in_range(T count) {
  return static_cast<Unsigned<T>>(count) < std::numeric_limits<Unsigned<T>>::digits;
}

template <class T>
constexpr T shl(T a, T b) {
  return is_shift_in_range(b) ? static_cast<T>(static_cast<Wrapping<T>>(a) << b) : T(0);
}

template <class T>
constexpr T shr(T a, T b) {
  if constexpr (std::is_unsigned_v<T>) {
    return is_shift_in_range(b) ? static_cast<T>(a >> b) : T(0);
  } else {
    return static_cast<T>(a >> (is_shift_in_range(b) ? b : std::numeric_limits<T>::digits));
  }
}

template <class R, class T>
constexpr R convert(T a) {
  if constexpr (std::is_same_v<R, T>) {
    return a;
  } else if constexpr (types::is_half_type<T>) {
    return convert<R, float>(a);
  } else if constexpr (types::is_half_type<R>) {
    if constexpr (std::is_same_v<T, double>) {
      return R(rounded_to_odd(a));
    } else {
      return R(static_cast<float>(a));
    }
  } else if constexpr (std::is_same_v<R, bool>) {
    return a != T(0);
  } else if constexpr (std::is_floating_point_v<T> && std::is_integral_v<R>) {
    // The bounds are 0 or powers of two, so both are exact in T; the upper one is excluded.
    constexpr T kLow = static_cast<T>(std::numeric_limits<R>::min());
    constexpr T kHigh = static_cast<T>(R(1) << (std::numeric_limits<R>::digits - 1)) * T(2);
    const bool fits = a >= kLow && a < kHigh;
    const R inside = static_cast<R>(fits ? a : T(0));
    return a >= kHigh ? std::numeric_limits<R>::max()
                      : (a < kLow ? std::numeric_limits<R>::min() : inside);
  } else {
    return static_cast<R>(a);
  }
}

template <class R, class T>
constexpr R bitcast(T a) {
  if constexpr (sizeof(R) == sizeof(T) && !std::is_same_v<R, bool> && !std::is_same_v<T, bool>) {
    if constexpr (types::is_half_type<T>) {
      if (float(a) != float(a)) a = T(std::numeric_limits<float>::quiet_NaN());
    } else if constexpr (std::is_floating_point_v<T>) {
      if (a != a) a = std::numeric_limits<T>::quiet_NaN();
    }
    return std::bit_cast<R>(a);
  } else {
    return R();
  }
}

template <class R, class T>
constexpr R raw_bits(T a) {
  if constexpr (sizeof(R) == sizeof(T) && !std::is_same_v<R, bool>) {
    return std::bit_cast<R>(a);
  } else {
    return R();
  }
}

template <class T>
constexpr T select(bool a, T b, T c) {
  return a ? b : c;
}

#define LW_APPLY_Native(id, meaning) \
  if constexpr (op == Op::id) return static_cast<R>(meaning);
#define LW_APPLY_Expand(id, meaning)
#define LW_APPLY_Structural(id, meaning)

/// `apply<op, R, T>(a, b, c)`: the meaning column of a native op's row. `a` is a bool for select.
/// Half types compute in f32 and round each result.
template <Op op, class R, class T, class A>
inline R apply([[maybe_unused]] A a, [[maybe_unused]] T b, [[maybe_unused]] T c) {
  if constexpr (types::is_half_type<T> && !is_of_halves(op)) {
    using F = std::conditional_t<types::is_half_type<R>, float, R>;
    return static_cast<R>(apply<op, F, float, float>(a, b, c));
  } else {
#define LW_OP(id, name, form, arity, accepts, gives, kind, meaning, partials, domain, doc) \
  LW_APPLY_##kind(id, meaning)
#include "lanewise/ops/ops.def"
#undef LW_OP
  }
}

/// True when the row accepts T (and, for bitcast, R), so that its meaning compiles.
template <class T>
constexpr bool compiles(Accepts accepts) {
  switch (accepts) {
    case Accepts::All:
      return true;
    case Accepts::Number:
      return !std::is_same_v<T, bool>;
    case Accepts::Float:
      return types::is_float_type<T>;
    case Accepts::Integer:
      return std::is_integral_v<T> && !std::is_same_v<T, bool>;
    case Accepts::Bits:
      return std::is_integral_v<T>;
  }
  return false;
}

}  // namespace LW_ISA
}  // namespace lw::ops::meaning
