// A branch with little in it costs more to skip than to compute: its values are computed for all
// elements and chosen by its condition. What leaves a loop inside of it leaves where the condition
// holds too. Branches that few elements take stay, and so do those that can fail or touch memory.
#include <map>
#include <utility>

#include "lanewise/base/check.h"
#include "lanewise/transform/copier.h"
#include "lanewise/transform/passes.h"

namespace lw::transform {
namespace {

using ir::Instruction;
using ir::Op;
using ir::ValueId;

constexpr int kMostCost = 16;

class Flattener : public Copier {
 public:
  using Copier::Copier;

  /// True when some branch is worth it.
  static bool finds_any(const ir::Function& f) {
    bool found = false;
    ir::for_each(f, [&](ValueId id, int) { found = found || is_cheap(f, id); });
    return found;
  }

 private:
  static bool is_cheap(const ir::Function& f, ValueId id) {
    return f[id].op == Op::Loop && f[id].index == 0 && ir::is_branch(f, id) &&
           cost(f, f[id].block) <= kMostCost;
  }

  static int cost(const ir::Function& f, ir::BlockId block) {
    int sum = 0;
    for (const ValueId id : f.blocks[block].body) {
      const Instruction& in = f[id];
      const bool is_free =
          in.op == Op::Constant || in.op == Op::Result || in.op == Op::BreakIf || in.op == Op::Next;
      if (is_free) continue;
      const bool is_inner = is_cheap(f, id);
      if (!is_inner && (!ops::is_elementwise(in.op) || ops::can_fail(in.op, in.type))) {
        return kMostCost + 1;
      }
      sum += is_inner ? cost(f, in.block) + 1 : in.op == Op::Div || in.op == Op::Sqrt ? 6 : 1;
      if (sum > kMostCost) break;
    }
    return sum;
  }

  void instruction(ValueId id) override {
    const Instruction& in = f_[id];
    const auto chosen = in.op == Op::Result ? chosen_.find(in.operands[0]) : chosen_.end();
    if (chosen != chosen_.end()) {
      map_[id] = chosen->second[in.index];
    } else if (is_cheap(f_, id)) {
      build_.set_location(in.location);
      flatten(id);
    } else if (in.op == Op::BreakIf) {
      build_.set_location(in.location);
      leave(in);
    } else {
      Copier::instruction(id);
    }
  }

  /// Out of the branches that are gone, where they are taken.
  void leave(const Instruction& in) {
    ValueId condition = map_[in.operands[0]];
    if (!guards_.empty()) condition = both(guards_.back(), condition);
    LW_CHECK(in.index >= inside_);
    build_.break_if(condition, mapped(std::span(in.operands).subspan(1)), in.index - inside_);
  }

  ValueId both(ValueId a, ValueId b) {
    const Instruction& known = build_.function()[b];
    if (known.op == Op::Constant) return known.constant.as<bool>() ? a : b;
    return build_.op(Op::And, {a, b});
  }

  void flatten(ValueId id) {
    const Instruction& in = f_[id];
    const ir::Block& body = f_.blocks[in.block];
    const ir::Operands initial = mapped(in.operands);
    for (std::size_t i = 0; i < initial.size(); ++i) map_[body.arguments[i]] = initial[i];
    const ValueId first = ir::branch_exit(f_, id);
    std::size_t at = 0;
    ++inside_;
    for (; body.body[at] != first; ++at) instruction(body.body[at]);
    ValueId taken = build_.op(Op::Not, {map_[f_[first].operands[0]]});
    const ValueId condition = taken;
    if (!guards_.empty()) taken = both(guards_.back(), taken);
    guards_.push_back(taken);
    bool stays = true;  // some element comes to the end
    for (++at; at + 2 < body.body.size(); ++at) {
      instruction(body.body[at]);
      stays = stays && !ir::leaves_always(f_, f_[body.body[at]]);
    }
    guards_.pop_back();
    --inside_;
    const Instruction& end = f_[body.body[at]];
    std::vector<ValueId> values;
    for (std::size_t i = 0; i < initial.size(); ++i) {
      const ValueId value = map_[end.operands[i + 1]];
      values.push_back(value == initial[i] || !stays
                           ? initial[i]
                           : build_.op(Op::Select, {condition, value, initial[i]}));
    }
    chosen_.emplace(id, std::move(values));
  }

  std::uint32_t inside_ = 0;     // branches around that are gone
  std::vector<ValueId> guards_;  // conditions of the branches that are gone, each with those around
  std::map<ValueId, std::vector<ValueId>> chosen_;  // results of those
};

}  // namespace

bool has_short_branches(const ir::Function& function) { return Flattener::finds_any(function); }

ir::Function flatten_branches(const ir::Function& function) { return Flattener(function).run(); }

}  // namespace lw::transform
