#include "lanewise/api/ragged.h"

#include <fmt/core.h>

#include "lanewise/base/error.h"

namespace lw::api {
namespace {

bool stands_together(const Input& input) {
  return input.is_mapped() && input.row == 0 &&
         input.stride == static_cast<std::int64_t>(types::size_of(input.type));
}

void check_type(DType type, const Input& values) {
  if (values.type == type) return;
  throw UsageError(fmt::format("Ragged: values of another type; got {}, expected {}.",
                               types::name_of(values.type), types::name_of(type)));
}

void check_arrays(const Input& values, const Input& offsets) {
  if (offsets.type != DType::I32 && offsets.type != DType::I64) {
    throw UsageError(
        fmt::format("Ragged: offsets of another type; got {}, expected i32 or i64, one more than "
                    "there are rows.",
                    types::name_of(offsets.type)));
  }
  if (!stands_together(values) || !stands_together(offsets)) {
    throw UsageError(
        "Ragged: values or offsets do not stand together; got a number, rows, or a stride, "
        "expected two arrays. Copy them first.");
  }
  if (offsets.size < 1) {
    throw UsageError(
        "Ragged: no offsets; got 0 of them, expected one more than there are rows. Without rows "
        "there is one, 0.");
  }
}

template <class Offset>
void check_offsets(std::span<const Offset> offsets, std::int64_t values) {
  if (offsets.front() != 0) {
    throw UsageError(
        fmt::format("Ragged: offsets do not begin at 0; got {}. Take the values from there on, and "
                    "the offsets less that.",
                    offsets.front()));
  }
  for (std::size_t i = 1; i < offsets.size(); ++i) {
    if (offsets[i] < offsets[i - 1]) {
      throw UsageError(
          fmt::format("Ragged: offsets fall; got {} and then {} (row {}), expected none less than "
                      "the one before it.",
                      offsets[i - 1], offsets[i], i - 1));
    }
    if (offsets[i] - offsets[i - 1] > static_cast<std::int64_t>(ir::kMostCounted)) {
      throw UsageError(
          fmt::format("Ragged: a row is too long; got {} values (row {}), expected at "
                      "most {}.",
                      offsets[i] - offsets[i - 1], i - 1, ir::kMostCounted));
    }
  }
  if (offsets.back() != values) {
    throw UsageError(
        fmt::format("Ragged: offsets do not end at the number of values; got {}, expected {}.",
                    offsets.back(), values));
  }
}

void check_offsets(const Input& offsets, std::int64_t values) {
  with_offsets(offsets, [&](const auto* first) {
    check_offsets(std::span(first, static_cast<std::size_t>(offsets.size)), values);
  });
}

Input rows_from(const Input& offsets, std::int64_t first) {
  const auto* data = static_cast<const std::byte*>(offsets.data) + first * offsets.stride;
  return {offsets.type, data, offsets.size - 1};
}

}  // namespace

Input table_of(const Input& values) {
  static constexpr std::uint64_t kNothing = 0;
  return (values.size > 0 ? values : Input(values.type, &kNothing, 1)).as_table();
}

RaggedArrays::RaggedArrays(DType type, const Input& values, const Input& offsets)
    : table_(values), starts_(offsets), stops_(offsets) {
  check_type(type, values);
  check_arrays(values, offsets);
  check_offsets(offsets, values.size);
  table_ = table_of(values);
  starts_ = rows_from(offsets, 0);
  stops_ = rows_from(offsets, 1);
}

RaggedArrays::RaggedArrays(const RaggedArrays& rows, const Input& offsets)
    : table_(rows.table_), starts_(offsets), stops_(offsets) {
  check_arrays(rows.starts_, offsets);
  check_offsets(offsets, rows.size());
  starts_ = rows_from(offsets, 0);
  stops_ = rows_from(offsets, 1);
  inner_.push_back(Input(rows.starts_.type, rows.starts_.data, rows.size() + 1).as_table());
  inner_.insert(inner_.end(), rows.inner_.begin(), rows.inner_.end());
}

void check_rows(std::span<const Input> inputs, std::size_t arguments,
                std::span<const RaggedParam> ragged) {
  const std::int64_t rows = inputs[arguments].size;
  const auto check = [&](std::int64_t size, const char* what, std::size_t argument) {
    if (size == rows) return;
    throw UsageError(
        fmt::format("map: arguments disagree on the mapped size; got {} rows (argument {}) and "
                    "{}{} (argument {}), expected one size.",
                    rows, ragged[0].number, size, what, argument));
  };
  for (std::size_t i = 0; i < arguments; ++i) {
    if (inputs[i].is_mapped()) check(inputs[i].size, "", i);
  }
  for (std::size_t i = 0; i < ragged.size(); ++i) {
    check(inputs[arguments + 2 * i].size, " rows", ragged[i].number);
  }
}

}  // namespace lw::api
