// Accumulators of rows, matrices and images: one value for each place, in the orders of the others
// (api/accumulators.h).
//
//   lw::RowSum<double> total(784);
//   lw::map([&](lw::Row<double> x) { total.add(x * x); }, lw::Input(images).in_rows(784));
#pragma once

#include "lanewise/api/accumulators.h"
#include "lanewise/trace/grid.h"

namespace lw {
namespace api {

std::int64_t checked_row_size(std::int64_t size);
/// Combines the array of an accumulator, which is made the first time, with values.
void add_row(std::vector<ir::ValueId>& partials, ir::Collect how, std::int64_t size,
             const trace::View& values);

template <Foldable T, ir::Collect how>
class RowAccumulator : public Accumulator {
 public:
  /// Of so many values; at most 4096.
  explicit RowAccumulator(std::int64_t size)
      : value_(static_cast<std::size_t>(checked_row_size(size)), kStart), total_(value_) {}

  /// Adds all values, in C order.
  template <int rank>
  void add(const Grid<T, rank>& values,
           std::source_location here = std::source_location::current()) {
    trace::locate(here);
    add_row(partials(), how, std::ssize(value_), values.view());
  }
  const std::vector<T>& value() const { return value_; }
  void reset() { value_.assign(value_.size(), kStart); }

 private:
  static constexpr bool kIsSum = how == ir::Collect::Sum;
  using Limits = std::numeric_limits<T>;
  static constexpr T kLeast = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  static constexpr T kMost = Limits::has_infinity ? Limits::infinity() : Limits::max();
  static constexpr T kStart = kIsSum ? T(0) : how == ir::Collect::Min ? kMost : kLeast;

  std::vector<runtime::Fold> folds(std::size_t) override {
    using Kind = runtime::Fold::Kind;
    constexpr Kind kind = kIsSum ? Kind::Sum : how == ir::Collect::Min ? Kind::Min : Kind::Max;
    return {fold(kind, types::dtype_of<T>, total_.data(), 1, std::ssize(total_))};
  }
  void take() override {
    for (std::size_t i = 0; i < value_.size(); ++i) {
      if constexpr (kIsSum) {
        value_[i] = plus(value_[i], total_[i]);
      } else {
        const bool is_first =
            how == ir::Collect::Min ? value_[i] < total_[i] : value_[i] > total_[i];
        if (!is_first && value_[i] == value_[i]) value_[i] = total_[i];
      }
    }
  }
  std::vector<T> value_;
  std::vector<T> total_;
};

}  // namespace api

/// The sum of what elements add, place by place.
template <api::Foldable T>
class RowSum : public api::RowAccumulator<T, ir::Collect::Sum> {
  using api::RowAccumulator<T, ir::Collect::Sum>::RowAccumulator;
};
/// The same divided by how often elements add; NaN if they never do.
template <api::Foldable T>
  requires std::is_floating_point_v<T>
class RowMean : public Accumulator {
 public:
  /// As RowSum.
  explicit RowMean(std::int64_t size)
      : sums_(static_cast<std::size_t>(api::checked_row_size(size))), total_(sums_) {}

  template <int rank>
  void add(const Grid<T, rank>& values,
           std::source_location here = std::source_location::current()) {
    trace::locate(here);
    api::add_row(partials(), ir::Collect::Sum, std::ssize(sums_), values.view());
    step_count(1);
  }
  std::vector<T> value() const {
    std::vector<T> means = sums_;
    for (T& mean : means) mean = api::mean(mean, count_);
    return means;
  }
  std::int64_t count() const { return count_; }
  void reset() {
    sums_.assign(sums_.size(), 0);
    count_ = 0;
  }

 private:
  std::vector<runtime::Fold> folds(std::size_t) override {
    return {api::fold(runtime::Fold::Kind::Sum, types::dtype_of<T>, total_.data(), 1,
                      std::ssize(total_)),
            api::fold(runtime::Fold::Kind::Sum, DType::I64, &counted_)};
  }
  void take() override {
    for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i] += total_[i];
    count_ += counted_;
  }
  std::vector<T> sums_;
  std::vector<T> total_;
  std::int64_t count_ = 0;
  std::int64_t counted_ = 0;
};
/// The least and the greatest at each place; a NaN if there is one.
template <api::Foldable T>
class RowMin : public api::RowAccumulator<T, ir::Collect::Min> {
  using api::RowAccumulator<T, ir::Collect::Min>::RowAccumulator;
};
template <api::Foldable T>
class RowMax : public api::RowAccumulator<T, ir::Collect::Max> {
  using api::RowAccumulator<T, ir::Collect::Max>::RowAccumulator;
};

}  // namespace lw
