// Loops over all places of an array, one after the other, that write each of them once and read no
// other of that array, need no order: they are an `each`. `for i: for j: y[i, j] = f(x[i, j])`
// then is what `y = f(x)` is.
//
// An array is spread where all that is ever written to it is written by such loops, beside its own
// definition. It is no memory any more, but what the last of them has kept, or what it began with.
// Nothing in the loops may fail, but for indices that are known to be inside.
#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "lanewise/transform/copier.h"
#include "lanewise/transform/passes.h"

namespace lw::transform {
namespace {

using ir::IndexMode;
using ir::Instruction;
using ir::Op;
using ir::ValueId;

/// A counter of a loop, or the position of an `each` whose kept values are written.
struct Axis {
  ValueId value;
  std::int64_t first;
  std::int64_t count;
};

/// constant + factor * axis + ...
struct Form {
  std::int64_t constant = 0;
  std::vector<std::int64_t> factors = {};  // by axis

  Form scaled(std::int64_t by) const {
    Form result{constant * by, factors};
    for (std::int64_t& factor : result.factors) factor *= by;
    return result;
  }
  Form plus(const Form& other) const {
    Form result{constant + other.constant, factors};
    for (std::size_t i = 0; i < factors.size(); ++i) result.factors[i] += other.factors[i];
    return result;
  }
};

struct Range {
  std::int64_t low, high;
  bool is_in(std::int64_t a, std::int64_t b) const { return low >= a && high <= b; }
};

constexpr std::int64_t kFar = std::int64_t{1} << 40;

/// Loops, one in another, that write all places of an array.
struct Nest {
  ValueId array = ir::kNone;
  std::vector<ir::BlockId> blocks = {};  // outermost first
  std::vector<Axis> axes = {};           // of the loops; the last may be that of a row
  Form written = {};                     // the place that a step writes
  ValueId value = ir::kNone;             // what it writes there
  ValueId row = ir::kNone;       // the `each` whose kept values are written, if there is one
  ValueId position = ir::kNone;  // of it
  ValueId along = ir::kNone;     // the axis that it is

  bool has(ir::BlockId block) const { return std::count(blocks.begin(), blocks.end(), block) > 0; }
};

/// What is known of integers in the loops.
class Facts {
 public:
  Facts(const ir::Function& f, const Nest& nest) : f_(f), nest_(nest) {}

  std::optional<std::size_t> axis_of(ValueId id) const {
    const ValueId value = id == nest_.position ? nest_.along : id;
    for (std::size_t i = 0; i < nest_.axes.size(); ++i) {
      if (nest_.axes[i].value == value) return i;
    }
    return std::nullopt;
  }

  /// An integer as a sum of axes, if it is one and does not wrap.
  std::optional<Form> form_of(ValueId id) const {
    const Instruction& in = f_[id];
    Form form{0, std::vector<std::int64_t>(nest_.axes.size(), 0)};
    if (const auto axis = axis_of(id)) {
      form.factors[*axis] = 1;
      return form;
    }
    if (!range_of(id)) return std::nullopt;
    switch (in.op) {
      case Op::Constant:
        form.constant = types::to_int64(in.constant);
        return form;
      case Op::Add:
      case Op::Sub: {
        const auto a = form_of(in.operands[0]), b = form_of(in.operands[1]);
        if (!a || !b) return std::nullopt;
        return a->plus(in.op == Op::Add ? *b : b->scaled(-1));
      }
      case Op::Mul:
        for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
          const Instruction& other = f_[in.operands[1 - i]];
          if (other.op != Op::Constant) continue;
          const auto scaled = form_of(in.operands[i]);
          if (!scaled) return std::nullopt;
          return scaled->scaled(types::to_int64(other.constant));
        }
        return std::nullopt;
      case Op::Convert:
      case Op::Bitcast:
        return form_of(in.operands[0]);
      default:
        return std::nullopt;
    }
  }

  /// Of an integer that does not wrap.
  std::optional<Range> range_of(ValueId id) const {
    if (const auto axis = axis_of(id)) {
      const Axis& of = nest_.axes[*axis];
      return Range{of.first, of.first + of.count - 1};
    }
    const Instruction& in = f_[id];
    if (!types::is_integer(in.type)) return std::nullopt;
    const std::optional<Range> range = unbounded_range_of(in);
    if (!range) return std::nullopt;
    const bool has_sign = types::is_signed_integer(in.type);
    const int bits = 8 * static_cast<int>(types::size_of(in.type)) - (has_sign ? 1 : 0);
    const std::int64_t most = std::min((std::int64_t{1} << std::min(bits, 62)) - 1, kFar);
    return range->is_in(has_sign ? -most : 0, most) ? range : std::nullopt;
  }

  std::optional<bool> truth_of(ValueId id) const {
    const Instruction& in = f_[id];
    if (in.op != Op::Lt && in.op != Op::Ge) return std::nullopt;
    const auto a = range_of(in.operands[0]), b = range_of(in.operands[1]);
    if (!a || !b) return std::nullopt;
    if (a->high < b->low) return in.op == Op::Lt;
    if (a->low >= b->high) return in.op == Op::Ge;
    return std::nullopt;
  }

  /// An access that does not fail.
  bool is_inside(const Instruction& in) const {
    if (static_cast<IndexMode>(in.index) != IndexMode::Check) return true;
    const Instruction& of = f_[in.operands[0]];
    if (of.op == Op::Param && !f_.params[of.index].is_row()) return false;
    const auto range = range_of(in.operands[1]);
    return range && range->is_in(0, std::int64_t{ir::size_of(f_, in.operands[0])} - 1);
  }

 private:
  std::optional<Range> unbounded_range_of(const Instruction& in) const {
    if (in.op == Op::Constant) {
      const std::int64_t number = types::to_int64(in.constant);
      return Range{number, number};
    }
    if (in.op == Op::Convert || in.op == Op::Bitcast) return range_of(in.operands[0]);
    if (in.op != Op::Add && in.op != Op::Sub && in.op != Op::Mul) return std::nullopt;
    const auto a = range_of(in.operands[0]), b = range_of(in.operands[1]);
    if (!a || !b) return std::nullopt;
    if (in.op == Op::Add) return Range{a->low + b->low, a->high + b->high};
    if (in.op == Op::Sub) return Range{a->low - b->high, a->high - b->low};
    constexpr std::int64_t kMost = std::int64_t{1} << 31;
    if (!a->is_in(-kMost, kMost) || !b->is_in(-kMost, kMost)) return std::nullopt;
    const auto all = {a->low * b->low, a->low * b->high, a->high * b->low, a->high * b->high};
    return Range{std::min(all), std::max(all)};
  }

  const ir::Function& f_;
  const Nest& nest_;
};

/// Finds the arrays that can be spread, and their loops.
class Finder {
 public:
  explicit Finder(const ir::Function& f)
      : f_(f), block_(f.values.size(), ir::kNone), owner_(f.blocks.size(), ir::kNone) {
    for (ir::BlockId b = 0; b < f.blocks.size(); ++b) {
      for (const ValueId id : f.blocks[b].body) {
        block_[id] = b;
        if (f[id].block != ir::kNone) owner_[f[id].block] = id;
        for (const ValueId operand : f[id].operands) uses_[operand].push_back(id);
      }
    }
  }

  /// By loop; all of an array, or none.
  std::map<ValueId, Nest> find() {
    std::map<ValueId, Nest> found;
    ir::for_each(f_, [&](ValueId id, int) {
      if (f_[id].op == Op::Array) found.merge(nests_of(id));
    });
    return found;
  }

 private:
  std::map<ValueId, Nest> nests_of(ValueId array) {
    std::map<ValueId, std::vector<ValueId>> writes;  // by the loop beside the array
    for (const ValueId use : uses_[array]) {
      if (f_[use].op != Op::ArrayWrite) continue;
      ValueId around = use;
      while (around != ir::kNone && block_[around] != block_[array]) {
        around = owner_[block_[around]];
      }
      if (around == ir::kNone || around == use) return {};
      writes[around].push_back(use);
    }
    std::map<ValueId, Nest> nests;
    for (const auto& [loop, all] : writes) {
      Nest nest{.array = array};
      if (!find_nest(loop, all, nest)) return {};
      nests.emplace(loop, std::move(nest));
    }
    return nests;
  }

  bool find_nest(ValueId loop, const std::vector<ValueId>& writes, Nest& nest) {
    for (ir::BlockId b = block_[writes[0]]; b != block_[loop]; b = block_[owner_[b]]) {
      const auto axis = axis_of(owner_[b]);
      if (!axis) return false;
      nest.blocks.insert(nest.blocks.begin(), b);
      nest.axes.insert(nest.axes.begin(), *axis);
    }
    if (!find_written(writes, nest) || !covers_all(nest)) return false;
    is_behind_write_ = false;
    return std::all_of(nest.blocks.begin(), nest.blocks.end(),
                       [&](ir::BlockId b) { return is_free(b, nest); });
  }

  /// The counter of a loop that counts by 1 between literals, and carries nothing else.
  std::optional<Axis> axis_of(ValueId loop) {
    const Instruction& in = f_[loop];
    if (in.op != Op::Loop || f_.blocks[in.block].arguments.size() != 1) return std::nullopt;
    for (const ValueId result : uses_[loop]) {
      if (!uses_[result].empty()) return std::nullopt;
    }
    const ir::Block& block = f_.blocks[in.block];
    const ValueId counter = block.arguments[0];
    std::optional<std::int64_t> end;
    for (const ValueId id : block.body) {
      if (f_[id].op != Op::BreakIf) continue;
      const Instruction& test = f_[f_[id].operands[0]];
      if (end || f_[id].index != 0 || test.op != Op::Ge || test.operands[0] != counter) return {};
      end = literal(test.operands[1]);
    }
    const Instruction& next = f_[f_[block.body.back()].operands[0]];
    const bool counts =
        next.op == Op::Add && next.operands[0] == counter && literal(next.operands[1]) == 1;
    const auto first = literal(in.operands[0]);
    if (!end || !counts || !first || *first < 0 || *end <= *first || *end > INT32_MAX) return {};
    return Axis{counter, *first, *end - *first};
  }

  std::optional<std::int64_t> literal(ValueId id) const {
    const Instruction& in = f_[id];
    if (in.op != Op::Constant || !types::is_integer(in.type)) return std::nullopt;
    return types::to_int64(in.constant);
  }

  /// A step writes one place, or those that an `each` has kept, one behind the other.
  bool find_written(const std::vector<ValueId>& writes, Nest& nest) {
    for (const ValueId write : writes) {
      if (block_[write] != nest.blocks.back()) return false;
    }
    nest.value = f_[writes[0]].operands[2];
    find_row(writes, nest);
    if (writes.size() > 1 && (nest.row == ir::kNone || nest.along != nest.position)) return false;
    const Facts facts(f_, nest);
    for (std::size_t i = 0; i < writes.size(); ++i) {
      const auto form = facts.form_of(f_[writes[i]].operands[1]);
      if (!form) return false;
      if (i == 0) nest.written = *form;
      if (form->factors != nest.written.factors) return false;
      if (form->constant != nest.written.constant + static_cast<std::int64_t>(i)) return false;
      const Instruction& read = f_[f_[writes[i]].operands[2]];
      const bool is_of_row = read.op == Op::ArrayRead && read.operands[0] == kept_ &&
                             literal(read.operands[1]) == static_cast<std::int64_t>(i);
      if (writes.size() > 1 && !is_of_row) return false;
    }
    if (writes.size() > 1) nest.written.factors.back() = 1;
    return true;
  }

  /// What is written may have been kept by an `each` inside of the loops: then either a loop goes
  /// through its positions, or all of them are written one by one.
  void find_row(const std::vector<ValueId>& writes, Nest& nest) {
    const Instruction& read = f_[nest.value];
    if (read.op != Op::ArrayRead || !is_kept(read.operands[0])) return;
    kept_ = read.operands[0];
    const ValueId each = f_[kept_].operands[0];
    if (!nest.has(block_[each]) || ir::has_count(f_[each])) return;
    const auto& collect = ir::collect_of(f_, each, f_[kept_].index);
    if (!ir::is_number(f_, collect.operands[0])) return;
    const std::int64_t size = f_[each].index;
    const ValueId position = f_.blocks[f_[each].block].arguments[0];
    ValueId along = ir::kNone;
    for (const Axis& axis : nest.axes) {
      if (axis.value == read.operands[1] && axis.first == 0 && axis.count == size) {
        along = axis.value;
      }
    }
    if (along == ir::kNone && static_cast<std::int64_t>(writes.size()) == size) {
      nest.axes.push_back({position, 0, size});
      along = position;
    }
    if (along == ir::kNone) return;
    nest.row = each;
    nest.position = position;
    nest.along = along;
    nest.value = collect.operands[0];
  }

  bool is_kept(ValueId id) const {
    return f_[id].op == Op::Result && f_[f_[id].operands[0]].op == Op::Each;
  }

  /// Every place of the array is written in one step: by their factors, axes follow one another
  /// without gaps.
  bool covers_all(const Nest& nest) const {
    std::vector<std::size_t> order(nest.axes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return nest.written.factors[a] < nest.written.factors[b];
    });
    std::int64_t size = 1;
    std::int64_t begin = nest.written.constant;
    for (const std::size_t i : order) {
      if (nest.written.factors[i] != size) return false;
      begin += size * nest.axes[i].first;
      size *= nest.axes[i].count;
    }
    return begin == 0 && size == std::int64_t{f_[nest.array].index};
  }

  /// Nothing in the block fails, has an order, or would be done more often than now.
  bool is_free(ir::BlockId block, const Nest& nest) {
    const auto& body = f_.blocks[block].body;
    return std::all_of(body.begin(), body.end(), [&](ValueId id) {
      const Instruction& in = f_[id];
      if (in.block == ir::kNone || nest.has(in.block)) return is_free_instruction(in, nest);
      const bool is_of_each_step =
          !nest.has(block) || (block == nest.blocks.back() && nest.row == ir::kNone);
      const bool stays = in.op != Op::Loop || !leaves_nest(id);
      return (id == nest.row || is_of_each_step) && stays && is_free(in.block, nest);
    });
  }

  /// A loop in the block of another that some leave together with that.
  bool leaves_nest(ValueId loop) const {
    bool found = false;
    ir::for_each(
        f_,
        [&](ValueId id, int depth) {
          found =
              found || (f_[id].op == Op::BreakIf && f_[id].index > static_cast<unsigned>(depth));
        },
        f_[loop].block);
    return found;
  }

  bool is_free_instruction(const Instruction& in, const Nest& nest) {
    const Facts facts(f_, nest);
    switch (in.op) {
      case Op::Constant:
      case Op::Result:
      case Op::Loop:
      case Op::Next:
      case Op::BreakIf:
        return true;
      case Op::Collect:
        return in.operands.size() == 1;
      case Op::Fail:
        return facts.truth_of(in.operands[0]) == false;
      case Op::ArrayWrite:
        is_behind_write_ = true;
        return in.operands[0] == nest.array && facts.is_inside(in);
      case Op::TableRead:
      case Op::ArrayRead:
        return facts.is_inside(in) && is_free_read(in, nest);
      default:
        break;
    }
    if (!ops::is_elementwise(in.op)) return false;
    return !ops::can_fail(in.op, in.type) || literal(in.operands[1]).value_or(0) != 0;
  }

  bool is_free_read(const Instruction& in, const Nest& nest) const {
    const ValueId from = in.operands[0];
    if (from == nest.array) {
      const auto form = Facts(f_, nest).form_of(in.operands[1]);
      return form && !is_behind_write_ && form->constant == nest.written.constant &&
             form->factors == nest.written.factors;
    }
    return f_[from].op == Op::Param ? !f_.params[f_[from].index].is_target() : is_kept(from);
  }

  const ir::Function& f_;
  std::vector<ir::BlockId> block_;  // by value: where it stands
  std::vector<ValueId> owner_;      // by block: whose it is
  std::map<ValueId, std::vector<ValueId>> uses_;

  // Of the loops at hand.
  ValueId kept_ = ir::kNone;
  bool is_behind_write_ = false;
};

class Spreader : public Copier {
 public:
  Spreader(const ir::Function& f, std::map<ValueId, Nest> nests)
      : Copier(f), nests_(std::move(nests)), inside_(f.values.size(), false) {
    for (const auto& [loop, nest] : nests_) spread_[nest.array] = ir::kNone;
  }

 private:
  void instruction(ValueId id) override {
    const Instruction& in = f_[id];
    const auto nest = nests_.find(id);
    if (nest != nests_.end()) {
      build_.set_location(in.location);
      spread(nest->second);
    } else if (in.op == Op::Array && spread_.count(id) > 0) {
      const ValueId initial = map_[in.operands[0]];
      if (ir::is_number(f_, in.operands[0])) {
        spread_[id] = initial;
        Copier::instruction(id);  // for those who read it before it is written
      } else {
        map_[id] = initial;
      }
    } else if (nest_ != nullptr) {
      instruction_inside(id);
    } else if (in.op != Op::Result || nests_.count(in.operands[0]) == 0) {
      Copier::instruction(id);
    }
  }

  void spread(const Nest& nest) {
    nest_ = &nest;
    const ValueId each = build_.begin_each(f_[nest.array].index);
    position_ = build_.arguments(each)[0];
    for (const ir::BlockId block : nest.blocks) mark_inside(block);
    if (nest.row != ir::kNone) mark_inside(f_[nest.row].block);
    build_.collect(ir::Collect::Keep, value(nest.value));
    build_.close_loop();
    map_[nest.array] = build_.result(each, 0);
    spread_[nest.array] = ir::kNone;
    nest_ = nullptr;
  }

  void mark_inside(ir::BlockId block) {
    for (const ValueId id : f_.blocks[block].body) inside_[id] = true;
    for (const ValueId id : f_.blocks[block].arguments) inside_[id] = true;
  }

  /// What stands for a value of the loops in the `each`; what it needs is copied there first.
  ValueId value(ValueId id) {
    if (!inside_[id] || map_[id] != ir::kNone) return map_[id];
    if (const auto axis = facts().axis_of(id)) return map_[id] = axis_value(*axis, f_[id].type);
    const Instruction& in = f_[id];
    if (in.op == Op::Result) {  // of a loop or `each` of one position
      copy_loop(in.operands[0]);
    } else if (in.op == Op::TableRead || in.op == Op::ArrayRead) {
      return map_[id] = read(in);
    }
    if (in.op != Op::Result) {
      for (const ValueId operand : in.operands) value(operand);
    }
    Copier::instruction(id);
    return map_[id];
  }

  /// Copies a loop or `each`, and before it what it needs from around it.
  void copy_loop(ValueId loop) {
    if (map_[loop] != ir::kNone) return;
    for (const ValueId operand : f_[loop].operands) value(operand);
    ir::for_each(
        f_,
        [&](ValueId id, int) {
          for (const ValueId operand : f_[id].operands) {
            const bool is_number = f_[operand].op != Op::Loop && f_[operand].op != Op::Each;
            if (inside_[operand] && is_number) value(operand);
          }
        },
        f_[loop].block);
    Copier::instruction(loop);
  }

  /// An instruction in a loop or `each` of one position.
  void instruction_inside(ValueId id) {
    const Instruction& in = f_[id];
    if (in.op == Op::Fail) return;  // it does not
    if (in.op == Op::ArrayRead && in.operands[0] == nest_->array) {
      map_[id] = old_value();
    } else {
      Copier::instruction(id);
    }
  }

  ValueId read(const Instruction& in) {
    if (in.operands[0] == nest_->array) return old_value();
    build_.set_location(in.location);
    Instruction copy = in;
    copy.index = static_cast<std::uint32_t>(
        facts().is_inside(in) && static_cast<IndexMode>(in.index) == IndexMode::Check
            ? IndexMode::Unchecked
            : static_cast<IndexMode>(in.index));
    copy.operands[0] = value(in.operands[0]);
    const auto place = place_of(in.operands[1]);
    copy.operands[1] = place ? *place : value(in.operands[1]);
    for (std::size_t i = 2; i < in.operands.size(); ++i) copy.operands[i] = value(in.operands[i]);
    return build_.append(std::move(copy));
  }

  /// What the array has at the position before the loops.
  ValueId old_value() {
    const ValueId number = spread_.at(nest_->array);
    if (number != ir::kNone) return number;
    return build_.read(map_[nest_->array], position_, IndexMode::Unchecked);
  }

  /// An index that is so many times the position, and a number.
  std::optional<ValueId> place_of(ValueId index) {
    const auto form = facts().form_of(index);
    const auto range = facts().range_of(index);
    if (!form || !range || !range->is_in(0, INT32_MAX)) return std::nullopt;
    const Form& written = nest_->written;
    const auto one = std::find(written.factors.begin(), written.factors.end(), 1);
    if (one == written.factors.end()) return std::nullopt;
    const std::int64_t times =
        form->factors[static_cast<std::size_t>(one - written.factors.begin())];
    const Form rest = form->plus(written.scaled(-times));
    const bool is_linear = std::all_of(rest.factors.begin(), rest.factors.end(),
                                       [](std::int64_t factor) { return factor == 0; });
    const std::int64_t size = f_[nest_->array].index;
    if (!is_linear || times < 1 || times * size > INT32_MAX) return std::nullopt;
    ValueId place = position_;
    if (times != 1) place = build_.op(Op::Mul, {place, number(times)});
    if (rest.constant != 0) place = build_.op(Op::Add, {place, number(rest.constant)});
    return place;
  }

  ValueId axis_value(std::size_t axis, DType type) {
    const Axis& of = nest_->axes[axis];
    const std::int64_t factor = nest_->written.factors[axis];
    ValueId result = position_;
    if (factor != 1) result = build_.op(Op::Div, {result, number(factor)});
    if (factor * of.count < std::int64_t{f_[nest_->array].index}) {
      const ValueId rounds = build_.op(Op::Div, {result, number(of.count)});
      result = build_.op(Op::Sub, {result, build_.op(Op::Mul, {rounds, number(of.count)})});
    }
    if (of.first != 0) result = build_.op(Op::Add, {result, number(of.first)});
    return build_.convert(result, type);
  }

  ValueId number(std::int64_t n) { return build_.constant(Scalar(static_cast<std::int32_t>(n))); }

  Facts facts() const { return {f_, *nest_}; }

  std::map<ValueId, Nest> nests_;      // by loop
  std::map<ValueId, ValueId> spread_;  // by array: the number that it still is everywhere
  std::vector<bool> inside_;           // by value: it stands in loops that are spread

  // Of the loops at hand.
  const Nest* nest_ = nullptr;
  ValueId position_ = ir::kNone;
};

}  // namespace

ir::Function spread_loops(const ir::Function& function) {
  auto nests = Finder(function).find();
  return nests.empty() ? function : Spreader(function, std::move(nests)).run();
}

}  // namespace lw::transform
