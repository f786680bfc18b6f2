#include "lanewise/transform/in_step.h"

#include <algorithm>
#include <utility>

namespace lw::transform {
namespace {

using ir::Instruction;
using ir::Op;
using ir::ValueId;

/// What may be done for several positions in any order.
bool is_free(const ir::Function& f, const Instruction& in) {
  switch (in.op) {
    case Op::Constant:
    case Op::Loop:
    case Op::Next:
    case Op::Result:
      return true;
    case Op::BreakIf:
      return in.index == 0;
    case Op::Collect:
      return ir::is_number(f, in.operands[0]);
    case Op::TableRead:
    case Op::ArrayRead:
      return static_cast<ir::IndexMode>(in.index) != ir::IndexMode::Check;
    default:
      return ops::is_elementwise(in.op) && !ops::can_fail(in.op, in.type);
  }
}

class OwnValues {
 public:
  OwnValues(const ir::Function& f, ValueId each) : f_(f), own_(f.values.size(), false) {
    mark(f.blocks[f[each].block].arguments[0]);
    while (std::exchange(changed_, false)) block(f[each].block);
  }

  std::vector<bool> take() { return shares_loop_ ? std::move(own_) : std::vector<bool>(); }
  bool is_own(ValueId id) const { return own_[id]; }

 private:
  void mark(ValueId id, bool is_own = true) {
    if (!is_own || own_[id]) return;
    own_[id] = true;
    changed_ = true;
  }

  void block(ir::BlockId id) {
    for (const ValueId value : f_.blocks[id].body) {
      const Instruction& in = f_[value];
      if (in.op == Op::Loop) {
        const auto& arguments = f_.blocks[in.block].arguments;
        const auto& next = f_[f_.blocks[in.block].body.back()].operands;
        for (std::size_t i = 0; i < arguments.size(); ++i) {
          mark(arguments[i], own_[in.operands[i]] || own_[next[i]] || leaves_with_own(in.block, i));
          shares_loop_ = shares_loop_ || (own_[arguments[i]] && ir::can_go_round(f_, value));
        }
        block(in.block);
      } else if (in.op == Op::Result && f_[in.operands[0]].op == Op::Loop) {
        mark(value, own_[f_.blocks[f_[in.operands[0]].block].arguments[in.index]]);
      } else {
        for (const ValueId operand : in.operands) mark(value, own_[operand]);
      }
    }
  }

  /// A loop carries as many values as it hands on, so what is spread there is spread inside too.
  bool leaves_with_own(ir::BlockId loop, std::size_t i) const {
    const auto& body = f_.blocks[loop].body;
    return std::any_of(body.begin(), body.end(), [&](ValueId id) {
      return f_[id].op == Op::BreakIf && own_[f_[id].operands[1 + i]];
    });
  }

  const ir::Function& f_;
  std::vector<bool> own_;
  bool changed_ = false;
  bool shares_loop_ = false;
};

}  // namespace

std::vector<bool> find_own_values(const ir::Function& f, ValueId each) {
  bool is_all_free = true;
  ir::for_each(
      f, [&](ValueId id, int) { is_all_free = is_all_free && is_free(f, f[id]); }, f[each].block);
  if (!is_all_free) return {};
  OwnValues own(f, each);
  bool leave_together = true;
  ir::for_each(
      f,
      [&](ValueId id, int) {
        leave_together =
            leave_together && (f[id].op != Op::BreakIf || !own.is_own(f[id].operands[0]));
      },
      f[each].block);
  return leave_together ? own.take() : std::vector<bool>();
}

std::vector<std::vector<ValueId>> StepCopier::in_step(ValueId each, std::vector<bool> own,
                                                      const ir::Operands& positions) {
  own_ = std::move(own);
  count_ = positions.size();
  copies_[f_.blocks[f_[each].block].arguments[0]] = positions;
  found_.assign(count_, {});
  block_in_step(f_[each].block);
  return std::move(found_);
}

std::optional<TermLoop> find_term_loop(const ir::Function& f, ValueId each,
                                       const std::vector<bool>& own) {
  ValueId loop = ir::kNone;
  for (const ValueId id : f.blocks[f[each].block].body) {
    if (f[id].op != Op::Loop) continue;
    if (loop != ir::kNone) return std::nullopt;
    loop = id;
  }
  if (loop == ir::kNone) return std::nullopt;
  const ir::Block& block = f.blocks[f[loop].block];
  const auto is_literal = [&](ValueId id, std::int64_t value) {
    return f[id].op == Op::Constant && f[id].type == DType::I32 &&
           types::to_int64(f[id].constant) == value;
  };
  std::optional<TermLoop> found;
  for (std::size_t i = 0; i < block.arguments.size(); ++i) {
    const ValueId argument = block.arguments[i];
    if (own[argument]) {
      if (f[f[loop].operands[i]].op != Op::Constant) return std::nullopt;
      continue;
    }
    const Instruction& next = f[f[block.body.back()].operands[i]];
    const bool counts = is_literal(f[loop].operands[i], 0) && next.op == Op::Add &&
                        next.operands[0] == argument && is_literal(next.operands[1], 1);
    if (found || !counts) return std::nullopt;
    found = {loop, i, 0};
  }
  if (!found) return std::nullopt;
  // One test, of the counter, that hands on what is carried.
  int exits = 0;
  for (const ValueId id : block.body) {
    if (f[id].op == Op::Loop) return std::nullopt;
    if (f[id].op != Op::BreakIf) continue;
    const Instruction& test = f[f[id].operands[0]];
    const bool is_end = test.op == Op::Ge && test.operands[0] == block.arguments[found->counter] &&
                        f[test.operands[1]].op == Op::Constant;
    const bool hands_on = std::equal(block.arguments.begin(), block.arguments.end(),
                                     f[id].operands.begin() + 1, f[id].operands.end());
    if (++exits > 1 || !is_end || !hands_on) return std::nullopt;
    const std::int64_t terms = types::to_int64(f[test.operands[1]].constant);
    if (terms < 1) return std::nullopt;
    found->terms = static_cast<std::uint32_t>(terms);
  }
  return exits == 1 ? found : std::nullopt;
}

std::vector<ir::Operands> StepCopier::some_terms(ValueId each, const TermLoop& loop,
                                                 const std::vector<bool>& own,
                                                 const ir::Operands& positions,
                                                 const Terms& terms) {
  own_ = own;
  count_ = positions.size();
  copies_[f_.blocks[f_[each].block].arguments[0]] = positions;
  // What stands before the loop, which it may read.
  for (const ValueId id : f_.blocks[f_[each].block].body) {
    if (id == loop.loop) break;
    if (f_[id].op != Op::Collect) copy_in_step(id);
  }
  terms_ = &terms;
  loop_in_step(loop.loop);
  terms_ = nullptr;
  std::vector<ir::Operands> ended;
  const Loop& copy = loops_.at(loop.loop);
  for (std::size_t i = 0; i < copy.places.size(); ++i) {
    ended.emplace_back();
    if (i == loop.counter) continue;
    for (std::uint32_t c = 0; c < count_; ++c) {
      ended.back().push_back(build_.result(copy.copy, copy.places[i] + c));
    }
  }
  return ended;
}

void StepCopier::block_in_step(ir::BlockId id) {
  for (const ValueId value : f_.blocks[id].body) copy_in_step(value);
}

void StepCopier::copy_in_step(ValueId id) {
  const Instruction& in = f_[id];
  build_.set_location(in.location);
  if (in.op == Op::Loop && has_own(in.block)) {
    loop_in_step(id);
  } else if (in.op == Op::Result && loops_.count(in.operands[0]) > 0) {
    result_in_step(id);
  } else if (in.op == Op::BreakIf || in.op == Op::Next) {
    exit_in_step(in);
  } else if (in.op == Op::Collect) {
    for (std::size_t c = 0; c < count_; ++c) {
      found_[c].push_back(of_position(in.operands[0], c));
    }
  } else if (!own_[id]) {
    instruction(id);
  } else {
    ir::Operands copies;
    for (std::size_t c = 0; c < count_; ++c) {
      for (const ValueId operand : in.operands) map_[operand] = of_position(operand, c);
      instruction(id);
      copies.push_back(map_[id]);
    }
    copies_[id] = std::move(copies);
  }
}

void StepCopier::loop_in_step(ValueId id) {
  const Instruction& in = f_[id];
  const auto& arguments = f_.blocks[in.block].arguments;
  const auto is_own = [&](std::size_t i) { return own_[arguments[i]]; };
  ir::Operands initial;
  if (terms_ == nullptr) {
    initial = spread(in.operands, is_own);
  } else {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (own_[arguments[i]]) {
        initial.append(terms_->begun[i].begin(), terms_->begun[i].end());
      } else {
        initial.push_back(terms_->first);
      }
    }
  }
  const ValueId copy = build_.begin_loop(initial, in.index != 0);
  std::size_t at = 0;
  for (const ValueId argument : arguments) {
    const auto all = build_.arguments(copy);
    if (own_[argument]) {
      ir::Operands copies;
      for (std::size_t c = 0; c < count_; ++c) copies.push_back(all[at++]);
      copies_[argument] = std::move(copies);
    } else {
      map_[argument] = all[at++];
    }
  }
  loops_[id] = {copy, {}};
  open_.push_back(id);
  block_in_step(in.block);
  open_.pop_back();
}

void StepCopier::exit_in_step(const Instruction& in) {
  Loop& loop = loops_[open_.back()];
  const ir::Block& block = f_.blocks[f_[open_.back()].block];
  const std::span<const ValueId> operands(in.operands.begin(), in.operands.end());
  const auto is_own = [&](std::size_t i) { return own_[block.arguments[i]]; };
  if (in.op == Op::Next) {
    build_.end_loop(spread(operands, is_own));
    return;
  }
  loop.places.clear();
  std::uint32_t place = 0;
  for (std::size_t i = 0; i + 1 < operands.size(); ++i) {
    loop.places.push_back(place);
    place += is_own(i) ? static_cast<std::uint32_t>(count_) : 1;
  }
  ValueId condition = map_[in.operands[0]];
  if (terms_ != nullptr) {
    condition = build_.op(Op::Ge, {map_[f_[in.operands[0]].operands[0]], terms_->end});
  }
  build_.break_if(condition, spread(operands.subspan(1), is_own));
}

void StepCopier::result_in_step(ValueId id) {
  const Loop& loop = loops_.at(f_[id].operands[0]);
  const std::uint32_t place = loop.places[f_[id].index];
  if (!own_[id]) {
    map_[id] = build_.result(loop.copy, place);
    return;
  }
  ir::Operands copies;
  for (std::uint32_t c = 0; c < count_; ++c) copies.push_back(build_.result(loop.copy, place + c));
  copies_[id] = std::move(copies);
}

bool StepCopier::has_own(ir::BlockId id) const {
  bool found = false;
  const auto& arguments = f_.blocks[id].arguments;
  for (const ValueId argument : arguments) found = found || own_[argument];
  ir::for_each(f_, [&](ValueId value, int) { found = found || own_[value]; }, id);
  return found;
}

ValueId StepCopier::of_position(ValueId id, std::size_t position) const {
  return own_[id] ? copies_.at(id)[position] : map_[id];
}

template <class IsOwn>
ir::Operands StepCopier::spread(std::span<const ValueId> ids, const IsOwn& is_own) const {
  ir::Operands all;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    for (std::size_t c = 0; c < (is_own(i) ? count_ : 1); ++c) {
      all.push_back(of_position(ids[i], c));
    }
  }
  return all;
}

}  // namespace lw::transform
