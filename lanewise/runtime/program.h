// A program made ready to run: tier 0 from the first call on, machine code once it is compiled.
#pragma once

#include <mutex>

#include "lanewise/ir/function.h"
#include "lanewise/plan/choose.h"
#include "lanewise/runtime/backend.h"

namespace lw::runtime {

class Program : public std::enable_shared_from_this<Program> {
 public:
  /// `function` has been through transform::run. With `limited` its last parameter, shared, is the
  /// step limit.
  Program(ir::Function function, bool limited, plan::Wish wish, Backend backend);

  const ir::Function& function() const { return function_; }
  bool is_limited() const { return limited_; }
  const kernel::Kernel& kernel() const { return kernel_; }
  const Interpreter& interpreter() const { return *interpreter_; }
  bool has_loops() const { return has_loops_; }
  /// True while a sample of trip counts would help the planner.
  bool wants_sample() const;

  /// Machine code, or null while there is none.
  Run code() const { return code_.load(std::memory_order_acquire); }
  const std::atomic<Run>* code_word() const { return &code_; }

  /// Plans and compiles now, on this thread; a second call waits for the first.
  void compile(const plan::Sample& sample);
  /// The same on the compile thread; at most once.
  void compile_in_background(plan::Sample sample);

  /// Rough nanoseconds of one element on one core.
  double element_ns() const { return element_ns_.load(std::memory_order_relaxed); }

  struct Report {
    plan::Choice choice;
    bool compiled = false;
    CompileTimes times;
    std::size_t code_bytes = 0;
    std::string error;  // why compiling failed, if it did; tier 0 goes on
  };
  Report report() const;

 private:
  ir::Function function_;
  bool limited_;
  plan::Wish wish_;
  Backend backend_;
  kernel::Kernel kernel_;
  std::unique_ptr<Interpreter> interpreter_;
  bool has_loops_ = false;
  std::atomic<double> element_ns_{1};
  std::atomic<bool> queued_{false};
  std::atomic<Run> code_{nullptr};
  mutable std::mutex mutex_;
  std::unique_ptr<Code> owned_code_;
  Report report_;
};

}  // namespace lw::runtime
