// What one `each` computes, and a later one computes again on its way to a target, is kept in that
// target meanwhile: the later one reads it there, at its own position, before it writes. A softmax
// of rows of different lengths so has one exponential for each value.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "lanewise/transform/passes.h"
#include "lanewise/transform/places.h"

namespace lw::transform {
namespace {

using ir::Collect;
using ir::Instruction;
using ir::Op;
using ir::ValueId;

class Reuse {
 public:
  explicit Reuse(ir::Function f) : f_(std::move(f)) {}

  /// True when something was found.
  bool run() {
    bool found = false;
    for (ir::BlockId block = 0; block < f_.blocks.size(); ++block) {
      const std::vector<ValueId> body = f_.blocks[block].body;
      for (std::size_t later = 0; later < body.size(); ++later) {
        if (!only_writes(body[later])) continue;
        for (std::size_t first = later; first-- > 0;) {
          if (can_serve(body, first, later) && reuse(body[first], body[later])) {
            found = true;
            break;
          }
        }
      }
    }
    return found;
  }
  ir::Function take() && { return std::move(f_); }

 private:
  const std::vector<ValueId>& body_of(ValueId each) const { return f_.blocks[f_[each].block].body; }
  ValueId position_of(ValueId each) const { return f_.blocks[f_[each].block].arguments[0]; }
  const Instruction& kept_by(ValueId each) const { return ir::collect_of(f_, each, 0); }

  /// True for an `each` that does nothing but to write one value to a target, of a type whose
  /// places are read one by one (small ones are read several at a time, from copies).
  bool only_writes(ValueId each) const {
    if (!ir::has_count(f_[each]) || !is_pure(f_, f_[each].block)) return false;
    if (ir::collects_of(f_, each).size() != 1) return false;
    const Instruction& kept = kept_by(each);
    return static_cast<Collect>(kept.index) == Collect::Keep && types::size_of(kept.type) >= 4 &&
           !touches(each, kept.operands[1], true);
  }

  /// True when an `each` reads a target or, but for its last collect, writes to it.
  bool touches(ValueId each, ValueId target, bool but_for_one) const {
    int uses = 0;
    ir::for_each(
        f_,
        [&](ValueId id, int) {
          const auto& operands = f_[id].operands;
          uses += std::find(operands.begin(), operands.end(), target) != operands.end();
        },
        f_[each].block);
    return uses > (but_for_one ? 1 : 0);
  }

  /// True for an `each` of the same positions, before which it is known where the target's begin.
  bool can_serve(std::span<const ValueId> body, std::size_t first, std::size_t later) const {
    const Instruction& in = f_[body[first]];
    const Instruction& kept = kept_by(body[later]);
    if (!ir::has_count(in) || in.operands[0] != f_[body[later]].operands[0] ||
        in.index != f_[body[later]].index || !is_pure(f_, in.block)) {
      return false;
    }
    const auto between = body.subspan(first, later - first);
    return std::find(between.begin(), between.end(), kept.operands[2]) == between.end() &&
           std::none_of(between.begin(), between.end(), [&](ValueId id) {
             return f_[id].block != ir::kNone && touches(id, kept.operands[1], false);
           });
  }

  /// Values of the later `each` that the first one has too.
  std::map<ValueId, ValueId> same_values(ValueId first, ValueId later) const {
    std::map<ValueId, ValueId> same = {{position_of(later), position_of(first)}};
    const auto& others = body_of(first);
    const auto& own = body_of(later);
    for (const ValueId id : own) {
      const Instruction& in = f_[id];
      if (!ops::is_elementwise(in.op) && in.op != Op::Constant && in.op != Op::TableRead) continue;
      ir::Operands operands;
      bool is_known = true;
      for (const ValueId operand : in.operands) {
        const auto known = same.find(operand);
        const bool is_inside = std::find(own.begin(), own.end(), operand) != own.end();
        is_known = is_known && (!is_inside || known != same.end());
        operands.push_back(known != same.end() ? known->second : operand);
      }
      if (!is_known) continue;
      const auto other = std::find_if(others.begin(), others.end(), [&](ValueId one) {
        return f_[one].op == in.op && f_[one].type == in.type && f_[one].index == in.index &&
               (in.op != Op::Constant || f_[one].constant == in.constant) &&
               std::ranges::equal(f_[one].operands, operands);
      });
      if (other != others.end()) same.emplace(id, *other);
    }
    return same;
  }

  /// How many instructions of the later one stand behind a value of it, and itself.
  int cost_of(ValueId id, const std::map<ValueId, ValueId>& same) const {
    std::set<ValueId> seen;
    std::vector<ValueId> left = {id};
    int sum = 0;
    while (!left.empty()) {
      const ValueId one = left.back();
      left.pop_back();
      if (same.count(one) == 0 || !seen.insert(one).second) continue;
      sum += ops::is_elementwise(f_[one].op) ? 1 : 0;
      left.insert(left.end(), f_[one].operands.begin(), f_[one].operands.end());
    }
    return sum;
  }

  /// The value that is worth being kept: dear, and used by what the first one does not have.
  std::optional<ValueId> dearest(ValueId later, const std::map<ValueId, ValueId>& same) const {
    for (const ValueId id : body_of(later)) {
      if (same.count(id) > 0) continue;
      for (const ValueId operand : f_[id].operands) {
        if (same.count(operand) > 0 && f_[operand].type == kept_by(later).type &&
            cost_of(operand, same) >= kMuch) {
          return operand;
        }
      }
    }
    return std::nullopt;
  }

  bool reuse(ValueId first, ValueId later) {
    const auto same = same_values(first, later);
    const auto found = dearest(later, same);
    if (!found) return false;
    const ir::Operands kept = kept_by(later).operands;
    append(f_[first].block, f_.blocks[f_[first].block].body.size(),
           {.op = Op::Collect,
            .type = f_[*found].type,
            .operands = {same.at(*found), kept[1], kept[2]},
            .index = static_cast<std::uint32_t>(Collect::Keep),
            .location = f_[*found].location});
    // The read takes the place of what it stands for.
    const ir::BlockId block = f_[later].block;
    const auto& body = f_.blocks[block].body;
    auto at = static_cast<std::size_t>(std::find(body.begin(), body.end(), *found) - body.begin());
    ValueId place = position_of(later);
    const DType type = f_[kept[2]].type;
    if (type != DType::I32) {
      place = append(block, at++, {.op = Op::Convert, .type = type, .operands = {place}});
    }
    place = append(block, at++, {.op = Op::Add, .type = type, .operands = {kept[2], place}});
    Instruction& read = f_[*found];
    read.op = Op::TableRead;
    read.operands = {kept[1], place};
    read.index = static_cast<std::uint32_t>(ir::IndexMode::Unchecked);
    return true;
  }

  ValueId append(ir::BlockId block, std::size_t at, Instruction in) {
    const auto id = static_cast<ValueId>(f_.values.size());
    f_.values.push_back(std::move(in));
    auto& body = f_.blocks[block].body;
    body.insert(body.begin() + static_cast<std::ptrdiff_t>(at), id);
    return id;
  }

  static constexpr int kMuch = 8;  // instructions that are more than a write and a read
  ir::Function f_;
};

}  // namespace

ir::Function reuse_targets(ir::Function function) {
  const bool has_targets = std::any_of(function.params.begin(), function.params.end(),
                                       [](const ir::Param& p) { return p.is_target(); });
  if (!has_targets) return function;
  Reuse reuse(std::move(function));
  const bool found = reuse.run();
  ir::Function result = std::move(reuse).take();
  return found ? remove_dead(result) : result;
}

}  // namespace lw::transform
