// lw::Fold: an accumulator with a function of the user's.
//
//   lw::Fold<double> length([](lw::f64 a, lw::f64 b) { return lw::hypot(a, b); });
//   lw::map([&](lw::f64 x) { length.add(x); }, xs);
//
// Rows and matrices are combined as wholes, and several values together, as tuples:
//
//   lw::Fold<std::int64_t, lw::Row<double>> mean([](auto a, auto b) { ... });
//   lw::map([&](lw::Row<double> x) { mean.add(1, x); }, lw::Input(points).in_rows(3));
#pragma once

#include <cstring>
#include <functional>
#include <optional>

#include "lanewise/api/vectorize.h"

namespace lw {
namespace api {

/// A value that is folded, a number or a grid: as traced functions have it (Value) and give it
/// (Operand), and as it is outside of them (Plain).
template <class V>
struct Folded {
  using Number = V;
  using Value = Variable<V>;
  using Operand = typename Value::Operand;
  using Plain = V;
  static trace::View view(const Operand& value) { return trace::number_view(value.value); }
  static Value of(const trace::View& view) { return Value::of(view.base); }
  static Plain plain(std::span<const V> values) { return values[0]; }
  static std::span<const V> values(const Plain& value) { return {&value, 1}; }
};
template <class T, int rank>
struct Folded<Grid<T, rank>> {
  static_assert(!std::is_same_v<T, bool>, "rows of bools are not folded: cast them");
  using Number = T;
  using Value = Grid<T, rank>;
  using Operand = Value;
  using Plain = std::vector<T>;  // in C order
  static trace::View view(const Value& value) { return value.view(); }
  static Value of(const trace::View& view) { return Value(view); }
  static Plain plain(std::span<const T> values) { return Plain(values.begin(), values.end()); }
  static std::span<const T> values(const Plain& values) { return values; }
};

/// One thing, or a tuple of several.
template <class... T>
struct OneOrAll {
  using type = std::tuple<T...>;
};
template <class T>
struct OneOrAll<T> {
  using type = T;
};

/// All of a Fold that needs no types of C++.
class FoldOfViews : public Accumulator {
 protected:
  using Views = std::vector<trace::View>;
  using Combine = std::function<Views(const Views& both)>;
  using Values = std::vector<std::vector<std::byte>>;

  FoldOfViews(std::vector<DType> types, Combine combine);

  void add_views(const Views& values);
  /// What has been combined so far; empty: nothing.
  const Values& values() const { return values_; }
  void set(Values values) { values_ = std::move(values); }

 private:
  std::vector<runtime::Fold> folds(std::size_t results) override;
  void take() override;

  void check_shapes(const Views& values);
  /// What the element has, and its values combined with others; both in the open trace.
  Views present();
  Views combined(const Views& both, std::span<const ir::ValueId> taken);
  void write(const Views& values);
  void combine_many(const void* const* inputs, void* const* results, std::int64_t count);
  std::size_t bytes_of(std::size_t i) const;

  std::vector<DType> types_;
  std::vector<types::Shape> shapes_;  // as they were added first; none: not yet
  Combine combine_;
  ElementFunction function_;
  runtime::CombineMany combine_many_;
  Values values_;
  std::vector<std::uint64_t> total_;  // as runtime::Fold has it
};

}  // namespace api

/// What a function of two makes of all that elements add. It takes what has been combined of
/// earlier elements and of later ones, and need not be associative: the order is fixed. V are types
/// of numbers, or lw::Row and its kind, of a shape that the first `add` says; of several the
/// function takes and gives a std::tuple.
template <class... V>
class Fold : public api::FoldOfViews {
 public:
  using Value = typename api::OneOrAll<typename api::Folded<V>::Value...>::type;
  using Plain = typename api::OneOrAll<typename api::Folded<V>::Plain...>::type;

  /// `start` is what calls are combined with at first.
  explicit Fold(std::function<Value(Value, Value)> combine,
                std::optional<Plain> start = std::nullopt)
      : FoldOfViews({types::dtype_of<typename api::Folded<V>::Number>...},
                    [combine = std::move(combine)](const Views& both) {
                      return views(combine(group(both, 0), group(both, sizeof...(V))));
                    }),
        start_(std::move(start)) {
    reset();
  }

  void add(const typename api::Folded<V>::Operand&... values,
           std::source_location here = std::source_location::current()) {
    trace::locate(here);
    add_views({api::Folded<V>::view(values)...});
  }
  /// Nothing, if there is no start and nothing was added.
  std::optional<Plain> value() const {
    if (values().empty()) return std::nullopt;
    return with_places([&]<std::size_t... i>(std::index_sequence<i...>) {
      return Plain{plain<V>(values()[i])...};
    });
  }
  void reset() {
    if (!start_) return set({});
    if constexpr (sizeof...(V) == 1) {
      set({bytes<V...>(*start_)});
    } else {
      std::apply([&](const auto&... one) { set({bytes<V>(one)...}); }, *start_);
    }
  }

 private:
  template <class Use>
  static auto with_places(const Use& use) {
    return use(std::index_sequence_for<V...>{});
  }
  static Value group(const Views& all, std::size_t first) {
    return with_places([&]<std::size_t... i>(std::index_sequence<i...>) {
      return Value{api::Folded<V>::of(all[first + i])...};
    });
  }
  static Views views(const Value& group) {
    if constexpr (sizeof...(V) == 1) {
      return {api::Folded<V>::view(group)...};
    } else {
      return std::apply([](const auto&... one) { return Views{api::Folded<V>::view(one)...}; },
                        group);
    }
  }
  template <class W>
  static typename api::Folded<W>::Plain plain(const std::vector<std::byte>& memory) {
    using Number = typename api::Folded<W>::Number;
    return api::Folded<W>::plain(
        {reinterpret_cast<const Number*>(memory.data()), memory.size() / sizeof(Number)});
  }
  template <class W>
  static std::vector<std::byte> bytes(const typename api::Folded<W>::Plain& value) {
    const auto all = std::as_bytes(api::Folded<W>::values(value));
    return {all.begin(), all.end()};
  }

  std::optional<Plain> start_;
};

}  // namespace lw
