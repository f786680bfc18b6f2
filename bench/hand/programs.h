// The loops that compete with maps of the programs, by the name of the workload. Inputs are
// followed by tables, in the order of bench/compare/programs.py. Null where a competitor has none.
#pragma once

#include <string_view>

#include "loops.h"

namespace lw::hand {

/// One element after the other, with libm: what the programs mean.
Loop* scalar_program(std::string_view workload);

/// `competitor` is "packets", "hand", "free" or "bandwidth"; see programs.cpp.
Loop* program_v3(std::string_view workload, std::string_view competitor);
Loop* program_v4(std::string_view workload, std::string_view competitor);

}  // namespace lw::hand
