// A program made ready to run: tier 0 from the first call on, machine code once it is compiled or
// found on disk. Code that is not in use can be given back; the next call then sees to new.
#pragma once

#include <mutex>

#include <functional>

#include "lanewise/base/fork.h"
#include "lanewise/ir/function.h"
#include "lanewise/plan/considered.h"
#include "lanewise/runtime/backend.h"

namespace lw::runtime {

/// Where machine code came from. Memory: it was there when a call began.
enum class CodeSource : std::uint8_t { None, Memory, Disk, Compiled };
const char* name_of(CodeSource source);

class Program : public std::enable_shared_from_this<Program> {
 public:
  /// `function` has been through transform::run.
  Program(ir::Function function, plan::Wish wish, Backend backend);

  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  const ir::Function& function() const { return function_; }
  const kernel::Kernel& kernel() const { return kernel_; }
  const Interpreter& interpreter() const { return *interpreter_; }
  bool has_loops() const { return has_loops_; }
  /// True where machine code takes one element after the other.
  bool is_inner() const { return is_inner_.load(std::memory_order_relaxed); }
  /// True while a sample of trip counts would help the planner.
  bool wants_sample() const;

  /// Machine code, or null while there is none.
  Run code() const { return code_.load(); }
  const std::atomic<Run>* code_word() const { return &code_; }
  /// Memory that a worker needs to run it.
  std::size_t code_scratch() const { return code_scratch_.load(); }
  /// The same, or at least as much while there is no code.
  std::size_t most_code_scratch() const;

  /// Takes plan and code from the disk, if they are there, before a map of so many elements. Looks
  /// once. Memory: there was code already.
  CodeSource load(std::int64_t elements);
  /// Plans and compiles now, on this thread; a second call waits for the first.
  void compile(const plan::Sample& sample);
  /// The same on the compile thread, while this one waits and asks now and then: if true comes
  /// back, it goes on without the code, which comes later.
  void compile_unless(const plan::Sample& sample, const std::function<bool()>& is_stopping);
  /// On the compile thread, and nobody waits; at most once.
  void compile_in_background(plan::Sample sample);
  /// The same for a map that is done sooner than the thread wakes: with the second of such calls.
  void compile_if_again();

  /// Rough nanoseconds of one element on one core.
  double element_ns() const { return element_ns_.load(std::memory_order_relaxed); }

  /// Held by a call while it runs: keeps the code, and says that it is used.
  class Use {
   public:
    explicit Use(Program& program) : program_(program) {
      program_.users_.fetch_add(1);
      program_.touch();
    }
    ~Use() { program_.users_.fetch_sub(1); }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    Program& program_;
  };
  /// Gives the code away, if there is any, unless a call is running or it is being made.
  enum class Release : std::uint8_t { Done, Running, Compiling };
  Release release_code(std::unique_ptr<Code>& code);

  /// When it was last used, in ticks of a clock that the cache moves.
  static inline std::atomic<std::uint64_t> use_clock{1};
  std::uint64_t last_used() const { return last_used_.load(std::memory_order_relaxed); }
  void touch() {
    const std::uint64_t now = use_clock.load(std::memory_order_relaxed);
    if (last_used() != now) last_used_.store(now, std::memory_order_relaxed);
  }
  /// Memory of the tables and of the code, roughly.
  std::size_t bytes() const;
  /// The cache's key, which then counts the bytes again when they change. Empty: not of the cache.
  const std::string& cache_key() const { return cache_key_; }
  void set_cache_key(std::string key) { cache_key_ = std::move(key); }

  struct Report {
    plan::Choice choice;
    plan::TripCounts trips;  // that it was chosen by
    bool compiled = false;   // there is code
    CodeSource source = CodeSource::None;
    CompileTimes times;
    std::size_t code_bytes = 0;
    std::string error;  // why compiling failed, if it did; tier 0 goes on
  };
  Report report() const;
  /// Lines of the loops that a worker is in, by what its context notes; the innermost last.
  std::vector<base::Location> lines_of(std::uint32_t loop) const;
  /// The schedules there were to choose from.
  std::vector<plan::Considered> considered() const;

 private:
  bool is_sampled() const;
  /// What one lane does for an element.
  const ir::Function& lanes() const { return serial_.blocks.empty() ? function_ : serial_; }
  /// What machine code of such a schedule is made from, where it is not what one lane does.
  ir::Function special_for(const plan::Schedule& schedule) const;
  /// The lane form that it is made from.
  kernel::Kernel kernel_for(const plan::Schedule& schedule, const ir::Function& special) const;
  /// What the disk store knows it by.
  std::string store_key() const;
  bool load_locked(std::int64_t elements);
  void load_or_compile(const plan::Sample& sample);
  void compile_locked(const plan::Sample& sample);
  void publish(std::unique_ptr<Code> code, CodeSource source);
  void count_bytes();
  /// Has the accounts say that it uses so much.
  void set_counted(std::size_t bytes);

  ir::Function function_;
  plan::Wish wish_;
  Backend backend_;
  ir::Function serial_;  // without any `each`; empty: there was none
  kernel::Kernel kernel_;
  std::unique_ptr<Interpreter> interpreter_;
  bool has_loops_ = false;
  std::atomic<bool> is_inner_{false};
  std::atomic<double> element_ns_{1};
  std::size_t table_bytes_ = 0;
  std::size_t counted_bytes_ = 0;
  std::string cache_key_;
  std::atomic<bool> queued_{false};
  std::atomic<bool> was_short_{false};  // an earlier call
  std::atomic<bool> looked_{false};
  std::atomic<int> users_{0};
  std::atomic<std::uint64_t> last_used_{0};
  std::atomic<std::size_t> code_bytes_{0};
  std::atomic<std::size_t> code_scratch_{0};
  std::atomic<Run> code_{nullptr};
  mutable base::Mutex mutex_;
  std::unique_ptr<Code> owned_code_;
  Report report_;
};

}  // namespace lw::runtime
