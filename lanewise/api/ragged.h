// lw::Ragged: rows of different lengths, one behind the other, without padding, as an argument of a
// map. The function for one of them takes an lw::RaggedRow (trace/ragged_row.h).
//
//   lw::Ragged<float> rows(values, offsets);       // row i: values from offsets[i] to offsets[i +
//   1] lw::Tensor totals = lw::map([](lw::RaggedRow<float> row) { return lw::sum(row); }, rows);
#pragma once

#include "lanewise/api/function.h"

namespace lw {
namespace api {

/// The arrays of a ragged argument, which the caller owns.
class RaggedArrays {
 public:
  std::int64_t size() const { return starts_.size; }
  /// All values, as a table; where each row begins, and where it ends.
  const Input& table() const { return table_; }
  const Input& starts() const { return starts_; }
  const Input& stops() const { return stops_; }

 protected:
  /// Refuses offsets that do not begin at 0, fall, or do not end at the number of values.
  RaggedArrays(DType type, const Input& values, const Input& offsets);
  std::int64_t offset(std::int64_t row) const;
  std::int64_t count() const { return offset(size()); }

 private:
  Input table_;
  Input starts_;
  Input stops_;
};

}  // namespace api

/// A view of values and offsets, which must live, and stay as they are, while it is used. There is
/// one offset more than rows: std::int32_t or std::int64_t, in a vector, span or Tensor.
template <types::ElementType T>
class Ragged : public api::RaggedArrays {
 public:
  Ragged(const Input& values, const Input& offsets)
      : RaggedArrays(types::dtype_of<T>, values, offsets) {}

  std::span<const T> values() const {
    return {static_cast<const T*>(table().data), static_cast<std::size_t>(count())};
  }
  std::span<const T> operator[](std::int64_t row) const {
    return values().subspan(static_cast<std::size_t>(offset(row)),
                            static_cast<std::size_t>(offset(row + 1) - offset(row)));
  }
};

namespace api {

template <class A>
inline constexpr bool kIsRagged = std::derived_from<A, RaggedArrays>;

/// Values as a table, which has at least one: of none, one that nobody reads or writes.
Input table_of(const Input& values);

/// Refuses arguments with other numbers of elements than there are rows. Behind the arguments stand
/// starts and stops of those that are ragged, which have these numbers.
void check_rows(std::span<const Input> inputs, std::size_t arguments,
                std::span<const std::size_t> ragged);

}  // namespace api
}  // namespace lw
