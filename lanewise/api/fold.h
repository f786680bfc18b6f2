// lw::Fold: an accumulator with a function of the user's.
//
//   lw::Fold<double> largest([](lw::f64 a, lw::f64 b) { return lw::hypot(a, b); });
//   lw::map([&](lw::f64 x) { largest.add(x); }, xs);
#pragma once

#include <functional>
#include <optional>

#include "lanewise/api/vectorize.h"

namespace lw {

/// What a function of two makes of all that elements add. It takes what has been combined of
/// earlier elements and of later ones, and need not be associative: the order is fixed.
template <types::ElementType T>
class Fold : public Accumulator {
 public:
  using Value = Variable<T>;
  using Combine = std::function<Value(Value, Value)>;

  /// `start` is what calls are combined with at first.
  explicit Fold(Combine combine, std::optional<T> start = std::nullopt)
      : combine_(std::move(combine)),
        function_(
            [this](std::span<const Input> inputs) {
              const auto both = [this](Value a, Value b) { return combine_(a, b); };
              return api::trace_function(both, "combine", inputs);
            },
            {.name = "combine", .schedule = {}}),
        start_(start),
        value_(start) {}

  void add(const typename Value::Operand& value) {
    trace::Trace& trace = trace::Trace::current();
    if (partials().empty()) {
      const ir::ValueId is_there = trace.first_slot(Scalar(false));
      partials() = {is_there, trace.first_slot(types::scalar_of(types::dtype_of<T>, 0))};
    }
    const ir::ValueId is_there = partials()[0], slot = partials()[1];
    If(
        boolean::of(trace.read(is_there)),
        [&] {
          const Value both = combine_(Value::of(trace.read(slot)), Value::of(value.value));
          trace.write(slot, both.read());
        },
        [&] { trace.write(slot, value.value); });
    trace.write(is_there, trace::always());
  }
  /// Nothing, if there is no start and nothing was added.
  std::optional<T> value() const { return value_; }
  void reset() { value_ = start_; }

 private:
  std::vector<runtime::Fold> folds(std::size_t results) override {
    runtime::Fold fold = api::fold(runtime::Fold::Kind::Combine, DType::Bool, &total_, results);
    fold.combine = &combine_many_;
    return {fold};
  }
  void take() override {
    if (total_.is_there == 0) return;
    T result = total_.value;
    if (value_) {
      const void* const inputs[] = {&*value_, &total_.value};
      void* const outputs[] = {&result};
      combine_many_(inputs, outputs, 1);
    }
    value_ = result;
  }

  Combine combine_;
  ElementFunction function_;
  runtime::CombineMany combine_many_ = [this](const void* const* inputs, void* const* results,
                                              std::int64_t count) {
    constexpr DType kType = types::dtype_of<T>;
    const Input both[] = {{kType, inputs[0], count}, {kType, inputs[1], count}};
    const Output output(kType, results[0], count);
    function_.call_into({&output, 1}, both, {.threads = 1});
  };
  std::optional<T> start_;
  std::optional<T> value_;
  struct {
    std::int64_t is_there = 0;
    alignas(8) T value{};
  } total_;
};

}  // namespace lw
