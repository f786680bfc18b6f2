#include "lanewise/transform/places.h"

#include <algorithm>
#include <set>

namespace lw::transform {

using ir::Instruction;
using ir::Op;
using ir::ValueId;

bool is_pure(const ir::Function& f, ir::BlockId block) {
  bool pure = true;
  ir::for_each(
      f,
      [&](ValueId id, int) {
        const Instruction& in = f[id];
        const bool is_read = in.op == Op::TableRead || in.op == Op::ArrayRead;
        const auto mode = static_cast<ir::IndexMode>(in.index);
        const bool is_safe_read =
            is_read && mode != ir::IndexMode::Check && f[in.operands[0]].op != Op::Array;
        const bool computes = ops::is_elementwise(in.op) && !ops::can_fail(in.op, in.type);
        const bool is_structure = in.op == Op::Constant || in.op == Op::Collect ||
                                  in.op == Op::Result || in.op == Op::Loop ||
                                  in.op == Op::BreakIf || in.op == Op::Next || in.op == Op::Each;
        pure = pure && (computes || is_safe_read || is_structure);
      },
      block);
  return pure;
}

namespace {

class Shared {
 public:
  explicit Shared(const ir::Function& f) : f_(f) {}

  /// What stands in the block of an instruction needs nothing else from outside.
  bool has(ValueId with_block) {
    std::set<ValueId> inside;
    std::set<ValueId> needs;
    const auto look = [&](ValueId id) {
      const Instruction& in = f_[id];
      inside.insert(id);
      needs.insert(in.operands.begin(), in.operands.end());
      if (in.block == ir::kNone) return;
      const auto& arguments = f_.blocks[in.block].arguments;
      inside.insert(arguments.begin(), arguments.end());
    };
    look(with_block);
    ir::for_each(f_, [&](ValueId id, int) { look(id); }, f_[with_block].block);
    return std::all_of(needs.begin(), needs.end(),
                       [&](ValueId id) { return inside.count(id) > 0 || has_value(id); });
  }

 private:
  bool has_value(ValueId id) {
    const auto known = known_.find(id);
    if (known != known_.end()) return known->second;
    return known_.emplace(id, find(id)).first->second;
  }

  bool find(ValueId id) {
    const Instruction& in = f_[id];
    if (in.op == Op::Constant) return true;
    if (in.op == Op::Param) {
      const ir::Param& p = f_.params[in.index];
      return p.kind == ir::ParamKind::Table || p.kind == ir::ParamKind::Shared;
    }
    if (in.op == Op::Result && f_[in.operands[0]].op == Op::Each) return has(in.operands[0]);
    if (!ops::is_elementwise(in.op)) return false;
    return std::all_of(in.operands.begin(), in.operands.end(),
                       [&](ValueId operand) { return has_value(operand); });
  }

  const ir::Function& f_;
  std::map<ValueId, bool> known_;
};

}  // namespace

bool is_shared(const ir::Function& f, ValueId each) { return Shared(f).has(each); }

std::map<ValueId, std::uint32_t> count_positions(const ir::Function& f) {
  std::map<ValueId, std::uint32_t> counts;
  for (const Instruction& in : f.values) {
    if (in.op == Op::Each) counts[f.blocks[in.block].arguments[0]] = in.index;
  }
  return counts;
}

bool Place::is_below(std::int64_t limit) const {
  std::int64_t most = constant;
  for (const Term& term : terms) {
    if (term.factor < 0) return false;
    most += term.factor * (term.count - 1);
  }
  return constant >= 0 && most < limit;
}

std::optional<Place> Places::of(ValueId index) const {
  Place place;
  if (!add(index, 1, place) || !place.is_below(INT32_MAX)) return std::nullopt;
  return place;
}

bool Places::add(ValueId id, std::int64_t factor, Place& to) const {
  constexpr std::int64_t kFar = 1 << 30;
  const Instruction& in = f_[id];
  if (in.type != DType::I32 || factor > kFar || factor < -kFar) return false;
  if (in.op == Op::Constant) {
    to.constant += factor * types::to_int64(in.constant);
    return true;
  }
  if (in.op == Op::Add) return add(in.operands[0], factor, to) && add(in.operands[1], factor, to);
  if (in.op == Op::Mul) {
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
      const Instruction& other = f_[in.operands[1 - i]];
      if (other.op != Op::Constant) continue;
      const std::int64_t times = types::to_int64(other.constant);
      return times >= 0 && times < kFar && add(in.operands[i], factor * times, to);
    }
    return false;
  }
  const auto known = counts_.find(id);
  if (known == counts_.end()) return false;
  to.terms.push_back({id, known->second, factor});
  return true;
}

std::optional<std::pair<Place, Place>> parted(const Place& place, std::uint32_t size) {
  Place row{.constant = place.constant / size, .terms = {}};
  Place within{.constant = place.constant % size, .terms = {}};
  for (const Place::Term& term : place.terms) {
    if (term.factor % size == 0) {
      row.terms.push_back({term.position, term.count, term.factor / size});
    } else {
      within.terms.push_back(term);
    }
  }
  if (!within.is_below(size)) return std::nullopt;
  return std::pair(std::move(row), std::move(within));
}

ValueId record(ir::Builder& build, const Place& place, std::span<const ValueId> map) {
  ValueId sum = ir::kNone;
  const auto number = [&](std::int64_t n) {
    return build.constant(Scalar(static_cast<std::int32_t>(n)));
  };
  const auto add = [&](ValueId value) {
    sum = sum == ir::kNone ? value : build.op(Op::Add, {sum, value});
  };
  for (const Place::Term& term : place.terms) {
    const ValueId position = map[term.position];
    add(term.factor == 1 ? position : build.op(Op::Mul, {position, number(term.factor)}));
  }
  if (sum == ir::kNone || place.constant != 0) add(number(place.constant));
  return sum;
}

}  // namespace lw::transform
