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

/// The same of a program whose elements may fail, and are collected: those that do are told as the
/// evaluator has them, and have NaN and 0 as results; on any number of threads, with chunks of any
/// size, and with loops that are refilled. How many fail is given back.
std::int64_t expect_collected(const ir::Function& traced, std::int64_t count, bool wild,
                              std::span<const std::int64_t> table_sizes = {},
                              std::int64_t max_steps = 0);

}  // namespace lw::test
