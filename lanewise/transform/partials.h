// The derivatives of an op by its operands, as its row gives them.
#pragma once

#include <vector>

#include "lanewise/transform/expand.h"

namespace lw::transform {

/// One formula per operand of `op`; none where all derivatives are zero. `y` is the op's result.
std::vector<Expr> partials(ops::Op op, std::span<const Expr> operands, Expr y);

}  // namespace lw::transform
