// What all accumulators (api/accumulators.h) have in common, and how a call uses them.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "lanewise/ir/function.h"
#include "lanewise/runtime/fold.h"
#include "lanewise/trace/control.h"
#include "lanewise/trace/ragged.h"

namespace lw {

class ElementFunction;
namespace api {
class Accumulating;
}

/// Something outside of a map that its elements add to. The function has it by reference, and it
/// has to outlive the calls.
class Accumulator {
 public:
  Accumulator() = default;
  virtual ~Accumulator() = default;
  Accumulator(const Accumulator&) = delete;  // the function would add to a copy
  Accumulator& operator=(const Accumulator&) = delete;

 protected:
  /// What becomes of so many results of the program; totals are memory of the accumulator's own.
  virtual std::vector<runtime::Fold> folds(std::size_t results) = 0;
  /// Adds the totals of a call that has ended well.
  virtual void take() = 0;

  /// Slots and arrays of the function that is being traced.
  std::vector<ir::ValueId>& partials() { return trace::Trace::current().partials_of(this); }
  /// Combines slot `index`, which begins with `initial`, with a value.
  void step(std::size_t index, const Scalar& initial, ops::Op op, ir::ValueId value);
  /// Adds a number, an i64, to slot `index`; without one, 1.
  void step_count(std::size_t index, ir::ValueId number = ir::kNone);

 private:
  friend api::Accumulating;
  std::atomic<bool> is_used_{false};
};

namespace api {

/// An accumulator, and how many results of a program are for it.
struct AccumulatorUse {
  Accumulator* accumulator;
  std::size_t results;
};

/// Rows that a function gives back, which its elements write to a target (api/ragged_call.h).
struct WrittenRows {
  std::size_t place = 0;                    // among the results of the function
  std::optional<std::size_t> offsets = {};  // the argument that says where rows begin; none: they
                                            // have lengths of their own (api/row_lengths.h)
  DType type = DType::F32;                  // of the values
};

/// A function as it was traced.
struct Traced {
  Traced(ir::Function f, std::vector<AccumulatorUse> u = {},  // NOLINT: implicit
         std::vector<types::Shape> s = {})
      : function(std::move(f)), uses(std::move(u)), shapes(std::move(s)) {}
  ir::Function function;
  std::vector<AccumulatorUse> uses;
  std::vector<types::Shape> shapes;  // of the results that are stored; none: rows are rows
  std::vector<WrittenRows> rows = {};
};
/// Ends a trace; `is_masked`: all of it stands in a region.
Traced finish(trace::Trace& trace, trace::ResultList results, bool is_masked);
/// How many results are not stored.
std::size_t folded_results(std::span<const AccumulatorUse> uses);

/// Accumulators while a call adds to them: one at a time may.
class Accumulating {
 public:
  explicit Accumulating(std::span<const AccumulatorUse> uses);
  ~Accumulating();
  Accumulating(const Accumulating&) = delete;
  Accumulating& operator=(const Accumulating&) = delete;

  std::span<const runtime::Fold> folds() const { return folds_; }
  /// Says that the call has ended well.
  void take();

 private:
  std::vector<Accumulator*> held_;
  std::vector<runtime::Fold> folds_;
};

}  // namespace api
}  // namespace lw
