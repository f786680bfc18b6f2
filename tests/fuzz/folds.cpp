#include "tests/fuzz/folds.h"

#include <algorithm>
#include <map>

#include "lanewise/base/float_state.h"
#include "lanewise/ir/function.h"

namespace lw::fuzz {
namespace {

using runtime::Fold;

bool is_folded(DType type) { return type != DType::Bool && !types::is_half(type); }

template <class F>
Scalar with_numbers(const Scalar& a, const Scalar& b, const F& f) {
  return types::with_type(a.type(), [&]<class T>() -> Scalar {
    if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
      return Scalar(f(a.as<T>(), b.as<T>()));
    }
    return a;
  });
}

Scalar combined(Fold::Kind kind, const Scalar& left, const Scalar& right) {
  return with_numbers(left, right, [&]<class T>(T a, T b) -> T {
    if (kind == Fold::Kind::Min) return a < b || a != a ? a : b;
    if (kind == Fold::Kind::Max) return a > b || a != a ? a : b;
    if constexpr (std::is_integral_v<T>) {
      using U = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
    } else {
      return a + b;
    }
  });
}

Scalar neutral(const Fold& fold) {
  const bool is_min = fold.kind == Fold::Kind::Min, is_max = fold.kind == Fold::Kind::Max;
  return ir::neutral(is_min   ? ir::Collect::Min
                     : is_max ? ir::Collect::Max
                              : ir::Collect::Sum,
                     fold.type);
}

Scalar expected_value(const Fold& fold, std::int64_t count, std::int64_t first_element,
                      const std::function<Scalar(std::int64_t)>& value) {
  std::map<std::int64_t, std::vector<Scalar>> blocks;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t number = first_element + i;
    std::vector<Scalar>& stripes = blocks[number >> 10];
    stripes.resize(64, neutral(fold));
    Scalar& stripe = stripes[static_cast<std::size_t>(number & 63)];
    stripe = combined(fold.kind, stripe, value(i));
  }
  std::map<std::int64_t, Scalar> nodes;
  for (auto& [number, stripes] : blocks) {
    for (std::size_t half = 32; half > 0; half /= 2) {
      for (std::size_t s = 0; s < half; ++s) {
        stripes[s] = combined(fold.kind, stripes[s], stripes[s + half]);
      }
    }
    nodes[number] = stripes[0];
  }
  while (nodes.size() > 1) {
    std::map<std::int64_t, Scalar> parents;
    for (const auto& [number, node] : nodes) {
      const auto [at, is_new] = parents.emplace(number >> 1, node);
      if (!is_new) at->second = combined(fold.kind, at->second, node);
    }
    nodes = std::move(parents);
  }
  return nodes.begin()->second;
}

}  // namespace

std::vector<Fold> folds_of(std::span<const types::Item> results) {
  std::vector<Fold> folds;
  const types::Item last = results.back();
  if (is_folded(last.type)) {
    for (const Fold::Kind kind : {Fold::Kind::Sum, Fold::Kind::Min, Fold::Kind::Max}) {
      folds.push_back({.kind = kind, .type = last.type, .columns = 1, .size = last.size});
    }
  }
  constexpr types::Item kKey{DType::I32, 0};
  if (last == kKey) {
    folds.push_back({.kind = Fold::Kind::Histogram, .type = DType::I64, .columns = 1, .size = 5});
  }
  if (results.size() > 1 && results[results.size() - 2] == kKey && !last.is_row() &&
      is_folded(last.type)) {
    folds.push_back({.kind = Fold::Kind::KeyedSum, .type = last.type, .columns = 2, .size = 3});
  }
  return folds;
}

std::int64_t total_size(const Fold& fold) { return std::max<std::int64_t>(fold.size, 1); }

std::vector<Scalar> expected_total(const Fold& fold, std::int64_t count, std::int64_t first_element,
                                   const ValueOf& value) {
  const base::FloatState state;
  std::vector<Scalar> total;
  if (!fold.is_keyed()) {
    for (std::int64_t p = 0; p < total_size(fold); ++p) {
      total.push_back(expected_value(fold, count, first_element,
                                     [&](std::int64_t i) { return value(0, i, p); }));
    }
    return total;
  }
  const bool counts = fold.kind == Fold::Kind::Histogram;
  total.assign(static_cast<std::size_t>(fold.size), neutral(fold));
  for (std::int64_t i = 0; i < count; ++i) {
    const auto key = value(0, i, 0).as<std::int32_t>();
    if (key < 0 || key >= fold.size) continue;
    Scalar& sum = total[static_cast<std::size_t>(key)];
    sum = combined(Fold::Kind::Sum, sum, counts ? Scalar(std::int64_t{1}) : value(1, i, 0));
  }
  return total;
}

}  // namespace lw::fuzz
