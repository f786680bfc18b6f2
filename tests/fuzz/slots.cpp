#include "tests/fuzz/slots.h"

#include "lanewise/ir/builder.h"

namespace lw::fuzz {
namespace {

using ir::Instruction;
using ir::Op;
using ir::ValueId;

class ToSlots {
 public:
  explicit ToSlots(const ir::Function& f)
      : f_(f), build_(f.name), map_(f.values.size(), ir::kNone), slots_(f.values.size()) {}

  ir::Function run() {
    block(0);
    return build_.take();
  }

 private:
  void write(ValueId slot, ValueId value) {
    build_.append({.op = Op::SlotWrite, .operands = {slot, value}});
  }

  ValueId read(ValueId slot) {
    return build_.append({.op = Op::SlotRead, .type = build_.type(slot), .operands = {slot}});
  }

  void block(ir::BlockId id) {
    for (const ValueId value : f_.blocks[id].body) instruction(value);
  }

  void instruction(ValueId id) {
    const Instruction& in = f_[id];
    switch (in.op) {
      case Op::Param: {
        const ir::Param& p = f_.params[in.index];
        map_[id] = build_.param(p);
        return;
      }
      case Op::Loop:
        return begin(id);
      case Op::Each:
        map_[id] =
            build_.begin_each(in.index, ir::has_count(in) ? map_[in.operands[0]] : ir::kNone);
        map_[f_.blocks[in.block].arguments[0]] = build_.arguments(map_[id])[0];
        block(in.block);
        build_.close_loop();
        return;
      case Op::Result:
        if (f_[in.operands[0]].op == Op::Each) {
          map_[id] = build_.result(map_[in.operands[0]], in.index);
          return;
        }
        map_[id] = read(slots_[in.operands[0]][in.index]);
        return;
      case Op::BreakIf:
        return leave(in);
      case Op::Next:
        for (std::size_t i = 0; i < in.operands.size(); ++i) {
          write(slots_[loops_.back()][i], map_[in.operands[i]]);
        }
        build_.append({.op = Op::Next});
        return;
      default: {
        Instruction copy = in;
        for (ValueId& operand : copy.operands) operand = map_[operand];
        if (in.op == Op::Return) {
          build_.ret(copy.operands);
        } else {
          map_[id] = build_.append(std::move(copy));
        }
      }
    }
  }

  /// An exit hands over what the slots hold; where it is not taken, that must not change. One that
  /// leaves several loops stands in a branch, as a trace has it.
  void leave(const Instruction& in) {
    const ValueId loop = loops_[loops_.size() - 1 - in.index];
    const auto& arguments = f_.blocks[f_[loop].block].arguments;
    const ValueId leave = map_[in.operands[0]];
    const bool branches = in.index > 0 && f_[in.operands[0]].op != Op::Constant;
    if (branches) {
      build_.begin_loop({});
      build_.break_if(build_.op(Op::Not, {leave}), {});
    }
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (in.operands[i + 1] == arguments[i]) continue;
      const ValueId slot = slots_[loop][i];
      const ValueId value = map_[in.operands[i + 1]];
      write(slot, branches ? value : build_.op(Op::Select, {leave, value, read(slot)}));
    }
    if (!branches) return build_.break_if(leave, {}, in.index);
    build_.break_if(build_.constant(Scalar(true)), {}, in.index + 1);
    build_.break_if(build_.constant(Scalar(true)), {});
    build_.end_loop({});
  }

  void begin(ValueId id) {
    const Instruction& in = f_[id];
    const auto& arguments = f_.blocks[in.block].arguments;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const ValueId slot = build_.append({.op = Op::Slot, .type = f_[arguments[i]].type});
      slots_[id].push_back(slot);
      write(slot, map_[in.operands[i]]);
    }
    build_.begin_loop({}, in.index != 0);
    for (std::size_t i = 0; i < arguments.size(); ++i) map_[arguments[i]] = read(slots_[id][i]);
    loops_.push_back(id);
    block(in.block);
    loops_.pop_back();
    build_.close_loop();
  }

  const ir::Function& f_;
  ir::Builder build_;
  std::vector<ValueId> map_;
  std::vector<std::vector<ValueId>> slots_;  // by loop
  std::vector<ValueId> loops_;               // around the instruction, the innermost last
};

}  // namespace

ir::Function to_slots(const ir::Function& function) { return ToSlots(function).run(); }

}  // namespace lw::fuzz
