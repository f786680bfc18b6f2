#include "lanewise/types/scalar.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <limits>

#include "lanewise/base/check.h"

namespace lw {

Scalar Scalar::canonical() const {
  return types::with_type(type_, [&]<class T>() -> Scalar {
    if constexpr (types::is_half_type<T>) {
      if (std::isnan(float(as<T>()))) return Scalar(T(std::numeric_limits<float>::quiet_NaN()));
    } else if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(as<T>())) return Scalar(std::numeric_limits<T>::quiet_NaN());
    }
    return *this;
  });
}

namespace types {

std::optional<DType> dtype_named(std::string_view name) {
#define LW_CASE(id, text, cpp) \
  if (name == text) return DType::id;
  LW_FOR_EACH_DTYPE(LW_CASE)
#undef LW_CASE
  return std::nullopt;
}

std::string to_string(const Scalar& value) {
  return with_type(value.type(), [&]<class T>() -> std::string {
    if constexpr (types::is_half_type<T>) {
      return to_string(Scalar(float(value.as<T>())));
    } else {
      const T v = value.as<T>();
      if constexpr (std::is_floating_point_v<T>) {
        if (std::isnan(v)) return "nan";
      }
      return fmt::format("{}", v);
    }
  });
}

std::optional<Scalar> parse_scalar(DType type, std::string_view text) {
  if (type == DType::Bool) {
    if (text == "true") return Scalar(true);
    if (text == "false") return Scalar(false);
    return std::nullopt;
  }
  return with_type(type, [&]<class T>() -> std::optional<Scalar> {
    if constexpr (std::is_same_v<T, bool>) {
      return std::nullopt;
    } else if constexpr (is_half_type<T>) {
      const auto number = parse_scalar(DType::F32, text);
      if (!number) return std::nullopt;
      return Scalar(T(number->as<float>()));
    } else {
      T v{};
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
      if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
      return Scalar(v);
    }
  });
}

Scalar scalar_of(DType type, double value) {
  return with_type(type, [&]<class T>() {
    if constexpr (is_half_type<T>) {
      return Scalar(T(rounded_to_odd(value)));
    } else if constexpr (std::is_unsigned_v<T> && !std::is_same_v<T, bool>) {
      return Scalar(static_cast<T>(static_cast<std::int64_t>(value)));  // -1 is all ones
    } else {
      return Scalar(static_cast<T>(value));
    }
  });
}

std::int64_t to_int64(const Scalar& value) {
  return with_type(value.type(), [&]<class T>() -> std::int64_t {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<std::int64_t>(value.as<T>());
    } else {
      LW_UNREACHABLE("a float is no integer");
      return 0;
    }
  });
}

std::optional<int> exponent_of_two(const Scalar& value) {
  if (!is_integer(value.type())) return std::nullopt;
  const std::int64_t number = to_int64(value);
  const auto bits = static_cast<std::uint64_t>(number);
  if (number <= 0 || !std::has_single_bit(bits)) return std::nullopt;
  return std::countr_zero(bits);
}

Scalar scalar_of_bits(DType type, std::int64_t value) { return Scalar::load(type, &value); }

}  // namespace types
}  // namespace lw
