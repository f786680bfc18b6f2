#include "lanewise/kernel/lower.h"

#include <algorithm>
#include <map>
#include <utility>

#include "lanewise/base/check.h"
#include "lanewise/kernel/range.h"
#include "lanewise/kernel/step_test.h"
#include "lanewise/kernel/uniformity.h"

namespace lw::kernel {
namespace {

using ir::ValueId;

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

/// True for the loop itself and what it stands in.
bool contains(const ir::Function& f, ValueId id, ValueId loop) {
  if (id == loop || f[id].op != Op::Loop) return id == loop;
  const auto& body = f.blocks[f[id].block].body;
  return std::any_of(body.begin(), body.end(),
                     [&](ValueId inner) { return contains(f, inner, loop); });
}

bool touches_memory(Op op) {
  return op == Op::TableRead || op == Op::ArrayRead || op == Op::ArrayWrite;
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

class Lowering {
 public:
  Lowering(const ir::Function& f, LowerOptions options)
      : f_(f),
        refill_loop_(options.refill ? only_top_loop(f) : ir::kNone),
        facts_(analyse_uniformity(f, refill_loop_)),
        ranges_(f),
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
      needs_active_ = needs_active_ || touches_memory(f[id].op);  // dead lanes have any index
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
  /// A loop of the element program whose body is being lowered.
  struct Frame {
    ValueId loop = ir::kNone;
    RegisterId mask = kNone;           // kNone: all lanes leave together
    std::vector<RegisterId> in = {};   // carried values, as the body reads them
    std::vector<RegisterId> out = {};  // per position what `result` reads; kNone where unread
    std::uint32_t level = 0;           // of its block among those of lane form; 0: it has none
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
      if (in.kind == Kind::Constant && in.constant == value) return in.dst;
    }
    return at_entry({.kind = Kind::Constant, .constant = value}, value.type());
  }

  /// A uniform value before everything else.
  RegisterId at_entry(Instruction in, DType type) {
    in.dst = new_register(type, false);
    constants_.push_back(std::move(in));
    return constants_.back().dst;
  }

  bool is_varying(RegisterId r) const { return kernel_.registers[r].varying; }

  /// dst = source where `mask` is set.
  void blend(RegisterId dst, RegisterId mask, RegisterId source) {
    compute_into(dst, Op::Select, {mask, source, dst});
  }

  /// What follows goes into the block of a new loop or branch until `close`.
  BlockId open(Sources sources, bool once) {
    const auto block = static_cast<BlockId>(kernel_.blocks.size());
    kernel_.blocks.emplace_back();
    emit({.kind = Kind::Loop, .sources = std::move(sources), .block = block, .once = once});
    ++level_;
    return std::exchange(block_, block);
  }

  void close(BlockId outer) {
    --level_;
    block_ = outer;
  }

  // --- instructions ---

  void block(ir::BlockId id) {
    const std::size_t known = ranges_.mark();
    for (const ValueId value : f_.blocks[id].body) instruction(value);
    ranges_.forget(known);
  }

  void instruction(ValueId id) {
    const ir::Instruction& in = f_[id];
    if (in.op == Op::Loop || in.op == Op::BreakIf || in.op == Op::Next || in.op == Op::Return) {
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
      case Op::Result:
        map_[id] = map_result(in);
        return;
      case Op::BreakIf:
        return break_if(in);
      case Op::Next:
        return next(in);
      case Op::Element:
        map_[id] = assign(Kind::Element, new_register(DType::U32, true), {}, in.index);
        return;
      case Op::TableSize:
        map_[id] = table_size(in.operands[0]);
        return;
      case Op::TableRead:
        return read(id, Kind::TableRead);
      case Op::Array:
        map_[id] = static_cast<RegisterId>(kernel_.arrays.size());
        kernel_.arrays.push_back({in.type, in.index});
        emit({.kind = Kind::Array, .sources = {map_[in.operands[0]]}, .index = map_[id]});
        return;
      case Op::ArrayRead:
        return read(id, Kind::ArrayRead);
      case Op::ArrayWrite:
        return write(in);
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
    if (p.is_table()) {
      map_[id] = static_cast<RegisterId>(kernel_.tables.size());
      kernel_.tables.push_back(p.type);
      return;
    }
    auto& list = p.is_mapped() ? kernel_.inputs : kernel_.shared;
    map_[id] =
        assign(p.is_mapped() ? Kind::Load : Kind::Shared, new_register(p.type, p.is_mapped()), {},
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

  // --- arrays and tables ---

  RegisterId table_size(ValueId table) {
    for (const Instruction& in : constants_) {
      if (in.kind == Kind::TableSize && in.index == map_[table]) return in.dst;
    }
    return at_entry({.kind = Kind::TableSize, .index = map_[table]}, DType::I64);
  }

  /// The last place of what an access names that the type of its index can say. A table has one at
  /// least.
  RegisterId last_place(const ir::Instruction& in, DType type) {
    const ir::Instruction& of = f_[in.operands[0]];
    if (of.op == Op::Array) return constant(types::scalar_of(type, of.index - 1));
    RegisterId& last = last_places_[{map_[in.operands[0]], type}];
    if (last != 0) return last;
    const RegisterId one = constant(Scalar(std::int64_t{1}));
    const RegisterId size = table_size(in.operands[0]);
    last = at_entry({.op = Op::Sub, .sources = {size, one}}, DType::I64);
    if (type != DType::I64) {  // an i32 does not reach further than it can
      const RegisterId most = constant(Scalar(std::int64_t{INT32_MAX}));
      const RegisterId reached = at_entry({.op = Op::Min, .sources = {last, most}}, DType::I64);
      last = at_entry({.op = Op::Convert, .sources = {reached}}, type);
    }
    return last;
  }

  /// Where an access leads to. Dead lanes may have any index, unless it is the same for all: then
  /// it is inside whatever happens.
  struct Place {
    RegisterId index;
    RegisterId outside = kNone;  // mode Fill: lanes whose index is
  };

  Place find_place(const ir::Instruction& in) {
    const RegisterId index = map_[in.operands[1]];
    const DType type = f_[in.operands[1]].type;
    const RegisterId zero = constant(types::scalar_of(type, 0));
    const auto mode = static_cast<ir::IndexMode>(in.index);
    if (mode == ir::IndexMode::Clip) {
      const RegisterId most = compute(Op::Min, type, {index, last_place(in, type)});
      return {compute(Op::Max, type, {most, zero})};
    }
    if (mode == ir::IndexMode::Wrap) return {wrapped(in, index, type)};
    // Live lanes are inside; where all lanes have one index, so must be those that only run along.
    const bool is_live_inside = mode == ir::IndexMode::Unchecked || is_inside(in, false);
    if (is_live_inside && (is_varying(index) || is_inside(in, true))) return {index};
    if (is_varying(index) && mode == ir::IndexMode::Check) {
      check(in);
      return {index};
    }
    // As unsigned numbers, those below 0 are above all others.
    const DType bits = bits_of(type);
    const RegisterId last = compute(Op::Bitcast, bits, {last_place(in, type)});
    const RegisterId outside =
        compute(Op::Gt, DType::Bool, {compute(Op::Bitcast, bits, {index}), last});
    if (!is_live_inside && mode == ir::IndexMode::Check) {
      fail(outside, {ir::FailKind::Index, in.location});
    }
    const bool fills = mode == ir::IndexMode::Fill;
    if (is_varying(index)) return {index, fills ? outside : kNone};
    return {compute(Op::Select, type, {outside, zero, index}), fills ? outside : kNone};
  }

  static DType bits_of(DType index) { return index == DType::I32 ? DType::U32 : DType::U64; }

  /// One check for all accesses of a stretch of straight code whose indices differ by literals:
  /// that of the first, against the least of what the others leave. Who fails later fails there
  /// already; the evaluator tells where.
  struct Check {
    ValueId root;                              // of the indices
    std::int64_t first;                        // what the first one adds to it
    std::size_t at;                            // of the comparison in the block
    std::map<ValueId, std::int64_t> furthest;  // by array or table: the most that is added
  };

  void check(const ir::Instruction& in) {
    const auto [root, added] = root_of(in.operands[1]);
    const ValueId of = in.operands[0];
    const DType type = f_[in.operands[1]].type;
    const DType bits = bits_of(type);
    for (Check& known : checks_) {
      if (known.root != root || added < known.first) continue;
      const auto [place, is_new] = known.furthest.try_emplace(of, added);
      if (!is_new && place->second >= added) return;
      place->second = std::max(place->second, added);
      kernel_.blocks[block_][known.at].sources[1] = limit_of(known, type);
      return;
    }
    Check fresh{root, added, 0, {{of, added}}};
    const RegisterId index = compute(Op::Bitcast, bits, {map_[in.operands[1]]});
    const RegisterId outside = compute(Op::Ge, DType::Bool, {index, limit_of(fresh, type)});
    fresh.at = kernel_.blocks[block_].size() - 1;
    fail(outside, {ir::FailKind::Index, in.location});
    checks_.push_back(std::move(fresh));
  }

  /// The index without the literal that is added to it, and that literal.
  std::pair<ValueId, std::int64_t> root_of(ValueId index) const {
    const ir::Instruction& in = f_[index];
    if (in.op != Op::Add || f_[in.operands[1]].op != Op::Constant) return {index, 0};
    const Scalar& added = f_[in.operands[1]].constant;
    const std::int64_t number =
        in.type == DType::I32 ? added.as<std::int32_t>() : added.as<std::int64_t>();
    constexpr std::int64_t kFar = 1 << 20;
    if (number < -kFar || number > kFar) return {index, 0};
    return {in.operands[0], number};
  }

  /// What the first index of a check must be below, as an unsigned number: so much less than a size
  /// as the furthest access goes beyond the first.
  RegisterId limit_of(const Check& check, DType type) {
    std::int64_t known = type == DType::I32 ? std::int64_t{1} << 31 : INT64_MAX;  // of the type
    RegisterId least = kNone;
    const auto entry_op = [&](Op op, RegisterId a, RegisterId b) {
      return at_entry({.op = op, .sources = {a, b}}, DType::I64);
    };
    for (const auto& [of, most] : check.furthest) {
      const std::int64_t beyond = most - check.first;
      if (f_[of].op == Op::Array) {
        known = std::min(known, std::max<std::int64_t>(std::int64_t{f_[of].index} - beyond, 0));
        continue;
      }
      RegisterId limit = table_size(of);
      if (beyond > 0) {
        limit = entry_op(Op::Sub, limit, constant(Scalar(beyond)));
        limit = entry_op(Op::Max, limit, constant(Scalar(std::int64_t{0})));
      }
      least = least == kNone ? limit : entry_op(Op::Min, least, limit);
    }
    if (least == kNone) return constant(types::scalar_of_bits(bits_of(type), known));
    if (known < INT64_MAX) least = entry_op(Op::Min, least, constant(Scalar(known)));
    return at_entry({.op = Op::Convert, .sources = {least}}, bits_of(type));
  }

  /// In i64, as the size may not fit the index.
  RegisterId wrapped(const ir::Instruction& in, RegisterId index, DType type) {
    const ir::Instruction& of = f_[in.operands[0]];
    if (of.op == Op::Array) {
      return compute(Op::Rem, type, {index, constant(types::scalar_of(type, of.index))});
    }
    if (type != DType::I64) index = compute(Op::Convert, DType::I64, {index});
    return compute(Op::Rem, DType::I64, {index, table_size(in.operands[0])});
  }

  /// True where the index is surely inside; `always`: in dead lanes and steps too.
  bool is_inside(const ir::Instruction& in, bool always) const {
    const ir::Instruction& of = f_[in.operands[0]];
    const Range range = ranges_.of(in.operands[1], always);
    if (of.op == Op::Array) return range.is_within(0, static_cast<std::int64_t>(of.index) - 1);
    return !always && range.low >= 0 && ranges_.is_below_size(in.operands[1], in.operands[0]);
  }

  void read(ValueId id, Kind kind) {
    const ir::Instruction& in = f_[id];
    const Place place = find_place(in);
    const bool varying = kind == Kind::ArrayRead || is_varying(place.index);
    Sources sources = {place.index};
    if (is_varying(place.index)) sources.push_back(inside_lanes(place));
    map_[id] =
        assign(kind, new_register(in.type, varying), std::move(sources), map_[in.operands[0]]);
    if (place.outside == kNone) return;
    map_[id] = compute(Op::Select, in.type, {place.outside, map_[in.operands[2]], map_[id]});
  }

  void write(const ir::Instruction& in) {
    const Place place = find_place(in);
    const RegisterId value = map_[in.operands[2]];
    emit({.kind = Kind::ArrayWrite,
          .sources = {place.index, value, inside_lanes(place)},
          .index = map_[in.operands[0]]});
  }

  /// Live lanes, without those whose index is outside.
  RegisterId inside_lanes(const Place& place) {
    if (place.outside == kNone) return masks_.back();
    const RegisterId inside = compute(Op::Not, DType::Bool, {place.outside});
    return compute(Op::And, DType::Bool, {masks_.back(), inside});
  }

  // --- failures ---

  /// Failing lanes leave the innermost mask at once. Whether there are any is looked at when the
  /// straight code ends, once for all its checks.
  void fail(RegisterId condition, Site site) {
    if (before_checks_ == kNone) {
      before_checks_ = assign(Kind::Copy, new_register(DType::Bool, true), {masks_.back()});
      first_check_ = static_cast<std::uint32_t>(kernel_.sites.size());
    }
    kernel_.sites.push_back(site);
    const RegisterId passes = compute(Op::Not, DType::Bool, {condition});
    compute_into(masks_.back(), Op::And, {masks_.back(), passes});
  }

  void end_checks() {
    if (before_checks_ == kNone) return;
    const RegisterId stays = compute(Op::Not, DType::Bool, {masks_.back()});
    const RegisterId failing = compute(Op::And, DType::Bool, {before_checks_, stays});
    emit({.kind = Kind::Fail, .sources = {failing, masks_[0]}, .index = first_check_});
    before_checks_ = kNone;
    checks_.clear();
  }

  /// Lanes that failed inside of a loop or branch that has ended go no further. Theirs is then the
  /// outermost mask alone that says so.
  void drop_failed(std::size_t sites_before) {
    if (kernel_.sites.size() == sites_before || masks_.size() < 2) return;
    compute_into(masks_.back(), Op::And, {masks_.back(), masks_[0]});
  }

  // --- loops ---

  /// What leaves a loop that never goes round, before anything has: the values it began with.
  Frame begin_once(ValueId id) {
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

  /// The body from `at` on, and its end, which all lanes come to that have not left before.
  void finish_once(ValueId id, Frame frame, std::size_t at) {
    const auto& body = f_.blocks[f_[id].block].body;
    if (frame.mask != kNone) masks_.push_back(frame.mask);
    frames_.push_back(std::move(frame));
    const BlockId outer = block_;
    const std::uint32_t outer_level = level_;
    const std::size_t known = ranges_.mark();
    for (; at + 2 < body.size(); ++at) {
      instruction(body[at]);
      const RegisterId mask = frames_.back().mask;
      const bool may_skip = mask != kNone && frames_.back().level == 0;
      if (may_skip && ir::leaves(f_, body[at], 0) && is_long(std::span(body).subspan(at + 1))) {
        open({mask}, true);
      }
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

  /// True for code that is worth a look whether any lane runs it.
  bool is_long(std::span<const ValueId> body) const {
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

  bool holds_refill_loop(ValueId id) const {
    return refill_loop_ != ir::kNone && contains(f_, id, refill_loop_);
  }

  bool has_loop(std::span<const ValueId> body) const {
    return std::any_of(body.begin(), body.end(), [&](ValueId id) { return f_[id].op == Op::Loop; });
  }

  /// What follows goes into the block of a new part until `block_` is again what is given.
  BlockId open_part() {
    const auto part = static_cast<BlockId>(kernel_.blocks.size());
    kernel_.blocks.emplace_back();
    emit({.kind = Kind::Loop, .block = part, .once = true});
    return std::exchange(block_, part);
  }

  /// What comes before the first exit is computed by all, as a part where there are loops in it:
  /// those would stand beside one that is refilled. The rest is computed if any lane goes on.
  void branch(ValueId id) {
    const ir::Block& body = f_.blocks[f_[id].block];
    const ValueId first = ir::branch_exit(f_, id);
    Frame frame = begin_once(id);
    const auto end = std::find(body.body.begin(), body.body.end(), first);
    const std::span<const ValueId> before(body.body.begin(), end);
    const BlockId around = has_loop(before) ? open_part() : block_;
    frames_.push_back({.loop = id});  // what leaves loops around it counts this one
    for (const ValueId inner : before) instruction(inner);
    frames_.pop_back();
    block_ = around;
    const ValueId condition = f_[first].operands[0];
    end_checks();
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

  /// Several exits: lanes that left stay out of the rest, by a mask or all at once.
  void once(ValueId id) {
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

  /// What is uniform is computed where it stands, so that it can be computed before all packets,
  /// unless there are loops in it: those would stand beside one that is refilled.
  void part(ValueId id) {
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
    frames_.pop_back();
    block_ = outer;
    const ir::Instruction& leave = f_[body.body[at]];
    std::vector<RegisterId> out;
    for (std::size_t i = 0; i < body.arguments.size(); ++i) {
      out.push_back(map_[leave.operands[i + 1]]);
    }
    outs_.emplace_back(id, std::move(out));
  }

  void loop(ValueId id) {
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

  void go_round(ValueId id) {
    const ir::Instruction& in = f_[id];
    const bool diverges = facts_.diverges[id];
    const bool masked = diverges || needs_masks_ || masks_.size() > 1;
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
    frame.level = level_;
    frames_.push_back(std::move(frame));
    block(in.block);
    close(outer);
    outs_.emplace_back(id, frames_.back().out);
    frames_.pop_back();
    if (masked) masks_.pop_back();
    if (id == refill_loop_) keep_to_active();
  }

  /// Behind a refilled loop only the lanes that are done are active, while the others are still in
  /// it: they need the masks of the blocks around it, and what says that they are active, as it is.
  void keep_to_active() {
    masks_[0] = assign(Kind::Copy, new_register(DType::Bool, true), {masks_[0]});
    for (std::size_t i = 1; i < masks_.size(); ++i) {
      const RegisterId mask = compute(Op::And, DType::Bool, {masks_[0], masks_[i]});
      for (Frame& frame : frames_) {
        if (frame.mask == masks_[i]) frame.mask = mask;
      }
      masks_[i] = mask;
    }
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
        const bool is_branch = facts_.uniform[condition] && leaves_together(in.index);
        if (is_branch == uniform) exit(condition, negated, is_branch, in);
      }
    }
    ranges_.assume(in.operands[0], false);
  }

  const Frame& frame_of(std::uint32_t up) const { return frames_[frames_.size() - 1 - up]; }

  /// True when all lanes that are in the innermost loop are all that are in the one left.
  bool leaves_together(std::uint32_t up) const {
    const Frame& left = frame_of(up);
    if (left.level == 0 || left.loop == refill_loop_) return false;
    for (std::uint32_t i = 0; i < up; ++i) {
      if (facts_.diverges[frame_of(i).loop]) return false;
    }
    return true;
  }

  void exit(ValueId condition, bool negated, bool is_branch, const ir::Instruction& in) {
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
      test = {
          .kind = Kind::Compute, .op = Op::And, .dst = frame.mask, .sources = {frame.mask, stay}};
    }
    // With values of its own, an exit has blends that belong to it: those stay in every step.
    const auto known = analyse_step_test(f_, frame.loop, condition, negated);
    if (known && !has_values && in.index == 0) {
      test.period = known->period;
      test.at_end = known->at_end;
    }
    emit(std::move(test));
  }

  /// Takes the leaving lanes out of every loop they leave.
  void exit_masks(RegisterId holds, bool negated, const ir::Instruction& in) {
    const RegisterId leave = negated ? compute(Op::Not, DType::Bool, {holds}) : holds;
    const RegisterId leaving = compute(Op::And, DType::Bool, {masks_.back(), leave});
    if (has_exit_values(in)) take_exit_values(in, leaving);
    const RegisterId stay = compute(Op::Not, DType::Bool, {leaving});
    for (std::uint32_t i = 0; i <= in.index; ++i) {
      const RegisterId mask = frame_of(i).mask;
      if (mask != kNone) compute_into(mask, Op::And, {mask, stay});
    }
  }

  /// True when the exit hands over something else than the carried values as they stand.
  bool has_exit_values(const ir::Instruction& in) const {
    const Frame& frame = frame_of(in.index);
    for (std::size_t i = 0; i < frame.out.size(); ++i) {
      if (frame.out[i] != kNone && map_[in.operands[i + 1]] != frame.in[i]) return true;
    }
    return false;
  }

  void take_exit_values(const ir::Instruction& in, RegisterId leaving) {
    const Frame& frame = frame_of(in.index);
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
  Ranges ranges_;
  std::map<std::pair<RegisterId, DType>, RegisterId> last_places_;  // by table and index type
  Kernel kernel_;
  std::vector<RegisterId> map_;
  std::vector<std::vector<bool>> result_used_;  // by loop
  bool needs_masks_;
  bool needs_active_ = false;
  BlockId block_ = 0;
  std::uint32_t level_ = 0;  // how many loops and branches are open
  std::vector<Instruction> constants_;
  std::vector<RegisterId> masks_;     // lanes that hold an element, then one per masked loop
  RegisterId before_checks_ = kNone;  // the mask before the checks that are not looked at yet
  std::uint32_t first_check_ = 0;     // the site of the first of them
  std::vector<Check> checks_;         // those of indices among them
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
