// What an explanation says about a program and a run: found in the program, estimated or measured.
#pragma once

#include "lanewise/api/explain.h"
#include "lanewise/ir/function.h"

namespace lw::api {

/// Sets what follows from the rest: all below.
void add_facts(const ir::Function& program, Explanation& e);

/// Floating-point operations of an element whose loops go round so often; fma counts twice.
double estimate_flops(const ir::Function& program, double mean_trips);
/// The lines that take the most, at most eight.
std::vector<LineShare> share_lines(const ir::Function& program, double mean_trips);
/// What was done to arithmetic.
std::vector<std::string> note_numerics(const ir::Function& program, const Explanation& e);
/// What lanes do one after the other.
std::vector<std::string> note_scalar(const ir::Function& program, const Explanation& e);
/// The last run beside the machine, if it was timed.
std::optional<Roofline> find_roofline(const Explanation& e);
/// Why it takes as long as it does; all else in `e` is set.
std::vector<std::string> answer(const Explanation& e);

}  // namespace lw::api
