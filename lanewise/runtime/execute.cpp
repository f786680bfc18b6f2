#include "lanewise/runtime/execute.h"

#include <immintrin.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>
#include <utility>
#include <vector>

#include "lanewise/base/error.h"
#include "lanewise/base/float_state.h"
#include "lanewise/base/source.h"
#include "lanewise/runtime/division.h"
#include "lanewise/runtime/failing.h"
#include "lanewise/runtime/failure.h"
#include "lanewise/runtime/file_pages.h"
#include "lanewise/runtime/folding.h"
#include "lanewise/runtime/sampling.h"
#include "lanewise/runtime/staging.h"
#include "lanewise/runtime/steps.h"
#include "lanewise/runtime/stopping.h"
#include "lanewise/runtime/thread_pool.h"
#include "lanewise/runtime/ticker.h"
#include "lanewise/runtime/timeline.h"

namespace lw::runtime {
namespace {

constexpr std::int64_t kNobody = std::numeric_limits<std::int64_t>::max();
constexpr double kStreamedBytes = 32 << 20;  // of all outputs
constexpr double kTimed = 20e3;              // ns of work below which it is not timed
constexpr auto kBetweenLooks = std::chrono::milliseconds(40);  // where attention comes more often
constexpr double kCodeAfter = 200e3;  // ns of work below which machine code comes after the map

using Clock = std::chrono::steady_clock;

class Call;

struct Worker : Context {
  Call* call = nullptr;
  std::int64_t chunk_first = 0;
  bool is_caller = false;
  std::optional<Staging> staging;
  std::vector<void*> results;           // with those that are folded
  std::optional<Folding::Share> share;  // of what is folded; none: all workers share one
  Block memory;                         // that `scratch` points to
  bool has_interpreted = false;         // and so has registers of the tile machine
  std::int64_t grew_ns = 0;             // when it got one of these, if the call is timed
  std::optional<Failing> failing;       // elements that do, where the others go on
  std::int64_t chunks = 0;              // that it has done
  std::int64_t elements = 0;
  std::int64_t busy_ns = 0;  // if the call is timed
  LaneSteps lanes_seen;      // of refilled loops, when it was asked for attention
  int blocks = 0;            // of its chunk that were staged
};

/// One map in flight.
class Call {
 public:
  Call(Program& program, const Buffers& buffers, const ExecuteOptions& options)
      : program_(program), buffers_(buffers), options_(options), stopping_(options) {
    if (timeline_ != nullptr) totals_ = &timeline_->function(program.function().name);
  }

  RunStats run() {
    const Span span = seen(Happening::Call, 0, buffers_.count);
    start_ns_ = is_timed_ ? now_ns() : 0;
    run_all();
    if (is_timed_) stats_.seconds = seconds_at(now_ns());
    if (timeline_ != nullptr) timeline_->count_scratch();  // workers have given it back
    return std::move(stats_);
  }

 private:
  void run_all() {
    prepare();
    if (division_.workers() == 1) {
      Worker worker;
      set_up(worker, true);
      all_workers_ = std::span(&worker, 1);
      std::optional<Ticking> ticking;
      if (needs_ticking()) ticking.emplace(worker.attention);
      sample(worker);
      work(worker);
      if (compiles_afterwards_) program_.compile_if_again();
      finish();
    } else {
      std::vector<Worker> workers(static_cast<std::size_t>(division_.workers()));
      for (Worker& worker : workers) set_up(worker, &worker == &workers[0]);
      all_workers_ = workers;
      const Ticking ticking(workers[0].attention);  // the first one passes it on
      sample(workers[0]);
      if (compiles_afterwards_) program_.compile_if_again();
      std::optional<Span> waiting;
      parallel(
          division_.workers(),
          [&](int number) {
            work_or_stop(workers[static_cast<std::size_t>(number)]);
            if (number == 0) waiting.emplace(timeline_.get(), Happening::Wait, totals_);
          },
          [&] { poll(workers[0]); });
      waiting.reset();
      finish();
    }
  }

  /// An event of a profile, if one is taken, for as long as it lives.
  Span seen(Happening what, std::int64_t first, std::int64_t count) const {
    return {timeline_.get(), what, totals_, first, count};
  }

  /// The same of a part of a chunk. Blocks that are staged are short: to show all would cost a
  /// tenth.
  Span seen(const Worker& worker, Happening what, std::int64_t first, std::int64_t count) const {
    constexpr int kShownBlocks = 8;
    return {worker.blocks < kShownBlocks ? timeline_.get() : nullptr, what, totals_, first, count};
  }

  void prepare() {
    find_code();
    collect_shared();
    const std::int64_t n = buffers_.count;
    // What is folded or staged is read again at once.
    const bool is_read_again = is_folding() || buffers_.is_staged();
    streams_ = !is_read_again && output_bytes() > kStreamedBytes;
    division_ = divide(program_, buffers_, options_);
    stats_.scratch_bytes = division_.room.bytes;
    find_files();
    if (is_folding()) {
      folding_.emplace(buffers_, program_.kernel(), options_.first_element);
      if (division_.room.partials >= n) whole_ = folding_->share(n);
    }
    const bool ends_at_blocks = folding_ && !whole_;
    chunks_.emplace(division_, n, options_.chunk, ends_at_blocks ? &*folding_ : nullptr);
    stats_.workers = division_.workers();
    stats_.chunk = chunks_->size_at(0);
    if (options_.on_error != OnError::Raise) {
      filling_.emplace(buffers_, program_.kernel(), options_.fill);
    }
    if (Steps::are_wanted(options_)) take_steps();
  }

  /// A step is one block and one piece at most, so that no part of it is done without the rest.
  void take_steps() {
    std::int64_t most = stats_.chunk;
    if (buffers_.is_staged()) most = std::min(most, division_.room.block);
    if (filling_) most = std::min(most, Failing::kPiece);
    steps_.emplace(program_, options_, buffers_.count, division_.workers(),
                   std::min(division_.grain, most), most);
    if (options_.finished != nullptr)
      unfinished_.emplace(buffers_, program_.kernel(), std::span<const Scalar>());
  }

  /// Files larger than memory are gone through in parts of the budget.
  void find_files() {
    if (buffers_.count < 2) return;
    const std::int64_t budget = budget_of(options_);
    files_ = FilePages(buffers_, program_.kernel(), budget);
    if (files_.empty()) return;
    const std::int64_t part = budget / (2 * division_.workers() * files_.element_bytes());
    const std::int64_t grain = division_.grain;
    division_.most_chunk = std::max(part / grain * grain, grain);
  }

  bool is_folding() const { return !buffers_.folds.empty(); }

  double seconds_at(std::int64_t ns) const { return 1e-9 * static_cast<double>(ns - start_ns_); }

  /// The worker has more memory from now on.
  void grew(Worker& worker) const {
    if (is_timed_) worker.grew_ns = now_ns();
    if (timeline_ != nullptr) timeline_->count_scratch();
  }

  /// What the planner counted says how packets are used, also of maps that nobody looks at
  /// meanwhile.
  void count_packets() {
    if (timeline_ == nullptr || counted_packets_.load(std::memory_order_relaxed)) return;
    if (counted_packets_.exchange(true)) return;
    const Program::Report report = program_.report();
    if (report.choice.schedule.refill || report.trips.samples == 0) return;
    constexpr std::int64_t kSteps = 1000;
    timeline_->count_lanes(static_cast<std::int64_t>(kSteps * report.trips.occupancy), kSteps,
                           totals_);
  }

  /// The caller's values, and those that come from the options.
  void collect_shared() {
    shared_ = buffers_.shared;
    if (program_.kernel().shared.size() == shared_.size()) return;
    std::size_t next = 0;
    for (const ir::Param& p : program_.function().params) {
      if (p.kind == ir::ParamKind::Shared) shared_storage_.push_back(buffers_.shared[next++]);
      if (p.kind == ir::ParamKind::Seed) shared_storage_.push_back(options_.seed);
      if (p.kind == ir::ParamKind::StepLimit) {
        shared_storage_.push_back(static_cast<std::uint64_t>(options_.max_steps));
      }
    }
    shared_ = shared_storage_;
  }

  double output_bytes() const {
    std::int64_t bytes = 0;
    for (const types::Item& item : program_.kernel().outputs) bytes += item.bytes();
    return static_cast<double>(bytes) * static_cast<double>(buffers_.count);
  }

  /// A short map of straight code ends by itself before anybody could ask.
  bool needs_ticking() const {
    if (options_.timeout > 0 || steps_) return true;
    constexpr double kShort = 1e6;  // ns
    return program_.has_loops() ||
           static_cast<double>(buffers_.count) * program_.element_ns() > kShort;
  }

  void set_up(Worker& worker, bool is_caller) {
    worker.inputs = buffers_.inputs.data();
    worker.outputs = buffers_.outputs.data();
    worker.shared = shared_.data();
    worker.poll = [](Context* c) {
      Worker& w = *static_cast<Worker*>(c);
      return w.call->poll(w) ? 1 : 0;
    };
    worker.fail = [](Context* c, std::uint32_t, std::uint64_t lanes, const std::int32_t* ids,
                     std::int64_t first) {
      static_cast<Worker*>(c)->call->fail(lanes, ids, first);
    };
    if (filling_) {
      worker.failing.emplace(options_.on_error == OnError::Collect ? options_.most_failures : 0);
      worker.fail = [](Context* c, std::uint32_t, std::uint64_t lanes, const std::int32_t* ids,
                       std::int64_t first) {
        static_cast<Worker*>(c)->failing->mark(lanes, ids, first);
      };
    }
    worker.call = this;
    worker.streams = streams_;
    worker.tables = buffers_.tables.data();
    worker.first_element = options_.first_element;
    if (buffers_.is_staged()) {
      worker.staging.emplace(buffers_, program_.kernel(), division_.room.block);
      worker.inputs = worker.staging->inputs();
      worker.outputs = worker.staging->outputs();
    }
    if (is_folding()) {
      worker.results.assign(buffers_.outputs.begin(), buffers_.outputs.end());
      worker.results.resize(program_.kernel().outputs.size());
      if (!worker.staging) worker.outputs = worker.results.data();
      if (!whole_) worker.share = folding_->share(division_.room.partials);
      aim(worker, 0);
    }
    worker.is_caller = is_caller;
  }

  /// Lets what is folded of the elements from `first` on go to the worker's buffer.
  void aim(Worker& worker, std::int64_t first) const {
    if (!is_folding()) return;
    void** const outputs = worker.staging ? worker.staging->outputs() : worker.results.data();
    if (whole_) {
      whole_->aim(0, outputs);
    } else {
      worker.share->aim(first, outputs);
    }
  }

  // --- compiling ---

  /// Reading code from the disk, or waking the compile thread, costs more than such a map.
  bool is_short() const {
    return options_.compile == CompileMode::Auto && !program_.has_loops() &&
           static_cast<double>(buffers_.count) * program_.element_ns() <= kCodeAfter;
  }

  /// Code of an earlier call, or of an earlier process.
  void find_code() {
    if (!may_use_code()) return;
    if (program_.code() != nullptr) {
      stats_.code = CodeSource::Memory;
      return;
    }
    if (is_short()) return;
    const auto start = std::chrono::steady_clock::now();
    stats_.code = program_.load(buffers_.count);
    stats_.load_ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  }

  /// Sees to it that machine code comes, with counts for the planner where they matter.
  void sample(Worker& worker) {
    if (!may_use_code() || program_.code() != nullptr) return;
    const std::int64_t n = buffers_.count;
    plan::Sample counts{.trips = {}, .run = static_cast<int>(kSampleRun)};
    if (program_.wants_sample()) {
      const Span span = seen(Happening::Sample, 0, n);
      if (n <= kSampleAt && options_.compile == CompileMode::Auto && !steps_) {
        is_counting_ = true;  // tier 0 counts while it computes
        return;
      }
      for (int i = 0; i < kSampleRuns && !stopping_.is_wanted(); ++i) {
        const std::int64_t first = sample_start(n, i);
        std::vector<std::uint32_t> trips(static_cast<std::size_t>(std::min(kSampleRun, n - first)));
        if (!is_open(first, std::ssize(trips))) continue;  // results are written already
        if (worker.staging) worker.staging->load(first, std::ssize(trips));
        aim(worker, first);
        if (!std::exchange(worker.has_interpreted, true)) grew(worker);
        program_.interpreter().run(&worker, first, static_cast<std::int64_t>(trips.size()),
                                   {.code = nullptr, .trips = trips, .most_trips = kSampleTrips});
        give_up(worker, first, std::ssize(trips));
        counts.trips.insert(counts.trips.end(), trips.begin(), trips.end());
      }
    }
    if (options_.compile == CompileMode::Now) {
      const bool can_be_stopped = options_.timeout > 0 || options_.cancel != nullptr ||
                                  options_.interrupt != nullptr || steps_;
      if (can_be_stopped) {
        program_.compile_unless(counts, [&] { return poll(worker); });
      } else {
        program_.compile(counts);
      }
    } else if (is_short()) {
      compiles_afterwards_ = true;
    } else {
      program_.compile_in_background(std::move(counts));
    }
  }

  // --- chunks ---

  /// An exception on any worker stops all of them, and reaches the caller.
  void work_or_stop(Worker& worker) noexcept {
    try {
      work(worker);
    } catch (...) {
      stop_with_error();
    }
  }

  void work(Worker& worker) {
    const std::int64_t start = is_timed_ ? now_ns() : 0;
    take_chunks(worker);
    if (is_timed_) worker.busy_ns = now_ns() - start;
  }

  void take_chunks(Worker& worker) {
    const base::FloatState state;
    std::int64_t first = 0;
    std::int64_t count = 0;
    while (take(first, count)) {
      if (first > lowest_.load(std::memory_order_relaxed)) return;
      worker.chunk_first = first;
      if (worker.attention.load(std::memory_order_relaxed) != 0 && poll(worker)) return;
      const Span span = seen(Happening::Chunk, first, count);
      if (steps_) {
        run_steps(worker, first, count);
      } else if (worker.share) {
        run_and_fold(worker, first, count);
      } else {
        run_chunk(worker, first, count);
      }
      if (!files_.empty()) files_.drop(first, count);
      ++worker.chunks;
      worker.elements += count;
    }
  }

  /// Gives a chunk to this worker; false: none is left.
  bool take(std::int64_t& first, std::int64_t& count) {
    std::int64_t next = next_.load(std::memory_order_relaxed);
    do {
      const ElementRange open =
          steps_ ? steps_->open_from(next) : ElementRange{next, buffers_.count};
      first = open.first;
      if (first >= buffers_.count || stopping_.is_wanted()) return false;
      count = std::min(chunks_->size_at(first), open.last - first);
    } while (!claim(next, first + count));
    return true;
  }

  /// False: somebody else was first, and `from` is where the next chunk begins.
  bool claim(std::int64_t& from, std::int64_t to) {
    if (division_.workers() > 1) {
      return next_.compare_exchange_weak(from, to, std::memory_order_relaxed);
    }
    next_.store(to, std::memory_order_relaxed);
    return true;
  }

  void run_steps(Worker& worker, std::int64_t first, std::int64_t count) {
    const int number = static_cast<int>(&worker - all_workers_.data());
    if (worker.share) {
      steps_->begin_all(number, first, count);
      run_and_fold(worker, first, count);
      if (!is_lost()) steps_->end(number);
      return;
    }
    for (const std::int64_t end = first + count; first < end && !stopping_.is_wanted();) {
      const std::int64_t step = steps_->begin(number, first, end - first);
      if (!run_chunk(worker, first, step)) return;
      first += step;
      if (lowest_.load(std::memory_order_relaxed) < first) return;  // one of them failed
      steps_->end(number);
      stopping_.ask_clock();
    }
  }

  /// Whether none of these elements was finished before the call.
  bool is_open(std::int64_t first, std::int64_t count) const {
    return !steps_ || (steps_->open_from(first).first == first &&
                       steps_->open_from(first).last >= first + count);
  }

  /// What stands for results that were begun and are not finished, if somebody looks at them.
  void give_up(Worker& worker, std::int64_t first, std::int64_t count) const {
    if (!unfinished_) return;
    for (std::int64_t e = first; e < first + count; ++e) unfinished_->fill(worker.outputs, e);
  }

  /// A locked addition only where somebody else adds: it costs a tenth of a small call.
  void add(std::atomic<std::int64_t>& sum, std::int64_t count) const {
    if (division_.workers() > 1) {
      sum.fetch_add(count, std::memory_order_relaxed);
    } else {
      sum.store(sum.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
    }
  }

  /// False, here and below: it was stopped before all results were written.
  bool run_chunk(Worker& worker, std::int64_t first, std::int64_t count) {
    if (!worker.staging) return run_block(worker, first, count);
    worker.blocks = 0;
    for (const std::int64_t end = first + count; first < end && !stopping_.is_wanted();) {
      const std::int64_t block = std::min(worker.staging->block(), end - first);
      {
        const Span span = seen(worker, Happening::StageIn, first, block);
        worker.staging->load(first, block);
      }
      if (!run_block(worker, first, block)) return false;
      {
        const Span span = seen(worker, Happening::StageOut, first, block);
        worker.staging->store(first, block);
      }
      ++worker.blocks;
      first += block;
      if (first == end) return true;
    }
    return false;
  }

  bool run_block(Worker& worker, std::int64_t first, std::int64_t count) {
    const bool is_done = run_pieces(worker, first, count);
    worker.loop.store(0, std::memory_order_relaxed);  // it is in none any more
    if (!unfinished_) return is_done;
    // An element that failed is not finished either.
    if (is_done && lowest_.load(std::memory_order_relaxed) >= first + count) return true;
    give_up(worker, first, count);
    return false;
  }

  /// Pieces in which elements may fail and the others go on; all at once where none may.
  bool run_pieces(Worker& worker, std::int64_t first, std::int64_t count) {
    if (!worker.failing) return run_elements(worker, first, count);
    for (const std::int64_t end = first + count; first < end && !stopping_.is_wanted();) {
      const std::int64_t piece = std::min(Failing::kPiece, end - first);
      worker.failing->begin(first, piece);
      if (!run_elements(worker, first, piece)) return false;
      worker.failing->end(*filling_, worker.outputs, options_.failed);
      first += piece;
      if (first == end) return true;
    }
    return false;
  }

  /// True when the call ends with an error, whatever else happens; results may be anything then.
  bool is_lost() const {
    return stopping_.is_wanted() || lowest_.load(std::memory_order_relaxed) != kNobody;
  }

  void run_and_fold(Worker& worker, std::int64_t first, std::int64_t count) {
    for (const std::int64_t end = first + count; first < end;) {
      const std::int64_t next =
          std::min(folding_->end_of_blocks(first, division_.room.partials), end);
      aim(worker, first);
      run_chunk(worker, first, next - first);
      if (is_lost()) return;
      if (next < end && !worker.staging) fetch_ahead(next);
      const Span span = seen(Happening::Fold, first, next - first);
      folding_->fold(*worker.share, first, next - first);
      if (folding_->is_ordered()) {
        if (!wait_for_turn(worker, first)) return;
        folding_->fold_in_order(*worker.share, next - first);
        turn_.store(next, std::memory_order_release);
      }
      first = next;
    }
    folding_->pass_on(*worker.share);
  }

  /// Lets the inputs of the elements from `first` on be on their way while others are folded.
  void fetch_ahead(std::int64_t first) const {
    constexpr std::int64_t kAhead = 2 << 10;  // bytes
    for (std::size_t i = 0; i < buffers_.inputs.size(); ++i) {
      const std::int64_t size = program_.kernel().inputs[i].bytes();
      const auto* const begin = static_cast<const char*>(buffers_.inputs[i]) + first * size;
      const std::int64_t bytes = std::min(kAhead, (buffers_.count - first) * size);
      for (std::int64_t at = 0; at < bytes; at += 64) __builtin_prefetch(begin + at);
    }
  }

  /// Waits until all elements before `first` are folded; false: that will not be.
  bool wait_for_turn(Worker& worker, std::int64_t first) {
    constexpr int kSpins = 2000;
    if (turn_.load(std::memory_order_acquire) == first) return true;
    const Span span = seen(Happening::Wait, first, 0);
    for (int spins = 0; turn_.load(std::memory_order_acquire) != first; ++spins) {
      if (worker.attention.load(std::memory_order_relaxed) != 0 && poll(worker)) return false;
      if (is_lost()) return false;
      if (spins > kSpins) {
        std::this_thread::yield();
      } else {
        _mm_pause();
      }
    }
    return true;
  }

  bool may_use_code() const { return options_.compile != CompileMode::Never; }

  /// Tier 0 until there is code, which may come in the middle.
  bool run_elements(Worker& worker, std::int64_t first, std::int64_t count) {
    while (count > 0) {
      const Run code = may_use_code() ? program_.code() : nullptr;
      if (code != nullptr) {
        if (const std::size_t bytes = program_.code_scratch(); worker.memory.bytes() < bytes) {
          worker.memory = Block(Purpose::Scratch, bytes);
          worker.scratch = worker.memory.data();
          grew(worker);
        }
        count_packets();
        const Span span = seen(worker, Happening::MachineCode, first, count);
        const Status status = code(&worker, first, count);
        worker.lanes = 0;
        add(tier1_, count);
        return status == Status::Done;
      }
      std::vector<std::uint32_t> trips;
      if (is_counting_) trips.resize(static_cast<std::size_t>(count));
      if (!std::exchange(worker.has_interpreted, true)) grew(worker);
      LaneSteps lanes;
      Span span = seen(worker, Happening::TileMachine, first, count);
      const auto outcome =
          program_.interpreter().run(&worker, first, count,
                                     {.code = may_use_code() ? program_.code_word() : nullptr,
                                      .trips = trips,
                                      .most_trips = kSampleTrips,
                                      .lanes = timeline_ != nullptr ? &lanes : nullptr});
      if (timeline_ != nullptr) {
        timeline_->count_lanes(lanes.live, lanes.all, totals_);
        timeline_->count_scratch();
      }
      add(tier0_, outcome.done);
      span.set_count(outcome.done);
      if (outcome.status == Status::Stopped) return false;
      if (is_counting_) {  // only one worker has so few elements
        is_counting_ = false;
        program_.compile_in_background({.trips = std::move(trips), .run = int(kSampleRun)});
      }
      first += outcome.done;
      count -= outcome.done;
    }
    return true;
  }

  // --- attention ---

  void ask_all() {
    for (Worker& worker : all_workers_) worker.attention.store(1, std::memory_order_relaxed);
  }

  /// A kernel may be below, through which no exception passes: it waits until the end.
  void tell() noexcept {
    try {
      steps_->tell_progress();
      steps_->watch([this](std::size_t worker) {
        return all_workers_[worker].loop.load(std::memory_order_relaxed);
      });
    } catch (...) {
      stop_with_error();
    }
  }

  void stop_with_error() {
    stopping_.keep_error();
    ask_all();
  }

  /// Machine code counts nothing while it runs, but notes how many lanes of a refilled loop are in
  /// use, more or less.
  void note_lanes(Worker& worker) noexcept {
    if (worker.lanes == 0) return;
    const std::int64_t live = worker.lanes & 0xffff;
    const std::int64_t all = worker.lanes >> 16;
    worker.lanes_seen.live += live;
    worker.lanes_seen.all += all;
    try {
      if (timeline_ != nullptr) timeline_->count_lanes(live, all, totals_);
    } catch (...) {
      stop_with_error();
    }
  }

  /// For those who want to know, or to stop it.
  void look_around() {
    const Clock::time_point now = Clock::now();
    if (timeline_ != nullptr && now < next_look_) return;
    next_look_ = now + kBetweenLooks;
    if (steps_) tell();
    stopping_.ask();
  }

  /// True: the worker returns from its kernel.
  bool poll(Worker& worker) {
    worker.attention.store(0, std::memory_order_relaxed);
    note_lanes(worker);
    if (worker.is_caller) {
      look_around();
      for (Worker& other : all_workers_) {
        if (&other != &worker) other.attention.store(1, std::memory_order_relaxed);
      }
    }
    return stopping_.is_wanted() || worker.chunk_first > lowest_.load(std::memory_order_relaxed);
  }

  void fail(std::uint64_t lanes, const std::int32_t* ids, std::int64_t first) {
    for (int lane = 0; lane < 64; ++lane) {
      if ((lanes >> lane & 1) == 0) continue;
      std::int64_t lowest = lowest_.load(std::memory_order_relaxed);
      while (first + ids[lane] < lowest &&
             !lowest_.compare_exchange_weak(lowest, first + ids[lane])) {
      }
    }
    ask_all();
  }

  // --- the end ---

  void finish() {
    if (timeline_ != nullptr) timeline_->count_scratch();
    stats_.tier0_elements = tier0_.load();
    stats_.tier1_elements = tier1_.load();
    if (totals_ != nullptr) totals_->add_elements(stats_.tier0_elements, stats_.tier1_elements);
    if (stats_.tier1_elements > 0 && stats_.code == CodeSource::None) {
      stats_.code = CodeSource::Compiled;
    }
    stopping_.throw_error();
    if (!stopping_.returns_unfinished()) stopping_.throw_reason();
    describe_failures();
    if (steps_) steps_->tell_progress();
    if (folding_) finish_folding();
    stats_.peak_bytes = held_bytes();
    for (const Worker& worker : all_workers_) {
      stats_.lanes.live += worker.lanes_seen.live;
      stats_.lanes.all += worker.lanes_seen.all;
    }
    for (const Worker& worker : all_workers_) {
      if (!is_timed_) break;
      stats_.shares.push_back({.chunks = worker.chunks,
                               .elements = worker.elements,
                               .seconds = 1e-9 * static_cast<double>(worker.busy_ns)});
    }
    if (is_timed_) remember_memory();
  }

  /// Throws the lowest one, or tells those that were collected.
  void describe_failures() {
    const bool is_unfinished = stopping_.returns_unfinished();
    // One that failed is not finished, and fails again when the call goes on.
    const std::int64_t lowest = is_unfinished ? kNobody : lowest_.load();
    if (lowest == kNobody && options_.on_error != OnError::Collect) return;
    const std::function<bool()> stops = [this, is_unfinished] {
      if (all_workers_[0].attention.load(std::memory_order_relaxed) != 0) poll(all_workers_[0]);
      return is_unfinished ? stopping_.is_interrupted() : stopping_.is_wanted();
    };
    const Describing describing(program_, buffers_, shared_, options_, stops);
    if (lowest != kNobody) {
      const ElementFailure failure = describing.one(lowest);
      stopping_.throw_reason();
      throw ElementError(failure.message + base::show(failure.why.location), lowest);
    }
    std::vector<std::int64_t> elements;
    options_.failures->count = 0;
    for (const Worker& worker : all_workers_) {
      options_.failures->count += worker.failing->count();
      const std::span<const std::int64_t> own = worker.failing->first();
      elements.insert(elements.end(), own.begin(), own.end());
    }
    std::sort(elements.begin(), elements.end());
    if (std::ssize(elements) > options_.most_failures) {
      elements.resize(static_cast<std::size_t>(options_.most_failures));
    }
    options_.failures->first = describing.all(elements);
    if (!stopping_.returns_unfinished()) stopping_.throw_reason();
  }

  /// What all workers have from the beginning on.
  std::int64_t first_bytes() const {
    std::int64_t bytes = whole_ ? whole_->bytes() : 0;
    for (const Worker& worker : all_workers_) {
      if (worker.staging) bytes += worker.staging->bytes();
      if (worker.share) bytes += worker.share->bytes();
    }
    return bytes;
  }

  /// What a worker got later, as its elements needed it.
  std::int64_t grown_bytes(const Worker& worker) const {
    const std::size_t registers =
        worker.has_interpreted ? program_.interpreter().scratch_bytes() : 0;
    return static_cast<std::int64_t>(worker.memory.bytes() + registers);
  }

  /// What all workers hold, which is the most there was: nothing is given back before the end.
  std::int64_t held_bytes() const {
    std::int64_t bytes = first_bytes();
    for (const Worker& worker : all_workers_) bytes += grown_bytes(worker);
    return bytes;
  }

  void remember_memory() {
    std::vector<MemoryUseAt>& memory = stats_.memory;
    memory.push_back({.seconds = 0, .bytes = first_bytes()});
    for (const Worker& worker : all_workers_) {
      if (grown_bytes(worker) == 0) continue;
      memory.push_back({.seconds = seconds_at(worker.grew_ns), .bytes = grown_bytes(worker)});
    }
    std::sort(memory.begin() + 1, memory.end(),
              [](const MemoryUseAt& a, const MemoryUseAt& b) { return a.seconds < b.seconds; });
    for (std::size_t i = 1; i < memory.size(); ++i) memory[i].bytes += memory[i - 1].bytes;
  }

  void finish_folding() {
    const base::FloatState state;
    std::vector<Folding::Share*> shares;
    if (whole_) {
      folding_->fold(*whole_, 0, buffers_.count);
      folding_->fold_in_order(*whole_, buffers_.count);
      shares.push_back(&*whole_);
    }
    for (Worker& worker : all_workers_) {
      if (worker.share) shares.push_back(&*worker.share);
    }
    folding_->finish(shares);
  }

  Program& program_;
  const Buffers& buffers_;
  const ExecuteOptions& options_;
  const std::shared_ptr<Timeline> timeline_ = Timeline::current();  // null: no profile is taken
  FunctionTotals* totals_ = nullptr;                                // there
  const bool is_timed_ = static_cast<double>(buffers_.count) * program_.element_ns() > kTimed;
  std::int64_t start_ns_ = 0;
  std::vector<std::uint64_t> shared_storage_;
  std::span<const std::uint64_t> shared_;
  Division division_;
  std::optional<Chunks> chunks_;
  bool streams_ = false;
  FilePages files_;
  bool is_counting_ = false;
  bool compiles_afterwards_ = false;
  std::span<Worker> all_workers_;
  std::atomic<std::int64_t> next_{0};          // first element of the next chunk
  std::atomic<std::int64_t> lowest_{kNobody};  // failing element
  Stopping stopping_;
  Clock::time_point next_look_ = Clock::time_point::min();  // while a profile is taken
  std::atomic<bool> counted_packets_{false};
  std::atomic<std::int64_t> tier0_{0};
  std::atomic<std::int64_t> tier1_{0};
  std::optional<Filling> filling_;     // of elements that fail, where the others go on
  std::optional<Filling> unfinished_;  // of those that were begun and not ended
  std::optional<Steps> steps_;         // where somebody wants to know how far it is
  std::optional<Folding> folding_;
  std::optional<Folding::Share> whole_;  // of all elements of a small map
  std::atomic<std::int64_t> turn_{0};    // elements before it are folded, where their order matters
  RunStats stats_;
};

}  // namespace

RunStats execute(Program& program, const Buffers& buffers, const ExecuteOptions& options) {
  if (options.finished != nullptr) {
    options.finished->begin(buffers.count);
    const bool is_cancelled = options.cancel != nullptr && options.cancel->is_cancelled();
    if (is_cancelled || (buffers.count > 0 && options.finished->is_all())) {
      if (options.failures != nullptr) *options.failures = {};
      return {};
    }
  }
  if (buffers.count == 0) {
    clear_totals(buffers.folds);
    if (options.failures != nullptr) *options.failures = {};
    if (options.progress != nullptr) (*options.progress)({});
    return {};
  }
  const Program::Use use(program);
  return Call(program, buffers, options).run();
}

}  // namespace lw::runtime
