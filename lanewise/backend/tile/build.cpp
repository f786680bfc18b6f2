// Makes a kernel ready for the tile machine: gives every register a place in the scratch (short-
// lived ones share), finds what each loop packs, and looks up the loop of each instruction.
#include <algorithm>

#include "lanewise/backend/tile/build.h"
#include "lanewise/base/check.h"

namespace lw::backend::tile {

using kernel::Instruction;
using kernel::RegisterId;
using LaneKind = kernel::Kind;

const LoopTable& loops() {
  static const LoopTable& table =
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") ? loops_v4()
      : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")        ? loops_v3()
                                                                               : loops_v2();
  return table;
}

Machine::Machine(const kernel::Kernel& kernel) {
  if (kernel::has_parts(kernel)) {  // nothing is gained from them here
    Builder(kernel::without_parts(kernel), *this).run();
  } else {
    Builder(kernel, *this).run();
  }
}

void Machine::Builder::run() {
  m_.table_ = &loops();
  find_uses();
  choose_lanes();
  m_.ids_ = take_lanes();
  m_.needs_ids_ = !k_.sites.empty() || !k_.arrays.empty();
  kernel::for_each(k_, [&](const Instruction& in, int) {
    m_.needs_ids_ = m_.needs_ids_ || in.kind == LaneKind::Element || in.kind == LaneKind::RowRead;
  });
  m_.cleared_.resize(k_.sites.size());
  m_.blocks_.resize(k_.blocks.size());
  place_long_lived();
  for (const kernel::Array& array : k_.arrays) {
    arrays_.push_back(
        take(array.size * static_cast<std::size_t>(m_.lanes_) * types::size_of(array.type)));
  }
  emit_block(0, true);
  m_.scratch_bytes_ = next_;
}

/// sum * x + term, with one term for all lanes.
bool Machine::Builder::adds_term(const Instruction& in) const {
  return in.kind == LaneKind::Compute && in.op == ops::Op::Fma &&
         k_.registers[in.sources[1]].varying && !k_.registers[in.sources[2]].varying;
}

int Machine::Builder::terms_at(kernel::BlockId block, std::uint32_t at) const {
  const auto& body = k_.blocks[block];
  if (!adds_term(body[at])) return 0;
  int count = 1;
  for (; count < kMostTerms && at + 1 < body.size(); ++count, ++at) {
    const Instruction& in = body[at];
    const Instruction& next = body[at + 1];
    const bool goes_on = adds_term(next) && next.sources[0] == in.dst &&
                         next.sources[1] == in.sources[1] && reads_[in.dst] == 1;
    if (!goes_on) break;
  }
  return count > 1 ? count : 0;
}

void Machine::Builder::find_uses() {
  uses_.resize(k_.registers.size());
  reads_.assign(k_.registers.size(), 0);
  for (const auto& block : k_.blocks) {
    for (const Instruction& in : block) {
      for (const RegisterId r : in.sources) ++reads_[r];
    }
  }
  for (std::uint32_t b = 0; b < k_.blocks.size(); ++b) {
    int terms = 0;
    for (std::uint32_t i = 0; i < k_.blocks[b].size(); ++i) {
      const Instruction& in = k_.blocks[b][i];
      if (terms == 0) terms = terms_at(b, i);
      // Terms are read as they are; so is what a polynomial begins with.
      const bool is_lanewise =
          terms == 0 && (in.kind == LaneKind::Store || in.kind == LaneKind::Array ||
                         in.kind == LaneKind::ArrayWrite || in.kind == LaneKind::TableWrite ||
                         (in.dst != kernel::kNone && k_.registers[in.dst].varying));
      if (terms > 0) --terms;
      for (const RegisterId r : in.sources) touch(r, b, i, is_lanewise);
      if (in.dst != kernel::kNone) {
        touch(in.dst, b, i, false);
        ++uses_[in.dst].assignments;
      }
    }
  }
}

void Machine::Builder::touch(RegisterId r, std::uint32_t block, std::uint32_t at, bool lanewise) {
  Use& use = uses_[r];
  if (use.block == kernel::kNone) use.block = block;
  if (use.block != block) use.local = false;
  use.last = at;
  use.needs_lanes = use.needs_lanes || (lanewise && !k_.registers[r].varying);
}

/// Fewer lanes where many values are live, so that the tile stays in the first-level cache.
void Machine::Builder::choose_lanes() {
  std::size_t bytes = 0;
  for (RegisterId r = 0; r < k_.registers.size(); ++r) {
    if (is_long_lived(r)) bytes += types::size_of(k_.registers[r].type);
  }
  m_.lanes_ = bytes > 256 ? 128 : 256;
  std::size_t array_bytes = 0;
  for (const kernel::Array& array : k_.arrays) {
    array_bytes += array.size * types::size_of(array.type);
  }
  constexpr std::size_t kMost = 512 << 10;
  while (m_.lanes_ > 1 && array_bytes * static_cast<std::size_t>(m_.lanes_) > kMost) {
    m_.lanes_ /= 2;
  }
}

bool Machine::Builder::is_long_lived(RegisterId r) const {
  return uses_[r].block != kernel::kNone && (!uses_[r].local || uses_[r].assignments != 1);
}

std::uint32_t Machine::Builder::take(std::size_t bytes) {
  const std::uint32_t offset = next_;
  next_ += static_cast<std::uint32_t>((bytes + 63) / 64 * 64);
  return offset;
}

// A line more than a power of two, so that slots do not all fall into the same cache sets.
std::uint32_t Machine::Builder::take_lanes() {
  return take(static_cast<std::size_t>(m_.lanes_) * 8 + 64);
}

void Machine::Builder::place_long_lived() {
  value_.assign(k_.registers.size(), kernel::kNone);
  lanes_.assign(k_.registers.size(), kernel::kNone);
  for (RegisterId r = 0; r < k_.registers.size(); ++r) {
    if (uses_[r].block == kernel::kNone) continue;
    if (!k_.registers[r].varying) {
      value_[r] = take(8);
      if (uses_[r].needs_lanes) lanes_[r] = take_lanes();
    } else if (is_long_lived(r)) {
      lanes_[r] = take_lanes();
    }
  }
}

std::uint32_t Machine::Builder::place_short_lived(RegisterId r) {
  if (lanes_[r] != kernel::kNone) return lanes_[r];
  if (free_.empty()) {
    lanes_[r] = take_lanes();
  } else {
    lanes_[r] = free_.back();
    free_.pop_back();
  }
  return lanes_[r];
}

void Machine::Builder::release(const Instruction& in, std::uint32_t block, std::uint32_t at) {
  kernel::Sources ended = in.sources;
  if (in.dst != kernel::kNone) ended.push_back(in.dst);
  std::sort(ended.begin(), ended.end());
  for (std::size_t i = 0; i < ended.size(); ++i) {
    const RegisterId r = ended[i];
    if (i > 0 && r == ended[i - 1]) continue;
    if (k_.registers[r].varying && !is_long_lived(r) && uses_[r].block == block &&
        uses_[r].last == at) {
      free_.push_back(lanes_[r]);
    }
  }
}

void Machine::Builder::emit_block(kernel::BlockId id, bool top) {
  for (std::uint32_t i = 0; i < k_.blocks[id].size(); ++i) {
    const Instruction& in = k_.blocks[id][i];
    if (const int count = terms_at(id, i); count > 0) {
      emit_terms(id, i, count);
      i += static_cast<std::uint32_t>(count - 1);
    } else if (!emit_in_place(in, id, i)) {
      emit(in, id, top);
      release(in, id, i);
    }
  }
}

void Machine::Builder::emit(const Instruction& in, kernel::BlockId id, bool top) {
  auto& out = m_.blocks_[id];
  switch (in.kind) {
    case LaneKind::Constant:
    case LaneKind::Shared:
    case LaneKind::TableSize:
      m_.presets_.push_back({in.constant, in.kind == LaneKind::Shared ? in.index : kernel::kNone,
                             in.kind == LaneKind::TableSize ? in.index : kernel::kNone,
                             size(in.dst), value_[in.dst], lanes_[in.dst]});
      return;
    case LaneKind::Element:
      out.push_back({.kind = Kind::Element, .dst = place_short_lived(in.dst), .index = in.index});
      return;
    case LaneKind::TableRead:
    case LaneKind::RowRead:
    case LaneKind::ArrayRead:
      return emit_read(in, out);
    case LaneKind::Array:
      out.push_back({.kind = Kind::Array,
                     .size = size(in.sources[0]),
                     .sources = {lanes_[in.sources[0]]},
                     .index = arrays_[in.index],
                     .length = k_.arrays[in.index].size});
      return;
    case LaneKind::RowLoad:
    case LaneKind::RowStore: {
      const kernel::Array& array = k_.arrays[in.index];
      const bool loads = in.kind == LaneKind::RowLoad;
      out.push_back({.kind = loads ? Kind::RowLoad : Kind::RowStore,
                     .size = static_cast<std::uint8_t>(types::size_of(array.type)),
                     .sources = {loads ? array.input : array.output},
                     .index = arrays_[in.index],
                     .length = array.size});
      return;
    }
    case LaneKind::TableWrite:
    case LaneKind::ArrayWrite: {
      const bool is_array = in.kind == LaneKind::ArrayWrite;
      out.push_back(
          {.kind = is_array ? Kind::ArrayWrite : Kind::TableWrite,
           .is_wide = size(in.sources[0]) == 8,
           .size = size(in.sources[1]),
           .sources = {lanes_[in.sources[0]], lanes_[in.sources[1]], lanes_[in.sources[2]]},
           .index = is_array ? arrays_[in.index] : in.index});
      return;
    }
    case LaneKind::Load:
      out.push_back({.kind = Kind::Load,
                     .size = size(in.dst),
                     .dst = place_short_lived(in.dst),
                     .index = in.index});
      return;
    case LaneKind::Active:
      out.push_back({.kind = Kind::Active, .dst = place_short_lived(in.dst)});
      return;
    case LaneKind::Compute:
      return emit_compute(in, out);
    case LaneKind::Copy:
      return emit_copy(in, out);
    case LaneKind::Store:
      out.push_back({.kind = Kind::Store,
                     .size = size(in.sources[0]),
                     .sources = {lanes_[in.sources[0]]},
                     .index = in.index});
      return;
    case LaneKind::ExitIf:
      out.push_back({.kind = Kind::ExitIf, .sources = {value_[in.sources[0]]}, .index = in.index});
      return;
    case LaneKind::Fail:
      for (std::size_t i = 1; i < in.sources.size(); ++i) {
        m_.cleared_[in.index].push_back(lanes_[in.sources[i]]);
      }
      out.push_back({.kind = Kind::Fail, .sources = {lanes_[in.sources[0]]}, .index = in.index});
      return;
    case LaneKind::Loop:
      return emit_loop(in, id, top);
    case LaneKind::Each:
    case LaneKind::Position:
    case LaneKind::Collect:
      LW_UNREACHABLE("lanes hold elements here");
  }
}

void Machine::Builder::emit_compute(const Instruction& in, std::vector<Step>& out) {
  const bool varying = k_.registers[in.dst].varying;
  const DType type = k_.registers[in.sources.back()].type;
  Step step{.kind = Kind::Compute,
            .uniform = !varying,
            .loop = m_.table_->find(in.op, type, k_.registers[in.dst].type)};
  LW_CHECK(step.loop != nullptr);
  for (std::size_t i = 0; i < in.sources.size(); ++i) {
    step.sources[i] = varying ? lanes_[in.sources[i]] : value_[in.sources[i]];
  }
  step.dst = varying ? place_short_lived(in.dst) : value_[in.dst];
  out.push_back(step);
  if (!varying) broadcast(in.dst, in.dst, out);
}

/// Without a mask, what is read is the same for all lanes or a row of an array.
void Machine::Builder::emit_read(const Instruction& in, std::vector<Step>& out) {
  const bool is_array = in.kind == LaneKind::ArrayRead;
  const bool is_row = in.kind == LaneKind::RowRead;
  const bool varying = k_.registers[in.dst].varying;
  Step step{.kind = is_array ? Kind::ArrayRead
                    : is_row ? Kind::RowRead
                             : Kind::TableRead,
            .uniform = !varying,
            .is_wide = size(in.sources[0]) == 8,
            .size = size(in.dst),
            .index = is_array ? arrays_[in.index] : in.index,
            .length = is_row ? k_.inputs[in.index].size : 0};
  step.sources[0] = varying ? lanes_[in.sources[0]] : value_[in.sources[0]];
  step.sources[1] = in.sources.size() > 1 ? lanes_[in.sources[1]] : kernel::kNone;
  step.dst = varying ? place_short_lived(in.dst) : value_[in.dst];
  out.push_back(step);
  if (!varying) broadcast(in.dst, in.dst, out);
}

void Machine::Builder::emit_terms(kernel::BlockId id, std::uint32_t at, int count) {
  const std::span<const Instruction> body(&k_.blocks[id][at], static_cast<std::size_t>(count));
  const RegisterId first = body[0].sources[0];
  const RegisterId x = body[0].sources[1];
  const bool from_one = !k_.registers[first].varying;
  Terms terms{.loop = m_.table_->terms(count, k_.registers[x].type),
              .from_one = from_one,
              .first = from_one ? value_[first] : lanes_[first],
              .x = lanes_[x],
              .terms = {}};
  for (const Instruction& in : body) terms.terms.push_back(value_[in.sources[2]]);
  m_.blocks_[id].push_back({.kind = Kind::Terms,
                            .dst = place_short_lived(body.back().dst),
                            .index = static_cast<std::uint32_t>(m_.terms_.size())});
  m_.terms_.push_back(std::move(terms));
  // What lies between has no place.
  Instruction ended;
  ended.sources = {first, x};
  ended.dst = body.back().dst;
  for (int i = 0; i < count; ++i) release(ended, id, at + static_cast<std::uint32_t>(i));
}

bool Machine::Builder::emit_in_place(const Instruction& in, kernel::BlockId id, std::uint32_t at) {
  const bool keeps_bits =
      in.kind == LaneKind::Compute &&
      (in.op == ops::Op::RawBits ||
       (in.op == ops::Op::Bitcast && types::is_integer(k_.registers[in.sources[0]].type)));
  if (!keeps_bits || !k_.registers[in.sources[0]].varying) return false;
  const RegisterId source = in.sources[0];
  const bool ends = !is_long_lived(source) && uses_[source].block == id && uses_[source].last == at;
  if (!ends || is_long_lived(in.dst)) return false;
  lanes_[in.dst] = lanes_[source];
  return true;
}

void Machine::Builder::emit_copy(const Instruction& in, std::vector<Step>& out) {
  const RegisterId source = in.sources[0];
  if (k_.registers[in.dst].varying) {
    out.push_back({.kind = Kind::Copy,
                   .size = size(in.dst),
                   .dst = place_short_lived(in.dst),
                   .sources = {lanes_[source]}});
    return;
  }
  out.push_back({.kind = Kind::Copy,
                 .uniform = true,
                 .size = size(in.dst),
                 .dst = value_[in.dst],
                 .sources = {value_[source]}});
  broadcast(in.dst, in.dst, out);
}

void Machine::Builder::broadcast(RegisterId from, RegisterId to, std::vector<Step>& out) {
  if (lanes_[to] == kernel::kNone) return;
  out.push_back(
      {.kind = Kind::Broadcast, .size = size(to), .dst = lanes_[to], .sources = {value_[from]}});
}

/// Packed are the varying registers that a loop touches and that live outside of it.
void Machine::Builder::emit_loop(const Instruction& in, kernel::BlockId id, bool top) {
  const auto index = static_cast<std::uint32_t>(m_.loops_.size());
  m_.loops_.emplace_back();
  m_.blocks_[id].push_back({.kind = Kind::Loop, .index = index});
  // The body may not reuse what is live around it, so its slots are its own.
  std::vector<std::uint32_t> outer_free;
  outer_free.swap(free_);
  emit_block(in.block, false);
  LoopInfo info;
  info.block = in.block;
  info.uniform = !in.sources.empty() && !k_.registers[in.sources[0]].varying;
  info.masked = !in.sources.empty() && !info.uniform;
  info.once = in.once;
  info.counted = top && info.masked && !info.once && !has_counted_;
  has_counted_ = has_counted_ || info.counted;
  if (info.uniform) info.mask = value_[in.sources[0]];
  if (info.masked) {
    info.mask = lanes_[in.sources[0]];
    info.order = take(static_cast<std::size_t>(m_.lanes_) * 4);
    collect_packed(in, info);
  }
  free_.insert(free_.end(), outer_free.begin(), outer_free.end());
  m_.loops_[index] = std::move(info);
}

void Machine::Builder::collect_packed(const Instruction& loop, LoopInfo& info) {
  const RegisterId mask = loop.sources[0];
  std::vector<int> role(k_.registers.size(), 0);  // 1: read, 2: written
  role[mask] = 1;
  kernel::for_each(
      k_,
      [&](const Instruction& in, int) {
        for (std::size_t i = 0; i < in.sources.size(); ++i) {
          const bool cleared = in.kind == LaneKind::Fail && i > 0;
          role[in.sources[i]] = std::max(role[in.sources[i]], cleared ? 2 : 1);
        }
        if (in.dst != kernel::kNone) role[in.dst] = 2;
      },
      loop.block);
  for (RegisterId r = 0; r < k_.registers.size(); ++r) {
    // What one block alone touches is made anew in every step; the mask is looked at in between.
    const bool lives_on = is_long_lived(r) || r == mask;
    if (role[r] == 0 || !k_.registers[r].varying || !lives_on) continue;
    info.packed.push_back({lanes_[r], take_lanes(), size(r), role[r] == 2});
  }
  if (m_.needs_ids_) info.packed.push_back({m_.ids_, take_lanes(), 4, false});
}

}  // namespace lw::backend::tile
