#include "lanewise/kernel/uniformity.h"

namespace lw::kernel {
namespace {

using ir::Op;
using ir::ValueId;

class Analysis {
 public:
  Analysis(const ir::Function& f, ValueId refill_loop, bool inner)
      : f_(f), refill_loop_(refill_loop), inner_(inner) {
    facts_.uniform.assign(f.values.size(), true);
    facts_.diverges.assign(f.values.size(), false);
  }

  /// Begins with everything uniform and takes back what is not, until nothing changes.
  Uniformity run() {
    do {
      changed_ = false;
      block(0, ir::kNone);
    } while (changed_);
    return std::move(facts_);
  }

 private:
  void set_varying(ValueId id) {
    if (!facts_.uniform[id]) return;
    facts_.uniform[id] = false;
    changed_ = true;
  }

  void set_diverging(ValueId loop) {
    if (facts_.diverges[loop]) return;
    facts_.diverges[loop] = true;
    changed_ = true;
  }

  bool any_varying(std::span<const ValueId> ids) const {
    for (const ValueId id : ids) {
      if (!facts_.uniform[id]) return true;
    }
    return false;
  }

  void block(ir::BlockId id, ValueId loop) {
    for (const ValueId value : f_.blocks[id].body) instruction(value, loop);
  }

  void instruction(ValueId id, ValueId loop) {
    const ir::Instruction& in = f_[id];
    switch (in.op) {
      case Op::Param:
        if (f_.params[in.index].is_mapped() && !inner_) set_varying(id);
        return;
      case Op::Element:
        if (!inner_) set_varying(id);
        return;
      case Op::Array:
        if (!inner_ || in_each_) set_varying(id);
        return;
      case Op::ArrayRead:
        if (!inner_ || any_varying(in.operands)) set_varying(id);
        return;
      case Op::Each:
        set_varying(f_.blocks[in.block].arguments[0]);
        in_each_ = true;
        block(in.block, loop);
        in_each_ = false;
        return;
      case Op::TableRead:
        if (any_varying(in.operands)) set_varying(id);
        return;
      case Op::TableSize:
        return;
      case Op::Loop: {
        if (id == refill_loop_) {
          // Lanes are at different steps of it, and so come to what leaves the blocks around it at
          // different times.
          set_diverging(id);
          for (const ValueId around : loops_) set_diverging(around);
        }
        const auto& arguments = f_.blocks[in.block].arguments;
        for (std::size_t i = 0; i < arguments.size(); ++i) {
          if (id == refill_loop_ || !facts_.uniform[in.operands[i]]) set_varying(arguments[i]);
        }
        loops_.push_back(id);
        block(in.block, id);
        loops_.pop_back();
        return;
      }
      case Op::Result: {
        const ValueId owner = in.operands[0];
        if (f_[owner].op == Op::Each) return;  // one for all positions
        if (facts_.diverges[owner] ||
            !facts_.uniform[f_.blocks[f_[owner].block].arguments[in.index]]) {
          set_varying(id);
        }
        return;
      }
      case Op::BreakIf:
        return leave(in);
      case Op::Next:
        return carried(in.operands, loop);
      default:
        if (any_varying(in.operands)) set_varying(id);
    }
  }

  /// An exit that some lanes take, or that not all lanes come to, parts those of every loop it
  /// leaves: of the one it names and of those inside of it.
  void leave(const ir::Instruction& in) {
    const std::size_t target = loops_.size() - 1 - in.index;
    bool parts = !facts_.uniform[in.operands[0]];
    for (std::size_t i = target + 1; i < loops_.size(); ++i) {
      parts = parts || facts_.diverges[loops_[i]];
    }
    for (std::size_t i = target; i < loops_.size() && parts; ++i) set_diverging(loops_[i]);
    carried(std::span(in.operands).subspan(1), loops_[target]);
  }

  void carried(std::span<const ValueId> values, ValueId loop) {
    const auto& arguments = f_.blocks[f_[loop].block].arguments;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!facts_.uniform[values[i]]) set_varying(arguments[i]);
    }
  }

  const ir::Function& f_;
  ValueId refill_loop_;
  bool inner_;
  bool in_each_ = false;
  Uniformity facts_;
  std::vector<ValueId> loops_;  // around an instruction, the innermost last
  bool changed_ = false;
};

}  // namespace

Uniformity analyse_uniformity(const ir::Function& function, ir::ValueId refill_loop, bool inner) {
  return Analysis(function, refill_loop, inner).run();
}

}  // namespace lw::kernel
