#include "tests/fuzz/folds.h"

#include <algorithm>
#include <map>
#include <optional>

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
  const bool is_min = fold.kind == Fold::Kind::Min || fold.kind == Fold::Kind::ArgMin;
  const bool is_max = fold.kind == Fold::Kind::Max || fold.kind == Fold::Kind::ArgMax;
  return ir::neutral(is_min   ? ir::Collect::Min
                     : is_max ? ir::Collect::Max
                              : ir::Collect::Sum,
                     fold.type);
}

/// What becomes of what elements have, in the order of runtime/fold.h. Stripes begin with `start`;
/// what is missing is skipped.
template <class T>
std::optional<T> in_order(std::int64_t count, std::int64_t first_element, std::optional<T> start,
                          const std::function<std::optional<T>(std::int64_t)>& value,
                          const std::function<T(const T&, const T&)>& combine) {
  using Maybe = std::optional<T>;
  const auto take = [&](Maybe& left, const Maybe& right) {
    if (right) left = left ? combine(*left, *right) : *right;
  };
  std::map<std::int64_t, std::vector<Maybe>> blocks;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t number = first_element + i;
    std::vector<Maybe>& stripes = blocks[number >> 10];
    stripes.resize(64, start);
    take(stripes[static_cast<std::size_t>(number & 63)], value(i));
  }
  std::map<std::int64_t, Maybe> nodes;
  for (auto& [number, stripes] : blocks) {
    for (std::size_t half = 32; half > 0; half /= 2) {
      for (std::size_t s = 0; s < half; ++s) take(stripes[s], stripes[s + half]);
    }
    nodes[number] = stripes[0];
  }
  while (nodes.size() > 1) {
    std::map<std::int64_t, Maybe> parents;
    for (const auto& [number, node] : nodes) {
      const auto [at, is_new] = parents.emplace(number >> 1, node);
      if (!is_new) take(at->second, node);
    }
    nodes = std::move(parents);
  }
  return nodes.begin()->second;
}

Scalar expected_value(const Fold& fold, std::int64_t count, std::int64_t first_element,
                      const std::function<Scalar(std::int64_t)>& value) {
  return *in_order<Scalar>(
      count, first_element, neutral(fold), [&](std::int64_t i) { return value(i); },
      [&](const Scalar& a, const Scalar& b) { return combined(fold.kind, a, b); });
}

/// What `combining` makes of two values.
Scalar mixed(const Scalar& left, const Scalar& right) {
  return with_numbers(left, right, [&]<class T>(T a, T b) -> T {
    if constexpr (std::is_integral_v<T>) {
      using U = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<U>(static_cast<U>(a) * U{31}) ^ static_cast<U>(b));
    } else {
      return a / 2 - b;
    }
  });
}

std::vector<Part> expected_group(std::span<const types::Item> items, std::int64_t count,
                                 std::int64_t first_element, const ValueOf& value) {
  using Group = std::vector<Scalar>;
  const auto group = [&](std::int64_t i) -> std::optional<Group> {
    if (!value(0, i, 0).as<bool>()) return std::nullopt;
    Group all;
    for (std::size_t c = 1; c < items.size(); ++c) {
      for (std::int64_t p = 0; p < items[c].values(); ++p) all.push_back(value(c, i, p));
    }
    return all;
  };
  const auto combine = [](const Group& left, const Group& right) {
    Group all;
    for (std::size_t i = 0; i < left.size(); ++i) all.push_back(mixed(left[i], right[i]));
    return all;
  };
  const auto found = in_order<Group>(count, first_element, std::nullopt, group, combine);
  std::vector<Part> total = {{Scalar(std::int64_t{found.has_value()}), 0}};
  if (!found) return total;
  for (const Scalar& part : *found) total.push_back({part, 8 * total.size()});
  return total;
}

/// The first element with the least or greatest value, or with a NaN.
std::vector<Part> expected_place(const Fold& fold, std::int64_t count, std::int64_t first_element,
                                 const ValueOf& value) {
  std::int64_t best = -1;
  const auto is_better = [&](const Scalar& a, const Scalar& b) {
    bool is_so = false;
    with_numbers(a, b, [&]<class T>(T x, T y) -> T {
      is_so = y == y && (x != x || (fold.kind == Fold::Kind::ArgMin ? x < y : x > y));
      return x;
    });
    return is_so;
  };
  for (std::int64_t i = 0; i < count; ++i) {
    if (!value(1, i, 0).as<bool>()) continue;
    if (best < 0 || is_better(value(0, i, 0), value(0, best, 0))) best = i;
  }
  if (best < 0) return {{Scalar(std::int64_t{-1}), 8}};
  return {{value(0, best, 0), 0}, {Scalar(first_element + best), 8}};
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
  constexpr types::Item kIsThere{DType::Bool, 0};
  if (results.size() > 1 && last == kIsThere) {
    const types::Item item = results[results.size() - 2];
    for (const Fold::Kind kind : {Fold::Kind::ArgMin, Fold::Kind::ArgMax}) {
      if (item.is_row() || !is_folded(item.type)) continue;
      folds.push_back({.kind = kind, .type = item.type, .columns = 2});
    }
  }
  Fold group{.kind = Fold::Kind::Combine, .columns = 1};
  for (auto item = results.rbegin(); item != results.rend(); ++item, ++group.columns) {
    if (*item == kIsThere && group.columns > 1) folds.push_back(group);
    if (!is_folded(item->type)) break;
    group.size += item->values();
  }
  return folds;
}

std::size_t total_words(const Fold& fold) {
  return static_cast<std::size_t>(std::max<std::int64_t>(fold.size, 1)) + 1;
}

runtime::CombineMany combining(std::vector<types::Item> items) {
  return [items = std::move(items)](const void* const* inputs, void* const* results,
                                    std::int64_t count) {
    const base::FloatState state;
    for (std::size_t c = 0; c < items.size(); ++c) {
      const auto* left = static_cast<const std::byte*>(inputs[c]);
      const auto* right = static_cast<const std::byte*>(inputs[items.size() + c]);
      auto* result = static_cast<std::byte*>(results[c]);
      const auto size = static_cast<std::int64_t>(types::size_of(items[c].type));
      for (std::int64_t at = 0; at < count * items[c].bytes(); at += size) {
        const auto load = [&](const std::byte* from) {
          return Scalar::load(items[c].type, from + at);
        };
        mixed(load(left), load(right)).store(result + at);
      }
    }
  };
}

bool is_allowed(const Fold& fold, std::int64_t count, const ValueOf& value) {
  if (!fold.gives_place()) return true;
  for (std::int64_t i = 0; i < count; ++i) {
    if (!value(1, i, 0).as<bool>() && value(0, i, 0) != neutral(fold)) return false;
  }
  return true;
}

std::vector<Part> expected_total(const Fold& fold, std::span<const types::Item> items,
                                 std::int64_t count, std::int64_t first_element,
                                 const ValueOf& value) {
  const base::FloatState state;
  if (fold.kind == Fold::Kind::Combine) return expected_group(items, count, first_element, value);
  if (fold.gives_place()) return expected_place(fold, count, first_element, value);
  std::vector<Part> total;
  const auto add = [&](const Scalar& part) {
    total.push_back({part, total.size() * types::size_of(fold.type)});
  };
  if (!fold.is_keyed()) {
    for (std::int64_t p = 0; p < std::max<std::int64_t>(fold.size, 1); ++p) {
      add(expected_value(fold, count, first_element,
                         [&](std::int64_t i) { return value(0, i, p); }));
    }
    return total;
  }
  const bool counts = fold.kind == Fold::Kind::Histogram;
  for (std::int64_t key = 0; key < fold.size; ++key) add(neutral(fold));
  for (std::int64_t i = 0; i < count; ++i) {
    const auto key = value(0, i, 0).as<std::int32_t>();
    if (key < 0 || key >= fold.size) continue;
    Scalar& sum = total[static_cast<std::size_t>(key)].value;
    sum = combined(Fold::Kind::Sum, sum, counts ? Scalar(std::int64_t{1}) : value(1, i, 0));
  }
  return total;
}

}  // namespace lw::fuzz
