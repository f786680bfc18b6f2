// One value of any element type. NaNs are one value: equality and text see the canonical one.
#pragma once

#include <bit>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "lanewise/types/dtype.h"

namespace lw {

class Scalar {
 public:
  Scalar() = default;
  template <types::ElementType T>
  Scalar(T value) : type_(types::dtype_of<T>) {  // NOLINT: implicit on purpose, it is a value
    std::memcpy(&bits_, &value, sizeof(T));
  }

  /// A scalar from the first size_of(type) bytes at `data`.
  static Scalar load(DType type, const void* data) {
    Scalar s;
    s.type_ = type;
    std::memcpy(&s.bits_, data, types::size_of(type));
    return s;
  }
  void store(void* data) const { std::memcpy(data, &bits_, types::size_of(type_)); }

  DType type() const { return type_; }
  std::uint64_t bits() const { return bits_; }

  template <types::ElementType T>
  T as() const {
    T value;
    std::memcpy(&value, &bits_, sizeof(T));
    return value;
  }

  /// The same bits, with every NaN replaced by the canonical one.
  Scalar canonical() const;

  /// Equal type and equal bits, all NaNs being one value; -0 and +0 differ.
  bool operator==(const Scalar& other) const {
    return type_ == other.type_ && canonical().bits_ == other.canonical().bits_;
  }

 private:
  DType type_ = DType::Bool;
  std::uint64_t bits_ = 0;
};

namespace types {

/// Shortest text that parses back to the same value.
std::string to_string(const Scalar& value);

/// The value of `type` that `text` spells, if it does.
std::optional<Scalar> parse_scalar(DType type, std::string_view text);

/// `value` converted as C++ converts arithmetic types; for literals in traces.
Scalar scalar_of(DType type, double value);
/// The number that a bool or an integer is; a u64 beyond an i64 wraps.
std::int64_t to_int64(const Scalar& value);
/// The k of an integer 2^k that an i64 holds.
std::optional<int> exponent_of_two(const Scalar& value);
/// The low bits of `value` as an integer of `type`.
Scalar scalar_of_bits(DType type, std::int64_t value);

}  // namespace types
}  // namespace lw
