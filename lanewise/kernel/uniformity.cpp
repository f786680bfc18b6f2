#include "lanewise/kernel/uniformity.h"

namespace lw::kernel {
namespace {

using ir::Op;
using ir::ValueId;

class Analysis {
 public:
  Analysis(const ir::Function& f, ValueId refill_loop) : f_(f), refill_loop_(refill_loop) {
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
        if (f_.params[in.index].mapped) set_varying(id);
        return;
      case Op::Loop: {
        // A branch is taken lane by lane, also where all lanes agree: it has one form.
        if (id == refill_loop_ || ir::is_branch(f_, id)) set_diverging(id);
        const auto& arguments = f_.blocks[in.block].arguments;
        for (std::size_t i = 0; i < arguments.size(); ++i) {
          if (id == refill_loop_ || !facts_.uniform[in.operands[i]]) set_varying(arguments[i]);
        }
        return block(in.block, id);
      }
      case Op::Result: {
        const ValueId owner = in.operands[0];
        if (facts_.diverges[owner] ||
            !facts_.uniform[f_.blocks[f_[owner].block].arguments[in.index]]) {
          set_varying(id);
        }
        return;
      }
      case Op::BreakIf:
        if (!facts_.uniform[in.operands[0]]) set_diverging(loop);
        return carried(std::span(in.operands).subspan(1), loop);
      case Op::Next:
        return carried(in.operands, loop);
      default:
        if (any_varying(in.operands)) set_varying(id);
    }
  }

  void carried(std::span<const ValueId> values, ValueId loop) {
    const auto& arguments = f_.blocks[f_[loop].block].arguments;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!facts_.uniform[values[i]]) set_varying(arguments[i]);
    }
  }

  const ir::Function& f_;
  ValueId refill_loop_;
  Uniformity facts_;
  bool changed_ = false;
};

}  // namespace

Uniformity analyse_uniformity(const ir::Function& function, ir::ValueId refill_loop) {
  return Analysis(function, refill_loop).run();
}

}  // namespace lw::kernel
