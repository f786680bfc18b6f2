// Accumulators: what all elements of a map add to, in an order that is always the same
// (runtime/fold.h).
//
//   lw::Sum<double> total;
//   lw::map([&](lw::f64 x) { total.add(x * x); }, xs);
//   total.value();
//
// `add` stands in branches and loops like any statement, and happens when its own element comes
// there. Values add up over calls until `reset`; a call that fails adds nothing. A function that
// only adds need not return anything.
#pragma once

#include <limits>

#include "lanewise/api/accumulator.h"
#include "lanewise/trace/control.h"
#include "lanewise/trace/memory.h"

namespace lw {
namespace api {

template <class T>
concept Foldable = std::is_arithmetic_v<T> && !std::is_same_v<T, bool> && types::ElementType<T>;

/// Integers wrap.
template <class T>
T plus(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
  } else {
    return a + b;
  }
}

inline runtime::Fold fold(runtime::Fold::Kind kind, DType type, void* total,
                          std::size_t columns = 1, std::int64_t size = 0) {
  return {.kind = kind,
          .type = type,
          .columns = static_cast<std::uint32_t>(columns),
          .size = size,
          .total = total};
}

/// The value that changes no other.
template <class T>
Scalar zero() {
  return ir::neutral(ir::Collect::Sum, types::dtype_of<T>);
}

/// A sum divided by how many there were, however many that are; rounded once.
template <class T>
T mean(T sum, std::int64_t count) {
  return static_cast<T>(static_cast<double>(sum) / static_cast<double>(count));
}

}  // namespace api

/// The sum of what elements add.
template <api::Foldable T>
class Sum : public Accumulator {
 public:
  void add(const typename Variable<T>::Operand& value) {
    step(0, api::zero<T>(), ops::Op::Add, value.value);
  }
  T value() const { return value_; }
  void reset() { value_ = 0; }

 private:
  std::vector<runtime::Fold> folds(std::size_t) override {
    return {api::fold(runtime::Fold::Kind::Sum, types::dtype_of<T>, &total_)};
  }
  void take() override { value_ = api::plus(value_, total_); }
  T value_ = 0;
  T total_ = 0;
};

/// How many elements came somewhere, or for how many a condition held there.
class Count : public Accumulator {
 public:
  void add(std::source_location here = std::source_location::current()) {
    trace::locate(here);
    step_count(0);
  }
  void add(const boolean& condition, std::source_location here = std::source_location::current()) {
    step_count(0, trace::locate(here).convert(condition.read(), DType::I64));
  }
  std::int64_t value() const { return value_; }
  void reset() { value_ = 0; }

 private:
  std::vector<runtime::Fold> folds(std::size_t) override {
    return {api::fold(runtime::Fold::Kind::Sum, DType::I64, &total_)};
  }
  void take() override { value_ += total_; }
  std::int64_t value_ = 0;
  std::int64_t total_ = 0;
};

/// The sum of what elements add, divided by how often they do; NaN if they never do.
template <api::Foldable T>
  requires std::is_floating_point_v<T>
class Mean : public Accumulator {
 public:
  void add(const typename Variable<T>::Operand& value) {
    step(0, api::zero<T>(), ops::Op::Add, value.value);
    step_count(1);
  }
  T value() const { return api::mean(sum_, count_); }
  std::int64_t count() const { return count_; }
  void reset() {
    sum_ = 0;
    count_ = 0;
  }

 private:
  std::vector<runtime::Fold> folds(std::size_t) override {
    return {api::fold(runtime::Fold::Kind::Sum, types::dtype_of<T>, &total_),
            api::fold(runtime::Fold::Kind::Sum, DType::I64, &counted_)};
  }
  void take() override {
    sum_ += total_;
    count_ += counted_;
  }
  T sum_ = 0;
  std::int64_t count_ = 0;
  T total_ = 0;
  std::int64_t counted_ = 0;
};

namespace api {

template <Foldable T, bool least>
class Extreme : public Accumulator {
 public:
  void add(const typename Variable<T>::Operand& value) {
    step(0, Scalar(kNone), least ? ops::Op::Min : ops::Op::Max, value.value);
  }
  /// The value that changes no other, if nothing was added.
  T value() const { return value_; }
  void reset() { value_ = kNone; }

 private:
  using Limits = std::numeric_limits<T>;
  static constexpr T kNone = Limits::has_infinity
                                 ? (least ? Limits::infinity() : -Limits::infinity())
                                 : (least ? Limits::max() : Limits::lowest());
  std::vector<runtime::Fold> folds(std::size_t) override {
    return {fold(least ? runtime::Fold::Kind::Min : runtime::Fold::Kind::Max, types::dtype_of<T>,
                 &total_)};
  }
  void take() override {
    const bool is_kept = (least ? value_ < total_ : value_ > total_) || value_ != value_;
    if (!is_kept) value_ = total_;
  }
  T value_ = kNone;
  T total_ = kNone;
};

template <Foldable T, bool least>
class ExtremePlace : public Accumulator {
 public:
  void add(const typename Variable<T>::Operand& value) {
    step(0, ir::neutral(least ? ir::Collect::Min : ir::Collect::Max, types::dtype_of<T>),
         least ? ops::Op::Min : ops::Op::Max, value.value);
    step(1, Scalar(false), ops::Op::Or, trace::always());
  }
  /// The number of the element, the first of several; -1 if nothing was added.
  std::int64_t place() const { return best_.place; }
  /// What it added.
  T value() const { return best_.value; }
  void reset() { best_ = {}; }

 private:
  struct Best {
    alignas(8) T value = 0;
    alignas(8) std::int64_t place = -1;
  };
  std::vector<runtime::Fold> folds(std::size_t) override {
    return {fold(least ? runtime::Fold::Kind::ArgMin : runtime::Fold::Kind::ArgMax,
                 types::dtype_of<T>, &total_, 2)};
  }
  void take() override {
    if (total_.place < 0) return;
    const bool is_nan = total_.value != total_.value && best_.value == best_.value;
    const bool is_better = least ? total_.value < best_.value : total_.value > best_.value;
    if (best_.place < 0 || is_nan || is_better) best_ = total_;
  }
  Best best_;
  Best total_;
};

}  // namespace api

/// The least and the greatest of what elements add; a NaN if there is one.
template <api::Foldable T>
class Min : public api::Extreme<T, true> {};
template <api::Foldable T>
class Max : public api::Extreme<T, false> {};
/// Which element adds the least or the greatest value, or the first NaN.
template <api::Foldable T>
class ArgMin : public api::ExtremePlace<T, true> {};
template <api::Foldable T>
class ArgMax : public api::ExtremePlace<T, false> {};

namespace api {

/// A key, which is checked: outside of 0 .. size - 1 the element fails.
ir::ValueId checked_key(const trace::Index& key, std::int64_t size);
/// Records a key, and a value if there is one, at a place where an element comes at most once.
void add_site(std::vector<ir::ValueId>& slots, ir::ValueId key, ir::ValueId value = ir::kNone);
std::int64_t checked_keys(std::int64_t keys);

}  // namespace api

/// How often each number from 0 to below `bins` was added. In loops there may be 256 of them.
class Histogram : public Accumulator {
 public:
  explicit Histogram(std::int64_t bins)
      : value_(static_cast<std::size_t>(api::checked_keys(bins))), total_(value_), own_(*this) {}
  void add(const trace::Index& key);
  const std::vector<std::int64_t>& value() const { return value_; }
  void reset() { value_.assign(value_.size(), 0); }

 private:
  /// What elements count in arrays of their own.
  class Own : public Accumulator {
   public:
    explicit Own(Histogram& of) : of_(of), total_(of.value_.size()) {}
    void add(ir::ValueId key);

   private:
    std::vector<runtime::Fold> folds(std::size_t) override {
      return {
          api::fold(runtime::Fold::Kind::Sum, DType::I64, total_.data(), 1, std::ssize(total_))};
    }
    void take() override { of_.add_counts(total_); }
    Histogram& of_;
    std::vector<std::int64_t> total_;
  };

  std::vector<runtime::Fold> folds(std::size_t results) override {
    return {api::fold(runtime::Fold::Kind::Histogram, DType::I64, total_.data(), results,
                      std::ssize(total_))};
  }
  void take() override { add_counts(total_); }
  void add_counts(const std::vector<std::int64_t>& counts) {
    for (std::size_t i = 0; i < value_.size(); ++i) value_[i] += counts[i];
  }
  std::vector<std::int64_t> value_;
  std::vector<std::int64_t> total_;
  Own own_;
};

/// A sum for each key from 0 to below `keys`, added in the order of the elements. An element adds
/// at most once at each place of the function.
template <api::Foldable T>
class KeyedSum : public Accumulator {
 public:
  explicit KeyedSum(std::int64_t keys)
      : value_(static_cast<std::size_t>(api::checked_keys(keys))), total_(value_) {}
  void add(const trace::Index& key, const typename Variable<T>::Operand& value) {
    api::add_site(partials(), api::checked_key(key, std::ssize(value_)), value.value);
  }
  const std::vector<T>& value() const { return value_; }
  void reset() { value_.assign(value_.size(), 0); }

 private:
  std::vector<runtime::Fold> folds(std::size_t results) override {
    return {api::fold(runtime::Fold::Kind::KeyedSum, types::dtype_of<T>, total_.data(), results,
                      std::ssize(total_))};
  }
  void take() override {
    for (std::size_t i = 0; i < value_.size(); ++i) value_[i] = api::plus(value_[i], total_[i]);
  }
  std::vector<T> value_;
  std::vector<T> total_;
};

}  // namespace lw
