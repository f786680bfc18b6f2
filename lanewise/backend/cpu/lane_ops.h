// Native ops as LLVM IR. The same code serves one value and a register of lanes.
//
// Rules: no fast-math flag, no mathematical intrinsic beyond fma, sqrt, fabs, copysign and the
// rounding family, no minnum/maxnum, no conversion or division that can trap or be undefined.
//
// A varying bool is a mask. On AVX-512 it is a vector of i1, which lives in a mask register. Below
// that LLVM packs and unpacks i1 vectors whenever they cross a block, so there a mask is a vector
// of i32 or i64 with all bits of a lane set or clear (`MaskForm`).
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "lanewise/ops/op.h"
#include "lanewise/plan/schedule.h"
#include "lanewise/types/scalar.h"

namespace lw::backend::cpu {

class LaneOps {
 public:
  LaneOps(llvm::IRBuilder<>& builder, plan::Isa isa, int lanes);

  llvm::Type* scalar_type(DType type) const;
  /// The type of a varying register; masks in their form.
  llvm::Type* lane_type(DType type) const;
  llvm::Value* constant(const Scalar& value) const;

  /// The meaning of a native op. Varying bools are in mask form, both ways.
  llvm::Value* compute(ops::Op op, DType operand_type, DType result_type, bool varying,
                       llvm::Value* a, llvm::Value* b, llvm::Value* c);

  /// A uniform value in all lanes.
  llvm::Value* splat(llvm::Value* value, DType type);

  // Masks.
  llvm::Value* to_mask(llvm::Value* bits);    // <W x i1> to mask form
  llvm::Value* from_mask(llvm::Value* mask);  // mask form to <W x i1>
  llvm::Value* mask_not(llvm::Value* mask);
  llvm::Value* mask_constant(bool value);
  /// The float of larger magnitude, without its sign, of full AVX-512 registers; NaNs count last.
  llvm::Value* larger_magnitude(llvm::Value* a, llvm::Value* b);
  llvm::Value* any(llvm::ArrayRef<llvm::Value*> masks);  // i1: some lane of some mask is set
  llvm::Value* all(llvm::ArrayRef<llvm::Value*> masks);  // i1: every lane of every mask is set
  llvm::Value* lane_bits(llvm::Value* mask);             // one bit per lane, as i32
  bool has_bit_masks() const { return mask_bits_ == 1; }
  unsigned mask_element_bits() const { return mask_bits_; }

  llvm::Value* iota();                            // <W x i32> 0, 1, 2, ...
  llvm::Value* numbers_from(llvm::Value* first);  // <W x i32> first, first + 1, ...

 private:
  llvm::Value* compute_bits(ops::Op op, DType type, DType result, llvm::Value* a, llvm::Value* b,
                            llvm::Value* c);
  llvm::Value* compare(ops::Op op, DType type, llvm::Value* a, llvm::Value* b);
  llvm::Value* integer_quotient(DType type, llvm::Value* a, llvm::Value* b);
  llvm::Value* integer_division(ops::Op op, DType type, llvm::Value* a, llvm::Value* b);
  llvm::Value* mul_high(DType type, llvm::Value* a, llvm::Value* b);
  llvm::Value* shift(ops::Op op, DType type, llvm::Value* a, llvm::Value* b);
  llvm::Value* convert(DType from, DType to, llvm::Value* a);
  /// A function that replaces doubles in memory, for the lanes.
  llvm::Value* call_each(const char* name, llvm::Value* a);
  llvm::Value* from_half(llvm::Value* a);
  llvm::Value* to_half(llvm::Value* a);
  llvm::Value* mask_word(llvm::Value* mask);  // its bits as one integer
  llvm::Value* is_nan(llvm::Value* a) { return b_.CreateFCmpUNO(a, a); }
  llvm::Type* like(llvm::Value* shape, DType type) const;
  llvm::Value* number(llvm::Value* like, double value) const;

  llvm::IRBuilder<>& b_;
  plan::Isa isa_;
  int lanes_;
  unsigned mask_bits_;
};

}  // namespace lw::backend::cpu
