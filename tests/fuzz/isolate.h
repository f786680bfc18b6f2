// Runs a check in a process of its own, so that a crash or an endless loop is just another verdict.
#pragma once

#include <functional>

#include "tests/fuzz/compare.h"

namespace lw::fuzz {

/// The verdict's kind is "crash" when the process died, "hang" when it took longer than `seconds`.
Verdict run_isolated(const std::function<Verdict()>& job, unsigned seconds = 20);

}  // namespace lw::fuzz
