// Recording a user's function. While a Trace is open on a thread, symbolic variables
// (trace/variable.h) append to its function. A variable is a typed slot: reads and assignments are
// instructions, nothing is folded, and the condition and body of a loop are recorded once;
// transform/slots_to_ssa then finds what is carried.
//
// What can be left before its end gets a loop around it that never goes round, when it is first
// left: the body of a loop, by Continue, and that of a function, by Return.
#pragma once

#include <source_location>
#include <string_view>

#include "lanewise/ir/builder.h"
#include "lanewise/types/shape.h"

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
  /// True when one is open on this thread.
  static bool is_open();
  /// The trace that is open on this thread; a UsageError says what to do when there is none.
  static Trace& current();

  ir::ValueId new_slot(ir::ValueId initial);
  ir::ValueId read(ir::ValueId slot);
  void write(ir::ValueId slot, ir::ValueId value);

  void begin_loop();
  /// What has been recorded of the loop so far is its test; Continue leaves what follows.
  void begin_body();
  void end_body();
  void end_loop();
  void begin_branch(ir::ValueId condition);
  void end_branch();
  /// A function that only elements run for which the condition holds.
  void begin_region(ir::ValueId condition);
  /// Its results as they are behind it: zeros, where the condition does not hold.
  std::vector<ir::ValueId> end_region(std::span<const ir::ValueId> results);
  /// Opens an `each`, whose positions run what follows without seeing one another; gives the
  /// position. With a count, an i32, there are so many of them, and `size` at most.
  ir::ValueId begin_each(std::uint32_t size, ir::ValueId count = ir::kNone);
  /// A value of every position, and what becomes of it.
  struct Collected {
    ir::Collect how;
    ir::ValueId value;
  };
  /// Ends the innermost `each`; gives what has become of the values.
  std::vector<ir::ValueId> end_each(std::span<const Collected> collected);
  /// True where something in the innermost scope has drawn a random number.
  bool has_drawn() const { return sites_ != scopes_.back().sites; }
  /// Drops the innermost `each` with all that was recorded since it began, places that draw too.
  void discard_each();
  void begin_call();
  /// The results of a function that was called: what it returned at its end, or before.
  std::vector<ir::ValueId> end_call(std::span<const ir::ValueId> results);

  /// Something that can be left before its end, as a function can, with what it hands over in slots
  /// of `slot_before`.
  void begin_block();
  /// Ends it, and blocks inside of it that nothing has left.
  void end_block(std::size_t scope);

  /// The innermost scope that has begun, by its number.
  std::size_t scope() const { return scopes_.size() - 1; }
  /// Leave the loop, or the body of the loop or the block, of this number, always.
  void break_scope(std::size_t scope);
  void leave_scope(std::size_t scope);
  /// A slot that is there before the branch, loop or block, which is open; its first value is one
  /// from before too, or 0.
  ir::ValueId slot_before(std::size_t scope, DType type, ir::ValueId initial = ir::kNone);
  ir::ValueId slot_before(std::size_t scope, Scalar initial);
  /// An array of zeros that is there before it.
  ir::ValueId array_before(std::size_t scope, DType type, std::uint32_t size);
  /// A slot that is there when the function begins, with this value; an array likewise.
  ir::ValueId first_slot(Scalar initial);
  ir::ValueId first_array(Scalar initial, std::uint32_t size);
  /// What the function adds to something outside: such slots and arrays. Their last values are
  /// results of the function, behind those it returns, in the order of first use.
  struct Partials {
    void* owner;
    std::vector<ir::ValueId> values;
  };
  std::vector<ir::ValueId>& partials_of(void* owner);
  const std::vector<Partials>& partials() const { return partials_; }
  /// True for a value that was made in a loop, branch or `each` that has ended.
  bool is_gone(ir::ValueId value) const;
  /// Refuses an assignment to an array from outside of the innermost `each`: positions would
  /// write to one another's values.
  void require_own(ir::ValueId array) const;
  /// True where the function that is recorded has been left before its end.
  bool is_left() const { return scopes_.back().is_wrapped; }
  /// True inside of something that may run more than once.
  bool is_in_loop() const;
  /// A parameter behind those there are, wherever the function has got to.
  ir::ValueId late_param(std::string name, DType type, ir::ParamKind kind, std::uint32_t size);
  /// Ends the branch as if it had not been one, where all may run what it has; else does nothing.
  bool dissolve_branch();
  /// Drops the branch or loop with all that was recorded since it began.
  void discard_scope(std::size_t scope);

  /// Leave the innermost loop, its body, the function; `what` names the call in errors.
  void break_if(ir::ValueId condition, std::string_view what);
  void continue_if(ir::ValueId condition, std::string_view what);
  void return_if(ir::ValueId condition, std::span<const ir::ValueId> results);

  /// The next draw of a new place that draws: seed (two words), number of the place, number of the
  /// element (two words) and how often the element has drawn there before; all u32.
  struct Draw {
    ir::ValueId seed[2];
    ir::ValueId site;
    ir::ValueId element[2];
    ir::ValueId number;
  };
  Draw next_draw();

  ir::Builder& builder() { return builder_; }
  std::uint64_t id() const { return id_; }
  /// Ends the function with these values; the trace records nothing after it.
  ir::Function finish(std::span<const ir::ValueId> results);

 private:
  /// Something that is being recorded, and can be left.
  struct Scope {
    enum Kind { Function, Loop, Branch, Block, Each } kind = Function;
    std::size_t depth = 0;    // of its block among those that are open
    std::size_t begin = 0;    // where what can be left begins in it
    bool is_wrapped = false;  // that has a loop around it
    std::vector<ir::ValueId>
        results;              // Function: slots and arrays, once it has been left; Each: itself
    std::size_t first = 0;    // the number of the first value that is recorded in it
    std::uint32_t sites = 0;  // places that drew before it
  };

  Scope& innermost(Scope::Kind kind, std::string_view what);
  /// Refuses what would never end: a function that calls itself.
  void begin(Scope scope);
  /// Ends the innermost scope, whose values are gone.
  void end();
  /// How many loops further out than the innermost the one around a scope's body is.
  std::uint32_t up_to(const Scope& scope) const;
  void wrap(Scope& scope);
  /// The depth of the block that the scope's own loop stands in, as its last instruction. A block
  /// gets its loop here.
  std::size_t around(Scope& scope);
  void unwrap(Scope& scope);
  /// The one of this number, with these results, always.
  void leave_function(std::size_t at, std::span<const ir::ValueId> results);
  std::vector<ir::ValueId> end_function(std::span<const ir::ValueId> results);
  void shift_entry(std::size_t by);
  ir::ValueId literal(Scalar value) { return builder_.constant(value); }

  ir::Builder builder_;
  std::uint64_t id_;
  std::vector<Scope> scopes_;
  std::vector<Partials> partials_;
  std::vector<std::pair<std::size_t, std::size_t>> gone_;  // values from the first to the second
  std::uint32_t sites_ = 0;
  ir::ValueId seed_ = ir::kNone;
};

/// The results of a function, one behind the other, with the shapes of those that have many values.
struct ResultList {
  void add(ir::ValueId value, const types::Shape& shape = {});
  std::vector<ir::ValueId> values;
  std::vector<types::Shape> shapes;
};

base::Location to_location(const std::source_location& here);

/// The builder of the trace that is open, which goes on at this line.
inline ir::Builder& locate(const std::source_location& here) {
  ir::Builder& build = Trace::current().builder();
  build.set_location(to_location(here));
  return build;
}

}  // namespace lw::trace
