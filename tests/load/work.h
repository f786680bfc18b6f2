// Calls of all kinds, each of which knows its result.
#pragma once

#include <string>
#include <vector>

namespace lw::load {

/// Makes call number `turn` of a mixture: maps of numbers and rows, loops, tables, draws, sums,
/// failures, cancels, and functions that are made anew and dropped. Functions are shared by all
/// threads. Returns what was wrong, or nothing.
std::string make_call(int turn);

/// How many kinds of calls there are.
int kinds();

}  // namespace lw::load
