// Programs compared with the evaluator, on random numbers.
#pragma once

#include <cstdint>
#include <span>

#include "lanewise/ir/function.h"

namespace lw::test {

/// The program, as it is traced, gives what the evaluator gives, on both tiers, at every width and
/// with both ways to go through rows. `wild`: with infinities and NaNs. Tables have these sizes.
void expect_as_evaluated(const ir::Function& traced, std::int64_t count, bool wild,
                         std::span<const std::int64_t> table_sizes = {});

}  // namespace lw::test
