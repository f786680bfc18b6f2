// In a trace slots are read and written freely. Here each loop gets as carried values, behind those
// it has, the slots that its body writes and that exist outside of it, and every read becomes the
// value the slot has at that point. Exits hand over the present values.
#include <fmt/core.h>

#include "lanewise/base/check.h"
#include "lanewise/base/error.h"
#include "lanewise/transform/passes.h"

namespace lw::transform {
namespace {

using ir::Instruction;
using ir::Op;
using ir::ValueId;

class SlotsToSsa {
 public:
  explicit SlotsToSsa(const ir::Function& f)
      : f_(f), build_(f.name, f.values.size()), map_(f.values.size(), ir::kNone) {}

  ir::Function run() {
    block(0);
    return build_.take();
  }

 private:
  /// Slots that the block (or a loop in it) writes, in order of first write, but not its own.
  void collect_written(ir::BlockId id, std::vector<ValueId>& written,
                       std::vector<ValueId>& own) const {
    const auto has = [](const std::vector<ValueId>& list, ValueId slot) {
      return std::find(list.begin(), list.end(), slot) != list.end();
    };
    for (const ValueId value : f_.blocks[id].body) {
      const Instruction& in = f_[value];
      if (in.op == Op::Slot) own.push_back(value);
      if (in.block != ir::kNone) collect_written(in.block, written, own);
      if (in.op == Op::SlotWrite && !has(own, in.operands[0]) && !has(written, in.operands[0])) {
        written.push_back(in.operands[0]);
      }
    }
  }

  /// What stands for `ids`, then the present values of `slots`.
  ir::Operands present(std::span<const ValueId> ids, std::span<const ValueId> slots) const {
    ir::Operands values;
    for (const ValueId id : ids) values.push_back(map_[id]);
    for (const ValueId slot : slots) values.push_back(map_[slot]);
    return values;
  }

  void block(ir::BlockId id) {
    for (const ValueId value : f_.blocks[id].body) instruction(value);
  }

  // map_[slot] is the slot's present value; map_[value] stands for any other value.
  void instruction(ValueId id) {
    const Instruction& in = f_[id];
    build_.set_location(in.location);
    switch (in.op) {
      case Op::Param:
        map_[id] = build_.param(f_.params[in.index]);
        return;
      case Op::Slot:
        return;
      case Op::SlotWrite:
        map_[in.operands[0]] = map_[in.operands[1]];
        return;
      case Op::SlotRead:
        map_[id] = map_[in.operands[0]];
        LW_CHECK(map_[id] != ir::kNone);
        return;
      case Op::Loop:
        return loop(id);
      case Op::Each:
        return each(id);
      case Op::BreakIf:
        build_.break_if(
            map_[in.operands[0]],
            present(std::span(in.operands).subspan(1), carried_[carried_.size() - 1 - in.index]),
            in.index);
        return;
      case Op::Next:
        build_.end_loop(present(in.operands, carried_.back()));
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

  void loop(ValueId id) {
    const Instruction& in = f_[id];
    const auto& arguments = f_.blocks[in.block].arguments;
    std::vector<ValueId> written;
    std::vector<ValueId> own;
    collect_written(in.block, written, own);
    const ValueId loop = build_.begin_loop(present(in.operands, written), in.index != 0);
    map_[id] = loop;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      map_[arguments[i]] = build_.arguments(loop)[i];
    }
    for (std::size_t i = 0; i < written.size(); ++i) {
      map_[written[i]] = build_.arguments(loop)[arguments.size() + i];
    }
    carried_.push_back(written);
    block(in.block);
    carried_.pop_back();
    for (std::size_t i = 0; i < written.size(); ++i) {
      map_[written[i]] = build_.result(loop, static_cast<std::uint32_t>(arguments.size() + i));
    }
  }

  /// Positions do not see one another, so none of them may change what is outside.
  void each(ValueId id) {
    const Instruction& in = f_[id];
    std::vector<ValueId> written;
    std::vector<ValueId> own;
    collect_written(in.block, written, own);
    if (!written.empty()) {
      throw UsageError(fmt::format(
          "{}{}map: a variable from outside is assigned for each position; got an assignment in "
          "the function that runs for every position. Give the value back from that function, or "
          "write a loop.",
          base::to_string(in.location), in.location ? ": " : ""));
    }
    map_[id] = build_.begin_each(in.index, ir::has_count(in) ? map_[in.operands[0]] : ir::kNone);
    map_[f_.blocks[in.block].arguments[0]] = build_.arguments(map_[id])[0];
    block(in.block);
    build_.close_loop();
  }

  const ir::Function& f_;
  ir::Builder build_;
  std::vector<ValueId> map_;
  std::vector<std::vector<ValueId>> carried_;
};

}  // namespace

ir::Function slots_to_ssa(const ir::Function& function) { return SlotsToSsa(function).run(); }

}  // namespace lw::transform
