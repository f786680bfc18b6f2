// What happened when, on which thread, while a profile is taken (api/profile.h).
//
// A call that begins meanwhile holds the timeline. Each thread that works for it has a track there,
// to which it alone adds, without a lock; spans are objects, so those of a track are nested. When
// no profile is taken a call reads one word, and its chunks a pointer that is null.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "lanewise/base/fork.h"

namespace lw::runtime {

enum class Happening : std::uint8_t {
  Call,
  Chunk,
  TileMachine,  // elements on tier 0
  MachineCode,  // and on tier 1
  StageIn,      // of arrays whose elements do not stand together
  StageOut,
  Fold,
  Wait,    // for other workers
  Sample,  // counting trips
  Record,  // a function for new types
  Compile,
  Read,  // of code on disk
  Emit,
  Passes,
  Code,
  Link,
  ScratchBytes,  // a counter: its value is `count`
  LiveLanes,     // likewise: `count` of `first` steps of lanes were of elements still inside
};

/// What a profile adds up of a function.
struct FunctionTotals {
  std::string name;
  std::atomic<std::int64_t> calls{0};
  std::atomic<std::int64_t> call_ns{0};
  std::atomic<std::int64_t> busy_ns{0};  // of all workers
  std::atomic<std::int64_t> compile_ns{0};
  std::atomic<std::int64_t> tile_elements{0};
  std::atomic<std::int64_t> code_elements{0};

  /// Of a call, as not all parts of its chunks are events.
  void add_elements(std::int64_t on_tile_machine, std::int64_t in_machine_code) {
    tile_elements.fetch_add(on_tile_machine, std::memory_order_relaxed);
    code_elements.fetch_add(in_machine_code, std::memory_order_relaxed);
  }
};

struct Event {
  std::int64_t start = 0;  // ns of the steady clock
  std::int64_t end = 0;
  std::int64_t first = 0;  // of the elements
  std::int64_t count = 0;
  const FunctionTotals* function = nullptr;
  Happening what = Happening::Call;
};

inline std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// The events of one thread, in the order in which they ended. The thread adds; anybody may read
/// what is there.
class Track {
 public:
  static constexpr std::size_t kMost = 1 << 18;  // events; more are counted only

  Track();
  ~Track();
  Track(const Track&) = delete;
  Track& operator=(const Track&) = delete;

  void add(const Event& event);
  std::size_t size() const { return size_.load(std::memory_order_acquire); }
  const Event& operator[](std::size_t i) const { return blocks_[i / kBlock].load()[i % kBlock]; }
  std::int64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }
  int thread() const { return thread_; }
  const std::string& name() const { return name_; }

  Track* next = nullptr;  // of the timeline's list

 private:
  static constexpr std::size_t kBlock = 1 << 8;  // small: a map of a millisecond makes the first

  int thread_;
  std::string name_;
  std::array<std::atomic<Event*>, kMost / kBlock> blocks_ = {};
  std::atomic<std::size_t> size_{0};
  std::atomic<std::int64_t> dropped_{0};
};

class Timeline {
 public:
  /// Begins one. Throws UsageError if there is one already.
  static std::shared_ptr<Timeline> begin();
  /// The one that calls add to; null: none is taken.
  static std::shared_ptr<Timeline> current() { return is_on() ? find_current() : nullptr; }
  static bool is_on() { return is_on_.load(std::memory_order_relaxed); }
  ~Timeline();
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  /// Calls that begin from now on are not in it.
  void end();

  /// The totals of functions of this name, which live as long as the timeline.
  FunctionTotals& function(const std::string& name);
  /// Adds to the present thread's track, and to the function's times if there is one.
  void add(const Event& event, FunctionTotals* function);
  /// Adds what scratch there is now.
  void count_scratch();
  /// Adds how many steps of lanes were of elements that were still inside of their loop.
  void count_lanes(std::int64_t live, std::int64_t all, FunctionTotals* function);

  std::int64_t start() const { return start_; }
  /// Until now, if it is not ended.
  std::int64_t duration() const;
  std::vector<const Track*> tracks() const;
  std::vector<const FunctionTotals*> functions() const;

  /// In the form that Chrome and Perfetto read.
  std::string json() const;

 private:
  Timeline();
  static std::shared_ptr<Timeline> find_current();
  Track& track();

  static inline std::atomic<bool> is_on_{false};

  std::uint64_t number_;  // among all that there ever were
  std::int64_t start_;
  std::atomic<std::int64_t> end_{0};
  std::atomic<Track*> tracks_{nullptr};
  mutable base::Mutex mutex_;  // of the functions; taken once a call
  std::map<std::string, FunctionTotals> functions_;
};

/// An event from here to the end of its life; without a timeline it does nothing.
class Span {
 public:
  Span(Timeline* timeline, Happening what, FunctionTotals* function, std::int64_t first = 0,
       std::int64_t count = 0)
      : timeline_(timeline), function_(function) {
    if (timeline_ != nullptr) {
      event_ = {.start = now_ns(), .first = first, .count = count, .what = what};
    }
  }
  ~Span() {
    if (timeline_ == nullptr) return;
    event_.end = now_ns();
    timeline_->add(event_, function_);
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

  /// Elements that were done, where that is known at the end.
  void set_count(std::int64_t count) { event_.count = count; }

 private:
  Timeline* timeline_;
  FunctionTotals* function_;
  Event event_;
};

/// One outside of a call, which finds the timeline itself.
class LoneSpan {
 public:
  LoneSpan(Happening what, const std::string& function)
      : span_(timeline_.get(), what, timeline_ ? &timeline_->function(function) : nullptr) {}

 private:
  std::shared_ptr<Timeline> timeline_ = Timeline::current();
  Span span_;
};

}  // namespace lw::runtime
