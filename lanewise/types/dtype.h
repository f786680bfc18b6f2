// The types an element value can have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace lw {

enum class DType : std::uint8_t { Bool, I32, I64, F32, F64 };

}  // namespace lw

// One row per type: enumerator, name in programs, C++ type.
#define LW_FOR_EACH_DTYPE(X)  \
  X(Bool, "bool", bool)       \
  X(I32, "i32", std::int32_t) \
  X(I64, "i64", std::int64_t) \
  X(F32, "f32", float)        \
  X(F64, "f64", double)

namespace lw::types {

inline constexpr int kDTypeCount = 5;

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

constexpr bool is_float(DType type) { return type == DType::F32 || type == DType::F64; }
constexpr bool is_integer(DType type) { return type == DType::I32 || type == DType::I64; }

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
    case DType::Bool:
      return f.template operator()<bool>();
    case DType::I32:
      return f.template operator()<std::int32_t>();
    case DType::I64:
      return f.template operator()<std::int64_t>();
    case DType::F32:
      return f.template operator()<float>();
    case DType::F64:
      break;
  }
  return f.template operator()<double>();
}

}  // namespace lw::types
