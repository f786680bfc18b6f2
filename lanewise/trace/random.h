// Random numbers inside an element. A draw is a function of the seed of the call, the place in the
// program that draws, the number of the element, and how often the element has drawn there before:
// Philox 4x32-10, a counter-based generator, so the numbers do not depend on any schedule.
//
//   lw::f32 u = lw::random::uniform<float>();      // a new one in every step of a loop
#pragma once

#include "lanewise/trace/variable.h"

namespace lw::random {

/// Philox 4x32-10 of Random123, as recorded operations on u32 values.
struct Words {
  ir::ValueId word[4];
};
Words philox(ir::Builder& build, const ir::ValueId (&key)[2], const ir::ValueId (&counter)[4]);

/// The words of the next draw at a new place of the function that is being recorded.
Words draw();

ir::ValueId draw_uniform(DType type);
ir::ValueId draw_normal(DType type);
ir::ValueId draw_exponential(DType type);
ir::ValueId draw_integer(ir::ValueId low, ir::ValueId high);

/// From 0 to below 1, evenly, as many bits as the type has.
template <std::floating_point T = float>
Variable<T> uniform() {
  return Variable<T>::of(draw_uniform(types::dtype_of<T>));
}
/// Normal with mean 0 and deviation 1, by Box and Muller.
template <std::floating_point T = float>
Variable<T> normal() {
  return Variable<T>::of(draw_normal(types::dtype_of<T>));
}
/// Exponential with mean 1.
template <std::floating_point T = float>
Variable<T> exponential() {
  return Variable<T>::of(draw_exponential(types::dtype_of<T>));
}
/// From low to below high, evenly; low where there is nothing between.
template <std::integral T = std::int32_t>
Variable<T> integer(typename Variable<T>::Operand low, typename Variable<T>::Operand high) {
  return Variable<T>::of(draw_integer(low.value, high.value));
}

}  // namespace lw::random
