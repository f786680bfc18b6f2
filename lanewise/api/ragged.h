// lw::Ragged: rows of different lengths, one behind the other, without padding, as an argument of a
// map. The function for one of them takes an lw::RaggedRow (trace/ragged_row.h).
//
//   lw::Ragged<float> rows(values, offsets);  // row i: from offsets[i] to before offsets[i + 1]
//   lw::Tensor totals = lw::map([](lw::RaggedRow<float> row) { return lw::sum(row); }, rows);
#pragma once

#include "lanewise/api/function.h"

namespace lw {
namespace api {

/// Calls `use` with the first of such offsets, as a pointer to their type.
template <class Use>
auto with_offsets(const Input& offsets, const Use& use) {
  if (offsets.type == DType::I32) return use(static_cast<const std::int32_t*>(offsets.data));
  return use(static_cast<const std::int64_t*>(offsets.data));
}
inline std::int64_t offset_at(const Input& offsets, std::int64_t row) {
  return with_offsets(offsets, [&](const auto* first) -> std::int64_t { return first[row]; });
}

/// The arrays of a ragged argument, which the caller owns.
class RaggedArrays {
 public:
  std::int64_t size() const { return starts_.size; }
  /// All values, as a table; where each row begins, and where it ends.
  const Input& table() const { return table_; }
  const Input& starts() const { return starts_; }
  const Input& stops() const { return stops_; }
  /// Tables of where rows begin that are in rows, outermost first.
  std::span<const Input> inner() const { return inner_; }

 protected:
  /// Refuses offsets that do not begin at 0, fall, or do not end at the number of values.
  RaggedArrays(DType type, const Input& values, const Input& offsets);
  RaggedArrays(const RaggedArrays& rows, const Input& offsets);
  std::int64_t offset(std::int64_t row) const { return offset_at(starts_, row); }
  std::int64_t count() const { return offset(size()); }

 private:
  Input table_;
  Input starts_;
  Input stops_;
  std::vector<Input> inner_;
};

}  // namespace api

/// A view of values and offsets, which must live, and stay as they are, while it is used. There is
/// one offset more than rows: std::int32_t or std::int64_t, in a vector, span or Tensor.
template <class T>
class Ragged;

template <types::ElementType T>
class Ragged<T> : public api::RaggedArrays {
 public:
  Ragged(const Input& values, const Input& offsets)
      : RaggedArrays(types::dtype_of<T>, values, offsets) {}
  /// The rows of a result.
  explicit Ragged(const Tensor& rows) : Ragged(rows, rows.offsets()) {}

  std::span<const T> values() const {
    return {static_cast<const T*>(table().data), static_cast<std::size_t>(count())};
  }
  std::span<const T> operator[](std::int64_t row) const {
    return values().subspan(static_cast<std::size_t>(offset(row)),
                            static_cast<std::size_t>(offset(row + 1) - offset(row)));
  }
};

/// Rows that are made of rows.
template <class T>
class Ragged<Ragged<T>> : public api::RaggedArrays {
 public:
  Ragged(const Ragged<T>& rows, const Input& offsets) : RaggedArrays(rows, offsets) {}
};

namespace api {

template <class A>
inline constexpr bool kIsRagged = std::derived_from<A, RaggedArrays>;

/// Values as a table, which has at least one: of none, one that nobody reads or writes.
Input table_of(const Input& values);

/// A parameter that is rows of different lengths.
struct RaggedParam {
  std::size_t number = 0;
  std::size_t inner = 0;  // how deep rows are in rows
};

/// Refuses arguments with other numbers of elements than there are rows. Behind the arguments stand
/// starts and stops of those that are ragged, and behind these where rows in rows begin.
void check_rows(std::span<const Input> inputs, std::size_t arguments,
                std::span<const RaggedParam> ragged);

}  // namespace api
}  // namespace lw
