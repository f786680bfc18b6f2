// Lowering of arrays and tables, and of the checks that make an element fail.
#include <algorithm>
#include <set>

#include "lanewise/kernel/lowering.h"

namespace lw::kernel {

RegisterId Lowering::table_size(ValueId table) {
  for (const Instruction& in : constants_) {
    if (in.kind == Kind::TableSize && in.index == map_[table]) return in.dst;
  }
  return at_entry({.kind = Kind::TableSize, .index = map_[table]}, DType::I64);
}

/// Lanes that take their element in the middle of a loop read it place by place.
void Lowering::copy_row(ValueId row, RegisterId array) {
  if (!kernel_.refillable) {
    kernel_.arrays[array].input = map_[row];
    emit({.kind = Kind::RowLoad, .index = array});
    return;
  }
  for (std::uint32_t i = 0; i < kernel_.arrays[array].size; ++i) {
    const RegisterId place = constant(Scalar(static_cast<std::int32_t>(i)));
    const RegisterId value = assign(Kind::RowRead, new_register(kernel_.arrays[array].type, true),
                                    {place, masks_.back()}, map_[row]);
    emit({.kind = Kind::ArrayWrite, .sources = {place, value, masks_.back()}, .index = array});
  }
}

void Lowering::load_whole_row(ValueId row) {
  constexpr std::uint32_t kMostPlaces = 64;
  const std::uint32_t size = ir::size_of(f_, row);
  if (inner_ || kernel_.refillable || size > kMostPlaces) return;
  std::set<ValueId> literals;
  bool is_walked = false;  // place by place, in a loop
  ir::for_each(f_, [&](ValueId id, int depth) {
    if (f_[id].op != Op::TableRead || f_[id].operands[0] != row) return;
    const ValueId index = f_[id].operands[1];
    if (f_[index].op == Op::Constant) {
      if (depth == 0) literals.insert(index);
    } else {
      is_walked = is_walked || (depth > 0 && facts_.uniform[index]);
    }
  });
  const bool is_named = literals.size() >= 2 && literals.size() * 2 >= size;
  if (!is_walked && !is_named) return;
  const auto array = static_cast<RegisterId>(kernel_.arrays.size());
  kernel_.arrays.push_back({.type = f_.params[f_[row].index].type, .size = size});
  copy_row(row, array);
  whole_rows_[row] = array;
}

void Lowering::array(ValueId id) {
  const ir::Instruction& in = f_[id];
  map_[id] = static_cast<RegisterId>(kernel_.arrays.size());
  kernel_.arrays.push_back(
      {.type = in.type, .size = in.index, .is_flat = inner_ && position_ == ir::kNone});
  if (in.operands.empty()) return;
  if (f_[in.operands[0]].op == Op::Param && is_row(in.operands[0])) {
    return copy_row(in.operands[0], map_[id]);
  }
  emit({.kind = Kind::Array, .sources = {map_[in.operands[0]]}, .index = map_[id]});
}

RegisterId Lowering::last_place(const ir::Instruction& in, DType type) {
  const ValueId of = in.operands[0];
  if (has_known_size(of)) return constant(types::scalar_of(type, ir::size_of(f_, of) - 1));
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

Lowering::Place Lowering::find_place(const ir::Instruction& in) {
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
  if (is_live_inside && is_varying(index) && is_flat(in)) {
    std::int32_t step = 0;
    const auto first = place_of_first(in.operands[1], step);
    if (first) return {.index = *first, .step = step};
  }
  // Lanes run along in blocks that some are not in, and where they have failed; where an element
  // has all lanes, only in steps that are one too many.
  const bool is_live = masks_.size() <= 1 && (inner_ || !needs_masks_);
  if (is_live_inside && (is_varying(index) || is_live || is_inside(in, true))) return {index};
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

void Lowering::check(const ir::Instruction& in) {
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

std::pair<ValueId, std::int64_t> Lowering::root_of(ValueId index) const {
  constexpr std::int64_t kFar = 1 << 20;
  std::int64_t added = 0;
  for (;;) {
    const ir::Instruction& in = f_[index];
    if ((in.op != Op::Add && in.op != Op::Sub) || f_[in.operands[1]].op != Op::Constant) break;
    const std::int64_t number = types::to_int64(f_[in.operands[1]].constant);
    if (number < -kFar || number > kFar) break;
    const std::int64_t further = in.op == Op::Add ? added + number : added - number;
    if (further < -kFar || further > kFar) break;
    added = further;
    index = in.operands[0];
  }
  return {index, added};
}

RegisterId Lowering::limit_of(const Check& check, DType type) {
  std::int64_t known = type == DType::I32 ? std::int64_t{1} << 31 : INT64_MAX;  // of the type
  RegisterId least = kNone;
  const auto entry_op = [&](Op op, RegisterId a, RegisterId b) {
    return at_entry({.op = op, .sources = {a, b}}, DType::I64);
  };
  for (const auto& [of, most] : check.furthest) {
    const std::int64_t beyond = most - check.first;
    if (has_known_size(of)) {
      const std::int64_t size = ir::size_of(f_, of);
      known = std::min(known, std::max<std::int64_t>(size - beyond, 0));
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

RegisterId Lowering::wrapped(const ir::Instruction& in, RegisterId index, DType type) {
  const ValueId of = in.operands[0];
  if (has_known_size(of)) {
    return compute(Op::Rem, type, {index, constant(types::scalar_of(type, ir::size_of(f_, of)))});
  }
  if (type != DType::I64) index = compute(Op::Convert, DType::I64, {index});
  return compute(Op::Rem, DType::I64, {index, table_size(in.operands[0])});
}

bool Lowering::is_inside(const ir::Instruction& in, bool always) const {
  const ValueId of = in.operands[0];
  const Range range = ranges_.of(in.operands[1], always);
  if (has_known_size(of)) return range.is_within(0, std::int64_t{ir::size_of(f_, of)} - 1);
  return !always && range.low >= 0 && ranges_.is_below_size(in.operands[1], in.operands[0]);
}

/// Lanes that read a table are inside: an index from below 0 was none, or has become 0.
std::uint32_t Lowering::most_places(const ir::Instruction& in) const {
  if (static_cast<ir::IndexMode>(in.index) == ir::IndexMode::Wrap) return 0;
  const std::int64_t last = std::max<std::int64_t>(ranges_.of(in.operands[1]).high, 0);
  return last < kMostFew ? static_cast<std::uint32_t>(last + 1) : 0;
}

void Lowering::read(ValueId id, Kind kind) {
  const ir::Instruction& in = f_[id];
  const Place place = find_place(in);
  const bool is_one_for_all = kind == Kind::TableRead || (inner_ && is_flat(in));
  const bool varying = !is_one_for_all || is_varying(place.index) || place.step != 0;
  Sources sources = {place.index};
  RegisterId from = map_[in.operands[0]];
  if (const auto whole = whole_rows_.find(in.operands[0]);
      whole != whole_rows_.end() && !is_varying(place.index)) {
    kind = Kind::ArrayRead;
    from = whole->second;
  }
  if (is_varying(place.index) || place.step != 0 || (kind == Kind::RowRead && !inner_)) {
    sources.push_back(inside_lanes(place));
  }
  map_[id] = assign(kind, new_register(in.type, varying), std::move(sources), from);
  kernel_.blocks[block_].back().step = place.step;
  if (kind == Kind::TableRead && place.step == 0 && is_varying(place.index)) {
    kernel_.blocks[block_].back().below = most_places(in);
  }
  if (place.outside == kNone) return;
  map_[id] = compute(Op::Select, in.type, {place.outside, map_[in.operands[2]], map_[id]});
}

void Lowering::write(const ir::Instruction& in) {
  const Place place = find_place(in);
  const bool is_own = ir::is_target(f_, in.operands[0]);
  Instruction write{.kind = is_own ? Kind::TableWrite : Kind::ArrayWrite,
                    .sources = {place.index, map_[in.operands[2]]},
                    .index = map_[in.operands[0]],
                    .step = place.step};
  if (!masks_.empty()) {
    write.sources.push_back(inside_lanes(place));
  } else if (place.outside != kNone) {  // one element alone: its write is left away
    const RegisterId inside = compute(Op::Not, DType::Bool, {place.outside});
    const BlockId outer = open({inside}, true);
    emit(std::move(write));
    return close(outer);
  }
  emit(std::move(write));
}

RegisterId Lowering::inside_lanes(const Place& place) {
  if (place.outside == kNone) return masks_.back();
  const RegisterId inside = compute(Op::Not, DType::Bool, {place.outside});
  return compute(Op::And, DType::Bool, {masks_.back(), inside});
}

// --- failures ---

void Lowering::fail(RegisterId condition, Site site) {
  if (masks_.empty()) {  // an element alone
    emit({.kind = Kind::Fail,
          .sources = {condition},
          .index = static_cast<std::uint32_t>(kernel_.sites.size())});
    kernel_.sites.push_back(site);
    return;
  }
  if (before_checks_ == kNone) {
    before_checks_ = assign(Kind::Copy, new_register(DType::Bool, true), {masks_.back()});
    first_check_ = static_cast<std::uint32_t>(kernel_.sites.size());
  }
  kernel_.sites.push_back(site);
  const RegisterId passes = compute(Op::Not, DType::Bool, {condition});
  compute_into(masks_.back(), Op::And, {masks_.back(), passes});
}

void Lowering::end_checks() {
  if (before_checks_ == kNone) return;
  const RegisterId stays = compute(Op::Not, DType::Bool, {masks_.back()});
  const RegisterId failing = compute(Op::And, DType::Bool, {before_checks_, stays});
  emit({.kind = Kind::Fail, .sources = {failing, masks_[0]}, .index = first_check_});
  before_checks_ = kNone;
  checks_.clear();
}

void Lowering::drop_failed(std::size_t sites_before) {
  if (kernel_.sites.size() == sites_before || masks_.size() < 2) return;
  compute_into(masks_.back(), Op::And, {masks_.back(), masks_[0]});
}

}  // namespace lw::kernel
