// What is said about an element that fails.
#pragma once

#include "lanewise/runtime/execute.h"

namespace lw::runtime {

/// Throws ElementError. The evaluator says where and why: the element is run once more by itself.
/// `shared` are all values that elements share, with those that come from options.
[[noreturn]] void throw_failure(const Program& program, const Buffers& buffers,
                                std::span<const std::uint64_t> shared,
                                const ExecuteOptions& options, std::int64_t element);

}  // namespace lw::runtime
