// Internal to the lowering: the walk through an element program that makes lane form of it.
// lower.cpp has the walk and straight code, lower_memory.cpp arrays, tables and checks,
// lower_loops.cpp loops, branches and what leaves them, lower_each.cpp positions.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "lanewise/kernel/lower.h"
#include "lanewise/kernel/range.h"
#include "lanewise/kernel/uniformity.h"

namespace lw::kernel {

using ir::ValueId;

inline bool touches_memory(Op op) {
  return op == Op::TableRead || op == Op::ArrayRead || op == Op::ArrayWrite;
}

class Lowering {
 public:
  Lowering(const ir::Function& f, LowerOptions options);
  Kernel run();

 private:
  /// A loop of the element program whose body is being lowered.
  struct Frame {
    ValueId loop = ir::kNone;
    RegisterId mask = kNone;           // kNone: all lanes leave together
    std::vector<RegisterId> in = {};   // carried values, as the body reads them
    std::vector<RegisterId> out = {};  // per position what `result` reads; kNone where unread
    std::uint32_t level = 0;           // of its block among those of lane form; 0: it has none
  };

  // --- emitting ---
  RegisterId new_register(DType type, bool varying) {
    kernel_.registers.push_back({type, varying});
    return static_cast<RegisterId>(kernel_.registers.size() - 1);
  }
  Instruction& emit(Instruction in) {
    kernel_.blocks[block_].push_back(std::move(in));
    return kernel_.blocks[block_].back();
  }
  RegisterId assign(Kind kind, RegisterId dst, Sources sources, std::uint32_t index = 0) {
    emit({.kind = kind, .dst = dst, .sources = std::move(sources), .index = index});
    return dst;
  }
  RegisterId compute_into(RegisterId dst, Op op, Sources sources) {
    emit({.kind = Kind::Compute, .op = op, .dst = dst, .sources = std::move(sources)});
    return dst;
  }
  RegisterId compute(Op op, DType type, Sources sources);
  /// Literals stand once each, before everything else.
  RegisterId constant(Scalar value);
  /// A uniform value before everything else.
  RegisterId at_entry(Instruction in, DType type);
  bool is_varying(RegisterId r) const { return kernel_.registers[r].varying; }
  /// dst = source where `mask` is set.
  void blend(RegisterId dst, RegisterId mask, RegisterId source) {
    compute_into(dst, Op::Select, {mask, source, dst});
  }
  /// What follows goes into the block of a new loop or branch until `close`.
  BlockId open(Sources sources, bool once);
  void close(BlockId outer) {
    --level_;
    block_ = outer;
  }

  // --- instructions ---
  void block(ir::BlockId id);
  void instruction(ValueId id);
  void param(ValueId id);
  void elementwise(ValueId id);
  /// Lanes with divisor 0 fail if they are live; dead and failing ones divide by 1.
  void guard_divisor(const ir::Instruction& in, RegisterId& divisor);

  // --- arrays and tables (lower_memory.cpp) ---
  void array(ValueId id);
  void copy_row(ValueId row, RegisterId array);
  /// A short row comes to the lanes all at once where that is less than to gather what is read.
  void load_whole_row(ValueId row);
  /// True when what an access names has one value for each place, whatever lanes there are.
  bool is_flat(const ir::Instruction& in) const {
    return ir::is_target(f_, in.operands[0]) ? true
           : in.op == Op::TableRead          ? inner_ || !is_row(in.operands[0])
                                    : inner_ && kernel_.arrays[map_[in.operands[0]]].is_flat;
  }
  bool is_row(ValueId id) const {
    return f_[id].op == Op::Param && f_.params[f_[id].index].is_row();
  }
  /// True for what has a size that is known: an array or a row.
  bool has_known_size(ValueId id) const { return ir::is_array(f_, id) || is_row(id); }
  RegisterId table_size(ValueId table);
  /// The last place of what an access names that the type of its index can say. A table has one at
  /// least.
  RegisterId last_place(const ir::Instruction& in, DType type);
  /// Where an access leads to. Dead lanes may have any index, unless it is the same for all: then
  /// it is inside whatever happens.
  struct Place {
    RegisterId index;
    RegisterId outside = kNone;  // mode Fill: lanes whose index is
    std::int32_t step = 0;       // as Instruction's
  };
  Place find_place(const ir::Instruction& in);
  static DType bits_of(DType index) { return index == DType::I32 ? DType::U32 : DType::U64; }
  /// One check for all accesses of a stretch of straight code whose indices differ by literals:
  /// that of the first, against the least of what the others leave. Who fails later fails there
  /// already; the evaluator tells where.
  struct Check {
    ValueId root;                              // of the indices
    std::int64_t first;                        // what the first one adds to it
    std::size_t at;                            // of the comparison in the block
    std::map<ValueId, std::int64_t> furthest;  // by array or table: the most that is added
  };
  void check(const ir::Instruction& in);
  /// The index without the literals that are added to it, and their sum.
  std::pair<ValueId, std::int64_t> root_of(ValueId index) const;
  /// What the first index of a check must be below, as an unsigned number: so much less than a size
  /// as the furthest access goes beyond the first.
  RegisterId limit_of(const Check& check, DType type);
  /// In i64, as the size may not fit the index.
  RegisterId wrapped(const ir::Instruction& in, RegisterId index, DType type);
  /// True where the index is surely inside; `always`: in dead lanes and steps too.
  bool is_inside(const ir::Instruction& in, bool always) const;
  /// How many places a read can reach, if they are few.
  std::uint32_t most_places(const ir::Instruction& in) const;
  void read(ValueId id, Kind kind);
  void write(const ir::Instruction& in);
  /// Live lanes, without those whose index is outside.
  RegisterId inside_lanes(const Place& place);

  // --- positions (lower_each.cpp) ---
  void each(ValueId id);
  /// Where an index is x + step * position, of literals and uniform values and without a wrap: x.
  /// All live lanes have it inside of what is read, or written.
  std::optional<RegisterId> place_of_first(ValueId index, std::int32_t& step);
  std::optional<RegisterId> place_of_first(ValueId index, std::int32_t& step, bool may_wrap);

  // --- failures (lower_memory.cpp) ---
  /// Failing lanes leave the innermost mask at once. Whether there are any is looked at when the
  /// straight code ends, once for all its checks.
  void fail(RegisterId condition, Site site);
  void end_checks();
  /// Lanes that failed inside of a loop or branch that has ended go no further. Theirs is then the
  /// outermost mask alone that says so.
  void drop_failed(std::size_t sites_before);

  // --- loops (lower_loops.cpp) ---
  /// What leaves a loop that never goes round, before anything has: the values it began with.
  Frame begin_once(ValueId id);
  /// The body from `at` on, and its end, which all lanes come to that have not left before.
  void finish_once(ValueId id, Frame frame, std::size_t at);
  /// After the first instruction of these, which may have taken lanes out: what follows goes into a
  /// block that is entered if any lane is left, where that is worth a look.
  void skip_rest(std::span<const ValueId> body);
  bool is_long(std::span<const ValueId> body) const;
  bool holds_refill_loop(ValueId id) const;
  bool has_loop(std::span<const ValueId> body) const {
    return std::any_of(body.begin(), body.end(), [&](ValueId id) { return f_[id].op == Op::Loop; });
  }
  /// What follows goes into the block of a new part until `block_` is again what is given.
  BlockId open_part();
  /// What comes before the first exit is computed by all, as a part where there are loops in it:
  /// those would stand beside one that is refilled. The rest is computed if any lane goes on.
  void branch(ValueId id);
  /// Several exits: lanes that left stay out of the rest, by a mask or all at once.
  void once(ValueId id);
  /// What is uniform is computed where it stands, so that it can be computed before all packets,
  /// unless there are loops in it: those would stand beside one that is refilled.
  void part(ValueId id);
  void loop(ValueId id);
  void go_round(ValueId id);
  /// Behind a refilled loop only the lanes that are done are active, while the others are still in
  /// it: they need the masks of the blocks around it, and what says that they are active, as it is.
  void keep_to_active();
  RegisterId map_result(const ir::Instruction& in) const;
  /// The conditions of an exit are taken apart: a uniform one is a plain branch, and only a varying
  /// one touches the mask.
  void break_if(const ir::Instruction& in);
  const Frame& frame_of(std::uint32_t up) const { return frames_[frames_.size() - 1 - up]; }
  /// True when all lanes that are in the innermost loop are all that are in the one left.
  bool leaves_together(std::uint32_t up) const;
  void exit(ValueId condition, bool negated, bool is_branch, const ir::Instruction& in);
  /// Takes the leaving lanes out of every loop they leave.
  void exit_masks(RegisterId holds, bool negated, const ir::Instruction& in);
  /// True when the exit hands over something else than the carried values as they stand.
  bool has_exit_values(const ir::Instruction& in) const;
  void take_exit_values(const ir::Instruction& in, RegisterId leaving);
  /// Moves that happen all at once: a source that is also a destination is copied first.
  std::vector<std::pair<RegisterId, RegisterId>> at_once(
      std::vector<std::pair<RegisterId, RegisterId>> moves);
  void next(const ir::Instruction& in);
  /// A counter's twin counts by itself: one masked addition instead of a broadcast and a blend.
  RegisterId twin_value(ValueId next, ValueId argument, RegisterId twin);

  // --- clean-up ---
  void remove_unread();

  const ir::Function& f_;
  bool inner_;
  ValueId refill_loop_;
  Uniformity facts_;
  Ranges ranges_;
  std::map<std::pair<RegisterId, DType>, RegisterId> last_places_;  // by table and index type
  Kernel kernel_;
  std::vector<RegisterId> map_;
  std::map<ValueId, RegisterId> whole_rows_;    // by row: the array that has its places
  std::vector<std::vector<bool>> result_used_;  // by loop
  bool needs_masks_;
  bool needs_active_ = false;
  BlockId block_ = 0;
  std::uint32_t level_ = 0;  // how many loops and branches are open
  std::vector<Instruction> constants_;
  std::vector<RegisterId> masks_;     // lanes that hold an element, then one per masked loop
  RegisterId before_checks_ = kNone;  // the mask before the checks that are not looked at yet
  std::uint32_t first_check_ = 0;     // the site of the first of them
  std::vector<Check> checks_;         // those of indices among them
  std::vector<Frame> frames_;
  std::vector<std::pair<ValueId, std::vector<RegisterId>>> outs_;
  ValueId position_ = ir::kNone;  // the argument of the `each` that is being lowered
};

/// Of a kernel for positions: lets arrays lie in the memory of outputs that are made of them.
void share_output_memory(Kernel& kernel);

}  // namespace lw::kernel
