// Hand-written competitors for the lanewise benchmarks: the loops a patient programmer would write
// for one element program and one instruction set, without any generator.
//
// Names end in the instruction set: _v4 needs x86-64-v4 (AVX-512 F, VL, BW, DQ), _v3 needs
// x86-64-v3 (AVX2, FMA, BMI2); _scalar runs everywhere the build machine's code runs. Nothing here
// tests the processor: the caller does. Outputs must not overlap inputs, no pointer needs an
// alignment.
#pragma once

#include <cstdint>

#include "loops.h"

namespace lw::hand {

// mandelbrot, f32. Per element: x = y = n = 0; while (x*x + y*y <= 4 && n < limit)
// { t = x*x - y*y + a; y = (2*x)*y + b; x = t; n = n + 1; } result n.
//
// packets  a group of lanes starts together and runs until its slowest lane has finished
// refill   finished lanes are stored and given the next elements while the others run on
//
// strict   ten vector instructions a step (v3: one more in every form), as written, no fma;
//          counts equal scalar to the bit
// exact    nine: y as fma(2, x*y, b), which rounds as (2*x)*y + b does because doubling is exact;
//          counts equal scalar to the bit unless 0 < |b| < 2^-101 (then x*y may be subnormal)
// free     eight: what contraction gives; the counts of some points near the set's edge differ
// lean     seven: free on doubled x and y; the counts are those of free, with the caveat of exact
//
// limit must be below 2^31 - 16 (strides of eight steps may pass it).
using Mandelbrot = void(const float* a, const float* b, int32_t* n, int64_t count, int32_t limit);

// Plain loop, one element after the other.
Mandelbrot mandelbrot_scalar;

// 512-bit registers.
Mandelbrot mandelbrot_packets_strict_v4;
Mandelbrot mandelbrot_packets_free_v4;
Mandelbrot mandelbrot_refill_strict_v4;
Mandelbrot mandelbrot_refill_exact_v4;
Mandelbrot mandelbrot_refill_free_v4;
Mandelbrot mandelbrot_refill_lean_v4;

// 256-bit registers.
Mandelbrot mandelbrot_packets_strict_v3;
Mandelbrot mandelbrot_packets_free_v3;
Mandelbrot mandelbrot_refill_strict_v3;
Mandelbrot mandelbrot_refill_exact_v3;
Mandelbrot mandelbrot_refill_free_v3;
Mandelbrot mandelbrot_refill_lean_v3;

// kepler, f64. Per element: x = m; up to 50 times { d = (x - e*sin(x) - m) / (1 - e*cos(x));
// x = x - d; if (|d| < 1e-12) break; } result x.
//
// u2, u4, u6   packets of two, four or six registers, interleaved. sin and cos are polynomials
//              (with fma) good to about one ulp for |x| < 100; the user's arithmetic is not
//              contracted.
using Kepler = void(const double* m, const double* e, double* x, int64_t count);

// Plain loop with libm's sin and cos.
Kepler kepler_scalar;

// 512-bit registers.
Kepler kepler_packets_u2_v4;
Kepler kepler_packets_u4_v4;
Kepler kepler_packets_u6_v4;

// 256-bit registers.
Kepler kepler_packets_u2_v3;
Kepler kepler_packets_u4_v3;
Kepler kepler_packets_u6_v3;

// tree_ensemble, f32: 500 trees of depth 8 for each row (scalar_programs.cpp). A lane is a row,
// eight registers (v3: six) go down a tree together; every question is three gathers.
Loop tree_ensemble_v3;
Loop tree_ensemble_v4;
// The questions of the first seven levels are held in registers and picked by permutes.
Loop tree_ensemble_permutes_v4;

// ode, f64: packets of registers, with exp and log of about one ulp for the power; no contraction.
Loop ode_lorenz_v4;
Loop ode_van_der_pol_v4;

// Rows of 1024, f32: all lanes on one row, in three passes over it. No contraction; the order of
// sums is ours.
Loop softmax_rows_v3;
Loop softmax_rows_v4;
Loop layernorm_v3;
Loop layernorm_v4;

// nbody, f32: all lanes on one body. free: an estimate of the inverse root with one step of
// Newton's method, and contraction.
Loop nbody_v3;
Loop nbody_v4;
Loop nbody_free_v3;
Loop nbody_free_v4;

// Images of 512 x 512 bytes. The blur keeps five rows of its first half at a time.
Loop images_sqrt_v3;
Loop images_sqrt_v4;
Loop images_blur_v3;
// What these read and write, without arithmetic.
Loop bytes_to_bytes_v3;
Loop bytes_to_bytes_v4;
Loop bytes_to_floats_v3;

}  // namespace lw::hand
