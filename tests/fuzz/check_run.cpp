// One program on one tier, in all the ways of a trial.
#include <fmt/core.h>
#include <immintrin.h>

#include <algorithm>

#include "lanewise/api/backends.h"
#include "lanewise/base/error.h"
#include "lanewise/runtime/compile_queue.h"
#include "lanewise/transform/passes.h"
#include "tests/fuzz/arrays.h"
#include "tests/fuzz/checks.h"
#include "tests/fuzz/coverage.h"
#include "tests/fuzz/folds.h"

namespace lw::fuzz {
namespace {

/// Floating-point settings of the caller that no result may depend on.
class Disturbance {
 public:
  explicit Disturbance(bool disturbed) : saved_(_mm_getcsr()) {
    constexpr unsigned kFlush = 0x8040;  // results, and operands
    constexpr unsigned kRoundUp = 0x4000;
    if (disturbed) _mm_setcsr(saved_ | kFlush | kRoundUp);
    set_ = _mm_getcsr() & kControl;
  }
  ~Disturbance() { _mm_setcsr(saved_); }
  Disturbance(const Disturbance&) = delete;
  Disturbance& operator=(const Disturbance&) = delete;
  bool is_kept() const { return (_mm_getcsr() & kControl) == set_; }

 private:
  static constexpr unsigned kControl = 0xffc0;
  unsigned saved_;
  unsigned set_;
};

class Runner {
 public:
  Runner(const Trial& trial, const ir::Function& function)
      : trial_(trial),
        function_(function),
        program_(std::make_shared<runtime::Program>(
            transform::run(function, {.step_counter = trial.step_counter}), trial.wish,
            api::cpu_backend())),
        reads_numbers_(reads_numbers(function)),
        writes_rows_(std::any_of(function.params.begin(), function.params.end(),
                                 [](const ir::Param& p) { return p.is_target(); })) {}

  Verdict run(const Inputs& inputs, std::span<const ir::Evaluation> truth) {
    std::vector<std::int64_t> survivors;
    std::vector<std::int64_t> failing;
    for (std::int64_t i = 0; i < inputs.count; ++i) {
      (truth[static_cast<std::size_t>(i)].failure ? failing : survivors).push_back(i);
    }
    if (!failing.empty()) run_failing(inputs, truth, failing[0]);
    if (reads_numbers_) {
      survivors = longest_run(survivors);
    } else if (!failing.empty()) {
      // Once more with the failing ones behind the others.
      std::vector<std::int64_t> order = survivors;
      order.insert(order.end(), failing.begin(), failing.end());
      run_failing(subset(function_, inputs, order), pick(truth, order), std::ssize(survivors));
    }
    if (!survivors.empty()) run_good(subset(function_, inputs, survivors), pick(truth, survivors));
    runtime::wait_for_compiles();
    count_coverage();
    return verdict_;
  }

 private:
  static std::vector<ir::Evaluation> pick(std::span<const ir::Evaluation> truth,
                                          std::span<const std::int64_t> elements) {
    std::vector<ir::Evaluation> result;
    for (const std::int64_t i : elements) result.push_back(truth[static_cast<std::size_t>(i)]);
    return result;
  }

  /// The most places that stand one behind the other.
  static std::vector<std::int64_t> longest_run(std::span<const std::int64_t> places) {
    std::size_t begin = 0;
    std::span<const std::int64_t> longest;
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (i > 0 && places[i] != places[i - 1] + 1) begin = i;
      if (i + 1 - begin > longest.size()) longest = places.subspan(begin, i + 1 - begin);
    }
    return {longest.begin(), longest.end()};
  }

  std::vector<Way> ways() const {
    if (trial_.only) return {*trial_.only};
    const std::int64_t lanes = trial_.wish.lanes.value_or(128);
    const std::int64_t packet = lanes * trial_.wish.interleave.value_or(2);
    return trial_.sample ? some_ways(lanes, packet, Random(*trial_.sample))
                         : all_ways(lanes, packet);
  }

  /// Many elements are as many as make the map worth several threads, unless small chunks would
  /// take too long. Elements with numbers, or places for rows, of their own cannot be repeated.
  std::int64_t count_of(const Way& way, const Inputs& inputs) const {
    if (reads_numbers_ || writes_rows_) {
      return way.count > 0 ? std::min(way.count, inputs.count) : inputs.count;
    }
    if (way.count > 0) return way.count;
    constexpr double kWorthThreads = 55e3;  // ns
    const auto many = static_cast<std::int64_t>(kWorthThreads / program_->element_ns());
    constexpr std::int64_t kMostBytes = 4 << 20;  // of elements, if those are long
    const std::int64_t fitting = std::min<std::int64_t>(40000, kMostBytes / element_bytes());
    const std::int64_t count = std::clamp(many, inputs.count, std::max(fitting, inputs.count));
    const std::int64_t most = trial_.compile == runtime::CompileMode::Now ? 6000 : 600;
    const bool takes_long = way.chunk > 0 && count / way.chunk > most;
    return way.count == Way::kInputs || takes_long ? inputs.count : count;
  }

  std::int64_t element_bytes() const {
    std::int64_t bytes = 1;
    for (const ir::Param& p : function_.params) bytes += p.is_mapped() ? p.item().bytes() : 0;
    for (const types::Item& item : function_.results) bytes += item.bytes();
    return bytes;
  }

  /// The element that fails first, or -1.
  std::int64_t execute(const runtime::Buffers& buffers, const Inputs& inputs, const Way& way) {
    coverage().count(Counter::Runs);
    coverage().count(trial_, way);
    PresentWay::get().set(way);
    const std::int64_t count = buffers.count;
    try {
      const runtime::RunStats stats = runtime::execute(*program_, buffers,
                                                       {.threads = way.threads,
                                                        .max_steps = trial_.max_steps,
                                                        .chunk = way.chunk == 0 ? count : way.chunk,
                                                        .compile = trial_.compile,
                                                        .seed = inputs.seed(function_),
                                                        .first_element = inputs.first_element});
      coverage().count(Counter::SeveralWorkers, stats.workers > 1);
    } catch (const ElementError& error) {
      coverage().count(Counter::Failing);
      message_ = error.what();
      return error.element();
    }
    return -1;
  }

  void disagree(std::string kind, const Arrays& arrays, const Way& way, std::string_view problem) {
    const std::int64_t count = arrays.buffers().count;
    verdict_.kind = std::move(kind);
    verdict_.problem = fmt::format("{} elements{}, {} threads, chunks of {}: {}", count,
                                   way.strided ? " that stand apart" : "", way.threads,
                                   way.chunk == 0 ? count : way.chunk, problem);
    verdict_.way = way;
  }

  /// Inputs none of which fails.
  void run_good(const Inputs& inputs, std::span<const ir::Evaluation> truth) {
    Arrays arrays(function_, inputs, truth);
    for (const Way& way : ways()) {
      if (!verdict_.agrees()) return;
      arrays.set_layout(count_of(way, inputs), way.strided);
      arrays.poison();
      const std::int64_t failed = execute(arrays.buffers(), inputs, way);
      const std::string found =
          failed < 0 ? arrays.mismatch() : fmt::format("element {} should not fail", failed);
      if (!found.empty()) disagree(failed < 0 ? "value" : "failure", arrays, way, found);
    }
    fold_results(arrays, inputs);
  }

  /// The last results once more, folded as those of accumulators are, in a way that depends on the
  /// program.
  void fold_results(Arrays& arrays, const Inputs& inputs) {
    const bool is_strided = function_.values.size() % 4 == 0;
    const std::vector<Way> list =
        trial_.only ? std::vector<Way>{*trial_.only}
                    : std::vector<Way>{{1, 0, Way::kInputs}, {3, 64, Way::kMany, is_strided}};
    for (runtime::Fold& fold : chosen_folds(arrays, inputs.count)) {
      const auto items = std::span(function_.results).last(fold.columns);
      const runtime::CombineMany combine = combining({items.begin() + 1, items.end()});
      fold.combine = &combine;
      std::vector<std::uint64_t> memory(total_words(fold));
      fold.total = memory.data();
      for (const Way& way : list) {
        if (!verdict_.agrees()) return;
        fold_in(way, fold, items, arrays, inputs);
      }
    }
  }

  /// Few programs have others than sums and extremes of numbers: those are taken every other time.
  std::vector<runtime::Fold> chosen_folds(const Arrays& arrays, std::int64_t count) const {
    std::vector<runtime::Fold> all = folds_of(function_.results);
    std::erase_if(all, [&](const runtime::Fold& fold) {
      return !is_allowed(fold, count, values_of(fold, arrays));
    });
    if (!trial_.sample || all.empty()) return all;
    std::vector<runtime::Fold> rare = all;
    std::erase_if(rare, [](const runtime::Fold& f) { return f.kind <= runtime::Fold::Kind::Max; });
    Random random(*trial_.sample);
    return {random.pick(!rare.empty() && random.chance(60) ? rare : all)};
  }

  /// What is folded.
  ValueOf values_of(const runtime::Fold& fold, const Arrays& arrays) const {
    const std::size_t first = function_.results.size() - fold.columns;
    return [first, &arrays](std::size_t column, std::int64_t element, std::int64_t position) {
      return arrays.truth(first + column, element, position);
    };
  }

  void fold_in(const Way& way, const runtime::Fold& fold, std::span<const types::Item> items,
               Arrays& arrays, const Inputs& inputs) {
    arrays.set_layout(count_of(way, inputs), way.strided);
    arrays.poison();
    const runtime::Buffers buffers = arrays.folding(fold);
    const std::int64_t failed = execute(buffers, inputs, way);
    coverage().count(Counter::Folded);
    coverage().count(Counter::Keyed, fold.is_keyed());
    coverage().count(Counter::Places, fold.gives_place());
    coverage().count(Counter::Combined, fold.kind == runtime::Fold::Kind::Combine);
    coverage().count(Counter::FoldedRows, fold.kind <= runtime::Fold::Kind::Max && fold.size > 0);
    const std::vector<Part> expected =
        expected_total(fold, items, buffers.count, inputs.first_element, values_of(fold, arrays));
    const auto* total = static_cast<const std::byte*>(fold.total);
    for (const Part& part : expected) {
      const Scalar found = Scalar::load(part.value.type(), total + part.offset);
      // How many are "many" depends on estimates that a background compile makes better.
      if (way.count == Way::kInputs) {
        verdict_.digest = combine(verdict_.digest, found.canonical().bits());
      }
      if (failed < 0 && found == part.value) continue;
      disagree("value", arrays, way,
               fmt::format("folded in way {}: expected {}, got {}", static_cast<int>(fold.kind),
                           types::to_string(part.value), types::to_string(found)));
    }
  }

  void run_failing(const Inputs& inputs, std::span<const ir::Evaluation> truth,
                   std::int64_t lowest) {
    Arrays arrays(function_, inputs, truth);
    for (const Way& way : ways()) {
      if (!verdict_.agrees()) return;
      arrays.set_layout(count_of(way, inputs), way.strided);
      const std::int64_t failed = execute(arrays.buffers(), inputs, way);
      const std::int64_t expected = lowest < arrays.buffers().count ? lowest : -1;
      if (failed != expected) {
        disagree("failure", arrays, way,
                 fmt::format("expected that element {} fails first, got {} (-1: none)", expected,
                             failed));
      } else if (failed >= 0 && message_.find(words_of(truth, failed)) == std::string::npos) {
        disagree("failure", arrays, way,
                 fmt::format("expected '{}' in '{}'", words_of(truth, failed), message_));
      }
    }
  }

  /// What the message about a failing element says.
  static std::string_view words_of(std::span<const ir::Evaluation> truth, std::int64_t element) {
    switch (truth[static_cast<std::size_t>(element)].failure->kind) {
      case ir::FailKind::DivisionByZero:
        return "divides an integer by zero";
      case ir::FailKind::StepLimit:
        return "took more loop steps";
      case ir::FailKind::Index:
        return "uses an index";
      case ir::FailKind::Lengths:
        return "combines rows of different lengths";
      case ir::FailKind::Empty:
        return "has a row without values";
      case ir::FailKind::Singular:
        return "has a singular matrix";
      case ir::FailKind::NotPositive:
        return "has a matrix that is not positive";
      case ir::FailKind::NotFinite:
        return "has a value that is not finite";
      case ir::FailKind::Conversion:
        return "converts a number that does not fit";
      case ir::FailKind::Check:
        return "failed";
    }
    return "";
  }

  void count_coverage() const {
    coverage().count(trial_);
    coverage().count(Counter::Limited, trial_.step_counter.has_value());
    if (trial_.compile != runtime::CompileMode::Now) return;
    const plan::Schedule& schedule = program_->report().choice.schedule;
    coverage().count(Counter::Compiled);
    coverage().count(Counter::Refilled, schedule.refill);
    coverage().count(Counter::Inner, schedule.inner);
    coverage().count(Counter::Batched, schedule.batched > 0);
  }

  const Trial& trial_;
  const ir::Function& function_;
  std::shared_ptr<runtime::Program> program_;
  bool reads_numbers_;
  bool writes_rows_;  // to places of its own
  Verdict verdict_;
  std::string message_;  // about the element that failed last
};

}  // namespace

Verdict check_run(const Trial& trial, const ir::Function& function, const Inputs& inputs,
                  std::span<const ir::Evaluation> truth) {
  const Disturbance disturbance(trial.disturbed);
  Verdict verdict = Runner(trial, function).run(inputs, truth);
  if (verdict.agrees() && !disturbance.is_kept()) {
    verdict.kind = "value";
    verdict.problem = "the caller's floating-point settings have changed";
  }
  return verdict;
}

}  // namespace lw::fuzz
