// One more row than the library has, of an op that nobody else knows about.
#pragma once

// clang-format off
#define LW_EXTRA_OPS \
LW_OP(Hat, hat, Call, 1, Float, Same, Expand, max(1.0 - abs(a), a.literal(0)), (select(abs(a) < 1.0, -copysign(one, a), zero)), (-0.9, 0.9), "A triangle of height 1 over [-1, 1].")
// clang-format on
