// Makes a program that goes wrong as small as it gets while it still does.
#pragma once

#include <functional>

#include "tests/fuzz/inputs.h"

namespace lw::fuzz {

struct Case {
  ir::Function function;
  Inputs inputs;
};

/// True while the case still goes wrong in the way of interest. Programs it gets are valid, but
/// may not end.
using StillWrong = std::function<bool(const Case&)>;

/// Ends after so many seconds with what there is then.
Case reduce(Case failing, const StillWrong& is_wrong, double seconds);

}  // namespace lw::fuzz
