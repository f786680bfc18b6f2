#include "tests/fuzz/arrays.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace lw::fuzz {
namespace {

constexpr std::int64_t kFence = 64;
constexpr std::int64_t kApart = 3;  // values between elements that stand apart
constexpr unsigned char kPattern = 0xa5;

bool is_untouched(const std::byte* first, std::int64_t count) {
  return std::all_of(first, first + count, [](std::byte b) { return b == std::byte{kPattern}; });
}

}  // namespace

Arrays::Arrays(const ir::Function& function, const Inputs& inputs,
               std::span<const ir::Evaluation> truth)
    : period_(inputs.count),
      truth_(truth),
      tables_at_begin_(function, inputs, Tables::At::Begin),
      tables_at_end_(function, inputs, Tables::At::End) {
  for (std::size_t p = 0; p < inputs.values.size(); ++p) {
    const ir::Param& param = function.params[p];
    if (param.kind == ir::ParamKind::Shared) shared_.push_back(inputs.values[p][0].bits());
    if (!param.is_mapped()) continue;
    inputs_.push_back({.item = param.item(), .values = pack(param.type, inputs.values[p])});
  }
  std::size_t first = 0;  // of the result among all values of an element
  for (const types::Item& item : function.results) {
    const std::size_t size = item.is_row() ? item.size : 1;
    std::vector<Scalar> values;
    for (const ir::Evaluation& e : truth) {
      for (std::size_t i = first; i < first + size; ++i) {
        values.push_back(e.failure ? types::scalar_of(item.type, 0) : e.results[i].canonical());
      }
    }
    outputs_.push_back({.item = item, .values = pack(item.type, values)});
    first += size;
  }
}

void Arrays::lay_out(Array& array) {
  const std::int64_t own = array.item.bytes();
  array.stride = own;
  if (strided_) array.stride += kApart * static_cast<std::int64_t>(types::size_of(array.item.type));
  array.bytes = (count_ - 1) * array.stride + own;
  if (array.bytes > array.capacity) {
    array.memory.clear();
    array.memory.emplace_back(static_cast<std::size_t>(array.bytes));
    array.capacity = array.bytes;
  }
  array.start = array.memory[0].last(static_cast<std::size_t>(array.bytes));
  strides_.push_back(array.stride);
}

void Arrays::set_layout(std::int64_t count, bool strided) {
  if (count == count_ && strided == strided_) return;
  count_ = count;
  strided_ = strided;
  input_pointers_.clear();
  output_pointers_.clear();
  strides_.clear();
  for (Array& array : inputs_) {
    lay_out(array);
    array.memory[0].allow_writing(true);
    std::memset(array.start, kPattern, static_cast<std::size_t>(array.bytes));
    for (std::int64_t i = 0; i < count; ++i) {
      std::memcpy(array.at(i), array.value(i % period_),
                  static_cast<std::size_t>(array.item.bytes()));
    }
    array.memory[0].allow_writing(false);
    input_pointers_.push_back(array.start);
  }
  for (Array& array : outputs_) {
    lay_out(array);
    output_pointers_.push_back(array.start);
  }
}

void Arrays::poison() {
  for (const Array& array : outputs_) {
    std::memset(array.start - kFence, kPattern, static_cast<std::size_t>(array.bytes + kFence));
  }
  tables().reset_targets();
}

std::string Arrays::mismatch() const {
  for (std::size_t r = 0; r < outputs_.size(); ++r) {
    const Array& array = outputs_[r];
    if (!is_untouched(array.start - kFence, kFence)) {
      return fmt::format("result {}: something was written before its first element", r);
    }
    const std::int64_t own = array.item.bytes();
    for (std::int64_t i = 0; i + 1 < count_ && strided_; ++i) {
      if (is_untouched(array.at(i) + own, array.stride - own)) continue;
      return fmt::format("result {}: something was written behind element {}", r, i);
    }
    std::string found = types::with_type(array.item.type, [&]<class T>() { return differs<T>(r); });
    if (!found.empty()) return found;
  }
  return tables().mismatch(truth_.first(static_cast<std::size_t>(std::min(count_, period_))));
}

/// Bits must agree, except that a NaN is as good as another; a bool is a byte, 0 or 1.
template <class T>
std::string Arrays::differs(std::size_t r) const {
  using Bits = types::BitsOf<T>;
  const Array& array = outputs_[r];
  const auto load = [](const std::byte* data, std::int64_t i) {
    Bits bits;
    std::memcpy(&bits, data + static_cast<std::size_t>(i) * sizeof bits, sizeof bits);
    return bits;
  };
  for (std::int64_t i = 0, j = 0; i < count_; ++i, j = j + 1 == period_ ? 0 : j + 1) {
    for (std::int64_t v = 0; v < array.size(); ++v) {
      const Bits got = load(array.at(i), v);
      const Bits expected = load(array.value(j), v);
      if (got == expected) continue;
      if constexpr (types::is_float_type<T>) {
        const auto is_nan = [](Bits bits) { return std::isnan(1.0 * std::bit_cast<T>(bits)); };
        if (is_nan(got) && is_nan(expected)) continue;
      }
      return fmt::format("result {} of element {} (input {}), value {}: expected {:#x}, got {:#x}",
                         r, i, j, v, expected, got);
    }
  }
  return {};
}

}  // namespace lw::fuzz
