#include "lanewise/runtime/program.h"

#include <algorithm>
#include <numeric>

#include "lanewise/base/environment.h"
#include "lanewise/base/error.h"
#include "lanewise/ir/print.h"
#include "lanewise/kernel/lower.h"
#include "lanewise/runtime/compile_queue.h"

namespace lw::runtime {

Program::Program(ir::Function function, bool limited, plan::Wish wish, Backend backend)
    : function_(std::move(function)),
      limited_(limited),
      wish_(wish),
      backend_(backend),
      kernel_(kernel::lower(function_)),
      interpreter_(backend.interpret(kernel_)) {
  has_loops_ = ir::has_loops(function_);
  element_ns_ = plan::estimate_element_ns(function_, 16);
  base::dump("element", [&] { return ir::print(function_, {.locations = true}); });
  base::dump("kernel", [&] { return kernel::print(kernel_); });
}

bool Program::wants_sample() const {
  return has_loops_ && !wish_.refill && !queued_.load(std::memory_order_relaxed) &&
         kernel::is_refillable(function_);
}

void Program::compile(const plan::Sample& sample) {
  const std::lock_guard lock(mutex_);
  if (report_.compiled || !report_.error.empty()) return;
  queued_ = true;
  report_.choice = plan::choose(function_, wish_, &sample);
  base::dump("plan", [&] {
    return plan::to_string(report_.choice.schedule) + "\nbecause: " + report_.choice.reason;
  });
  if (!sample.trips.empty()) {
    element_ns_ = plan::estimate_element_ns(
        function_, std::accumulate(sample.trips.begin(), sample.trips.end(), 0.0) /
                       static_cast<double>(sample.trips.size()));
  }
  if (report_.choice.schedule.refill) {
    const kernel::Kernel refill = kernel::lower(function_, {.refill = true});
    base::dump("kernel", [&] { return kernel::print(refill); });
    owned_code_ = backend_.compile(refill, report_.choice.schedule);
  } else {
    owned_code_ = backend_.compile(kernel_, report_.choice.schedule);
  }
  report_.compiled = true;
  report_.times = owned_code_->times();
  report_.code_bytes = owned_code_->bytes();
  code_.store(owned_code_->run(), std::memory_order_release);
}

void Program::compile_in_background(plan::Sample sample) {
  if (queued_.exchange(true)) return;
  submit_compile([self = weak_from_this(), sample = std::move(sample)] {
    const std::shared_ptr<Program> program = self.lock();
    if (program == nullptr) return;  // dropped before its turn came
    try {
      program->compile(sample);
    } catch (const Error& error) {
      const std::lock_guard lock(program->mutex_);
      program->report_.error = error.what();
    }
  });
}

Program::Report Program::report() const {
  const std::lock_guard lock(mutex_);
  return report_;
}

}  // namespace lw::runtime
