// The op enum and what the rows of ops.def say about each op.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "lanewise/types/dtype.h"

namespace lw::ops {

enum class Op : std::uint8_t {
#define LW_OP(id, name, form, arity, accepts, gives, kind, meaning, partials, domain, doc) id,
#include "lanewise/ops/ops.def"
#undef LW_OP
};

enum class Accepts : std::uint8_t { All, Number, Float, Integer, Bits };
enum class Gives : std::uint8_t { Same, Bool, I32, Stated, None };
enum class Kind : std::uint8_t { Native, Expand, Structural };

struct Row {
  Op op;
  std::string_view name;
  int arity;  // -1: any number
  Accepts accepts;
  Gives gives;
  Kind kind;
  double low;  // ordinary operands lie between
  double high;
  std::string_view doc;
};

/// All rows, in the order of the enum.
std::span<const Row> rows();

const Row& row(Op op);

/// The op with this name, if there is one.
std::optional<Op> op_named(std::string_view name);

bool is_accepted(Accepts accepts, DType type);

/// True for ops that compute a value from operands, element by element.
bool is_elementwise(Op op);

/// True where a zero divisor makes the element fail.
constexpr bool can_fail(Op op, DType type) {
  return op == Op::Rem || (op == Op::Div && types::is_integer(type));
}

/// True for the ops that half types have themselves; all others are those of f32, rounded.
constexpr bool is_of_halves(Op op) {
  return op == Op::Convert || op == Op::Bitcast || op == Op::RawBits || op == Op::Select;
}

/// The result type of an elementwise op on operands of these types, `stated` for those whose row
/// says so; nothing when the operands do not fit the row.
std::optional<DType> result_type(Op op, std::span<const DType> operands, DType stated);

}  // namespace lw::ops
