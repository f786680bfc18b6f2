// Quotients and square roots from the processor's estimates, for full registers of AVX-512: its one
// unit for divisions takes 10 to 18 cycles a register, an estimate and Newton's steps four to six.
//
// A reciprocal of a square root is correctly rounded, so that nobody sees which way it came. The
// step before the last is rounded up. Then it is less than one unit in the last place off, and the
// last step gives the nearest number (Markstein); also for a divisor with all bits set, where a
// step that comes from below would meet a tie. All estimates that are within 2^-14 do; tests go
// through all of them.
//
// A quotient by a number that all lanes share is a product with its reciprocal that one step mends:
// correctly rounded too (Markstein). The divisor must be positive, as zeros would lose their sign,
// and numbers neither tiny nor huge; where they are, four registers at a time are divided.
//
// What is `near` (math = fast) may be two units in the last place off; a quotient by more than
// 2^126 (f64: 2^1022), whose reciprocal is subnormal, four.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "lanewise/kernel/lane.h"
#include "lanewise/plan/schedule.h"

namespace lw::backend::cpu {

/// 1 / sqrt(x), which `root` is the square root of: 0, at least 2^-75 (f64: 2^-538), or NaN.
llvm::Value* reciprocal_of_root(llvm::IRBuilder<>& b, llvm::Value* root);

llvm::Value* near_inverse_root(llvm::IRBuilder<>& b, llvm::Value* x);
llvm::Value* near_root(llvm::IRBuilder<>& b, llvm::Value* x);
llvm::Value* near_reciprocal(llvm::IRBuilder<>& b, llvm::Value* x);
llvm::Value* near_quotient(llvm::IRBuilder<>& b, llvm::Value* x, llvm::Value* y);

/// x / y for some registers, of which y is the same number in all lanes; a scalar.
llvm::SmallVector<llvm::Value*, 4> quotients(llvm::IRBuilder<>& b, llvm::ArrayRef<llvm::Value*> x,
                                             llvm::Value* y);

/// How an instruction is computed.
enum class Estimate : std::uint8_t {
  None,
  InvertedRoot,  // a root as ever, of which there is a
  ReciprocalOfRoot,
  QuotientByOne,    // number, which all lanes share
  NearInverseRoot,  // of what the divisor is the root of
  NearReciprocal,
  NearQuotient,
  NearRoot,
};

/// By register: how the instruction that assigns it is computed. Where other instructions would
/// keep the processor busy all the same, nothing is estimated.
std::vector<Estimate> choose_estimates(const kernel::Kernel& kernel,
                                       const plan::Schedule& schedule);

}  // namespace lw::backend::cpu
