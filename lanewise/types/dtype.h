// The types an element value can have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include "lanewise/types/half.h"

// One row per type: enumerator, name in programs, C++ type.
#define LW_FOR_EACH_DTYPE(X)      \
  X(Bool, "bool", bool)           \
  X(I8, "i8", std::int8_t)        \
  X(I16, "i16", std::int16_t)     \
  X(I32, "i32", std::int32_t)     \
  X(I64, "i64", std::int64_t)     \
  X(U8, "u8", std::uint8_t)       \
  X(U16, "u16", std::uint16_t)    \
  X(U32, "u32", std::uint32_t)    \
  X(U64, "u64", std::uint64_t)    \
  X(F16, "f16", ::lw::Half)       \
  X(BF16, "bf16", ::lw::BFloat16) \
  X(F32, "f32", float)            \
  X(F64, "f64", double)

namespace lw {

enum class DType : std::uint8_t {
#define LW_CASE(id, name, cpp) id,
  LW_FOR_EACH_DTYPE(LW_CASE)
#undef LW_CASE
};

}  // namespace lw

namespace lw::types {

#define LW_CASE(id, name, cpp) +1
inline constexpr int kDTypeCount = 0 LW_FOR_EACH_DTYPE(LW_CASE);
#undef LW_CASE

constexpr std::size_t size_of(DType type) {
  switch (type) {
#define LW_CASE(id, name, cpp) \
  case DType::id:              \
    return sizeof(cpp);
    LW_FOR_EACH_DTYPE(LW_CASE)
#undef LW_CASE
  }
  return 0;
}

constexpr std::string_view name_of(DType type) {
  switch (type) {
#define LW_CASE(id, name, cpp) \
  case DType::id:              \
    return name;
    LW_FOR_EACH_DTYPE(LW_CASE)
#undef LW_CASE
  }
  return {};
}

constexpr bool is_half(DType type) { return type == DType::F16 || type == DType::BF16; }
constexpr bool is_float(DType type) { return type >= DType::F16; }
constexpr bool is_signed_integer(DType type) { return type >= DType::I8 && type <= DType::I64; }
constexpr bool is_unsigned(DType type) { return type >= DType::U8 && type <= DType::U64; }
constexpr bool is_integer(DType type) { return is_signed_integer(type) || is_unsigned(type); }

/// The same of a C++ type.
template <class T>
inline constexpr bool is_half_type = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;
template <class T>
inline constexpr bool is_float_type = std::is_floating_point_v<T> || is_half_type<T>;

/// The unsigned integer of T's size.
template <class T>
using BitsOf = std::conditional_t<
    sizeof(T) == 8, std::uint64_t,
    std::conditional_t<sizeof(T) == 4, std::uint32_t,
                       std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint8_t>>>;

/// The integer type of `size` bytes.
constexpr DType integer_of(std::size_t size, bool is_signed = true) {
  const DType first = is_signed ? DType::I8 : DType::U8;
  const int step = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
  return static_cast<DType>(static_cast<int>(first) + step);
}

/// The type that both values have once combined, as NumPy 2 promotes: the smallest that holds all
/// values of both (f64 where 64-bit integers of both kinds meet; bf16 counts as f16 does).
constexpr DType promote(DType a, DType b) {
  if (a == b) return a;
  if (a > b) return promote(b, a);  // bool, signed, unsigned, floats, each by size
  if (a == DType::Bool) return b;
  if (is_float(a)) return is_half(b) ? DType::F32 : b;
  if (is_float(b)) {
    const DType exact = size_of(a) == 1 ? DType::F16 : size_of(a) == 2 ? DType::F32 : DType::F64;
    return is_half(b) && exact == DType::F16 ? b : exact > b ? exact : b;
  }
  if (is_unsigned(a) == is_unsigned(b)) return b;
  if (size_of(a) > size_of(b)) return a;
  return size_of(b) == 8 ? DType::F64 : integer_of(2 * size_of(b));
}

/// The type with this name, if there is one.
std::optional<DType> dtype_named(std::string_view name);

/// The DType of a C++ type.
template <class T>
struct DTypeOf;
#define LW_CASE(id, name, cpp)                \
  template <>                                 \
  struct DTypeOf<cpp> {                       \
    static constexpr DType value = DType::id; \
  };
LW_FOR_EACH_DTYPE(LW_CASE)
#undef LW_CASE

template <class T>
inline constexpr DType dtype_of = DTypeOf<T>::value;

template <class T>
concept ElementType = requires { DTypeOf<T>::value; };

/// Calls `f.template operator()<T>()` with the C++ type of `type`.
template <class F>
decltype(auto) with_type(DType type, F&& f) {
  switch (type) {
#define LW_CASE(id, name, cpp) \
  case DType::id:              \
    return f.template operator()<cpp>();
    LW_FOR_EACH_DTYPE(LW_CASE)
#undef LW_CASE
  }
  __builtin_unreachable();
}

}  // namespace lw::types
