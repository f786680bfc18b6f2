// For math = fast: a product that is added or subtracted becomes one fma, and a division by a
// literal a multiplication by its reciprocal. Runs before expansion, so that only what the user
// wrote is touched: formulas of mathematical functions rely on every rounding of theirs. What comes
// out is an ordinary program, the same on every tier. A product that something else needs too
// stays; the sum still costs nothing more.
#include <cmath>

#include "lanewise/base/float_state.h"
#include "lanewise/transform/expand.h"
#include "lanewise/transform/passes.h"

namespace lw::transform {
namespace {

using ir::Op;
using ir::ValueId;

/// 1 / literal, where it is an ordinary number: neither 0 nor infinite nor subnormal.
template <class T>
std::optional<Scalar> reciprocal(const Scalar& literal) {
  const T inverse = T(1) / literal.as<T>();
  if (!std::isnormal(inverse)) return std::nullopt;
  return Scalar(inverse);
}

std::optional<ValueId> contract_div(ir::Builder& build, const ir::Instruction& in) {
  const ir::Instruction& divisor = build.function()[in.operands[1]];
  if (divisor.op != Op::Constant || types::is_half(in.type)) return std::nullopt;
  const auto inverse = in.type == DType::F32 ? reciprocal<float>(divisor.constant)
                                             : reciprocal<double>(divisor.constant);
  if (!inverse) return std::nullopt;
  return build.op(Op::Mul, {in.operands[0], build.constant(*inverse)});
}

/// What a product is made of; nothing for other values.
std::optional<std::pair<Expr, Expr>> factors(Expr value) {
  const ir::Instruction& in = value.builder().function()[value.id()];
  if (in.op != Op::Mul) return std::nullopt;
  return std::pair(Expr(value.builder(), in.operands[0]), Expr(value.builder(), in.operands[1]));
}

std::optional<ValueId> contract_sum(ir::Builder& build, const ir::Instruction& in) {
  const Expr left(build, in.operands[0]);
  const Expr right(build, in.operands[1]);
  const bool is_sum = in.op == Op::Add;
  if (const auto f = factors(left)) return fma(f->first, f->second, is_sum ? right : -right).id();
  if (const auto f = factors(right)) {
    return fma(is_sum ? f->first : -f->first, f->second, left).id();
  }
  return std::nullopt;
}

}  // namespace

ir::Function contract(const ir::Function& function) {
  const base::FloatState state;  // for reciprocals
  return rewrite(function,
                 [](ir::Builder& build, const ir::Instruction& in) -> std::optional<ValueId> {
                   if (!types::is_float(in.type)) return std::nullopt;
                   if (in.op == Op::Div) return contract_div(build, in);
                   if (in.op == Op::Add || in.op == Op::Sub) return contract_sum(build, in);
                   return std::nullopt;
                 });
}

}  // namespace lw::transform
