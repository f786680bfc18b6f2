#include "lanewise/api/accumulator.h"

#include "lanewise/base/error.h"

namespace lw {

void Accumulator::step(std::size_t index, const Scalar& initial, ops::Op op, ir::ValueId value) {
  trace::Trace& trace = trace::Trace::current();
  std::vector<ir::ValueId>& slots = partials();
  if (slots.size() == index) slots.push_back(trace.first_slot(initial));
  trace.write(slots[index], trace.builder().op(op, {trace.read(slots[index]), value}));
}

void Accumulator::step_count(std::size_t index, ir::ValueId number) {
  if (number == ir::kNone) {
    number = trace::Trace::current().builder().constant(Scalar(std::int64_t{1}));
  }
  step(index, Scalar(std::int64_t{0}), ops::Op::Add, number);
}

namespace api {

Traced finish(trace::Trace& trace, trace::ResultList results, bool is_masked) {
  if (is_masked) results.values = trace.end_region(results.values);
  std::vector<AccumulatorUse> uses;
  for (const trace::Trace::Partials& partials : trace.partials()) {
    uses.push_back({static_cast<Accumulator*>(partials.owner), partials.values.size()});
  }
  return {trace.finish(results.values), std::move(uses), std::move(results.shapes)};
}

std::size_t folded_results(std::span<const AccumulatorUse> uses) {
  std::size_t results = 0;
  for (const AccumulatorUse& use : uses) results += use.results;
  return results;
}

Accumulating::Accumulating(std::span<const AccumulatorUse> uses) {
  try {
    for (const AccumulatorUse& use : uses) {
      if (use.accumulator->is_used_.exchange(true)) {
        throw UsageError(
            "map: an accumulator is in use; got a call that adds to it while another does, "
            "expected one at a time. Use one accumulator for each thread.");
      }
      held_.push_back(use.accumulator);
      for (const runtime::Fold& fold : use.accumulator->folds(use.results)) folds_.push_back(fold);
    }
  } catch (...) {
    for (Accumulator* const accumulator : held_) accumulator->is_used_ = false;
    throw;
  }
}

Accumulating::~Accumulating() {
  for (Accumulator* const accumulator : held_) accumulator->is_used_ = false;
}

void Accumulating::take() {
  for (Accumulator* const accumulator : held_) accumulator->take();
}

}  // namespace api
}  // namespace lw
