// Calls out of generated code that keep every register.
//
// A kernel's loop keeps a dozen vector registers and masks live. An ordinary call in its cold path
// would make the compiler spill them all, in code that is never run but must be compiled, and some
// of the reloads end up in the loop. These entries save the whole vector state by xsave instead, so
// that generated code sees a call that changes one register only.
#pragma once

#include "lanewise/runtime/context.h"

extern "C" {

/// context->poll(context), the answer in eax; all other registers are kept.
void lanewise_enter_poll();

/// context->fail(context, site, lanes, ids, first); all registers are kept.
void lanewise_enter_fail();

// The native ops that are no instructions, for the values of a register in memory.
void lanewise_angle_rest(double* values, std::int32_t count);
void lanewise_angle_lost(double* values, std::int32_t count);
void lanewise_angle_quadrant(double* values, std::int32_t count);
}
