#include "lanewise/runtime/steps.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <limits>

#include "lanewise/runtime/timeline.h"

namespace lw::runtime {
namespace {

constexpr std::int64_t kShort = 2'000'000;  // ns of a step, below which the next one is longer
constexpr std::int64_t kLong = 10'000'000;  // and above which it is shorter

double to_seconds(std::int64_t ns) { return 1e-9 * static_cast<double>(ns); }

/// Where the loops that go round stand in the source, in its order.
std::vector<base::Location> lines_of_loops(const ir::Function& f) {
  std::vector<base::Location> lines;
  ir::for_each(f, [&](ir::ValueId id, int) {
    const ir::Instruction& instruction = f[id];
    if (instruction.op != ir::Op::Loop || ir::is_branch(f, id) || !instruction.location) return;
    if (std::find(lines.begin(), lines.end(), instruction.location) == lines.end()) {
      lines.push_back(instruction.location);
    }
  });
  return lines;
}

}  // namespace

Steps::Steps(const Program& program, const ExecuteOptions& options, std::int64_t count, int workers,
             std::int64_t least, std::int64_t most)
    : program_(program),
      options_(options),
      count_(count),
      least_(least),
      most_(most),
      start_(now_ns()),
      workers_(static_cast<std::size_t>(workers)),
      last_end_(start_) {
  for (Worker& worker : workers_) worker.size = least;
  if (options.finished != nullptr) {
    before_.assign(options.finished->ranges().begin(), options.finished->ranges().end());
    done_before_ = options.finished->count();
  }
  done_.store(done_before_);
}

ElementRange Steps::open_from(std::int64_t first) const {
  auto next = std::upper_bound(before_.begin(), before_.end(), first,
                               [](std::int64_t e, const ElementRange& r) { return e < r.last; });
  if (next != before_.end() && next->first <= first) first = next++->last;
  return {first, next == before_.end() ? count_ : next->first};
}

std::int64_t Steps::begin(int worker, std::int64_t first, std::int64_t count) {
  const std::int64_t size = std::min(workers_[static_cast<std::size_t>(worker)].size, count);
  begin_all(worker, first, size);
  return size;
}

void Steps::begin_all(int worker, std::int64_t first, std::int64_t count) {
  Worker& own = workers_[static_cast<std::size_t>(worker)];
  own.first.store(first, std::memory_order_relaxed);
  own.last.store(first + count, std::memory_order_relaxed);
  own.since.store(now_ns(), std::memory_order_relaxed);
}

void Steps::end(int worker) {
  Worker& own = workers_[static_cast<std::size_t>(worker)];
  const ElementRange range{own.first.load(std::memory_order_relaxed),
                           own.last.load(std::memory_order_relaxed)};
  own.last.store(range.first, std::memory_order_relaxed);
  done_.fetch_add(range.last - range.first, std::memory_order_relaxed);
  if (options_.finished != nullptr) {
    const std::lock_guard lock(mutex_);
    options_.finished->add(range);
  }
  const std::int64_t now = now_ns();
  last_end_.store(now, std::memory_order_relaxed);
  const std::int64_t taken = now - own.since.load(std::memory_order_relaxed);
  if (taken < kShort) own.size = std::min(own.size * 2, most_);
  if (taken > kLong) own.size = std::max(own.size / 2, least_);
}

void Steps::tell_progress() {
  if (options_.progress == nullptr) return;
  const std::int64_t done = done_.load(std::memory_order_relaxed);
  const double seconds = to_seconds(now_ns() - start_);
  const double rate = seconds > 0 ? static_cast<double>(done - done_before_) / seconds : 0;
  const double left = done == count_ ? 0
                      : rate > 0     ? static_cast<double>(count_ - done) / rate
                                     : std::numeric_limits<double>::infinity();
  (*options_.progress)(
      {.done = done, .total = count_, .seconds = seconds, .rate = rate, .left = left});
}

void Steps::watch(const std::function<std::uint32_t(std::size_t)>& loop_of) {
  if (options_.watchdog <= 0) return;
  const std::int64_t now = now_ns();
  const std::int64_t since = std::max(last_end_.load(std::memory_order_relaxed), told_);
  if (to_seconds(now - since) < options_.watchdog) return;
  told_ = now;
  const Silence said = silence(now, loop_of);
  if (options_.on_silence != nullptr) {
    (*options_.on_silence)(said);
  } else {
    fmt::print(stderr, "{}\n", to_string(said));
  }
}

Silence Steps::silence(std::int64_t now,
                       const std::function<std::uint32_t(std::size_t)>& loop_of) const {
  Silence silence{.function = program_.function().name,
                  .seconds = to_seconds(now - last_end_.load(std::memory_order_relaxed)),
                  .running = {},
                  .loops = lines_of_loops(program_.function())};
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    const Worker& worker = workers_[i];
    const ElementRange range{worker.first.load(std::memory_order_relaxed),
                             worker.last.load(std::memory_order_relaxed)};
    if (range.first >= range.last) continue;
    const std::int64_t taken = now - worker.since.load(std::memory_order_relaxed);
    silence.running.push_back({.worker = static_cast<int>(i),
                               .elements = range,
                               .seconds = to_seconds(taken),
                               .loops = program_.lines_of(loop_of(i))});
  }
  return silence;
}

}  // namespace lw::runtime
