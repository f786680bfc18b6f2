#include "lanewise/runtime/program.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <optional>

#include "lanewise/base/environment.h"
#include "lanewise/base/error.h"
#include "lanewise/ir/print.h"
#include "lanewise/kernel/lower.h"
#include "lanewise/runtime/compile_queue.h"
#include "lanewise/runtime/disk_store.h"
#include "lanewise/runtime/memory.h"
#include "lanewise/runtime/program_cache.h"
#include "lanewise/runtime/stored_plan.h"
#include "lanewise/runtime/timeline.h"
#include "lanewise/transform/passes.h"

namespace lw::runtime {
namespace {

constexpr std::int64_t kEnoughSamples = 256;

double now_ms() {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// The phases of a compile that has just ended, as events of a profile one behind the other.
void show_phases(std::int64_t start, const CompileTimes& times) {
  const std::shared_ptr<Timeline> timeline = Timeline::current();
  if (timeline == nullptr) return;
  const std::int64_t end = now_ns();
  const auto add = [&](Happening what, double ms) {
    const std::int64_t phase_end = std::min(end, start + static_cast<std::int64_t>(1e6 * ms));
    timeline->add({.start = start, .end = phase_end, .what = what}, nullptr);
    start = phase_end;
  };
  add(Happening::Emit, times.emit_ms);
  add(Happening::Passes, times.passes_ms);
  add(Happening::Code, times.code_ms);
  add(Happening::Link, times.link_ms);
}

}  // namespace

Program::Program(ir::Function function, plan::Wish wish, Backend backend)
    : function_(std::move(function)),
      wish_(wish),
      backend_(backend),
      serial_(transform::is_serial(function_) ? ir::Function() : transform::serialize(function_)),
      kernel_(kernel::lower(lanes())),
      interpreter_(backend.interpret(kernel_)) {
  has_loops_ = ir::has_loops(lanes());
  is_inner_ = !serial_.values.empty() && !plan::is_batched_better(function_, wish_) &&
              plan::is_inner_better(function_, wish_, nullptr);
  element_ns_ = plan::estimate_element_ns(function_, 16);
  std::size_t instructions = 0;
  kernel::for_each(kernel_, [&](const kernel::Instruction&, int) { ++instructions; });
  table_bytes_ = sizeof(Program) + function_.values.size() * sizeof(ir::Instruction) +
                 instructions * 2 * sizeof(kernel::Instruction);  // the interpreter has as many
  set_counted(bytes());
  base::dump("element", [&] { return ir::print(function_, {.locations = true}); });
  base::dump("kernel", [&] { return kernel::print(kernel_); });
}

Program::~Program() { set_counted(0); }

void Program::set_counted(std::size_t bytes) {
  count_memory(Purpose::Code,
               static_cast<std::int64_t>(bytes) - static_cast<std::int64_t>(counted_bytes_));
  counted_bytes_ = bytes;
}

const char* name_of(CodeSource source) {
  switch (source) {
    case CodeSource::None:
      return "none";
    case CodeSource::Memory:
      return "memory";
    case CodeSource::Disk:
      return "disk";
    case CodeSource::Compiled:
      return "compiled";
  }
  return "";
}

bool Program::is_sampled() const {
  if (!wish_.inner && plan::counts_positions(function_)) return true;
  return has_loops_ && !wish_.refill && kernel::is_refillable(lanes());
}

bool Program::wants_sample() const {
  return !queued_.load(std::memory_order_relaxed) && is_sampled();
}

std::string Program::store_key() const {
  return backend_.target() + plan::to_string(wish_) + '\n' +
         ir::fingerprint(function_, {.locations = false});
}

CodeSource Program::load(std::int64_t elements) {
  bool is_loaded = false;
  if (!queued_.load(std::memory_order_relaxed) && !looked_.load(std::memory_order_relaxed)) {
    const std::lock_guard lock(mutex_);
    is_loaded = load_locked(elements);
  }
  if (is_loaded) count_bytes();
  return is_loaded ? CodeSource::Disk : code() != nullptr ? CodeSource::Memory : CodeSource::None;
}

bool Program::load_locked(std::int64_t elements) {
  if (report_.compiled || backend_.target == nullptr || looked_.exchange(true)) return false;
  const std::shared_ptr<DiskStore> store = disk_store();
  if (!store->is_on()) return false;
  const LoneSpan span(Happening::Read, function_.name);
  const double start = now_ms();
  const std::string key = store_key();
  const std::optional<DiskStore::Entry> entry = store->load(key);
  report_.times.read_ms = now_ms() - start;
  if (!entry) return false;
  const std::optional<StoredPlan> plan = parse_plan(entry->plan);
  // A plan that was made from less than this map can show is made anew.
  if (!plan || (is_sampled() && plan->trips.samples < std::min(elements, kEnoughSamples)))
    return false;
  try {
    const double read = now_ms();
    std::unique_ptr<Code> code = backend_.link(entry->object);
    report_.times.link_ms = now_ms() - read;
    report_.choice = plan->choice;
    report_.trips = plan->trips;
    if (plan->trips.samples > 0) {
      element_ns_ = plan::estimate_element_ns(function_, plan->trips.mean);
    }
    code_scratch_ = plan->scratch;
    publish(std::move(code), CodeSource::Disk);
    return true;
  } catch (const Error&) {
    store->remove(key);
    return false;
  }
}

std::size_t Program::most_code_scratch() const {
  if (code() != nullptr) return code_scratch();
  const bool may_be_inner =
      plan::is_inner_better(function_, wish_, nullptr) || plan::counts_positions(function_);
  if (serial_.values.empty() || !may_be_inner) return 0;
  const std::size_t bytes = plan::kept_bytes(function_);
  return bytes > kernel::kMostOnStack ? bytes : 0;
}

void Program::compile(const plan::Sample& sample) {
  load_or_compile(sample);
  count_bytes();
}

void Program::compile_unless(const plan::Sample& sample, const std::function<bool()>& is_stopping) {
  constexpr auto kBetweenQuestions = std::chrono::milliseconds(20);
  const auto done = std::make_shared<std::promise<void>>();
  std::future<void> end = done->get_future();
  submit_compile([self = shared_from_this(), sample, done] {
    try {
      self->compile(sample);
      done->set_value();
    } catch (...) {
      done->set_exception(std::current_exception());
    }
  });
  while (end.wait_for(kBetweenQuestions) != std::future_status::ready) {
    if (is_stopping()) return;
  }
  end.get();
}

void Program::load_or_compile(const plan::Sample& sample) {
  const std::lock_guard lock(mutex_);
  if (report_.compiled || !report_.error.empty()) return;
  queued_ = true;
  const LoneSpan span(Happening::Compile, function_.name);
  if (!load_locked(std::ssize(sample.trips))) compile_locked(sample);
}

ir::Function Program::special_for(const plan::Schedule& s) const {
  if (s.inner) return transform::serialize(function_, {.keeps_inner = true});
  if (s.batched == 0) return {};
  return transform::serialize(function_, {.in_step = static_cast<std::uint32_t>(s.batched)});
}

kernel::Kernel Program::kernel_for(const plan::Schedule& s, const ir::Function& special) const {
  const bool is_special = s.inner || s.batched > 0;
  return kernel::lower(is_special ? special : lanes(), {.refill = s.refill, .inner = s.inner});
}

std::vector<base::Location> Program::lines_of(std::uint32_t loop) const {
  if (loop == 0) return {};
  if ((loop & kInterpreted) != 0) return kernel::lines_around(kernel_, loop & ~kInterpreted);
  // Code may come from the disk: the numbers of its blocks are those of the same lowering.
  const plan::Schedule s = report().choice.schedule;
  return kernel::lines_around(kernel_for(s, special_for(s)), loop);
}

void Program::compile_locked(const plan::Sample& sample) {
  ir::Function special;
  const auto fits_lanes = [](const ir::Function& f) {  // on the stack
    return plan::array_bytes(f) <= plan::kMostArrayBytes;
  };
  if (plan::is_batched_better(function_, wish_)) {
    report_.choice = plan::choose_batched(lanes(), wish_);
    special = special_for(report_.choice.schedule);
  }
  const bool batched = !special.values.empty() && fits_lanes(special);
  const bool inner = !batched && plan::is_inner_better(function_, wish_, &sample);
  if (inner) {
    special = special_for({.inner = true});
    report_.choice = plan::choose_inner(special, wish_, sample);
  } else if (!batched && fits_lanes(lanes())) {
    report_.choice = plan::choose(lanes(), wish_, &sample);
  } else if (!batched) {
    report_.error = "the arrays of an element are too large for lanes";
    return;
  }
  base::dump("plan", [&] {
    return plan::to_string(report_.choice.schedule) + "\nbecause: " + report_.choice.reason;
  });
  const plan::Schedule& s = report_.choice.schedule;
  report_.trips = plan::count_trips(sample, s.lanes * s.interleave);
  StoredPlan plan{.choice = report_.choice, .trips = report_.trips};
  if (plan.trips.samples > 0) {
    element_ns_ = plan::estimate_element_ns(function_, plan.trips.mean);
  }
  ObjectCode object;
  const std::int64_t compile_start = now_ns();
  if (inner || batched || s.refill) {
    const kernel::Kernel kernel = kernel_for(s, special);
    base::dump("kernel", [&] { return kernel::print(kernel); });
    plan.scratch = kernel::flat_layout(kernel).bytes;
    object = backend_.compile(kernel, report_.choice.schedule);
  } else {
    object = backend_.compile(kernel_, report_.choice.schedule);
  }
  const double start = now_ms();
  std::unique_ptr<Code> code = backend_.link(object.bytes);
  object.times.link_ms = now_ms() - start;
  object.times.read_ms = report_.times.read_ms;
  report_.times = object.times;
  show_phases(compile_start, object.times);
  code_scratch_ = plan.scratch;
  publish(std::move(code), CodeSource::Compiled);
  // Without the counts it should have been made from, a plan is good for this process only.
  if (backend_.target == nullptr || (is_sampled() && plan.trips.samples == 0)) return;
  if (const auto store = disk_store(); store->is_on()) {
    store->save(store_key(), {.plan = print_plan(plan), .object = std::move(object.bytes)});
  }
}

void Program::publish(std::unique_ptr<Code> code, CodeSource source) {
  owned_code_ = std::move(code);
  is_inner_ = report_.choice.schedule.inner;
  report_.compiled = true;
  report_.source = source;
  report_.code_bytes = owned_code_->bytes();
  code_bytes_ = report_.code_bytes;
  set_counted(bytes());
  code_.store(owned_code_->run());
}

Program::Release Program::release_code(std::unique_ptr<Code>& code) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return Release::Compiling;
  if (users_.load() > 0) return Release::Running;
  // A call counts itself before it reads the code, so one of the two sees the other.
  code_.store(nullptr);
  if (users_.load() > 0) {
    if (owned_code_ != nullptr) code_.store(owned_code_->run());
    return Release::Running;
  }
  if (owned_code_ == nullptr) return Release::Done;
  code = std::move(owned_code_);
  code_bytes_ = 0;
  set_counted(bytes());
  report_ = {};
  looked_ = false;
  queued_ = false;
  return Release::Done;
}

std::size_t Program::bytes() const {
  constexpr std::size_t kPage = 4096;
  const std::size_t code = code_bytes_.load(std::memory_order_relaxed);
  // Instructions and constants are in pages of their own.
  return table_bytes_ + (code > 0 ? (code + 2 * kPage - 1) / kPage * kPage : 0);
}

void Program::count_bytes() {
  if (!cache_key_.empty()) recount_program(shared_from_this());
}

void Program::compile_in_background(plan::Sample sample) {
  if (queued_.exchange(true)) return;
  submit_compile([self = weak_from_this(), sample = std::move(sample)] {
    const std::shared_ptr<Program> program = self.lock();
    if (program == nullptr) return;  // dropped before its turn came
    try {
      program->load_or_compile(sample);
      if (program.use_count() > 1) program->count_bytes();  // else nobody wants it any more
    } catch (const Error& error) {
      const std::lock_guard lock(program->mutex_);
      program->report_.error = error.what();
    }
  });
}

void Program::compile_if_again() {
  if (was_short_.exchange(true)) compile_in_background({});
}

Program::Report Program::report() const {
  const std::lock_guard lock(mutex_);
  return report_;
}

std::vector<plan::Considered> Program::considered() const {
  const Report known = report();
  if (!known.compiled) return {};
  return plan::considered(lanes(), known.choice, known.trips);
}

}  // namespace lw::runtime
