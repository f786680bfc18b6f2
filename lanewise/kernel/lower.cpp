#include "lanewise/kernel/lower.h"

#include <algorithm>
#include <utility>

#include "lanewise/base/check.h"
#include "lanewise/kernel/step_test.h"
#include "lanewise/kernel/uniformity.h"

namespace lw::kernel {
namespace {

using ir::ValueId;

/// The one loop of the body block, if there is exactly one.
ValueId only_top_loop(const ir::Function& f) {
  ValueId loop = ir::kNone;
  for (const ValueId id : f.body().body) {
    if (f[id].op != Op::Loop || !ir::can_go_round(f, id)) continue;
    if (loop != ir::kNone) return ir::kNone;
    loop = id;
  }
  return loop;
}

bool has_failures(const ir::Function& f) {
  bool found = false;
  ir::for_each(f, [&](ValueId id, int) {
    found = found || f[id].op == Op::Fail || ops::can_fail(f[id].op, f[id].type);
  });
  return found;
}

class Lowering {
 public:
  Lowering(const ir::Function& f, LowerOptions options)
      : f_(f),
        refill_loop_(options.refill ? only_top_loop(f) : ir::kNone),
        facts_(analyse_uniformity(f, refill_loop_)),
        map_(f.values.size(), kNone),
        result_used_(f.values.size()),
        needs_masks_(has_failures(f)) {
    kernel_.name = f.name;
    kernel_.outputs = f.results;
    kernel_.refillable = refill_loop_ != ir::kNone;
    ir::for_each(f, [&](ValueId id, int) {
      if (f[id].op == Op::Loop) {
        result_used_[id].assign(f.blocks[f[id].block].arguments.size(), false);
        needs_active_ = needs_active_ || (facts_.diverges[id] && !ir::is_branch(f, id));
      }
      if (f[id].op == Op::Result) result_used_[f[id].operands[0]][f[id].index] = true;
    });
    needs_active_ = needs_active_ || needs_masks_;
  }

  Kernel run() {
    if (needs_active_) {
      masks_.push_back(assign(Kind::Active, new_register(DType::Bool, true), {}));
    }
    block(0);
    auto& body = kernel_.blocks[0];
    body.insert(body.begin(), constants_.begin(), constants_.end());
    remove_unread();
    return std::move(kernel_);
  }

 private:
  struct Frame {
    ValueId loop;
    RegisterId mask;              // kNone: all lanes leave together
    std::vector<RegisterId> in;   // carried values, as the body reads them
    std::vector<RegisterId> out;  // per position what `result` reads; kNone where unread
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

  RegisterId compute(Op op, DType type, Sources sources) {
    bool varying = false;
    for (const RegisterId r : sources) varying = varying || kernel_.registers[r].varying;
    return compute_into(new_register(type, varying), op, std::move(sources));
  }

  /// Literals stand once each, before everything else.
  RegisterId constant(Scalar value) {
    for (const Instruction& in : constants_) {
      if (in.constant == value) return in.dst;
    }
    const RegisterId dst = new_register(value.type(), false);
    constants_.push_back({.kind = Kind::Constant, .dst = dst, .constant = value});
    return dst;
  }

  bool is_varying(RegisterId r) const { return kernel_.registers[r].varying; }

  /// dst = source where `mask` is set.
  void blend(RegisterId dst, RegisterId mask, RegisterId source) {
    compute_into(dst, Op::Select, {mask, source, dst});
  }

  // --- instructions ---

  void block(ir::BlockId id) {
    for (const ValueId value : f_.blocks[id].body) instruction(value);
  }

  void instruction(ValueId id) {
    const ir::Instruction& in = f_[id];
    switch (in.op) {
      case Op::Param:
        return param(id);
      case Op::Constant:
        map_[id] = constant(in.constant);
        return;
      case Op::Loop:
        return loop(id);
      case Op::Result:
        map_[id] = map_result(in);
        return;
      case Op::BreakIf:
        return break_if(in);
      case Op::Next:
        return next(in);
      case Op::Fail:
        return fail(map_[in.operands[0]], {static_cast<ir::FailKind>(in.index), in.location});
      case Op::Return:
        for (std::uint32_t i = 0; i < in.operands.size(); ++i) {
          emit({.kind = Kind::Store, .sources = {map_[in.operands[i]]}, .index = i});
        }
        return;
      default:
        return elementwise(id);
    }
  }

  void param(ValueId id) {
    const ir::Param& p = f_.params[f_[id].index];
    auto& list = p.mapped ? kernel_.inputs : kernel_.shared;
    map_[id] = assign(p.mapped ? Kind::Load : Kind::Shared, new_register(p.type, p.mapped), {},
                      static_cast<std::uint32_t>(list.size()));
    list.push_back(p.type);
  }

  void elementwise(ValueId id) {
    const ir::Instruction& in = f_[id];
    Sources sources;
    for (const ValueId operand : in.operands) sources.push_back(map_[operand]);
    if (ops::can_fail(in.op, in.type)) guard_divisor(in, sources[1]);
    map_[id] = compute(in.op, in.type, std::move(sources));
  }

  /// Lanes with divisor 0 fail if they are live; dead and failing ones divide by 1.
  void guard_divisor(const ir::Instruction& in, RegisterId& divisor) {
    const ir::Instruction& known = f_[in.operands[1]];
    const Scalar zero = types::scalar_of(in.type, 0);
    if (known.op == Op::Constant && known.constant != zero) return;
    const RegisterId is_zero = compute(Op::Eq, DType::Bool, {divisor, constant(zero)});
    fail(is_zero, {ir::FailKind::DivisionByZero, in.location});
    const RegisterId one = constant(types::scalar_of(in.type, 1));
    divisor = compute(Op::Select, in.type, {is_zero, one, divisor});
  }

  void fail(RegisterId condition, Site site) {
    const RegisterId failing = compute(Op::And, DType::Bool, {masks_.back(), condition});
    Instruction& in = emit({.kind = Kind::Fail,
                            .sources = {failing},
                            .index = static_cast<std::uint32_t>(kernel_.sites.size())});
    in.sources.append(masks_.begin(), masks_.end());
    kernel_.sites.push_back(site);
  }

  // --- loops ---

  /// What comes before the first exit is computed by all; the rest if any lane goes on.
  void branch(ValueId id) {
    const ir::Instruction& in = f_[id];
    const ir::Block& body = f_.blocks[in.block];
    const ValueId first = ir::branch_exit(f_, id);
    std::vector<RegisterId> out;
    for (std::size_t i = 0; i < body.arguments.size(); ++i) {
      const RegisterId initial = map_[in.operands[i]];
      map_[body.arguments[i]] = initial;
      out.push_back(
          result_used_[id][i]
              ? assign(Kind::Copy, new_register(f_[body.arguments[i]].type, true), {initial})
              : kNone);
    }
    std::size_t at = 0;
    for (; body.body[at] != first; ++at) instruction(body.body[at]);
    const ValueId condition = f_[first].operands[0];
    const RegisterId taken = f_[condition].op == Op::Not
                                 ? map_[f_[condition].operands[0]]
                                 : compute(Op::Not, DType::Bool, {map_[condition]});
    const RegisterId mask = new_register(DType::Bool, true);
    if (masks_.empty()) {
      assign(Kind::Copy, mask, {taken});
    } else {
      compute_into(mask, Op::And, {masks_.back(), taken});
    }
    const auto block = static_cast<BlockId>(kernel_.blocks.size());
    kernel_.blocks.emplace_back();
    emit({.kind = Kind::Loop, .sources = {mask}, .block = block, .once = true});
    const BlockId outer = std::exchange(block_, block);
    masks_.push_back(mask);
    for (++at; at + 2 < body.body.size(); ++at) instruction(body.body[at]);
    const ir::Instruction& leave = f_[body.body[at]];
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (out[i] != kNone) blend(out[i], mask, map_[leave.operands[i + 1]]);
    }
    masks_.pop_back();
    block_ = outer;
    outs_.emplace_back(id, std::move(out));
  }

  /// What is uniform is computed where it stands, so that it can be computed before all packets.
  void part(ValueId id) {
    const ir::Instruction& in = f_[id];
    const ir::Block& body = f_.blocks[in.block];
    bool varying = false;
    for (std::size_t i = 0; i < body.arguments.size(); ++i) {
      map_[body.arguments[i]] = map_[in.operands[i]];
      varying = varying || (result_used_[id][i] && !facts_.uniform[body.arguments[i]]);
    }
    const BlockId outer = block_;
    if (varying) {
      block_ = static_cast<BlockId>(kernel_.blocks.size());
      kernel_.blocks.emplace_back();
      kernel_.blocks[outer].push_back({.kind = Kind::Loop, .block = block_, .once = true});
    }
    std::size_t at = 0;
    for (; at + 2 < body.body.size(); ++at) instruction(body.body[at]);
    block_ = outer;
    const ir::Instruction& leave = f_[body.body[at]];
    std::vector<RegisterId> out;
    for (std::size_t i = 0; i < body.arguments.size(); ++i) {
      out.push_back(map_[leave.operands[i + 1]]);
    }
    outs_.emplace_back(id, std::move(out));
  }

  void loop(ValueId id) {
    if (ir::is_branch(f_, id)) return branch(id);
    if (ir::is_part(f_, id)) return part(id);
    const ir::Instruction& in = f_[id];
    const bool diverges = facts_.diverges[id];
    const bool masked = diverges || needs_masks_ || masks_.size() > 1;
    const auto& arguments = f_.blocks[in.block].arguments;
    Frame frame{.loop = id, .mask = kNone, .in = {}, .out = {}};
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const DType type = f_[arguments[i]].type;
      const bool uniform = facts_.uniform[arguments[i]];
      const RegisterId initial = map_[in.operands[i]];
      frame.in.push_back(assign(Kind::Copy, new_register(type, !uniform), {initial}));
      map_[arguments[i]] = frame.in.back();
      // A uniform value that lanes leave with one by one needs a varying twin.
      RegisterId out = result_used_[id][i] ? frame.in.back() : kNone;
      if (out != kNone && uniform && diverges) {
        out = assign(Kind::Copy, new_register(type, true), {initial});
      }
      frame.out.push_back(out);
    }
    if (masked) {
      frame.mask = assign(Kind::Copy, new_register(DType::Bool, true), {masks_.back()});
      masks_.push_back(frame.mask);
    }
    const auto body = static_cast<BlockId>(kernel_.blocks.size());
    kernel_.blocks.emplace_back();
    Instruction& loop = emit({.kind = Kind::Loop, .block = body});
    if (masked) loop.sources = {frame.mask};
    const BlockId outer = std::exchange(block_, body);
    frames_.push_back(std::move(frame));
    block(in.block);
    block_ = outer;
    outs_.emplace_back(id, frames_.back().out);
    frames_.pop_back();
    if (masked) masks_.pop_back();
  }

  RegisterId map_result(const ir::Instruction& in) const {
    for (const auto& [loop, out] : outs_) {
      if (loop == in.operands[0]) return out[in.index];
    }
    LW_UNREACHABLE("a result names a loop that has ended");
    return kNone;
  }

  /// The conditions of an exit are taken apart: a uniform one is a plain branch, and only a varying
  /// one touches the mask.
  void break_if(const ir::Instruction& in) {
    std::vector<std::pair<ValueId, bool>> exits;
    for_each_exit(f_, in.operands[0], false,
                  [&](ValueId condition, bool negated) { exits.emplace_back(condition, negated); });
    // Varying ones first: the lanes they take must be out before the others leave together.
    for (const bool uniform : {false, true}) {
      for (const auto& [condition, negated] : exits) {
        const bool is_branch = facts_.uniform[condition] && frames_.back().loop != refill_loop_;
        if (is_branch == uniform) exit(condition, negated, is_branch, in);
      }
    }
  }

  void exit(ValueId condition, bool negated, bool is_branch, const ir::Instruction& in) {
    const Frame& frame = frames_.back();
    const bool has_values = has_exit_values(in);
    RegisterId holds = map_[condition];
    if (has_values && std::find(frame.out.begin(), frame.out.end(), holds) != frame.out.end()) {
      // A carried value is the condition, and what is handed over may overwrite it.
      holds = assign(Kind::Copy, new_register(DType::Bool, is_varying(holds)), {holds});
    }
    RegisterId leave = holds;
    if (negated && (is_branch || has_values)) leave = compute(Op::Not, DType::Bool, {leave});
    if (has_values) {
      // Where lanes leave one by one, only live ones take the values.
      take_exit_values(in, facts_.diverges[frame.loop]
                               ? compute(Op::And, DType::Bool, {frame.mask, leave})
                               : leave);
    }
    Instruction test{.kind = Kind::ExitIf, .sources = {leave}};
    if (!is_branch) {
      const RegisterId stay = negated ? holds : compute(Op::Not, DType::Bool, {holds});
      test = {
          .kind = Kind::Compute, .op = Op::And, .dst = frame.mask, .sources = {frame.mask, stay}};
    }
    // With values of its own, an exit has blends that belong to it: those stay in every step.
    const auto known = analyse_step_test(f_, frame.loop, condition, negated);
    if (known && !has_values) {
      test.period = known->period;
      test.at_end = known->at_end;
    }
    emit(std::move(test));
  }

  /// True when the exit hands over something else than the carried values as they stand.
  bool has_exit_values(const ir::Instruction& in) const {
    const Frame& frame = frames_.back();
    for (std::size_t i = 0; i < frame.out.size(); ++i) {
      if (frame.out[i] != kNone && map_[in.operands[i + 1]] != frame.in[i]) return true;
    }
    return false;
  }

  void take_exit_values(const ir::Instruction& in, RegisterId leaving) {
    const Frame& frame = frames_.back();
    std::vector<std::pair<RegisterId, RegisterId>> moves;
    for (std::size_t i = 0; i < frame.out.size(); ++i) {
      const RegisterId value = map_[in.operands[i + 1]];
      if (frame.out[i] != kNone && value != frame.in[i]) moves.emplace_back(frame.out[i], value);
    }
    for (const auto& [dst, value] : at_once(moves)) blend(dst, leaving, value);
  }

  /// Moves that happen all at once: a source that is also a destination is copied first.
  std::vector<std::pair<RegisterId, RegisterId>> at_once(
      std::vector<std::pair<RegisterId, RegisterId>> moves) {
    for (auto& [dst, value] : moves) {
      for (const auto& [other, unused] : moves) {
        if (value != other || dst == other) continue;
        value = assign(Kind::Copy, new_register(kernel_.registers[value].type, is_varying(value)),
                       {value});
        break;
      }
    }
    return moves;
  }

  void next(const ir::Instruction& in) {
    const Frame& frame = frames_.back();
    const bool diverges = facts_.diverges[frame.loop];
    const auto& arguments = f_.blocks[f_[frame.loop].block].arguments;
    std::vector<std::pair<RegisterId, RegisterId>> moves;
    for (std::size_t i = 0; i < in.operands.size(); ++i) {
      const RegisterId value = map_[in.operands[i]];
      if (value == frame.in[i]) continue;
      moves.emplace_back(frame.in[i], value);
      if (frame.out[i] != kNone && frame.out[i] != frame.in[i]) {
        // The twin first: it reads carried values that the moves overwrite.
        blend(frame.out[i], frame.mask, twin_value(in.operands[i], arguments[i], frame.out[i]));
      }
    }
    for (const auto& [dst, value] : at_once(moves)) {
      const bool is_read_after =
          std::find(frame.out.begin(), frame.out.end(), dst) != frame.out.end();
      if (diverges && is_read_after) {
        blend(dst, frame.mask, value);  // a lane that left keeps what it left with
      } else {
        assign(Kind::Copy, dst, {value});
      }
    }
  }

  /// A counter's twin counts by itself: one masked addition instead of a broadcast and a blend.
  RegisterId twin_value(ValueId next, ValueId argument, RegisterId twin) {
    const ir::Instruction& in = f_[next];
    if (in.op == Op::Add && in.operands[0] == argument) {
      return compute(Op::Add, in.type, {twin, map_[in.operands[1]]});
    }
    return map_[next];
  }

  // --- clean-up ---

  void remove_unread() {
    for (;;) {
      std::vector<bool> read(kernel_.registers.size(), false);
      for (const auto& b : kernel_.blocks) {
        for (const Instruction& in : b) {
          for (const RegisterId r : in.sources) {
            if (r != in.dst) read[r] = true;
          }
        }
      }
      bool changed = false;
      for (auto& b : kernel_.blocks) {
        changed |= std::erase_if(b, [&](const Instruction& in) {
                     return in.dst != kNone && !read[in.dst];
                   }) > 0;
      }
      if (!changed) return;
    }
  }

  const ir::Function& f_;
  ValueId refill_loop_;
  Uniformity facts_;
  Kernel kernel_;
  std::vector<RegisterId> map_;
  std::vector<std::vector<bool>> result_used_;  // by loop
  bool needs_masks_;
  bool needs_active_ = false;
  BlockId block_ = 0;
  std::vector<Instruction> constants_;
  std::vector<RegisterId> masks_;  // lanes that hold an element, then one per masked loop
  std::vector<Frame> frames_;
  std::vector<std::pair<ValueId, std::vector<RegisterId>>> outs_;
};

}  // namespace

Kernel lower(const ir::Function& function, LowerOptions options) {
  LW_CHECK(!options.refill || is_refillable(function));
  return Lowering(function, options).run();
}

bool is_refillable(const ir::Function& function) {
  const ValueId loop = only_top_loop(function);
  return loop != ir::kNone && analyse_uniformity(function).diverges[loop];
}

}  // namespace lw::kernel
