#include "lanewise/transform/expand.h"

#include "lanewise/transform/passes.h"

namespace lw::transform {

ir::Function expand(const ir::Function& function) {
  return rewrite(function,
                 [](ir::Builder& build, const ir::Instruction& in) -> std::optional<ir::ValueId> {
                   switch (in.op) {
                     case ir::Op::Sin:
                       return expand_sin(Expr(build, in.operands[0])).id();
                     case ir::Op::Cos:
                       return expand_cos(Expr(build, in.operands[0])).id();
                     default:
                       return std::nullopt;
                   }
                 });
}

}  // namespace lw::transform
