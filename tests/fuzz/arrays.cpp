#include "tests/fuzz/arrays.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "tests/fuzz/checks.h"

namespace lw::fuzz {
namespace {

constexpr std::size_t kFence = 64;
constexpr unsigned char kPattern = 0xa5;

}  // namespace

Arrays::Arrays(const ir::Function& function, const Inputs& inputs,
               std::span<const ir::Evaluation> truth)
    : period_(inputs.count),
      tables_at_begin_(function, inputs, Tables::At::Begin),
      tables_at_end_(function, inputs, Tables::At::End) {
  for (std::size_t p = 0; p < inputs.values.size(); ++p) {
    const ir::Param& param = function.params[p];
    if (param.kind == ir::ParamKind::Shared) shared_.push_back(inputs.values[p][0].bits());
    if (!param.is_mapped()) continue;
    inputs_.push_back(pack(param.type, inputs.values[p]));
    input_sizes_.push_back(types::size_of(param.type));
  }
  for (const types::Item& item : function.results) results_.push_back(item.type);
  for (std::size_t r = 0; r < results_.size(); ++r) {
    std::vector<Scalar> values;
    for (const ir::Evaluation& e : truth) {
      values.push_back(e.failure ? types::scalar_of(results_[r], 0) : e.results[r].canonical());
    }
    expected_.push_back(pack(results_[r], values));
  }
}

void Arrays::allocate(std::int64_t count) {
  capacity_ = count;
  input_memory_.clear();
  output_memory_.clear();
  for (const std::size_t size : input_sizes_) {
    input_memory_.emplace_back(size * static_cast<std::size_t>(count));
  }
  for (std::size_t r = 0; r < results_.size(); ++r) output_memory_.emplace_back(bytes(r));
}

void Arrays::set_count(std::int64_t count) {
  if (count == count_) return;
  count_ = count;
  if (count > capacity_) allocate(count);
  input_pointers_.clear();
  output_pointers_.clear();
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    std::size_t left = input_sizes_[i] * static_cast<std::size_t>(count);
    input_memory_[i].allow_writing(true);
    std::byte* at = input_memory_[i].last(left);
    input_pointers_.push_back(at);
    while (left > 0) {
      const std::size_t part = std::min(left, inputs_[i].size());
      std::memcpy(at, inputs_[i].data(), part);
      at += part;
      left -= part;
    }
    input_memory_[i].allow_writing(false);
  }
  for (std::size_t r = 0; r < results_.size(); ++r) {
    output_pointers_.push_back(output_memory_[r].last(bytes(r)));
  }
}

void Arrays::poison() {
  for (std::size_t r = 0; r < results_.size(); ++r) {
    std::memset(start(r) - kFence, kPattern, bytes(r) + kFence);
  }
}

std::string Arrays::mismatch() const {
  for (std::size_t r = 0; r < results_.size(); ++r) {
    for (std::size_t i = 1; i <= kFence; ++i) {
      if (*(start(r) - i) != std::byte{kPattern}) {
        return fmt::format("result {}: something was written before its first element", r);
      }
    }
    std::string found = types::with_type(results_[r], [&]<class T>() { return differs<T>(r); });
    if (!found.empty()) return found;
  }
  return {};
}

/// Bits must agree, except that a NaN is as good as another; a bool is a byte, 0 or 1.
template <class T>
std::string Arrays::differs(std::size_t r) const {
  using Bits = types::BitsOf<T>;
  const auto load = [](const std::byte* data, std::int64_t i) {
    Bits bits;
    std::memcpy(&bits, data + static_cast<std::size_t>(i) * sizeof bits, sizeof bits);
    return bits;
  };
  for (std::int64_t i = 0, j = 0; i < count_; ++i, j = j + 1 == period_ ? 0 : j + 1) {
    const Bits got = load(start(r), i);
    const Bits expected = load(expected_[r].data(), j);
    if (got == expected) continue;
    if constexpr (types::is_float_type<T>) {
      const auto is_nan = [](Bits bits) { return std::isnan(1.0 * std::bit_cast<T>(bits)); };
      if (is_nan(got) && is_nan(expected)) continue;
    }
    return fmt::format("result {} of element {} (input {}): expected {:#x}, got {:#x}", r, i, j,
                       expected, got);
  }
  return {};
}

std::uint64_t Arrays::digest() const {
  std::uint64_t digest = 2;
  for (std::size_t r = 0; r < results_.size(); ++r) {
    const std::size_t size = types::size_of(results_[r]);
    for (std::int64_t i = 0; i < std::min(count_, period_); ++i) {
      const auto value = Scalar::load(results_[r], start(r) + static_cast<std::size_t>(i) * size);
      digest = combine(digest, value.canonical().bits());
    }
  }
  return digest;
}

}  // namespace lw::fuzz
