#include "lanewise/kernel/lower.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "lanewise/base/check.h"
#include "lanewise/kernel/lowering.h"

namespace lw::kernel {
namespace {

/// The loops of a block that go round, also in what can only be left before its end.
void find_top_loops(const ir::Function& f, ir::BlockId block, std::vector<ValueId>& loops) {
  for (const ValueId id : f.blocks[block].body) {
    if (f[id].op != Op::Loop || ir::is_part(f, id) || ir::is_branch(f, id)) continue;
    if (ir::is_once(f, id)) {
      find_top_loops(f, f[id].block, loops);
    } else {
      loops.push_back(id);
    }
  }
}

/// The one such loop of the function, if there is exactly one.
ValueId only_top_loop(const ir::Function& f) {
  std::vector<ValueId> loops;
  find_top_loops(f, 0, loops);
  return loops.size() == 1 ? loops[0] : ir::kNone;
}

bool has_failures(const ir::Function& f) {
  bool found = false;
  ir::for_each(f, [&](ValueId id, int) {
    const ir::Instruction& in = f[id];
    const bool is_checked =
        touches_memory(in.op) && ir::IndexMode(in.index) == ir::IndexMode::Check;
    found = found || in.op == Op::Fail || is_checked || ops::can_fail(in.op, in.type);
  });
  return found;
}

}  // namespace

Lowering::Lowering(const ir::Function& f, LowerOptions options)
    : f_(f),
      inner_(options.inner),
      refill_loop_(options.refill ? only_top_loop(f) : ir::kNone),
      facts_(analyse_uniformity(f, refill_loop_, inner_)),
      ranges_(f),
      map_(f.values.size(), kNone),
      result_used_(f.values.size()),
      needs_masks_(has_failures(f)) {
  kernel_.name = f.name;
  kernel_.outputs = f.results;
  kernel_.refillable = refill_loop_ != ir::kNone;
  kernel_.inner = inner_;
  kernel_.registers.reserve(f.values.size());
  kernel_.blocks[0].reserve(f.values.size());
  constants_.reserve(f.values.size() / 2);
  ir::for_each(f, [&](ValueId id, int) {
    if (f[id].op == Op::Loop) {
      result_used_[id].assign(f.blocks[f[id].block].arguments.size(), false);
      needs_active_ = needs_active_ || (facts_.diverges[id] && !ir::is_branch(f, id));
    }
    needs_active_ = needs_active_ || touches_memory(f[id].op);  // dead lanes have any index
    if (f[id].op == Op::Result && f[f[id].operands[0]].op == Op::Loop) {
      result_used_[f[id].operands[0]][f[id].index] = true;
    }
  });
  needs_active_ = needs_active_ || needs_masks_;
}

Kernel Lowering::run() {
  if (needs_active_ && !inner_) {
    masks_.push_back(assign(Kind::Active, new_register(DType::Bool, true), {}));
  }
  block(0);
  auto& body = kernel_.blocks[0];
  body.insert(body.begin(), std::make_move_iterator(constants_.begin()),
              std::make_move_iterator(constants_.end()));
  remove_unread();
  if (inner_) share_output_memory(kernel_);
  return std::move(kernel_);
}

RegisterId Lowering::compute(Op op, DType type, Sources sources) {
  bool varying = false;
  for (const RegisterId r : sources) varying = varying || kernel_.registers[r].varying;
  return compute_into(new_register(type, varying), op, std::move(sources));
}

RegisterId Lowering::constant(Scalar value) {
  const DType type = value.type();
  const bool is_nan = types::is_float(type) &&
                      value == types::scalar_of(type, std::numeric_limits<double>::quiet_NaN());
  for (const Instruction& in : constants_) {
    if (in.kind != Kind::Constant || in.constant.type() != type) continue;
    if (is_nan ? in.constant == value : in.constant.bits() == value.bits()) return in.dst;
  }
  return at_entry({.kind = Kind::Constant, .constant = value}, value.type());
}

RegisterId Lowering::at_entry(Instruction in, DType type) {
  in.dst = new_register(type, false);
  constants_.push_back(std::move(in));
  return constants_.back().dst;
}

BlockId Lowering::open(Sources sources, bool once) {
  const auto block = static_cast<BlockId>(kernel_.blocks.size());
  kernel_.blocks.emplace_back();
  emit({.kind = Kind::Loop, .sources = std::move(sources), .block = block, .once = once});
  ++level_;
  return std::exchange(block_, block);
}

void Lowering::block(ir::BlockId id) {
  const std::size_t known = ranges_.mark();
  for (const ValueId value : f_.blocks[id].body) instruction(value);
  ranges_.forget(known);
}

void Lowering::instruction(ValueId id) {
  const ir::Instruction& in = f_[id];
  if (in.block != ir::kNone || in.op == Op::BreakIf || in.op == Op::Next || in.op == Op::Return) {
    end_checks();
  }
  switch (in.op) {
    case Op::Param:
      return param(id);
    case Op::Constant:
      map_[id] = constant(in.constant);
      return;
    case Op::Loop:
      return loop(id);
    case Op::Each:
      return each(id);
    case Op::Result:
      map_[id] = map_result(in);
      return;
    case Op::BreakIf:
      return break_if(in);
    case Op::Next:
      return next(in);
    case Op::Element:
      map_[id] = assign(Kind::Element, new_register(DType::U32, !inner_), {}, in.index);
      return;
    case Op::TableSize:
      map_[id] = table_size(in.operands[0]);
      return;
    case Op::TableRead:
      return read(id, is_row(in.operands[0]) ? Kind::RowRead : Kind::TableRead);
    case Op::Array:
      return array(id);
    case Op::ArrayRead:
      return read(id, Kind::ArrayRead);
    case Op::ArrayWrite:
      return write(in);
    case Op::Fail:
      if (ranges_.of(in.operands[0]).high == 0) return;
      fail(map_[in.operands[0]], {static_cast<ir::FailKind>(in.index), in.location});
      return ranges_.assume(in.operands[0], false);
    case Op::Return:
      for (std::uint32_t i = 0; i < in.operands.size(); ++i) {
        const RegisterId value = map_[in.operands[i]];
        if (f_.results[i].is_row()) {
          kernel_.arrays[value].output = i;
          if (!inner_) emit({.kind = Kind::RowStore, .index = value});
        } else {
          emit({.kind = Kind::Store, .sources = {value}, .index = i});
        }
      }
      return;
    default:
      return elementwise(id);
  }
}

void Lowering::param(ValueId id) {
  const ir::Param& p = f_.params[f_[id].index];
  if (p.is_table()) {
    map_[id] = static_cast<RegisterId>(kernel_.tables.size());
    kernel_.tables.push_back(p.type);
    return;
  }
  if (!p.is_mapped()) {
    map_[id] = assign(Kind::Shared, new_register(p.type, false), {},
                      static_cast<std::uint32_t>(kernel_.shared.size()));
    kernel_.shared.push_back(p.type);
    return;
  }
  const auto input = static_cast<std::uint32_t>(kernel_.inputs.size());
  kernel_.inputs.push_back(p.item());
  map_[id] = p.is_row() ? input : assign(Kind::Load, new_register(p.type, !inner_), {}, input);
  if (p.is_row()) load_whole_row(id);
}

void Lowering::elementwise(ValueId id) {
  const ir::Instruction& in = f_[id];
  Sources sources;
  for (const ValueId operand : in.operands) sources.push_back(map_[operand]);
  if (ops::can_fail(in.op, in.type)) guard_divisor(in, sources[1]);
  map_[id] = compute(in.op, in.type, std::move(sources));
  kernel_.blocks[block_].back().near = ir::is_near(in);
}

void Lowering::guard_divisor(const ir::Instruction& in, RegisterId& divisor) {
  const ir::Instruction& known = f_[in.operands[1]];
  const Scalar zero = types::scalar_of(in.type, 0);
  if (known.op == Op::Constant && known.constant != zero) return;
  const RegisterId is_zero = compute(Op::Eq, DType::Bool, {divisor, constant(zero)});
  fail(is_zero, {ir::FailKind::DivisionByZero, in.location});
  const RegisterId one = constant(types::scalar_of(in.type, 1));
  divisor = compute(Op::Select, in.type, {is_zero, one, divisor});
}

void Lowering::remove_unread() {
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

Kernel lower(const ir::Function& function, LowerOptions options) {
  LW_CHECK(!options.refill || is_refillable(function));
  return Lowering(function, options).run();
}

bool is_refillable(const ir::Function& function) {
  const ValueId loop = only_top_loop(function);
  return loop != ir::kNone && analyse_uniformity(function).diverges[loop];
}

}  // namespace lw::kernel
