#include <algorithm>

#include "lanewise/base/check.h"
#include "lanewise/transform/passes.h"

namespace lw::transform {
namespace {

using ir::Instruction;
using ir::Op;
using ir::ValueId;

/// True where dropping the instruction could drop a failure of the element.
bool may_fail(const ir::Function& f, const Instruction& in) {
  if (in.op == Op::Fail) return true;
  if (in.op == Op::TableRead || in.op == Op::ArrayRead || in.op == Op::ArrayWrite) {
    return static_cast<ir::IndexMode>(in.index) == ir::IndexMode::Check;
  }
  if (!ops::can_fail(in.op, in.type)) return false;
  const Instruction& divisor = f[in.operands[1]];
  return divisor.op != Op::Constant || divisor.constant == types::scalar_of(divisor.type, 0);
}

class DeadCode {
 public:
  explicit DeadCode(const ir::Function& f)
      : f_(f), live_(f.values.size(), false), result_needed_(f.values.size()) {
    for (const ir::Param& p : f.params) {  // what is written there is read by others
      if (p.is_target()) live_[p.value] = true;
    }
    for (const ir::Block& block : f.blocks) {
      for (const ValueId id : block.body) {
        if (f[id].op == Op::Loop) {
          result_needed_[id].assign(f.blocks[f[id].block].arguments.size(), false);
        } else if (f[id].op == Op::Each) {
          const auto& body = f.blocks[f[id].block].body;
          result_needed_[id].assign(body.size(), false);  // no more are collected
        }
      }
    }
  }

  ir::Function run() {
    // Marking is monotone; a few sweeps reach the end, as uses by `next` go backwards.
    do {
      changed_ = false;
      mark_block(0, ir::kNone);
    } while (changed_);
    loops_.clear();
    map_.assign(f_.values.size(), ir::kNone);
    ir::Builder build(f_.name,
                      static_cast<std::size_t>(std::count(live_.begin(), live_.end(), true)));
    copy_block(build, 0, ir::kNone);
    return build.take();
  }

 private:
  void need(ValueId id) {
    if (!live_[id]) {
      live_[id] = true;
      changed_ = true;
    }
  }

  bool is_carried(ValueId loop, std::size_t i) const {
    return live_[f_.blocks[f_[loop].block].arguments[i]] || result_needed_[loop][i];
  }

  void mark_block(ir::BlockId id, ValueId loop) {
    loops_.push_back(loop);
    const auto& body = f_.blocks[id].body;
    for (auto it = body.rbegin(); it != body.rend(); ++it) mark(*it, loop);
    loops_.pop_back();
  }

  /// The loop that an exit leaves.
  ValueId left_by(const Instruction& in) const { return loops_[loops_.size() - 1 - in.index]; }

  void mark(ValueId id, ValueId loop) {
    const Instruction& in = f_[id];
    switch (in.op) {
      case Op::Return:
        for (const ValueId operand : in.operands) need(operand);
        return;
      case Op::Next:
        for (std::size_t i = 0; i < in.operands.size(); ++i) {
          if (is_carried(loop, i)) need(in.operands[i]);
        }
        return;
      case Op::BreakIf:
        need(in.operands[0]);
        for (std::size_t i = 0; i + 1 < in.operands.size(); ++i) {
          if (result_needed_[left_by(in)][i]) need(in.operands[i + 1]);
        }
        return;
      case Op::ArrayWrite:
        if (!may_fail(f_, in) && !live_[in.operands[0]]) return;
        for (const ValueId operand : in.operands) need(operand);
        return;
      case Op::Loop:
        need(id);
        mark_block(in.block, id);
        for (std::size_t i = 0; i < in.operands.size(); ++i) {
          if (is_carried(id, i)) need(in.operands[i]);
        }
        return;
      case Op::Each:
        return mark_each(id);
      case Op::Result:
        if (live_[id] && !result_needed_[in.operands[0]][in.index]) {
          result_needed_[in.operands[0]][in.index] = true;
          changed_ = true;
        }
        return;
      default:
        if (may_fail(f_, in)) need(id);
        if (live_[id]) {
          for (const ValueId operand : in.operands) need(operand);
        }
    }
  }

  bool is_collected(ValueId each, std::uint32_t index) const {
    return live_[static_cast<ValueId>(&ir::collect_of(f_, each, index) - f_.values.data())];
  }

  /// It stays if something in it does.
  void mark_each(ValueId id) {
    const auto& body = f_.blocks[f_[id].block].body;
    std::size_t collects = 0;
    for (const ValueId inner : body) {
      if (f_[inner].op != Op::Collect) continue;
      const ir::Operands& operands = f_[inner].operands;
      const bool is_written = operands.size() == 3 && live_[operands[1]];
      if (!result_needed_[id][collects++] && !is_written) continue;
      need(inner);
      for (const ValueId operand : operands) need(operand);
    }
    mark_block(f_[id].block, id);
    for (const ValueId inner : body) {
      if (live_[inner]) need(id);
    }
    for (const ValueId count : f_[id].operands) {
      if (live_[id]) need(count);
    }
  }

  /// The carried operands that stay, with `skip` leading operands kept as they are.
  ir::Operands kept(const Instruction& in, ValueId loop, std::size_t skip) const {
    ir::Operands result;
    for (std::size_t i = 0; i < in.operands.size(); ++i) {
      if (i < skip) {
        result.push_back(map_[in.operands[i]]);
      } else if (is_carried(loop, i - skip)) {
        // An exit value nobody reads is replaced by the carried value, which is at hand.
        const bool unread = in.op == Op::BreakIf && !result_needed_[loop][i - skip];
        const ValueId operand =
            unread ? f_.blocks[f_[loop].block].arguments[i - skip] : in.operands[i];
        result.push_back(map_[operand]);
      }
    }
    return result;
  }

  void copy_block(ir::Builder& build, ir::BlockId id, ValueId loop) {
    loops_.push_back(loop);
    for (const ValueId value : f_.blocks[id].body) copy(build, value, loop);
    loops_.pop_back();
  }

  void copy(ir::Builder& build, ValueId id, ValueId loop) {
    const Instruction& in = f_[id];
    build.set_location(in.location);
    switch (in.op) {
      case Op::Param:  // the signature stays
        map_[id] = build.param(f_.params[in.index]);
        return;
      case Op::Each:
        if (!live_[id]) return;
        map_[id] = build.begin_each(in.index, ir::has_count(in) ? map_[in.operands[0]] : ir::kNone);
        map_[f_.blocks[in.block].arguments[0]] = build.arguments(map_[id])[0];
        copy_block(build, in.block, id);
        build.close_loop();
        return;
      case Op::Loop: {
        map_[id] = build.begin_loop(kept(in, id, 0), in.index != 0);
        const auto& arguments = f_.blocks[in.block].arguments;
        std::size_t position = 0;
        for (std::size_t i = 0; i < arguments.size(); ++i) {
          if (is_carried(id, i)) map_[arguments[i]] = build.arguments(map_[id])[position++];
        }
        copy_block(build, in.block, id);
        build.close_loop();
        return;
      }
      case Op::BreakIf:
      case Op::Next: {
        Instruction copy = in;
        const bool leaves = in.op == Op::BreakIf;
        copy.operands = kept(in, leaves ? left_by(in) : loop, leaves ? 1 : 0);
        build.append(std::move(copy));
        return;
      }
      case Op::Result: {
        if (!live_[id]) return;
        const ValueId owner = in.operands[0];
        std::uint32_t position = 0;
        for (std::uint32_t i = 0; i < in.index; ++i) {
          position += f_[owner].op == Op::Each ? is_collected(owner, i) : is_carried(owner, i);
        }
        map_[id] = build.result(map_[in.operands[0]], position);
        return;
      }
      default: {
        const bool is_needed = in.op == Op::Return || may_fail(f_, in) ||
                               (in.op == Op::ArrayWrite ? live_[in.operands[0]] : live_[id]);
        if (!is_needed) return;
        Instruction copy = in;
        for (ValueId& operand : copy.operands) operand = map_[operand];
        if (in.op == Op::Return) {
          build.ret(copy.operands);
        } else {
          map_[id] = build.append(std::move(copy));
        }
      }
    }
  }

  const ir::Function& f_;
  std::vector<bool> live_;
  std::vector<std::vector<bool>> result_needed_;  // by loop
  std::vector<ValueId> map_;
  std::vector<ValueId> loops_;  // around an instruction, the innermost last
  bool changed_ = false;
};

}  // namespace

ir::Function remove_dead(const ir::Function& function) { return DeadCode(function).run(); }

}  // namespace lw::transform
