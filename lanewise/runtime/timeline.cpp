#include "lanewise/runtime/timeline.h"

#include <pthread.h>
#include <unistd.h>

#include <memory>
#include <new>
#include <utility>

#include "lanewise/base/error.h"
#include "lanewise/runtime/memory.h"
#include "lanewise/runtime/ticker.h"

namespace lw::runtime {
namespace {

std::shared_ptr<Timeline> present;  // guarded by:
base::Mutex present_mutex;

/// In the child of a fork nobody ends the profile.
void end_at_fork(void (*forget)()) {
  static const int registered = pthread_atfork(nullptr, nullptr, forget);
  static_cast<void>(registered);
}

std::string name_of_thread() {
  char name[16] = {};
  pthread_getname_np(pthread_self(), name, sizeof(name));
  return name;
}

}  // namespace

Track::Track() : thread_(gettid()), name_(name_of_thread()) {}

Track::~Track() {
  for (auto& block : blocks_) delete[] block.load();
}

void Track::add(const Event& event) {
  const std::size_t at = size_.load(std::memory_order_relaxed);
  if (at == kMost) {
    dropped_.store(dropped() + 1, std::memory_order_relaxed);
    return;
  }
  Event* block = blocks_[at / kBlock].load(std::memory_order_relaxed);
  if (block == nullptr) blocks_[at / kBlock].store(block = new Event[kBlock]);
  block[at % kBlock] = event;
  size_.store(at + 1, std::memory_order_release);
}

Timeline::Timeline() : start_(now_ns()) {
  static std::atomic<std::uint64_t> numbers{0};
  number_ = ++numbers;
}

Timeline::~Timeline() {
  for (const Track* track = tracks_.load(); track != nullptr;) {
    delete std::exchange(track, track->next);
  }
}

std::shared_ptr<Timeline> Timeline::begin() {
  end_at_fork([] {
    is_on_.store(false);
    new (&present) std::shared_ptr<Timeline>;  // leaked on purpose
  });
  const std::lock_guard lock(present_mutex);
  if (is_on_.load()) {
    throw UsageError("profile: one is being taken; expected one at a time. End it first.");
  }
  present.reset(new Timeline);
  is_on_.store(true);
  hurry_ticker();
  return present;
}

std::shared_ptr<Timeline> Timeline::find_current() {
  const std::lock_guard lock(present_mutex);
  return is_on_.load() ? present : nullptr;
}

void Timeline::end() {
  const std::lock_guard lock(present_mutex);
  if (end_.load() != 0) return;
  end_.store(now_ns());
  if (present.get() != this) return;
  is_on_.store(false);
  present.reset();
}

std::int64_t Timeline::duration() const {
  const std::int64_t end = end_.load();
  return (end == 0 ? now_ns() : end) - start_;
}

FunctionTotals& Timeline::function(const std::string& name) {
  const std::lock_guard lock(mutex_);
  FunctionTotals& totals = functions_[name];
  if (totals.name.empty()) totals.name = name;
  return totals;
}

Track& Timeline::track() {
  thread_local struct {
    std::uint64_t timeline = 0;
    Track* track = nullptr;
  } mine;
  if (mine.timeline == number_) return *mine.track;
  auto made = std::make_unique<Track>();
  made->next = tracks_.load();
  while (!tracks_.compare_exchange_weak(made->next, made.get())) {
  }
  mine = {number_, made.release()};
  return *mine.track;
}

void Timeline::add(const Event& event, FunctionTotals* function) {
  Event whole = event;
  whole.function = function;
  track().add(whole);
  if (function == nullptr) return;
  const auto add_to = [](std::atomic<std::int64_t>& sum, std::int64_t more) {
    sum.fetch_add(more, std::memory_order_relaxed);
  };
  const std::int64_t ns = event.end - event.start;
  if (event.what == Happening::Call) {
    add_to(function->calls, 1);
    add_to(function->call_ns, ns);
  } else if (event.what == Happening::Chunk) {
    add_to(function->busy_ns, ns);
  } else if (event.what == Happening::Compile) {
    add_to(function->compile_ns, ns);
  }
}

void Timeline::count_scratch() {
  const std::int64_t now = now_ns();
  const auto bytes = static_cast<std::int64_t>(memory_info().scratch.live);
  add({.start = now, .end = now, .count = bytes, .what = Happening::ScratchBytes}, nullptr);
}

void Timeline::count_lanes(std::int64_t live, std::int64_t all, FunctionTotals* function) {
  if (all == 0) return;
  const std::int64_t now = now_ns();
  add({.start = now, .end = now, .first = all, .count = live, .what = Happening::LiveLanes},
      function);
}

std::vector<const Track*> Timeline::tracks() const {
  std::vector<const Track*> all;
  for (const Track* track = tracks_.load(); track != nullptr; track = track->next) {
    all.insert(all.begin(), track);
  }
  return all;
}

std::vector<const FunctionTotals*> Timeline::functions() const {
  const std::lock_guard lock(mutex_);
  std::vector<const FunctionTotals*> all;
  for (const auto& [name, totals] : functions_) all.push_back(&totals);
  return all;
}

}  // namespace lw::runtime
