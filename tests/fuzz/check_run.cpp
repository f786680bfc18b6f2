// One program on one tier: every thread count and chunk size, and counts around the lane count.
#include <fmt/core.h>

#include <algorithm>

#include "lanewise/api/backends.h"
#include "lanewise/base/error.h"
#include "lanewise/runtime/compile_queue.h"
#include "lanewise/transform/passes.h"
#include "tests/fuzz/arrays.h"
#include "tests/fuzz/checks.h"

namespace lw::fuzz {
namespace {

class Runner {
 public:
  Runner(const Trial& trial, const ir::Function& function)
      : trial_(trial),
        function_(function),
        program_(std::make_shared<runtime::Program>(
            transform::run(function, {.step_counter = trial.step_counter}),
            trial.step_counter.has_value(), trial.wish, api::cpu_backend())) {}

  Verdict run(const Inputs& inputs, std::span<const ir::Evaluation> truth) {
    std::vector<std::int64_t> survivors;
    std::int64_t lowest = -1;
    for (std::int64_t i = 0; i < inputs.count; ++i) {
      if (!truth[static_cast<std::size_t>(i)].failure) {
        survivors.push_back(i);
      } else if (lowest < 0) {
        lowest = i;
      }
    }
    if (lowest >= 0) run_failing(inputs, truth, lowest);
    if (!survivors.empty() && verdict_.agrees()) {
      std::vector<ir::Evaluation> results;
      for (const std::int64_t i : survivors) results.push_back(truth[static_cast<std::size_t>(i)]);
      run_all(subset(function_, inputs, survivors), results);
    }
    runtime::wait_for_compiles();
    count_coverage();
    return verdict_;
  }

 private:
  struct Way {
    int threads;
    std::int64_t chunk;  // 0: everything
  };

  static std::vector<Way> ways() {
    std::vector<Way> list;
    for (const std::int64_t chunk : {0, 1, 7, 64, 1000}) {
      for (const int threads : {1, 2, 3}) list.push_back({threads, chunk});
    }
    return list;
  }

  /// Elements that make the map worth several threads.
  std::int64_t many() const {
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(55e3 / program_->element_ns()), 300,
                                    40000);
  }

  runtime::RunStats execute(const Arrays& arrays, const Way& way) {
    ++coverage().runs;
    const std::int64_t count = arrays.buffers().count;
    const runtime::RunStats stats = runtime::execute(
        *program_, arrays.buffers(),
        {.threads = way.threads,
         .max_steps = trial_.max_steps,
         .chunk = way.chunk == 0 ? std::max<std::int64_t>(count, 1) : way.chunk,
         .compile = trial_.compile});
    coverage().several_workers += stats.workers > 1;
    return stats;
  }

  std::string describe(std::int64_t count, const Way& way) const {
    return fmt::format("{} elements, {} threads, chunks of {}", count, way.threads,
                       way.chunk == 0 ? count : way.chunk);
  }

  /// Small chunks over many elements would take the tile machine long.
  bool is_affordable(std::int64_t count, const Way& way) const {
    const std::int64_t most = trial_.compile == runtime::CompileMode::Now ? 6000 : 600;
    return way.chunk == 0 || count / way.chunk <= most;
  }

  bool compare(Arrays& arrays, std::int64_t count, const Way& way) {
    arrays.set_count(count);
    arrays.poison();
    try {
      execute(arrays, way);
    } catch (const ElementError& error) {
      verdict_.kind = "failure";
      verdict_.problem = fmt::format("{}: element {} should not fail: {}", describe(count, way),
                                     error.element(), error.what());
      return false;
    }
    const std::string found = arrays.mismatch();
    if (found.empty()) return true;
    verdict_.kind = "value";
    verdict_.problem = fmt::format("{}: {}", describe(count, way), found);
    return false;
  }

  void run_all(const Inputs& inputs, std::span<const ir::Evaluation> truth) {
    Arrays arrays(function_, inputs, truth);
    const std::int64_t large = std::max(many(), inputs.count);
    arrays.set_count(large);
    for (const Way& way : ways()) {
      const std::int64_t count = is_affordable(large, way) ? large : inputs.count;
      if (!compare(arrays, count, way)) return;
    }
    const std::int64_t lanes = trial_.wish.lanes.value_or(256);
    const std::int64_t packet = lanes * trial_.wish.interleave.value_or(1);
    for (const std::int64_t count : {std::int64_t{1}, lanes - 1, lanes, lanes + 1, packet - 1,
                                     packet, packet + 1, 2 * packet + 1}) {
      if (count > 0 && !compare(arrays, count, {1, 0})) return;
    }
    if (!compare(arrays, inputs.count, {1, 0})) return;
    verdict_.digest = combine(verdict_.digest, arrays.digest());
  }

  void run_failing(const Inputs& inputs, std::span<const ir::Evaluation> truth,
                   std::int64_t lowest) {
    Arrays arrays(function_, inputs, truth);
    const std::int64_t large = std::max(many(), inputs.count);
    for (const Way& way : ways()) {
      const std::int64_t count =
          is_affordable(large, way) && way.threads > 1 ? large : inputs.count;
      arrays.set_count(count);
      std::int64_t failed = -1;
      try {
        execute(arrays, way);
      } catch (const ElementError& error) {
        failed = error.element();
      }
      ++coverage().failing;
      if (failed == lowest) continue;
      verdict_.kind = "failure";
      verdict_.problem = fmt::format("{}: expected that element {} fails first, got {}",
                                     describe(count, way), lowest,
                                     failed < 0 ? "no failure" : fmt::format("{}", failed));
      return;
    }
    verdict_.digest = combine(verdict_.digest, static_cast<std::uint64_t>(lowest));
  }

  void count_coverage() const {
    coverage().limited += trial_.step_counter.has_value();
    if (trial_.compile != runtime::CompileMode::Now) return;
    ++coverage().compiled;
    coverage().refilled += program_->report().choice.schedule.refill;
  }

  const Trial& trial_;
  const ir::Function& function_;
  std::shared_ptr<runtime::Program> program_;
  Verdict verdict_;
};

}  // namespace

Coverage& coverage() {
  static Coverage instance;
  return instance;
}

Verdict check_run(const Trial& trial, const ir::Function& function, const Inputs& inputs,
                  std::span<const ir::Evaluation> truth) {
  return Runner(trial, function).run(inputs, truth);
}

}  // namespace lw::fuzz
