// For math = fast: a product that is added or subtracted becomes one fma, a division by a literal a
// multiplication by its reciprocal, and other quotients and roots need not be correctly rounded,
// which a backend may use (tiers differ by some last places there). Runs before expansion, so that
// only what the user wrote is touched: formulas of mathematical functions rely on every rounding of
// theirs. A product that something else needs too stays; the sum still costs nothing more.
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

ValueId near(ir::Builder& build, ValueId value) {
  build.function()[value].index = 1;
  return value;
}

std::optional<ValueId> contract_div(ir::Builder& build, const ir::Instruction& in) {
  const ir::Instruction& divisor = build.function()[in.operands[1]];
  if (divisor.op != Op::Constant) return near(build, build.op(Op::Div, in.operands));
  const auto inverse = in.type == DType::F32 ? reciprocal<float>(divisor.constant)
                                             : reciprocal<double>(divisor.constant);
  if (!inverse) return std::nullopt;
  return build.op(Op::Mul, {in.operands[0], build.constant(*inverse)});
}

ValueId contract_root(ir::Builder& build, const ir::Instruction& in) {
  const ValueId root = near(build, build.op(Op::Sqrt, in.operands));
  if (in.op == Op::Sqrt) return root;
  const ValueId one = build.constant(types::scalar_of(in.type, 1));
  return near(build, build.op(Op::Div, {one, root}));
}

/// What a product is made of; nothing for other values.
std::optional<std::pair<Expr, Expr>> factors(Expr value, bool near_only) {
  const ir::Instruction& in = value.builder().function()[value.id()];
  if (in.op != Op::Mul || (near_only && !ir::is_near(in))) return std::nullopt;
  return std::pair(Expr(value.builder(), in.operands[0]), Expr(value.builder(), in.operands[1]));
}

std::optional<ValueId> contract_sum(ir::Builder& build, const ir::Instruction& in,
                                    bool near_only = false) {
  const Expr left(build, in.operands[0]);
  const Expr right(build, in.operands[1]);
  const bool is_sum = in.op == Op::Add;
  if (const auto f = factors(left, near_only)) {
    return fma(f->first, f->second, is_sum ? right : -right).id();
  }
  if (const auto f = factors(right, near_only)) {
    return fma(is_sum ? f->first : -f->first, f->second, left).id();
  }
  return std::nullopt;
}

}  // namespace

ir::Function contract(const ir::Function& function) {
  const base::FloatState state;  // for reciprocals
  const bool has_more = has_each(function);
  return rewrite(function,
                 [&](ir::Builder& build, const ir::Instruction& in) -> std::optional<ValueId> {
                   if (!types::is_float(in.type)) return std::nullopt;
                   const bool is_sum = in.op == Op::Add || in.op == Op::Sub;
                   if (is_sum) {
                     if (const auto sum = contract_sum(build, in)) return sum;
                   }
                   if (types::is_half(in.type)) return std::nullopt;
                   if (has_more && (is_sum || in.op == Op::Mul)) {
                     return near(build, build.op(in.op, in.operands));
                   }
                   if (in.op == Op::Div) return contract_div(build, in);
                   if (in.op == Op::Sqrt || in.op == Op::Rsqrt) return contract_root(build, in);
                   return std::nullopt;
                 });
}

ir::Function contract_near(const ir::Function& function) {
  return rewrite(function,
                 [](ir::Builder& build, const ir::Instruction& in) -> std::optional<ValueId> {
                   const bool is_sum = in.op == Op::Add || in.op == Op::Sub;
                   if (!is_sum || !ir::is_near(in)) return std::nullopt;
                   return contract_sum(build, in, true);
                 });
}

}  // namespace lw::transform
