// One program on one tier: every thread count and chunk size, and counts around the lane count.
#include <fmt/core.h>
#include <immintrin.h>

#include <algorithm>

#include "lanewise/api/backends.h"
#include "lanewise/base/error.h"
#include "lanewise/runtime/compile_queue.h"
#include "lanewise/transform/passes.h"
#include "tests/fuzz/arrays.h"
#include "tests/fuzz/checks.h"
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
        reads_numbers_(reads_numbers(function)) {}

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

  /// Every number of threads with every chunk size, then counts around the lane count.
  std::vector<Way> ways() const {
    if (trial_.only) return {*trial_.only};
    std::vector<Way> list;
    for (const std::int64_t chunk : {0, 1, 7, 64, 1000}) {
      for (const int threads : {1, 2, 3}) list.push_back({threads, chunk, Way::kMany});
    }
    const std::int64_t lanes = trial_.wish.lanes.value_or(128);
    const std::int64_t packet = lanes * trial_.wish.interleave.value_or(2);
    for (const std::int64_t count : {std::int64_t{1}, lanes - 1, lanes, lanes + 1, packet - 1,
                                     packet, packet + 1, 2 * packet + 1}) {
      list.push_back({1, 0, count});
    }
    list.push_back({1, 0, Way::kInputs});
    list.push_back({1, 0, Way::kInputs, true});
    list.push_back({3, 7, Way::kMany, true});
    return list;
  }

  /// Many elements are as many as make the map worth several threads, unless small chunks would
  /// take too long. Elements with numbers of their own cannot be repeated.
  std::int64_t count_of(const Way& way, const Inputs& inputs) const {
    if (reads_numbers_) return way.count > 0 ? std::min(way.count, inputs.count) : inputs.count;
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
    ++coverage().runs;
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
      coverage().several_workers += stats.workers > 1;
    } catch (const ElementError& error) {
      ++coverage().failing;
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
    verdict_.digest = combine(verdict_.digest, arrays.digest());
    fold_results(arrays, inputs);
  }

  /// The last results once more, folded as those of accumulators are, in a way that depends on the
  /// program.
  void fold_results(Arrays& arrays, const Inputs& inputs) {
    const bool is_strided = function_.values.size() % 4 == 0;
    const std::vector<Way> list =
        trial_.only ? std::vector<Way>{*trial_.only}
                    : std::vector<Way>{{1, 0, Way::kInputs}, {3, 64, Way::kMany, is_strided}};
    std::vector<runtime::Fold> folds = folds_of(function_.results);
    if (!trial_.only && !folds.empty()) {
      // Few programs have keys: those are taken every other time.
      const std::size_t choice = function_.values.size();
      const bool takes_keys = folds.back().is_keyed() && choice % 2 == 0;
      folds = {takes_keys ? folds.back() : folds[choice % folds.size()]};
    }
    for (runtime::Fold& fold : folds) {
      const std::size_t first = function_.results.size() - fold.columns;
      std::vector<std::uint64_t> memory(static_cast<std::size_t>(total_size(fold)));
      fold.total = memory.data();
      for (const Way& way : list) {
        if (!verdict_.agrees()) return;
        arrays.set_layout(count_of(way, inputs), way.strided);
        arrays.poison();
        const runtime::Buffers buffers = arrays.folding(fold);
        const std::int64_t failed = execute(buffers, inputs, way);
        ++coverage().folded;
        coverage().keyed += fold.is_keyed();
        coverage().folded_rows += !fold.is_keyed() && fold.size > 0;
        const std::vector<Scalar> expected =
            expected_total(fold, buffers.count, inputs.first_element,
                           [&](std::size_t column, std::int64_t element, std::int64_t position) {
                             return arrays.truth(first + column, element, position);
                           });
        const auto* got = reinterpret_cast<const std::byte*>(memory.data());
        for (const Scalar& value : expected) {
          const Scalar found = Scalar::load(fold.type, got);
          got += types::size_of(fold.type);
          // How many are "many" depends on estimates that a background compile makes better.
          if (way.count == Way::kInputs) {
            verdict_.digest = combine(verdict_.digest, found.canonical().bits());
          }
          if (failed < 0 && found == value) continue;
          disagree("value", arrays, way,
                   fmt::format("folded in way {}: expected {}, got {}", static_cast<int>(fold.kind),
                               types::to_string(value), types::to_string(found)));
        }
      }
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
    verdict_.digest = combine(verdict_.digest, static_cast<std::uint64_t>(lowest));
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
    coverage().limited += trial_.step_counter.has_value();
    if (trial_.compile != runtime::CompileMode::Now) return;
    ++coverage().compiled;
    coverage().refilled += program_->report().choice.schedule.refill;
    coverage().inner += program_->report().choice.schedule.inner;
    coverage().batched += program_->report().choice.schedule.batched > 0;
  }

  const Trial& trial_;
  const ir::Function& function_;
  std::shared_ptr<runtime::Program> program_;
  bool reads_numbers_;
  Verdict verdict_;
  std::string message_;  // about the element that failed last
};

}  // namespace

Coverage& coverage() {
  static Coverage instance;
  return instance;
}

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
