// Lowering of what runs for all positions of an element, where lanes hold those.
#include "lanewise/base/check.h"
#include "lanewise/kernel/lowering.h"

namespace lw::kernel {

void Lowering::each(ValueId id) {
  LW_CHECK(inner_ && position_ == ir::kNone);
  const ir::Instruction& in = f_[id];
  const auto block = static_cast<BlockId>(kernel_.blocks.size());
  kernel_.blocks.emplace_back();
  std::vector<RegisterId> results;
  for (const ValueId inner : f_.blocks[in.block].body) {
    const ir::Instruction& collect = f_[inner];
    if (collect.op != Op::Collect) continue;
    const auto how = static_cast<ir::Collect>(collect.index);
    if (how == ir::Collect::Keep) {
      const bool is_new = collect.operands.size() == 1;
      results.push_back(is_new ? static_cast<RegisterId>(kernel_.arrays.size())
                               : map_[collect.operands[1]]);
      if (is_new) {
        kernel_.arrays.push_back({.type = collect.type, .size = in.index, .is_flat = true});
      }
    } else {
      results.push_back(new_register(ir::gives_place(how) ? DType::I32 : collect.type, false));
    }
  }
  Sources count;
  if (ir::has_count(in)) count.push_back(map_[in.operands[0]]);
  emit({.kind = Kind::Each, .sources = std::move(count), .index = in.index, .block = block});
  kernel_.lines.push_back({block, in.location});
  const BlockId outer = std::exchange(block_, block);
  std::vector<RegisterId> outer_masks;
  outer_masks.swap(masks_);
  masks_.push_back(assign(Kind::Active, new_register(DType::Bool, true), {}));
  position_ = f_.blocks[in.block].arguments[0];
  map_[position_] = assign(Kind::Position, new_register(DType::I32, true), {});
  const std::size_t known = ranges_.mark();
  std::size_t next = 0;
  for (const ValueId inner : f_.blocks[in.block].body) {
    const ir::Instruction& collect = f_[inner];
    if (collect.op != Op::Collect) {
      instruction(inner);
      continue;
    }
    end_checks();
    const RegisterId value = map_[collect.operands[0]];
    if (static_cast<ir::Collect>(collect.index) == ir::Collect::Keep) {
      const RegisterId base = collect.operands.size() == 1 ? constant(Scalar(std::int32_t{0}))
                                                           : map_[collect.operands[2]];
      const bool is_own = collect.operands.size() == 3 && ir::is_target(f_, collect.operands[1]);
      emit({.kind = is_own ? Kind::TableWrite : Kind::ArrayWrite,
            .sources = {base, value, masks_[0]},
            .index = results[next++],
            .step = 1});
    } else {
      emit({.kind = Kind::Collect,
            .dst = results[next++],
            .sources = {value},
            .index = collect.index});
    }
  }
  end_checks();
  ranges_.forget(known);
  masks_.swap(outer_masks);
  position_ = ir::kNone;
  block_ = outer;
  outs_.emplace_back(id, std::move(results));
}

/// One that wraps by counting up is below 0; as all live lanes are inside, none has.
std::optional<RegisterId> Lowering::place_of_first(ValueId index, std::int32_t& step) {
  if (const auto first = place_of_first(index, step, false)) return first;
  const auto first = place_of_first(index, step, true);
  return step == 1 ? first : std::nullopt;
}

std::optional<RegisterId> Lowering::place_of_first(ValueId index, std::int32_t& step,
                                                   bool may_wrap) {
  constexpr std::int64_t kFar = 1 << 28;
  if (index == position_) {
    step = 1;
    return constant(types::scalar_of(f_[index].type, 0));
  }
  const ir::Instruction& in = f_[index];
  if (!may_wrap && !ranges_.of(index).is_within(-kFar, kFar)) return std::nullopt;
  if (!is_varying(map_[index])) {
    step = 0;
    return map_[index];
  }
  if (in.op == Op::Convert && f_[in.operands[0]].type == DType::I32) {
    const auto first = place_of_first(in.operands[0], step, false);
    if (!first) return std::nullopt;
    return compute(Op::Convert, in.type, {*first});
  }
  if (in.op == Op::Mul) {
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
      const ir::Instruction& factor = f_[in.operands[i]];
      if (factor.op != Op::Constant) continue;
      const std::int64_t times = types::to_int64(factor.constant);
      const auto first = place_of_first(in.operands[1 - i], step, may_wrap);
      if (!first || times < -kFar || times > kFar || std::abs(times * step) > kFar) {
        return std::nullopt;
      }
      step = static_cast<std::int32_t>(times * step);
      return compute(Op::Mul, in.type, {*first, map_[in.operands[i]]});
    }
    return std::nullopt;
  }
  if (in.op != Op::Add && in.op != Op::Sub) return std::nullopt;
  std::int32_t other = 0;
  const auto a = place_of_first(in.operands[0], step, may_wrap);
  const auto b = place_of_first(in.operands[1], other, may_wrap);
  if (!a || !b) return std::nullopt;
  step = in.op == Op::Add ? step + other : step - other;
  return compute(in.op, in.type, {*a, *b});
}

}  // namespace lw::kernel
