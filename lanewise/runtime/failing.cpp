#include "lanewise/runtime/failing.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "lanewise/base/float_state.h"
#include "lanewise/ir/function.h"

namespace lw::runtime {
namespace {

/// What an element without a part in them gives to accumulators.
void append_neutral(const Fold& fold, std::span<const types::Item> items,
                    std::vector<Scalar>& values) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    const DType type = items[i].type;
    switch (fold.kind) {
      case Fold::Kind::Sum:
        values.push_back(ir::neutral(ir::Collect::Sum, type));
        break;
      case Fold::Kind::Min:
        values.push_back(ir::neutral(ir::Collect::Min, type));
        break;
      case Fold::Kind::Max:
        values.push_back(ir::neutral(ir::Collect::Max, type));
        break;
      case Fold::Kind::Histogram:  // a key that is none
        values.push_back(types::scalar_of(type, -1));
        break;
      case Fold::Kind::KeyedSum:
        values.push_back(types::scalar_of(type, i % 2 == 0 ? -1 : 0));
        break;
      case Fold::Kind::ArgMin:
      case Fold::Kind::ArgMax:
      case Fold::Kind::Combine:  // nothing is there, as a bool says
        values.push_back(types::scalar_of(type, 0));
        break;
    }
  }
}

Scalar unknown(DType type) {
  return types::scalar_of(type,
                          types::is_float(type) ? std::numeric_limits<double>::quiet_NaN() : 0.0);
}

double to_double(const Scalar& value) {
  return types::with_type(value.type(),
                          [&]<class T>() { return static_cast<double>(value.as<T>()); });
}

Scalar converted(const Scalar& value, DType type) {
  if (type == DType::Bool) return Scalar(to_double(value) != 0);
  if (types::is_float(type) || types::is_float(value.type())) {
    return types::scalar_of(type, to_double(value));
  }
  return types::scalar_of_bits(type, types::to_int64(value));
}

}  // namespace

Scalar filling_of(DType type, std::span<const Scalar> values, std::size_t number) {
  const base::FloatState state;
  if (values.empty()) return unknown(type);
  return converted(values[values.size() > 1 ? number : 0], type);
}

Filling::Filling(const Buffers& buffers, const kernel::Kernel& kernel,
                 std::span<const Scalar> values) {
  const base::FloatState state;
  const std::vector<types::Item>& items = kernel.outputs;
  std::vector<Scalar> all;
  for (std::size_t i = 0; i < buffers.outputs.size(); ++i) {
    all.push_back(filling_of(items[i].type, values, i));
  }
  for (const Fold& fold : buffers.folds) {
    append_neutral(fold, std::span(items).subspan(all.size(), fold.columns), all);
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    columns_.push_back({all[i], std::max<std::int64_t>(items[i].size, 1), items[i].bytes()});
  }
}

void Filling::fill(void* const* outputs, std::int64_t element) const {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const Column& column = columns_[i];
    auto* to = static_cast<std::byte*>(outputs[i]) + element * column.bytes;
    const std::int64_t size = column.bytes / column.values;
    for (std::int64_t j = 0; j < column.values; ++j) column.value.store(to + j * size);
  }
}

void Failing::mark(std::uint64_t lanes, const std::int32_t* ids, std::int64_t first) {
  for (; lanes != 0; lanes &= lanes - 1) {
    const std::int64_t at = first + ids[std::countr_zero(lanes)] - first_;
    if (at < 0 || at >= size_) continue;
    marks_[static_cast<std::size_t>(at / 64)] |= std::uint64_t{1} << (at % 64);
    has_marks_ = true;
  }
}

void Failing::end(const Filling& filling, void* const* outputs, bool* failed) {
  if (!has_marks_) return;
  has_marks_ = false;
  for (std::size_t word = 0; word < marks_.size(); ++word) {
    for (std::uint64_t marks = std::exchange(marks_[word], 0); marks != 0; marks &= marks - 1) {
      const std::int64_t element =
          first_ + static_cast<std::int64_t>(word) * 64 + std::countr_zero(marks);
      filling.fill(outputs, element);
      if (failed != nullptr) failed[element] = true;
      ++count_;
      if (std::ssize(lowest_) < most_) lowest_.push_back(element);
    }
  }
}

}  // namespace lw::runtime
