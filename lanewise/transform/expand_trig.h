// What the trigonometric functions take off their argument; see expand_trig.cpp.
#pragma once

#include "lanewise/transform/expand_parts.h"

namespace lw::transform {

/// x = n * pi/2 + (r - rest) with |r| <= pi/4; without `rest`, r is rounded once.
struct Reduced {
  Expr r;
  Expr rest;
  Expr quadrant;  // n, as an integer of x's size; only the two low bits count
};

/// Of any finite x with |x| >= 2^16 (f32) or 2^30 (f64); infinities give NaN. Some 100 operations.
Reduced reduce_large(Expr x);

}  // namespace lw::transform
