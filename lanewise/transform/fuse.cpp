// What one `each` keeps and another reads need not stand in memory. Where it is cheap, or read once
// only, it is computed where it is read. And one `each` can do what two do for the same positions,
// if the second needs nothing of the first but what its own position has.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "lanewise/transform/copier.h"
#include "lanewise/transform/passes.h"
#include "lanewise/transform/places.h"
#include "lanewise/transform/split.h"

namespace lw::transform {
namespace {

using ir::Collect;
using ir::Instruction;
using ir::Op;
using ir::ValueId;

/// Instructions that compute something, in a block and what is in it.
int cost_of(const ir::Function& f, ir::BlockId block) {
  int sum = 0;
  ir::for_each(
      f,
      [&](ValueId id, int) {
        const Op op = f[id].op;
        sum += op == Op::Div || op == Op::Sqrt || op == Op::Loop ? 8 : ops::is_elementwise(op);
      },
      block);
  return sum;
}

/// True when what an `each` keeps is the same for all elements, and worth being kept: lanes will
/// hold its positions, and it is computed once (kernel/invariant).
bool is_kept_for_all(const ir::Function& f, ValueId each) {
  constexpr std::uint32_t kSome = 32, kMany = 4096;
  constexpr int kMuch = 8;
  bool has_blocks = false;
  ir::for_each(
      f, [&](ValueId id, int) { has_blocks = has_blocks || f[id].block != ir::kNone; },
      f[each].block);
  return f[each].index >= kSome && f[each].index <= kMany &&
         (has_blocks || cost_of(f, f[each].block) >= kMuch) && is_shared(f, each);
}

/// Reads at the position of an `each` that has no more positions than there are places need no
/// check.
ir::Function without_vain_checks(ir::Function f) {
  const std::map<ValueId, std::uint32_t> positions = count_positions(f);
  for (Instruction& in : f.values) {
    const bool is_read = in.op == Op::TableRead || in.op == Op::ArrayRead;
    if (!is_read || static_cast<ir::IndexMode>(in.index) != ir::IndexMode::Check) continue;
    const Instruction& of = f[in.operands[0]];
    if (of.op == Op::Param && !f.params[of.index].is_row()) continue;
    const auto known = positions.find(in.operands[1]);
    if (known == positions.end() || known->second > ir::size_of(f, in.operands[0])) continue;
    in.index = static_cast<std::uint32_t>(ir::IndexMode::Unchecked);
  }
  return f;
}

// --- computing where it is read ---

class Inliner : public Copier {
 public:
  explicit Inliner(const ir::Function& f) : Copier(f), uses_(f.values.size()), places_(f) {
    find_uses(0, {});
    ir::for_each(f, [&](ValueId id, int) {
      if (f[id].op == Op::Result) decide(id);
    });
  }
  bool finds_any() const { return !inlined_.empty(); }

 private:
  /// How a result is used: by reads that are surely inside, at most `trips` times for each time it
  /// is made.
  struct Uses {
    std::vector<ValueId> reads = {};
    double trips = 0;
    bool others = false;
    bool is_shared = true;  // what reads it is the same for all elements too
  };
  struct Around {
    double trips = 1;
    bool is_shared = false;
  };

  void find_uses(ir::BlockId block, Around around) {
    for (const ValueId id : f_.blocks[block].body) {
      const Instruction& in = f_[id];
      for (std::size_t i = 0; i < in.operands.size(); ++i) {
        const ValueId operand = in.operands[i];
        if (f_[operand].op != Op::Result) continue;
        Uses& uses = uses_[operand];
        if (in.op == Op::ArrayRead && i == 0 &&
            static_cast<ir::IndexMode>(in.index) == ir::IndexMode::Unchecked) {
          uses.reads.push_back(id);
          uses.trips += around.trips;
          uses.is_shared = uses.is_shared && around.is_shared;
        } else {
          uses.others = true;
        }
      }
      if (in.block == ir::kNone) continue;
      Around inside = around;
      if (in.op == Op::Each) {
        inside.trips *= in.index;
        inside.is_shared = around.is_shared || is_shared(f_, id);
      }
      if (in.op == Op::Loop && ir::can_go_round(f_, id)) inside.trips *= 1e6;
      find_uses(in.block, inside);
    }
  }

  void decide(ValueId id) {
    constexpr int kCheap = 4;
    const Instruction& in = f_[id];
    const ValueId each = in.operands[0];
    if (f_[each].op != Op::Each || !ir::is_array(f_, id)) return;
    const Uses& uses = uses_[id];
    if (uses.others || !is_pure(f_, f_[each].block)) return;
    if (!uses.is_shared && is_kept_for_all(f_, each)) return;
    Inlined found = what_is_kept(each, in.index);
    if (found.value == ir::kNone) return;
    for (const ValueId read : uses.reads) {
      if (found.eaches.size() > 1 && !positions_of(read, found)) return;
    }
    int cost = cost_of(f_, f_[each].block);
    ir::for_each(
        f_,
        [&](ValueId inner, int) {
          const Instruction& read = f_[inner];
          const auto inlined =
              read.op == Op::ArrayRead ? inlined_.find(read.operands[0]) : inlined_.end();
          if (inlined != inlined_.end()) cost += inlined->second.cost;
        },
        f_[each].block);
    if (cost <= kCheap || (uses.reads.size() == 1 && uses.trips <= ir::size_of(f_, id))) {
      found.cost = cost;
      inlined_.emplace(id, std::move(found));
    }
  }

  void instruction(ValueId id) override {
    const Instruction& in = f_[id];
    const auto inlined = in.op == Op::ArrayRead ? inlined_.find(in.operands[0]) : inlined_.end();
    if (inlined == inlined_.end()) return Copier::instruction(id);
    const std::vector<ValueId>& eaches = inlined->second.eaches;
    build_.set_location(in.location);
    std::vector<ValueId> positions;
    if (eaches.size() == 1) {
      positions.push_back(build_.convert(map_[in.operands[1]], DType::I32));
    } else {
      const auto places = positions_of(id, inlined->second).value();
      for (const Place& place : places) positions.push_back(record(build_, place, map_));
    }
    for (std::size_t depth = 0; depth < eaches.size(); ++depth) {
      const ir::Block& block = f_.blocks[f_[eaches[depth]].block];
      map_[block.arguments[0]] = positions[depth];
      for (const ValueId inner : block.body) {
        const bool goes_in = depth + 1 < eaches.size() && inner == eaches[depth + 1];
        const bool is_of_it = f_[inner].op == Op::Result && depth + 1 < eaches.size() &&
                              f_[inner].operands[0] == eaches[depth + 1];
        if (f_[inner].op != Op::Collect && !goes_in && !is_of_it) instruction(inner);
      }
    }
    map_[id] = map_[inlined->second.value];
  }

  struct Inlined {
    ValueId value = ir::kNone;    // that is collected
    std::vector<ValueId> eaches;  // one in another, the innermost last
    int cost = 0;                 // with that of what is computed there in turn
  };

  /// What an `each` keeps, or one that stands in it for nothing but to be kept again.
  Inlined what_is_kept(ValueId each, std::uint32_t index) const {
    Inlined found{.eaches = {each}};
    ValueId value = ir::collect_of(f_, each, index).operands[0];
    while (!ir::is_number(f_, value)) {
      const Instruction& result = f_[value];
      if (result.op != Op::Result || f_[result.operands[0]].op != Op::Each) return {};
      const ValueId inner = result.operands[0];
      const auto& body = f_.blocks[f_[found.eaches.back()].block].body;
      if (std::find(body.begin(), body.end(), inner) == body.end()) return {};
      // Others that are made of it would be left without it.
      for (const ValueId id : body) {
        if (id == inner || f_[id].op == Op::Collect) continue;
        if (f_[id].op == Op::Result && f_[id].operands[0] == inner) continue;
        if (reads(id, inner)) return {};
      }
      found.eaches.push_back(inner);
      value = ir::collect_of(f_, inner, result.index).operands[0];
    }
    found.value = value;
    return found;
  }

  /// True when an instruction, or what is in it, reads a result of the `each`.
  bool reads(ValueId id, ValueId each) const {
    bool found = false;
    const auto look = [&](ValueId one) {
      for (const ValueId operand : f_[one].operands) {
        found = found || (f_[operand].op == Op::Result && f_[operand].operands[0] == each);
      }
    };
    look(id);
    if (f_[id].block != ir::kNone) {
      ir::for_each(f_, [&](ValueId inner, int) { look(inner); }, f_[id].block);
    }
    return found;
  }

  /// The position in each of them that a read is at, if that can be told.
  std::optional<std::vector<Place>> positions_of(ValueId read, const Inlined& of) const {
    auto place = places_.of(f_[read].operands[1]);
    if (!place) return std::nullopt;
    std::uint32_t size = ir::size_of(f_, f_[read].operands[0]);
    std::vector<Place> positions;
    for (std::size_t depth = 0; depth + 1 < of.eaches.size(); ++depth) {
      size /= f_[of.eaches[depth]].index;
      auto parts = parted(*place, size);
      if (!parts) return std::nullopt;
      positions.push_back(std::move(parts->first));
      place = std::move(parts->second);
    }
    positions.push_back(std::move(*place));
    return positions;
  }

  std::vector<Uses> uses_;
  Places places_;
  std::map<ValueId, Inlined> inlined_;  // by result
};

// --- one in another again ---

/// An `each` over all places of an array that was kept one in another goes through them in the same
/// way: then what it reads can be computed there.
class Splits {
 public:
  explicit Splits(const ir::Function& f) : f_(f) {
    ir::for_each(f, [&](ValueId id, int) {
      if (f[id].op == Op::Each && keeps_numbers(f, id)) decide(id);
    });
  }
  const std::map<ValueId, Sizes>& found() const { return sizes_; }

 private:
  void decide(ValueId each) {
    if (ir::has_count(f_[each])) return;
    const ir::Block& block = f_.blocks[f_[each].block];
    Sizes sizes;
    for (const ValueId id : block.body) {
      const Instruction& in = f_[id];
      if (in.op == Op::ArrayRead && in.operands[1] == block.arguments[0] && sizes.empty() &&
          ir::size_of(f_, in.operands[0]) == f_[each].index) {
        sizes = sizes_of(in.operands[0]);
      }
    }
    constexpr std::uint32_t kFew = 16;  // fewer positions make poor use of lanes
    if (sizes.size() > 1 && sizes.back() >= kFew) sizes_[each] = std::move(sizes);
  }

  /// How many positions the `each` has that keeps an array, and those in it.
  Sizes sizes_of(ValueId array) const {
    Sizes sizes;
    while (ir::is_array(f_, array) && f_[array].op == Op::Result) {
      const ValueId each = f_[array].operands[0];
      sizes.push_back(f_[each].index);
      array = ir::collect_of(f_, each, f_[array].index).operands[0];
    }
    return ir::is_number(f_, array) ? sizes : Sizes();
  }

  const ir::Function& f_;
  std::map<ValueId, Sizes> sizes_;  // by each
};

// --- two in one ---

class Merger {
 public:
  explicit Merger(ir::Function f) : f_(std::move(f)) {}

  ir::Function run() && {
    for (ir::BlockId b = 0; b < f_.blocks.size(); ++b) {
      while (merge_one(b)) {
      }
    }
    return std::move(f_);
  }

 private:
  bool merge_one(ir::BlockId block) {
    const std::vector<ValueId> body = f_.blocks[block].body;
    for (std::size_t i = 0; i < body.size(); ++i) {
      if (f_[body[i]].op != Op::Each || !is_pure(f_, f_[body[i]].block)) continue;
      for (std::size_t k = i + 1; k < body.size(); ++k) {
        if (f_[body[k]].op != Op::Each || f_[body[k]].index != f_[body[i]].index ||
            !std::ranges::equal(f_[body[k]].operands, f_[body[i]].operands) ||
            !is_pure(f_, f_[body[k]].block)) {
          continue;
        }
        if (is_kept_for_all(f_, body[i]) && !is_shared(f_, body[k])) continue;
        if (try_merge(block, i, k)) return true;
      }
    }
    return false;
  }

  /// Values from outside that a block, or an instruction, needs.
  void find_needs(ValueId id, std::set<ValueId>& needs) const {
    for (const ValueId operand : f_[id].operands) needs.insert(operand);
    if (f_[id].block == ir::kNone) return;
    ir::for_each(
        f_,
        [&](ValueId inner, int) {
          for (const ValueId operand : f_[inner].operands) needs.insert(operand);
        },
        f_[id].block);
  }

  /// Makes the `each` at `k` part of the one at `i`, if that can be.
  bool try_merge(ir::BlockId block, std::size_t i, std::size_t k) {
    auto& body = f_.blocks[block].body;
    const ValueId first = body[i];
    const ValueId second = body[k];
    // What stands between and must come before: it may not need the first itself.
    std::set<ValueId> needs;
    find_needs(second, needs);
    std::vector<std::size_t> moved;
    std::set<ValueId> kept;  // results of the first that the second reads
    for (std::size_t at = k; at-- > i + 1;) {
      const ValueId id = body[at];
      if (needs.count(id) == 0) continue;
      const Instruction& in = f_[id];
      if (in.op == Op::Result && in.operands[0] == first) {
        if (!reads_own_position(second, id)) return false;
        kept.insert(id);
        continue;
      }
      const bool is_pure_each = in.op == Op::Each && is_pure(f_, in.block);
      const bool is_plain = in.op == Op::Constant || in.op == Op::Result ||
                            (ops::is_elementwise(in.op) && !ops::can_fail(in.op, in.type));
      if (!is_pure_each && !is_plain) return false;
      find_needs(id, needs);
      moved.push_back(at);
    }
    // What is moved may need no result of the first, either.
    for (const std::size_t at : moved) {
      std::set<ValueId> own;
      find_needs(body[at], own);
      for (const ValueId id : kept) {
        if (own.count(id) > 0) return false;
      }
      for (std::size_t b = i + 1; b < k; ++b) {
        if (f_[body[b]].op == Op::Result && f_[body[b]].operands[0] == first &&
            own.count(body[b]) > 0) {
          return false;
        }
      }
    }
    join(first, second);
    // The order: what was moved, the merged `each`, all the rest without the second.
    std::vector<ValueId> order(body.begin(), body.begin() + static_cast<std::ptrdiff_t>(i));
    for (auto at = moved.rbegin(); at != moved.rend(); ++at) order.push_back(body[*at]);
    order.push_back(first);
    for (std::size_t at = i + 1; at < body.size(); ++at) {
      const bool is_moved = std::find(moved.begin(), moved.end(), at) != moved.end();
      if (at != k && !is_moved) order.push_back(body[at]);
    }
    f_.blocks[block].body = std::move(order);
    return true;
  }

  /// True when an `each` uses an array only to read what its position has there.
  bool reads_own_position(ValueId each, ValueId array) const {
    const ValueId position = f_.blocks[f_[each].block].arguments[0];
    bool own = true;
    ir::for_each(
        f_,
        [&](ValueId id, int) {
          const Instruction& in = f_[id];
          for (std::size_t i = 0; i < in.operands.size(); ++i) {
            if (in.operands[i] != array) continue;
            own = own && in.op == Op::ArrayRead && i == 0 && in.operands[1] == position;
          }
        },
        f_[each].block);
    return own && ir::is_array(f_, array) &&
           ir::is_number(f_,
                         ir::collect_of(f_, f_[array].operands[0], f_[array].index).operands[0]);
  }

  void join(ValueId first, ValueId second) {
    const std::vector<ValueId> before = ir::collects_of(f_, first);
    ir::Block& target = f_.blocks[f_[first].block];
    const ir::Block& source = f_.blocks[f_[second].block];
    std::map<ValueId, ValueId> stands_for = {{source.arguments[0], target.arguments[0]}};
    ir::for_each(
        f_,
        [&](ValueId id, int) {
          const Instruction& in = f_[id];
          if (in.op != Op::ArrayRead || f_[in.operands[0]].op != Op::Result ||
              f_[in.operands[0]].operands[0] != first) {
            return;
          }
          stands_for[id] = f_[before[f_[in.operands[0]].index]].operands[0];
        },
        f_[second].block);
    drop(f_[second].block, stands_for);
    target.body.insert(target.body.end(), source.body.begin(), source.body.end());
    for (Instruction& in : f_.values) {
      for (ValueId& operand : in.operands) {
        if (const auto at = stands_for.find(operand); at != stands_for.end()) operand = at->second;
      }
      if (in.op == Op::Result && in.operands[0] == second) {
        in.operands[0] = first;
        in.index += static_cast<std::uint32_t>(before.size());
      }
    }
  }

  /// Takes values for which others stand out of a block and what is in it.
  void drop(ir::BlockId block, const std::map<ValueId, ValueId>& stands_for) {
    auto& body = f_.blocks[block].body;
    std::erase_if(body, [&](ValueId id) { return stands_for.count(id) > 0; });
    for (const ValueId id : body) {
      if (f_[id].block != ir::kNone) drop(f_[id].block, stands_for);
    }
  }

  ir::Function f_;
};

}  // namespace

namespace {

/// Lets a number that an `each` collects twice be collected once. True: there was one.
bool give_once(ir::Function& f) {
  bool found = false;
  std::map<std::pair<ValueId, std::uint32_t>, std::uint32_t> first;  // by each and collect
  for (ValueId each = 0; each < f.values.size(); ++each) {
    if (f[each].op != Op::Each) continue;
    const std::vector<ValueId> collects = ir::collects_of(f, each);
    for (std::uint32_t i = 0; i < collects.size(); ++i) {
      for (std::uint32_t k = 0; k < i; ++k) {
        const Instruction& a = f[collects[k]];
        const Instruction& b = f[collects[i]];
        const bool is_number = static_cast<Collect>(a.index) != Collect::Keep;
        if (is_number && a.index == b.index && a.operands[0] == b.operands[0]) {
          first.emplace(std::pair(each, i), k);
        }
      }
    }
  }
  for (Instruction& in : f.values) {
    if (in.op != Op::Result) continue;
    const auto same = first.find({in.operands[0], in.index});
    if (same == first.end()) continue;
    in.index = same->second;
    found = true;
  }
  return found;
}

}  // namespace

bool has_each(const ir::Function& f) {
  bool found = false;
  ir::for_each(f, [&](ValueId id, int) { found = found || f[id].op == Op::Each; });
  return found;
}

ir::Function fuse(const ir::Function& function) {
  ir::Function f = remove_dead(without_vain_checks(function));
  for (;;) {
    Inliner inliner(f);
    if (inliner.finds_any()) {
      f = remove_dead(simplify(inliner.run()));
      continue;
    }
    const Splits splits(f);
    if (splits.found().empty()) break;
    f = remove_dead(simplify(split(f, splits.found())));
  }
  f = remove_dead(simplify(Merger(std::move(f)).run()));
  return give_once(f) ? remove_dead(simplify(f)) : f;
}

}  // namespace lw::transform
