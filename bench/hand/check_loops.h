// Part of lw_bench_hand_check.
#pragma once

namespace lw::hand {

/// Prints what is wrong; true if nothing is.
bool check_loops(bool has_v3, bool has_v4);

}  // namespace lw::hand
