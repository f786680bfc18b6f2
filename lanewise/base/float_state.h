// The floating-point control word is per thread, and another library may have set flush-to-zero or
// unmasked traps. Everything that computes holds one of these, so that results never depend on it.
#pragma once

#include <immintrin.h>

namespace lw::base {

class FloatState {
 public:
  FloatState() : saved_(_mm_getcsr()) {
    // Writing the word is dear, reading it is not; sticky exception flags do not matter.
    if ((saved_ & kControl) != kDefault) _mm_setcsr(kDefault);
  }
  ~FloatState() {
    if ((saved_ & kControl) != kDefault) _mm_setcsr(saved_);
  }
  FloatState(const FloatState&) = delete;
  FloatState& operator=(const FloatState&) = delete;

 private:
  static constexpr unsigned kControl = 0xffc0;  // all but the six exception flags
  static constexpr unsigned kDefault = 0x1f80;  // nearest, traps masked, subnormals kept
  unsigned saved_;
};

}  // namespace lw::base
