#include "lanewise/types/scalar.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <limits>

namespace lw {

Scalar Scalar::canonical() const {
  if (type_ == DType::F32 && std::isnan(as<float>())) {
    return Scalar(std::numeric_limits<float>::quiet_NaN());
  }
  if (type_ == DType::F64 && std::isnan(as<double>())) {
    return Scalar(std::numeric_limits<double>::quiet_NaN());
  }
  return *this;
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
    const T v = value.as<T>();
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(v)) return "nan";
    }
    return fmt::format("{}", v);
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
    } else {
      T v{};
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
      if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
      return Scalar(v);
    }
  });
}

Scalar scalar_of(DType type, double value) {
  return with_type(type, [&]<class T>() { return Scalar(static_cast<T>(value)); });
}

Scalar scalar_of_bits(DType type, std::int64_t value) { return Scalar::load(type, &value); }

}  // namespace types
}  // namespace lw
