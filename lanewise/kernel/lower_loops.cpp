// Lowering of loops, of branches and other loops that never go round, and of what leaves them.
#include <algorithm>

#include "lanewise/base/check.h"
#include "lanewise/kernel/lowering.h"
#include "lanewise/kernel/step_test.h"

namespace lw::kernel {
namespace {

/// True for the loop itself and what it stands in.
bool contains(const ir::Function& f, ValueId id, ValueId loop) {
  if (id == loop || f[id].op != Op::Loop) return id == loop;
  const auto& body = f.blocks[f[id].block].body;
  return std::any_of(body.begin(), body.end(),
                     [&](ValueId inner) { return contains(f, inner, loop); });
}

}  // namespace

bool Lowering::holds_refill_loop(ValueId id) const {
  return refill_loop_ != ir::kNone && contains(f_, id, refill_loop_);
}

Lowering::Frame Lowering::begin_once(ValueId id) {
  const ir::Instruction& in = f_[id];
  const auto& arguments = f_.blocks[in.block].arguments;
  Frame frame{.loop = id};
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const RegisterId initial = map_[in.operands[i]];
    const bool varying = facts_.diverges[id] || !facts_.uniform[arguments[i]];
    map_[arguments[i]] = initial;
    frame.in.push_back(initial);
    frame.out.push_back(
        result_used_[id][i]
            ? assign(Kind::Copy, new_register(f_[arguments[i]].type, varying), {initial})
            : kNone);
  }
  return frame;
}

void Lowering::finish_once(ValueId id, Frame frame, std::size_t at) {
  const auto& body = f_.blocks[f_[id].block].body;
  if (frame.mask != kNone) masks_.push_back(frame.mask);
  frames_.push_back(std::move(frame));
  const BlockId outer = block_;
  const std::uint32_t outer_level = level_;
  const std::size_t known = ranges_.mark();
  const bool may_skip = frames_.back().mask != kNone && frames_.back().level == 0;
  for (; at + 2 < body.size(); ++at) {
    instruction(body[at]);
    if (may_skip) skip_rest(std::span(body).subspan(at));
  }
  ranges_.forget(known);
  end_checks();
  const Frame& ended = frames_.back();
  const ir::Instruction& leave = f_[body[at]];
  for (std::size_t i = 0; i < ended.out.size(); ++i) {
    const RegisterId value = map_[leave.operands[i + 1]];
    if (ended.out[i] == kNone) continue;
    if (ended.mask != kNone) {
      blend(ended.out[i], ended.mask, value);
    } else {
      assign(Kind::Copy, ended.out[i], {value});
    }
  }
  if (ended.mask != kNone) masks_.pop_back();
  block_ = outer;  // what was opened for lanes that stay is closed
  level_ = outer_level;
  outs_.emplace_back(id, ended.out);
  frames_.pop_back();
}

void Lowering::skip_rest(std::span<const ValueId> body) {
  if (ir::leaves(f_, body[0], 0) && is_long(body.subspan(1))) open({frames_.back().mask}, true);
}

bool Lowering::is_long(std::span<const ValueId> body) const {
  constexpr int kLong = 16;
  int count = 0;
  bool has_loops = false;
  for (const ValueId id : body) {
    if (holds_refill_loop(id)) return false;  // it stands in no branch
    has_loops = has_loops || f_[id].op == Op::Loop;
    count += touches_memory(f_[id].op) ? 8 : ops::is_elementwise(f_[id].op);
  }
  return has_loops || count > kLong;
}

BlockId Lowering::open_part() {
  const auto part = static_cast<BlockId>(kernel_.blocks.size());
  kernel_.blocks.emplace_back();
  emit({.kind = Kind::Loop, .block = part, .once = true});
  return std::exchange(block_, part);
}

void Lowering::branch(ValueId id) {
  const ir::Block& body = f_.blocks[f_[id].block];
  const ValueId first = ir::branch_exit(f_, id);
  Frame frame = begin_once(id);
  const auto end = std::find(body.body.begin(), body.body.end(), first);
  const std::span<const ValueId> before(body.body.begin(), end);
  const BlockId around = has_loop(before) ? open_part() : block_;
  frames_.push_back({.loop = id});  // what leaves loops around it counts this one
  for (const ValueId inner : before) instruction(inner);
  end_checks();
  frames_.pop_back();
  block_ = around;
  const ValueId condition = f_[first].operands[0];
  const RegisterId taken = f_[condition].op == Op::Not
                               ? map_[f_[condition].operands[0]]
                               : compute(Op::Not, DType::Bool, {map_[condition]});
  RegisterId decides = taken;
  if (facts_.diverges[id]) {
    decides = frame.mask = new_register(DType::Bool, true);
    if (masks_.empty()) {
      assign(Kind::Copy, frame.mask, {taken});
    } else {
      compute_into(frame.mask, Op::And, {masks_.back(), taken});
    }
  }
  const BlockId outer = open({decides}, true);
  kernel_.blocks[outer].back().rare = f_[id].index != 0;
  frame.level = level_;
  const std::size_t known = ranges_.mark();
  ranges_.assume(condition, false);
  finish_once(id, std::move(frame), before.size() + 1);
  ranges_.forget(known);
  close(outer);
}

void Lowering::once(ValueId id) {
  Frame frame = begin_once(id);
  if (facts_.diverges[id]) {
    frame.mask = assign(Kind::Copy, new_register(DType::Bool, true), {masks_.back()});
    return finish_once(id, std::move(frame), 0);
  }
  const BlockId outer = open({constant(Scalar(true))}, true);
  frame.level = level_;
  finish_once(id, std::move(frame), 0);
  close(outer);
}

void Lowering::part(ValueId id) {
  const ir::Instruction& in = f_[id];
  const ir::Block& body = f_.blocks[in.block];
  bool stands_apart = has_loop(body.body);
  for (std::size_t i = 0; i < body.arguments.size(); ++i) {
    map_[body.arguments[i]] = map_[in.operands[i]];
    stands_apart = stands_apart || (result_used_[id][i] && !facts_.uniform[body.arguments[i]]);
  }
  const BlockId outer = stands_apart ? open_part() : block_;
  frames_.push_back({.loop = id});
  std::size_t at = 0;
  for (; at + 2 < body.body.size(); ++at) instruction(body.body[at]);
  end_checks();
  frames_.pop_back();
  block_ = outer;
  const ir::Instruction& leave = f_[body.body[at]];
  std::vector<RegisterId> out;
  for (std::size_t i = 0; i < body.arguments.size(); ++i) {
    out.push_back(map_[leave.operands[i + 1]]);
  }
  outs_.emplace_back(id, std::move(out));
}

void Lowering::loop(ValueId id) {
  const std::size_t sites = kernel_.sites.size();
  if (ir::is_branch(f_, id)) {
    branch(id);
  } else if (ir::is_part(f_, id)) {
    part(id);
  } else if (ir::is_once(f_, id)) {
    once(id);
  } else {
    go_round(id);
  }
  drop_failed(sites);
}

void Lowering::go_round(ValueId id) {
  const ir::Instruction& in = f_[id];
  const bool diverges = facts_.diverges[id];
  const bool masked = diverges || (needs_masks_ && !masks_.empty()) || masks_.size() > 1;
  const auto& arguments = f_.blocks[in.block].arguments;
  Frame frame{.loop = id};
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
  const BlockId outer = open(masked ? Sources{frame.mask} : Sources{}, false);
  kernel_.lines.push_back({block_, in.location});
  frame.level = level_;
  frames_.push_back(std::move(frame));
  const auto& body = f_.blocks[in.block].body;
  const std::uint32_t level = level_;
  const std::size_t known = ranges_.mark();
  for (std::size_t at = 0; at < body.size(); ++at) {
    instruction(body[at]);
    if (diverges && id != refill_loop_) skip_rest(std::span(body).subspan(at));
  }
  ranges_.forget(known);
  level_ = level;
  close(outer);
  outs_.emplace_back(id, frames_.back().out);
  frames_.pop_back();
  if (masked) masks_.pop_back();
  if (id == refill_loop_) keep_to_active();
}

void Lowering::keep_to_active() {
  masks_[0] = assign(Kind::Copy, new_register(DType::Bool, true), {masks_[0]});
  for (std::size_t i = 1; i < masks_.size(); ++i) {
    const RegisterId mask = compute(Op::And, DType::Bool, {masks_[0], masks_[i]});
    for (Frame& frame : frames_) {
      if (frame.mask == masks_[i]) frame.mask = mask;
    }
    masks_[i] = mask;
  }
}

RegisterId Lowering::map_result(const ir::Instruction& in) const {
  for (const auto& [loop, out] : outs_) {
    if (loop == in.operands[0]) return out[in.index];
  }
  LW_UNREACHABLE("a result names a loop that has ended");
  return kNone;
}

void Lowering::break_if(const ir::Instruction& in) {
  std::vector<std::pair<ValueId, bool>> exits;
  for_each_exit(f_, in.operands[0], false,
                [&](ValueId condition, bool negated) { exits.emplace_back(condition, negated); });
  // Varying ones first: the lanes they take must be out before the others leave together.
  for (const bool uniform : {false, true}) {
    for (const auto& [condition, negated] : exits) {
      const bool is_branch = facts_.uniform[condition] && leaves_together(in.index);
      if (is_branch == uniform) exit(condition, negated, is_branch, in);
    }
  }
  ranges_.assume(in.operands[0], false);
}

bool Lowering::leaves_together(std::uint32_t up) const {
  const Frame& left = frame_of(up);
  if (left.level == 0 || left.loop == refill_loop_) return false;
  for (std::uint32_t i = 0; i < up; ++i) {
    if (facts_.diverges[frame_of(i).loop]) return false;
  }
  return true;
}

void Lowering::exit(ValueId condition, bool negated, bool is_branch, const ir::Instruction& in) {
  const Frame& frame = frame_of(in.index);
  const bool has_values = has_exit_values(in);
  RegisterId holds = map_[condition];
  if (has_values && std::find(frame.out.begin(), frame.out.end(), holds) != frame.out.end()) {
    // A carried value is the condition, and what is handed over may overwrite it.
    holds = assign(Kind::Copy, new_register(DType::Bool, is_varying(holds)), {holds});
  }
  // Where loops inside of it are left too, or the mask is not that of the lanes that are here.
  if (!is_branch && in.index > 0) return exit_masks(holds, negated, in);
  RegisterId leave = holds;
  if (negated && (is_branch || has_values)) leave = compute(Op::Not, DType::Bool, {leave});
  if (has_values) {
    // Where lanes leave one by one, only live ones take the values.
    take_exit_values(in, facts_.diverges[frame.loop]
                             ? compute(Op::And, DType::Bool, {frame.mask, leave})
                             : leave);
  }
  Instruction test{.kind = Kind::ExitIf, .sources = {leave}, .index = level_ - frame.level};
  if (!is_branch) {
    const RegisterId stay = negated ? holds : compute(Op::Not, DType::Bool, {holds});
    test = {.kind = Kind::Compute, .op = Op::And, .dst = frame.mask, .sources = {frame.mask, stay}};
  }
  // With values of its own, an exit has blends that belong to it: those stay in every step.
  const auto known = analyse_step_test(f_, frame.loop, condition, negated);
  if (known && !has_values && in.index == 0) {
    test.period = known->period;
    test.at_end = known->at_end;
  }
  emit(std::move(test));
}

void Lowering::exit_masks(RegisterId holds, bool negated, const ir::Instruction& in) {
  const RegisterId leave = negated ? compute(Op::Not, DType::Bool, {holds}) : holds;
  const RegisterId leaving = compute(Op::And, DType::Bool, {masks_.back(), leave});
  if (has_exit_values(in)) take_exit_values(in, leaving);
  const RegisterId stay = compute(Op::Not, DType::Bool, {leaving});
  for (std::uint32_t i = 0; i <= in.index; ++i) {
    const RegisterId mask = frame_of(i).mask;
    if (mask != kNone) compute_into(mask, Op::And, {mask, stay});
  }
}

bool Lowering::has_exit_values(const ir::Instruction& in) const {
  const Frame& frame = frame_of(in.index);
  for (std::size_t i = 0; i < frame.out.size(); ++i) {
    if (frame.out[i] != kNone && map_[in.operands[i + 1]] != frame.in[i]) return true;
  }
  return false;
}

void Lowering::take_exit_values(const ir::Instruction& in, RegisterId leaving) {
  const Frame& frame = frame_of(in.index);
  std::vector<std::pair<RegisterId, RegisterId>> moves;
  for (std::size_t i = 0; i < frame.out.size(); ++i) {
    const RegisterId value = map_[in.operands[i + 1]];
    if (frame.out[i] != kNone && value != frame.in[i]) moves.emplace_back(frame.out[i], value);
  }
  for (const auto& [dst, value] : at_once(moves)) blend(dst, leaving, value);
}

std::vector<std::pair<RegisterId, RegisterId>> Lowering::at_once(
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

void Lowering::next(const ir::Instruction& in) {
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

RegisterId Lowering::twin_value(ValueId next, ValueId argument, RegisterId twin) {
  const ir::Instruction& in = f_[next];
  if (in.op == Op::Add && in.operands[0] == argument) {
    return compute(Op::Add, in.type, {twin, map_[in.operands[1]]});
  }
  return map_[next];
}

}  // namespace lw::kernel
