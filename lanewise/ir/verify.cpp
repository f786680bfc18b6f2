#include "lanewise/ir/verify.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "lanewise/base/error.h"

namespace lw::ir {
namespace {

class Verifier {
 public:
  explicit Verifier(const Function& f) : f_(f), visible_(f.values.size(), false) {}

  void run() {
    if (f_.blocks.empty()) fail(kNone, "the function has no body");
    for (const Param& p : f_.params) {
      if (p.value >= f_.values.size() || f_[p.value].op != Op::Param) fail(kNone, "bad parameter");
    }
    block(0, kNone);
  }

 private:
  [[noreturn]] void fail(ValueId id, std::string_view rule) const {
    if (id == kNone) throw UsageError(fmt::format("verify: {}: {}.", f_.name, rule));
    throw UsageError(fmt::format("verify: {}: instruction {} ({}): {}.", f_.name, id,
                                 ops::row(f_[id].op).name, rule));
  }

  void require(bool condition, ValueId id, std::string_view rule) const {
    if (!condition) fail(id, rule);
  }

  void block(BlockId id, ValueId loop) {
    const Block& b = f_.blocks[id];
    const std::size_t kept = kept_.size();
    if (loop != kNone) loops_.push_back(loop);
    for (const ValueId argument : b.arguments) visible_[argument] = true;
    require(!b.body.empty(), loop, "a block may not be empty");
    for (std::size_t i = 0; i < b.body.size(); ++i) {
      const ValueId value = b.body[i];
      const bool is_end = f_[value].op == Op::Next || f_[value].op == Op::Return;
      const bool ends = i + 1 == b.body.size() && (loop == kNone || f_[loop].op == Op::Loop);
      require(is_end == ends, value, "next or return ends a block, once");
      instruction(value, loop);
      visible_[value] = true;
    }
    // What a loop body defines is not seen outside of it.
    for (const ValueId value : b.body) {
      if (loop != kNone) visible_[value] = false;
    }
    for (const ValueId argument : b.arguments) visible_[argument] = false;
    if (loop != kNone) loops_.pop_back();
    kept_.resize(kept);
  }

  void carried(ValueId id, std::span<const ValueId> values, ValueId loop) const {
    require(loop != kNone && f_[loop].op == Op::Loop, id, "stands outside of any loop");
    const auto& arguments = f_.blocks[f_[loop].block].arguments;
    require(values.size() == arguments.size(), id, "as many values as the loop carries");
    for (std::size_t i = 0; i < values.size(); ++i) {
      require(f_[values[i]].type == f_[arguments[i]].type, id, "types of the carried values");
    }
  }

  bool is_row(ValueId id) const {
    return f_[id].op == Op::Param && f_.params[f_[id].index].is_row();
  }

  void instruction(ValueId id, ValueId loop) {
    const Instruction& in = f_[id];
    for (std::size_t i = 0; i < in.operands.size(); ++i) {
      const ValueId operand = in.operands[i];
      require(operand < f_.values.size() && visible_[operand], id, "operands come before uses");
      const bool takes_arrays = in.op == Op::Collect || in.op == Op::Return || in.op == Op::Array;
      if (i > 0 || !names_a_place(in.op)) {
        require(in.op == Op::Result || is_number(f_, operand) ||
                    (takes_arrays && is_array(f_, operand)) ||
                    (in.op == Op::Collect && i == 1 && is_target(f_, operand)) ||
                    (in.op == Op::Array && is_row(operand)),
                id, "operands have values");
      }
    }
    if (ops::is_elementwise(in.op)) return elementwise(id);
    switch (in.op) {
      case Op::Constant:
        return require(in.constant.type() == in.type, id, "the literal has the stated type");
      case Op::Loop:
        require(in.block < f_.blocks.size(), id, "owns a body");
        carried(id, in.operands, id);
        return block(in.block, id);
      case Op::Each:
        require(in.block < f_.blocks.size() && f_.blocks[in.block].arguments.size() == 1 &&
                    f_[f_.blocks[in.block].arguments[0]].type == DType::I32,
                id, "owns a body with a position");
        require(in.index > 0 && in.index <= (has_count(in) ? kMostCounted : kMostPositions), id,
                "a size");
        require(in.operands.size() <= 1 &&
                    (in.operands.empty() || f_[in.operands[0]].type == DType::I32),
                id, "one count at most, an i32");
        return block(in.block, id);
      case Op::Collect:
        require(loop != kNone && f_[loop].op == Op::Each, id, "stands in an each");
        return collect(id);
      case Op::Result: {
        require(in.operands.size() == 1 && f_[in.operands[0]].block != kNone, id,
                "names a loop or each");
        if (f_[in.operands[0]].op == Op::Each) return collected(id);
        const auto& arguments = f_.blocks[f_[in.operands[0]].block].arguments;
        require(in.index < arguments.size() && f_[arguments[in.index]].type == in.type, id,
                "index and type of the carried value");
        return;
      }
      case Op::BreakIf:
        require(!in.operands.empty() && f_[in.operands[0]].type == DType::Bool, id,
                "the condition is a bool");
        require(!loops_.empty(), id, "stands outside of any loop");
        require(in.index < loops_.size(), id, "names a loop around it");
        for (std::size_t i = loops_.size() - 1 - in.index; i < loops_.size(); ++i) {
          require(f_[loops_[i]].op == Op::Loop, id, "leaves no each");
        }
        return carried(id, std::span(in.operands).subspan(1), loops_[loops_.size() - 1 - in.index]);
      case Op::Next:
        return carried(id, in.operands, loop);
      case Op::Fail:
        require(in.index <= static_cast<std::uint32_t>(FailKind::Conversion), id, "a kind");
        return require(!in.operands.empty() && f_[in.operands[0]].type == DType::Bool, id,
                       "the condition is a bool");
      case Op::Return: {
        require(loop == kNone, id, "return ends the function");
        require(in.operands.size() == f_.results.size(), id, "as many values as declared");
        for (std::size_t i = 0; i < in.operands.size(); ++i) {
          const ValueId value = in.operands[i];
          require(item_of(f_, value) == f_.results[i], id, "types of the results");
          require(!f_.results[i].is_row() ||
                      std::count(in.operands.begin(), in.operands.end(), value) == 1,
                  id, "an array is returned once");
        }
        return;
      }
      case Op::Element:
        return require(in.operands.empty() && in.type == DType::U32 && in.index < 2, id,
                       "word 0 or 1, a u32");
      case Op::TableSize:
        return require(
            in.operands.size() == 1 && is_indexed(in.operands[0]) && in.type == DType::I64, id,
            "names a table or row, an i64");
      case Op::TableRead:
        require(in.operands.size() > 1 && is_indexed(in.operands[0]), id, "names a table or row");
        return place(id);
      case Op::Array:
        require(in.operands.size() <= 1 && in.index > 0 && in.index <= kMostPositions, id,
                "a size, and one value at most");
        if (in.operands.empty()) return;
        require(f_[in.operands[0]].type == in.type, id, "a value of its type");
        return require(is_number(f_, in.operands[0]) || size_of(f_, in.operands[0]) == in.index, id,
                       "an array of its size");
      case Op::ArrayRead:
        require(in.operands.size() > 1 && is_array(f_, in.operands[0]), id, "names an array");
        return place(id);
      case Op::ArrayWrite:
        require(in.operands.size() > 1 &&
                    (f_[in.operands[0]].op == Op::Array || is_target(f_, in.operands[0])),
                id, "names an array or target");
        written(id, in.operands[0]);
        return place(id);
      case Op::Slot:
        unwritten_[id] = loop;
        return require(in.operands.empty(), id, "number of operands");
      case Op::SlotRead:
        require(in.operands.size() == 1 && is_slot(in.operands[0], in.type), id,
                "names a slot of its type");
        return require(!unwritten_.contains(in.operands[0]), id, "the slot has a value");
      case Op::SlotWrite: {
        require(in.operands.size() == 2 && is_slot(in.operands[0], f_[in.operands[1]].type), id,
                "one value of the slot's type");
        const auto first = unwritten_.find(in.operands[0]);
        if (first == unwritten_.end()) return;
        require(first->second == loop, id, "the slot has a value before a loop writes it");
        unwritten_.erase(first);
        return;
      }
      default:
        return;
    }
  }

  static bool names_a_place(Op op) {
    return op == Op::TableSize || op == Op::TableRead || op == Op::ArrayRead ||
           op == Op::ArrayWrite || op == Op::SlotRead || op == Op::SlotWrite;
  }

  bool is_indexed(ValueId id) const {
    return f_[id].op == Op::Param && f_.params[f_[id].index].is_indexed();
  }

  /// Passes may take what is kept at the end of a position.
  void written(ValueId id, ValueId array) const {
    require(std::find(kept_.begin(), kept_.end(), array) == kept_.end(), id,
            "what a position keeps is not written afterwards");
  }

  void collect(ValueId id) {
    const Instruction& in = f_[id];
    const auto collect = static_cast<Collect>(in.index);
    const bool has_place = collect == Collect::Keep && in.operands.size() == 3;
    require((in.operands.size() == 1 || has_place) && collect <= Collect::ArgMax, id,
            "one value, and what becomes of it");
    const bool is_own = has_place && is_target(f_, in.operands[1]);
    require(!has_place || ((is_own || f_[in.operands[1]].op == Op::Array) &&
                           is_number(f_, in.operands[0]) && f_[in.operands[1]].type == in.type),
            id, "an array or target of its type");
    require(!has_place || f_[in.operands[2]].type == DType::I32 ||
                (is_own && f_[in.operands[2]].type == DType::I64),
            id, "a place in it");
    if (has_place) written(id, in.operands[1]);
    const DType type = f_[in.operands[0]].type;
    require(in.type == type, id, "the type of its value");
    if (f_[in.operands[0]].op == Op::Array) kept_.push_back(in.operands[0]);
    require(collect != Collect::Keep || has_count(f_[loops_.back()]) == is_own, id,
            "it is kept in a target where elements differ in their positions, and only there");
    if (collect == Collect::Keep) {
      const std::uint64_t positions = f_[loops_.back()].index;
      const bool is_row = is_array(f_, in.operands[0]);
      return require(!is_row || size_of(f_, in.operands[0]) <= kMostPositions / positions, id,
                     "as many values as an array can have");
    }
    require(is_number(f_, in.operands[0]), id, "only numbers are combined");
    const DType types[] = {type, type};
    require(ops::result_type(gives_place(collect) ? Op::Min : combining_op(collect), types, type) ==
                type,
            id, "a type that can be combined");
  }

  void collected(ValueId id) const {
    const Instruction& in = f_[id];
    const ValueId each = in.operands[0];
    require(in.index < collects_of(f_, each).size(), id, "names what is collected");
    const Instruction& collect = collect_of(f_, each, in.index);
    const bool is_place = gives_place(static_cast<Collect>(collect.index));
    require(in.type == (is_place ? DType::I32 : collect.type), id, "the type of what is collected");
  }

  /// Index, mode and values of an access to an array or a table.
  void place(ValueId id) const {
    const Instruction& in = f_[id];
    const DType of = f_[in.operands[0]].type;
    const DType index = f_[in.operands[1]].type;
    require(index == DType::I32 || index == DType::I64, id, "the index is an i32 or i64");
    require(in.index <= static_cast<std::uint32_t>(IndexMode::Unchecked), id, "a mode");
    const bool has_third =
        in.op == Op::ArrayWrite || in.index == static_cast<std::uint32_t>(IndexMode::Fill);
    require(in.operands.size() == (has_third ? 3u : 2u), id, "number of operands");
    require(!has_third || f_[in.operands[2]].type == of, id, "the type of the value");
    require(in.op == Op::ArrayWrite || in.type == of, id, "the type of what is read");
  }

  bool is_slot(ValueId id, DType type) const {
    return f_[id].op == Op::Slot && f_[id].type == type;
  }

  void elementwise(ValueId id) const {
    const Instruction& in = f_[id];
    DType operand_types[3];
    require(in.operands.size() <= 3, id, "number of operands");
    for (std::size_t i = 0; i < in.operands.size(); ++i) {
      operand_types[i] = f_[in.operands[i]].type;
    }
    const auto result =
        ops::result_type(in.op, std::span(operand_types, in.operands.size()), in.type);
    require(result == in.type, id, "types of operands and result");
  }

  const Function& f_;
  std::vector<bool> visible_;
  std::vector<ValueId> loops_;            // around the instruction, the innermost last
  std::vector<ValueId> kept_;             // arrays, by the positions around the instruction
  std::map<ValueId, ValueId> unwritten_;  // slots, and the loop that each stands in
};

}  // namespace

void verify(const Function& function) { Verifier(function).run(); }

}  // namespace lw::ir
