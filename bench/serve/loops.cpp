// The loops of hand/loops.h and hand/programs.h as competitors, on one thread or split between
// several.
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "../hand/loops.h"
#include "../hand/programs.h"
#include "competitor.h"

namespace lw::bench {
namespace {

/// Threads that wait for parts of a loop. The caller takes the first part.
class Team {
 public:
  explicit Team(int size) {
    for (int part = 1; part < size; ++part) {
      threads_.emplace_back([this, part] { work(part); });
    }
  }
  ~Team() {
    run(nullptr);
    for (std::thread& t : threads_) t.join();
  }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int size() const { return static_cast<int>(threads_.size()) + 1; }

  /// Calls job(0) ... job(size - 1), each on its own thread; no job ends the team.
  void run(const std::function<void(int)>* job) {
    {
      const std::lock_guard lock(mutex_);
      job_ = job;
      left_ = static_cast<int>(threads_.size());
      ++round_;
    }
    begin_.notify_all();
    if (job == nullptr) return;
    (*job)(0);
    std::unique_lock lock(mutex_);
    end_.wait(lock, [&] { return left_ == 0; });
  }

 private:
  void work(int part) {
    for (int seen = 0;;) {
      std::unique_lock lock(mutex_);
      begin_.wait(lock, [&] { return round_ != seen; });
      seen = round_;
      const std::function<void(int)>* job = job_;
      lock.unlock();
      if (job == nullptr) return;
      (*job)(part);
      lock.lock();
      if (--left_ == 0) end_.notify_one();
    }
  }

  std::mutex mutex_;
  std::condition_variable begin_;
  std::condition_variable end_;
  const std::function<void(int)>* job_ = nullptr;
  int round_ = 0;
  int left_ = 0;
  std::vector<std::thread> threads_;
};

hand::Loop* find_formula(const std::string& name, const Case& c) {
  const bool wide = c.isa == plan::Isa::V4;
  const hand::Real real = c.type == DType::F32 ? hand::Real::f32 : hand::Real::f64;
  if (name == "scalar") return hand::scalar_loop(c.workload, real);
  if (c.isa < plan::Isa::V3) return nullptr;
  if (name == "libmvec") {
    return (wide ? hand::libmvec_loop_v4 : hand::libmvec_loop_v3)(c.workload, real);
  }
  if (name == "hand") return (wide ? hand::hand_loop_v4 : hand::hand_loop_v3)(c.workload, real);
  if (name == "free") return (wide ? hand::free_loop_v4 : hand::free_loop_v3)(c.workload, real);
  return nullptr;
}

hand::Loop* find_program(const std::string& name, const Case& c) {
  if (name == "scalar") return hand::scalar_program(c.workload);
  if (c.isa < plan::Isa::V3) return nullptr;
  return (c.isa == plan::Isa::V4 ? hand::program_v4 : hand::program_v3)(c.workload, name);
}

hand::Loop* find(const std::string& name, const Case& c) {
  hand::Loop* formula = find_formula(name, c);
  return formula != nullptr ? formula : find_program(name, c);
}

}  // namespace

MaybeCompetitor loop_competitor(const std::string& name, const Case& c) {
  if (c.workload == "first_call") return Missing{"compiled ahead"};
  const std::size_t comma = name.find(", new output");
  hand::Loop* loop = find(name.substr(0, comma), c);
  if (loop == nullptr) return Missing{"not written"};

  struct State {
    State(const Case& of, hand::Loop* function)
        : loop(function), size(of.size), arrays(of.inputs), output(of.output) {
      arrays.insert(arrays.end(), of.tables.begin(), of.tables.end());
      for (const Array& a : arrays) pointers.push_back(a.data());
      if (of.threads > 1) team = std::make_unique<Team>(of.threads);
    }
    void run() {
      if (team == nullptr) return loop(pointers.data(), output.data(), 0, size);
      const std::function<void(int)> part = [this](int i) {
        const std::int64_t unit = output.size == size ? 64 : 1;  // rows are long enough
        const auto bound = [&](int k) { return size * k / team->size() / unit * unit; };
        const bool last = i == team->size() - 1;
        loop(pointers.data(), output.data(), bound(i), last ? size : bound(i + 1));
      };
      team->run(&part);
    }
    hand::Loop* loop;
    std::int64_t size;
    std::vector<Array> arrays;  // inputs, then tables
    std::vector<const void*> pointers;
    Array output;
    std::unique_ptr<Team> team;
  };
  auto state = std::make_shared<State>(c, loop);
  const bool fresh = comma != std::string::npos;
  Competitor competitor;
  competitor.run = [state, fresh] {
    if (fresh) state->output = Array(state->output.type, state->output.size);
    state->run();
  };
  competitor.output = [state] { return state->output.data(); };
  return competitor;
}

}  // namespace lw::bench
