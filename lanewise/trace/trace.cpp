#include "lanewise/trace/trace.h"

#include <atomic>

#include "lanewise/base/error.h"

namespace lw::trace {
namespace {

thread_local Trace* open_trace = nullptr;
std::atomic<std::uint64_t> next_id{1};

}  // namespace

Trace::Trace(std::string name) : builder_(std::move(name)), id_(next_id++) {
  require_none();
  open_trace = this;
}

void Trace::require_none() {
  if (open_trace != nullptr) {
    throw UsageError(
        "trace: a function is being traced on this thread already. "
        "Call the plain function, not its vectorized form, inside another.");
  }
}

Trace::~Trace() { open_trace = nullptr; }

Trace& Trace::current() {
  if (open_trace == nullptr) {
    throw UsageError(
        "trace: a symbolic variable was used outside of a traced function. "
        "Create and use lw::f32 and its kind only inside the function given to lw::vectorize.");
  }
  return *open_trace;
}

ir::ValueId Trace::new_slot(ir::ValueId initial) {
  const ir::ValueId slot = builder_.append({.op = ir::Op::Slot, .type = builder_.type(initial)});
  write(slot, initial);
  return slot;
}

ir::ValueId Trace::read(ir::ValueId slot) {
  return builder_.append({.op = ir::Op::SlotRead, .type = builder_.type(slot), .operands = {slot}});
}

void Trace::write(ir::ValueId slot, ir::ValueId value) {
  builder_.append({.op = ir::Op::SlotWrite, .operands = {slot, value}});
}

void Trace::begin_loop() {
  builder_.begin_loop({});
  ++depth_;
}

void Trace::end_loop() {
  builder_.end_loop({});
  --depth_;
}

void Trace::break_if(ir::ValueId condition) {
  if (depth_ == 0) {
    throw UsageError("BreakIf: stands outside of any loop. Use it in the body of lw::While.");
  }
  builder_.break_if(condition, {});
}

ir::Function Trace::finish(std::span<const ir::ValueId> results) {
  builder_.ret(results);
  return builder_.take();
}

base::Location to_location(const std::source_location& here) {
  return {base::intern(here.file_name()), static_cast<int>(here.line())};
}

}  // namespace lw::trace
