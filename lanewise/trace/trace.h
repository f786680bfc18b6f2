// Recording a user's function. While a Trace is open on a thread, symbolic variables
// (trace/variable.h) append to its function. A variable is a typed slot: reads and assignments are
// instructions, nothing is folded, and the condition and body of a loop are recorded once;
// transform/slots_to_ssa then finds what is carried.
#pragma once

#include <source_location>

#include "lanewise/ir/builder.h"

namespace lw::trace {

class Trace {
 public:
  /// Opens a trace on this thread; one inside another is a UsageError.
  explicit Trace(std::string name);
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  /// A UsageError if one is open on this thread.
  static void require_none();
  /// The trace that is open on this thread; a UsageError says what to do when there is none.
  static Trace& current();

  ir::ValueId new_slot(ir::ValueId initial);
  ir::ValueId read(ir::ValueId slot);
  void write(ir::ValueId slot, ir::ValueId value);

  void begin_loop();
  void end_loop();
  void break_if(ir::ValueId condition);

  ir::Builder& builder() { return builder_; }
  std::uint64_t id() const { return id_; }
  /// Ends the function with these values; the trace records nothing after it.
  ir::Function finish(std::span<const ir::ValueId> results);

 private:
  ir::Builder builder_;
  std::uint64_t id_;
  int depth_ = 0;
};

/// Opens a loop now and closes it at the end of the scope.
class LoopScope {
 public:
  LoopScope() { Trace::current().begin_loop(); }
  ~LoopScope() { Trace::current().end_loop(); }
  LoopScope(const LoopScope&) = delete;
  LoopScope& operator=(const LoopScope&) = delete;
};

base::Location to_location(const std::source_location& here);

}  // namespace lw::trace
