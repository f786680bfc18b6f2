#include "lanewise/ops/op.h"

#include <array>

// Parts of the domain column.
#define LW_FIRST(a, b) a
#define LW_SECOND(a, b) b

namespace lw::ops {
namespace {

constexpr std::array kRows = {
#define LW_OP(id, name, form, arity, accepts, gives, kind, meaning, partials, domain, doc)         \
  Row{Op::id,           #name, arity, Accepts::accepts, Gives::gives, Kind::kind, LW_FIRST domain, \
      LW_SECOND domain, doc},
#include "lanewise/ops/ops.def"
#undef LW_OP
};

}  // namespace

std::span<const Row> rows() { return kRows; }

const Row& row(Op op) { return kRows[static_cast<std::size_t>(op)]; }

std::optional<Op> op_named(std::string_view name) {
  for (const Row& r : kRows) {
    if (r.name == name) return r.op;
  }
  return std::nullopt;
}

bool is_accepted(Accepts accepts, DType type) {
  switch (accepts) {
    case Accepts::All:
      return true;
    case Accepts::Number:
      return type != DType::Bool;
    case Accepts::Float:
      return types::is_float(type);
    case Accepts::Integer:
      return types::is_integer(type);
    case Accepts::Bits:
      return !types::is_float(type);
  }
  return false;
}

bool is_elementwise(Op op) { return row(op).kind != Kind::Structural; }

std::optional<DType> result_type(Op op, std::span<const DType> operands, DType stated) {
  const Row& r = row(op);
  if (static_cast<int>(operands.size()) != r.arity) return std::nullopt;
  std::span<const DType> values = operands;
  if (op == Op::Select) {
    if (operands[0] != DType::Bool) return std::nullopt;
    values = operands.subspan(1);
  }
  if (op == Op::Ldexp) {
    if (operands[1] != DType::I32) return std::nullopt;
    values = operands.first(1);
  }
  for (const DType type : values) {
    if (type != values[0] || !is_accepted(r.accepts, type)) return std::nullopt;
  }
  if ((op == Op::Bitcast || op == Op::RawBits) &&
      (stated == DType::Bool || types::size_of(stated) != types::size_of(values[0]))) {
    return std::nullopt;
  }
  switch (r.gives) {
    case Gives::Same:
      return values[0];
    case Gives::Bool:
      return DType::Bool;
    case Gives::I32:
      return DType::I32;
    case Gives::Stated:
      return stated;
    case Gives::None:
      break;
  }
  return std::nullopt;
}

}  // namespace lw::ops
