// Tables that mean something: rows of lengths of their own, one behind the other in a table, and
// tables of bits, of which many are linear. Their inputs go by the names of the parameters.
#include <fmt/core.h>

#include <array>

#include "tests/fuzz/generator_parts.h"
#include "tests/fuzz/inputs.h"

namespace lw::fuzz {

using ir::IndexMode;

// --- rows of lengths of their own ---

/// One or two kinds of rows; those of the second one have the lengths of the first, but for a few.
void Generator::ragged_parameters() {
  const DType type = random_.chance(60) ? DType::I64 : DType::I32;
  const int kinds = random_.between(1, 2);
  for (int kind = 0; kind < kinds; ++kind) {
    Ragged rows;
    for (int i = random_.between(1, 2); i > 0; --i) {
      const DType value = random_.chance(60) ? random_type() : any_type();
      rows.tables.push_back(
          build_.param(fmt::format("values{}_{}", kind, i), value, ir::ParamKind::Table));
    }
    rows.start = build_.param(fmt::format("start{}", kind), type, ir::ParamKind::Mapped);
    rows.stop = build_.param(fmt::format("stop{}", kind), type, ir::ParamKind::Mapped);
    if (random_.chance(60)) {
      const DType written = random_.chance(60) ? random_type() : any_type();
      rows.target = build_.param(fmt::format("values{}_out", kind), written, ir::ParamKind::Target);
    }
    ragged_.push_back(rows);
  }
}

/// Behind all parameters.
void Generator::ragged_lengths() {
  for (Ragged& rows : ragged_) {
    rows.length =
        emit(build_.convert(build_.op(Op::Sub, {rows.stop, rows.start}), DType::I32), false);
  }
  if (ragged_.size() < 2) return;
  const std::array lengths = {ragged_[0].length, ragged_[1].length};
  if (fails_) {
    build_.fail_if(build_.op(Op::Ne, lengths), ir::FailKind::Lengths, lengths);
  } else {
    ragged_[0].length = ragged_[1].length = emit(build_.op(Op::Min, lengths), false);
  }
}

bool Generator::may_open_ragged() const {
  return !ragged_.empty() && each_.size() < 3 && most_positions() >= kMostRagged;
}

/// What becomes of all values of a row, as reductions are recorded.
void Generator::ragged() {
  const ValueId length = random_.pick(ragged_).length;
  if (fails_ && each_.empty() && random_.chance(30)) {
    const ValueId is_empty = emit_op(Op::Eq, {length, number(DType::I32, 0)});
    build_.fail_if(emit_op(Op::And, {is_empty, rare_condition()}), ir::FailKind::Empty);
  }
  open_each(kMostRagged, length, true);
  for (int reads = random_.between(1, 3); reads > 0; --reads) {
    const Ragged& rows = random_.pick(ragged_);
    if (rows.length != length && !fails_) continue;
    read_ragged(rows, random_.pick(rows.tables));
  }
  segment(random_.between(0, 3));
  for (int collects = random_.between(1, 2); collects > 0; --collects) collect();
  close_each();
}

ValueId Generator::read_ragged(const Ragged& rows, ValueId table) {
  const ValueId by = build_.convert(each_.back().position, build_.type(rows.start));
  const ValueId at = build_.op(Op::Add, {rows.start, by});
  return emit(build_.read(table, at, IndexMode::Unchecked), false);
}

/// Rows of results: of anything, or of what has been summed up before, as a softmax has it.
void Generator::write_rows() {
  for (const Ragged& rows : ragged_) {
    if (rows.target == ir::kNone) continue;
    const DType type = build_.type(rows.target);
    const bool is_softmax = (type == DType::F32 || type == DType::F64) && random_.chance(60);
    const ValueId table = random_.pick(rows.tables);
    const auto power = [&] { return emit_op(Op::Exp, {convert(read_ragged(rows, table), type)}); };
    ValueId total = ir::kNone;
    if (is_softmax) {
      open_each(kMostRagged, rows.length, true);
      const ValueId each = each_.back().each;
      build_.collect(ir::Collect::Sum, power());
      close_each();
      total = emit(build_.result(each, 0), false);
    }
    open_each(kMostRagged, rows.length, true);
    ValueId value = is_softmax ? emit_op(Op::Div, {power(), total}) : read_ragged(rows, table);
    if (!is_softmax) {
      segment(random_.between(0, 4));
      value = convert(random_.chance(60) ? any_value() : value, type);
      if (random_.chance(30)) collect();
    }
    build_.keep(value, rows.target, rows.start);
    close_each();
  }
}

// --- tables of bits ---

void Generator::bits_parameter() {
  const DType type = random_.chance(50) ? DType::I32 : DType::U32;
  bits_ = build_.param("bits", type, ir::ParamKind::Table);
  tables_.push_back(bits_);
}

/// As checksums do: the low bits of something look up, and the others are taken in.
void Generator::read_bits() {
  const DType type = build_.type(bits_);
  const ValueId from = random_.chance(50) ? convert(noise(), type) : operand(type);
  const ValueId low = emit_op(Op::And, {from, number(type, (1 << random_.between(5, 8)) - 1)});
  constexpr std::array kModes = {IndexMode::Clip, IndexMode::Fill, IndexMode::Wrap};
  const IndexMode mode = random_.chance(85) ? kModes[random_.below(2) == 0] : kModes[2];
  access(bits_, mode, convert(low, DType::I32), false);
  if (random_.chance(50)) return;
  const ValueId read = visible_.back();
  emit_op(Op::Xor, {read, emit_op(Op::Shr, {from, number(type, 8)})});
}

}  // namespace lw::fuzz
