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
    block(0, ir::kNone);
    return build_.take();
  }

 private:
  void write(ValueId slot, ValueId value) {
    build_.append({.op = Op::SlotWrite, .operands = {slot, value}});
  }

  ValueId read(ValueId slot) {
    return build_.append({.op = Op::SlotRead, .type = build_.type(slot), .operands = {slot}});
  }

  void block(ir::BlockId id, ValueId loop) {
    for (const ValueId value : f_.blocks[id].body) instruction(value, loop);
  }

  void instruction(ValueId id, ValueId loop) {
    const Instruction& in = f_[id];
    switch (in.op) {
      case Op::Param: {
        const ir::Param& p = f_.params[in.index];
        map_[id] = build_.param(p.name, p.type, p.kind);
        return;
      }
      case Op::Loop:
        return begin(id);
      case Op::Result:
        map_[id] = read(slots_[in.operands[0]][in.index]);
        return;
      case Op::BreakIf: {
        // An exit hands over what the slots hold; where it is not taken, that must not change.
        const auto& arguments = f_.blocks[f_[loop].block].arguments;
        const ValueId leave = map_[in.operands[0]];
        for (std::size_t i = 0; i < arguments.size(); ++i) {
          if (in.operands[i + 1] == arguments[i]) continue;
          const ValueId slot = slots_[loop][i];
          write(slot, build_.op(Op::Select, {leave, map_[in.operands[i + 1]], read(slot)}));
        }
        build_.break_if(leave, {});
        return;
      }
      case Op::Next:
        for (std::size_t i = 0; i < in.operands.size(); ++i) {
          write(slots_[loop][i], map_[in.operands[i]]);
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

  void begin(ValueId id) {
    const Instruction& in = f_[id];
    const auto& arguments = f_.blocks[in.block].arguments;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const ValueId slot = build_.append({.op = Op::Slot, .type = f_[arguments[i]].type});
      slots_[id].push_back(slot);
      write(slot, map_[in.operands[i]]);
    }
    build_.begin_loop({});
    for (std::size_t i = 0; i < arguments.size(); ++i) map_[arguments[i]] = read(slots_[id][i]);
    block(in.block, id);
    build_.close_loop();
  }

  const ir::Function& f_;
  ir::Builder build_;
  std::vector<ValueId> map_;
  std::vector<std::vector<ValueId>> slots_;  // by loop
};

}  // namespace

ir::Function to_slots(const ir::Function& function) { return ToSlots(function).run(); }

}  // namespace lw::fuzz
