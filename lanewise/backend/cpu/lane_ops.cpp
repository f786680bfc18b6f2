#include "lanewise/backend/cpu/lane_ops.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Module.h>

#include <cmath>

#include "lanewise/base/check.h"

namespace lw::backend::cpu {

using llvm::Type;
using llvm::Value;
using llvm::Intrinsic::ID;
using ops::Op;

LaneOps::LaneOps(llvm::IRBuilder<>& builder, plan::Isa isa, int lanes)
    : b_(builder), isa_(isa), lanes_(lanes), mask_bits_(1) {
  if (isa != plan::Isa::V4) {
    const int bits = plan::register_bytes(isa) * 8 / lanes;
    mask_bits_ = bits >= 64 ? 64 : 32;
  }
}

Type* LaneOps::scalar_type(DType type) const {
  switch (type) {
    case DType::Bool:
      return b_.getInt1Ty();
    case DType::F32:
      return b_.getFloatTy();
    case DType::F64:
      return b_.getDoubleTy();
    default:  // half types are stored only, as their bits
      return b_.getIntNTy(static_cast<unsigned>(types::size_of(type)) * 8);
  }
}

Type* LaneOps::lane_type(DType type) const {
  Type* element = type == DType::Bool ? b_.getIntNTy(mask_bits_) : scalar_type(type);
  return llvm::FixedVectorType::get(element, static_cast<unsigned>(lanes_));
}

Value* LaneOps::constant(const Scalar& value) const {
  switch (value.type()) {
    case DType::F32:
      return llvm::ConstantFP::get(b_.getContext(), llvm::APFloat(value.as<float>()));
    case DType::F64:
      return llvm::ConstantFP::get(b_.getContext(), llvm::APFloat(value.as<double>()));
    default:
      return llvm::ConstantInt::get(scalar_type(value.type()), value.bits(), false);
  }
}

Value* LaneOps::splat(Value* value, DType type) {
  Value* lanes = b_.CreateVectorSplat(static_cast<unsigned>(lanes_), value);
  return type == DType::Bool ? to_mask(lanes) : lanes;
}

// --- masks ---

Value* LaneOps::to_mask(Value* bits) {
  return has_bit_masks() ? bits : b_.CreateSExt(bits, lane_type(DType::Bool));
}

Value* LaneOps::from_mask(Value* mask) {
  if (has_bit_masks()) return mask;
  // Straight from the comparison that made it, when that is at hand.
  if (auto* extension = llvm::dyn_cast<llvm::SExtInst>(mask)) return extension->getOperand(0);
  return b_.CreateICmpSLT(mask, llvm::Constant::getNullValue(mask->getType()));
}

Value* LaneOps::mask_not(Value* mask) { return b_.CreateNot(mask); }

Value* LaneOps::mask_constant(bool value) {
  Type* type = lane_type(DType::Bool);
  return value ? llvm::Constant::getAllOnesValue(type) : llvm::Constant::getNullValue(type);
}

Value* LaneOps::larger_magnitude(Value* a, Value* b) {
  constexpr unsigned kLargerWithoutSign = 0b1011;
  constexpr unsigned kPresentRounding = 4;
  const bool single = a->getType()->getScalarType()->isFloatTy();
  return b_.CreateIntrinsic(
      single ? llvm::Intrinsic::x86_avx512_mask_range_ps_512
             : llvm::Intrinsic::x86_avx512_mask_range_pd_512,
      {},
      {a, b, b_.getInt32(kLargerWithoutSign), a,
       llvm::Constant::getAllOnesValue(b_.getIntNTy(static_cast<unsigned>(lanes_))),
       b_.getInt32(kPresentRounding)});
}

Value* LaneOps::any(llvm::ArrayRef<Value*> masks) {
  Value* some = masks[0];
  for (Value* mask : masks.drop_front()) some = b_.CreateOr(some, mask);
  Value* word = mask_word(some);
  return b_.CreateICmpNE(word, llvm::Constant::getNullValue(word->getType()));
}

Value* LaneOps::all(llvm::ArrayRef<Value*> masks) {
  Value* each = masks[0];
  for (Value* mask : masks.drop_front()) each = b_.CreateAnd(each, mask);
  Value* word = mask_word(each);
  return b_.CreateICmpEQ(word, llvm::Constant::getAllOnesValue(word->getType()));
}

Value* LaneOps::mask_word(Value* mask) {
  return b_.CreateBitCast(mask, b_.getIntNTy(mask_bits_ * static_cast<unsigned>(lanes_)));
}

Value* LaneOps::lane_bits(Value* mask) {
  Value* bits = from_mask(mask);
  Value* word = b_.CreateBitCast(bits, b_.getIntNTy(static_cast<unsigned>(lanes_)));
  return b_.CreateZExtOrTrunc(word, b_.getInt32Ty());
}

Value* LaneOps::numbers_from(Value* first) {
  return b_.CreateAdd(b_.CreateVectorSplat(static_cast<unsigned>(lanes_), first), iota());
}

Value* LaneOps::iota() {
  std::vector<std::uint32_t> numbers;
  for (int i = 0; i < lanes_; ++i) numbers.push_back(static_cast<std::uint32_t>(i));
  return llvm::ConstantDataVector::get(b_.getContext(), numbers);
}

// --- ops ---

Type* LaneOps::like(Value* shape, DType type) const {
  return shape->getType()->isVectorTy() ? shape->getType()->getWithNewType(scalar_type(type))
                                        : scalar_type(type);
}

Value* LaneOps::number(Value* like, double value) const {
  Type* type = like->getType();
  return type->isFPOrFPVectorTy()
             ? llvm::ConstantFP::get(type, value)
             : llvm::ConstantInt::get(type, static_cast<std::uint64_t>(value), true);
}

Value* LaneOps::compute(Op op, DType type, DType result, bool varying, Value* a, Value* b,
                        Value* c) {
  if (!varying || has_bit_masks()) return compute_bits(op, type, result, a, b, c);
  // Masks are not i1 here. Logic works on them as they are; everything else sees i1.
  if (type == DType::Bool && (op == Op::And || op == Op::Or || op == Op::Xor || op == Op::Not)) {
    return compute_bits(op, type, result, a, b, c);
  }
  if (op == Op::Select) {
    a = from_mask(a);
    if (type == DType::Bool) return b_.CreateSelect(a, b, c);
  } else if (type == DType::Bool) {
    a = from_mask(a);
    if (b != nullptr) b = from_mask(b);
  }
  Value* value = compute_bits(op, type, result, a, b, c);
  return result == DType::Bool ? to_mask(value) : value;
}

Value* LaneOps::compute_bits(Op op, DType type, DType result, Value* a, Value* b, Value* c) {
  const bool is_float = types::is_float(type);
  const auto unary = [&](ID id) { return b_.CreateUnaryIntrinsic(id, a); };
  switch (op) {
    case Op::Add:
      return is_float ? b_.CreateFAdd(a, b) : b_.CreateAdd(a, b);
    case Op::Sub:
      return is_float ? b_.CreateFSub(a, b) : b_.CreateSub(a, b);
    case Op::MulHigh:
      return mul_high(type, a, b);
    case Op::Mul:
      return is_float ? b_.CreateFMul(a, b) : b_.CreateMul(a, b);
    case Op::Div:
      return is_float ? b_.CreateFDiv(a, b) : integer_division(op, type, a, b);
    case Op::Rem:
      return integer_division(op, type, a, b);
    case Op::Neg:
      return is_float ? b_.CreateFNeg(a) : b_.CreateNeg(a);
    case Op::Abs:
      if (types::is_unsigned(type)) return a;
      return is_float ? unary(llvm::Intrinsic::fabs)
                      : b_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, a, b_.getFalse());
    case Op::Sqrt:
      return unary(llvm::Intrinsic::sqrt);
    case Op::Fma:
      return b_.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, b, c});
    case Op::Min:
    case Op::Max: {
      Value* better = compare(op == Op::Min ? Op::Lt : Op::Gt, type, a, b);
      Value* chosen = b_.CreateSelect(better, a, b);
      return is_float ? b_.CreateSelect(is_nan(a), a, chosen) : chosen;
    }
    case Op::Floor:
      return unary(llvm::Intrinsic::floor);
    case Op::Ceil:
      return unary(llvm::Intrinsic::ceil);
    case Op::Trunc:
      return unary(llvm::Intrinsic::trunc);
    case Op::Round:
      return unary(llvm::Intrinsic::roundeven);
    case Op::Copysign: {
      Value* sign = b_.CreateSelect(is_nan(b), number(b, 0), b);
      return b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, a, sign);
    }
    case Op::Eq:
    case Op::Ne:
    case Op::Lt:
    case Op::Le:
    case Op::Gt:
    case Op::Ge:
      return compare(op, type, a, b);
    case Op::And:
      return b_.CreateAnd(a, b);
    case Op::Or:
      return b_.CreateOr(a, b);
    case Op::Xor:
      return b_.CreateXor(a, b);
    case Op::Not:
      return b_.CreateNot(a);
    case Op::Shl:
    case Op::Shr:
      return shift(op, type, a, b);
    case Op::Convert:
      return convert(type, result, a);
    case Op::RawBits:
      return b_.CreateBitCast(a, like(a, result));
    case Op::Bitcast: {
      if (types::is_half(type)) {
        const unsigned infinity = type == DType::F16 ? 0x7c00 : 0x7f80;
        Value* magnitude = b_.CreateAnd(a, number(a, 0x7fff));
        Value* nan = b_.CreateICmpUGT(magnitude, number(a, infinity));
        a = b_.CreateSelect(nan, number(a, type == DType::F16 ? 0x7e00 : 0x7fc0), a);
      } else if (is_float) {
        Value* canonical = llvm::ConstantFP::getQNaN(a->getType());
        a = b_.CreateSelect(is_nan(a), canonical, a);
      }
      return b_.CreateBitCast(a, like(a, result));
    }
    case Op::Select:
      return b_.CreateSelect(a, b, c);
    case Op::AngleRest:
      return call_each("lanewise_angle_rest", a);
    case Op::AngleLost:
      return call_each("lanewise_angle_lost", a);
    case Op::AngleQuadrant:
      return call_each("lanewise_angle_quadrant", a);
    default:
      LW_UNREACHABLE("not a native op");
      return nullptr;
  }
}

Value* LaneOps::call_each(const char* name, Value* a) {
  llvm::Module* module = b_.GetInsertBlock()->getModule();
  auto* lanes = llvm::dyn_cast<llvm::FixedVectorType>(a->getType());
  Type* doubles = lanes == nullptr ? b_.getDoubleTy() : lanes->getWithNewType(b_.getDoubleTy());
  llvm::BasicBlock& entry = b_.GetInsertBlock()->getParent()->getEntryBlock();
  Value* memory = llvm::IRBuilder<>(&entry, entry.begin()).CreateAlloca(doubles);
  b_.CreateStore(b_.CreateFPCast(a, doubles), memory);
  auto function = module->getOrInsertFunction(name, b_.getVoidTy(), b_.getPtrTy(), b_.getInt32Ty());
  b_.CreateCall(function, {memory, b_.getInt32(lanes == nullptr ? 1 : lanes->getNumElements())});
  return b_.CreateFPCast(b_.CreateLoad(doubles, memory), a->getType());
}

Value* LaneOps::compare(Op op, DType type, Value* a, Value* b) {
  using P = llvm::CmpInst::Predicate;
  const bool f = types::is_float(type);
  const bool u = types::is_unsigned(type);
  switch (op) {
    case Op::Eq:
      return b_.CreateCmp(f ? P::FCMP_OEQ : P::ICMP_EQ, a, b);
    case Op::Ne:
      return b_.CreateCmp(f ? P::FCMP_UNE : P::ICMP_NE, a, b);
    case Op::Lt:
      return b_.CreateCmp(f ? P::FCMP_OLT : u ? P::ICMP_ULT : P::ICMP_SLT, a, b);
    case Op::Le:
      return b_.CreateCmp(f ? P::FCMP_OLE : u ? P::ICMP_ULE : P::ICMP_SLE, a, b);
    case Op::Gt:
      return b_.CreateCmp(f ? P::FCMP_OGT : u ? P::ICMP_UGT : P::ICMP_SGT, a, b);
    default:
      return b_.CreateCmp(f ? P::FCMP_OGE : u ? P::ICMP_UGE : P::ICMP_SGE, a, b);
  }
}

/// Rounded toward zero. Vectors have a divider for floats only. A quotient of integers of n bits
/// that is none itself lies below the next one by more than 2^-n of itself: in a type of more bits
/// it is not rounded up to that.
Value* LaneOps::integer_quotient(DType type, Value* a, Value* b) {
  const bool is_unsigned = types::is_unsigned(type);
  auto* lanes = llvm::dyn_cast<llvm::FixedVectorType>(a->getType());
  if (lanes == nullptr || types::size_of(type) > 4 || llvm::isa<llvm::Constant>(b)) {
    return is_unsigned ? b_.CreateUDiv(a, b) : b_.CreateSDiv(a, b);
  }
  Type* number = types::size_of(type) == 4 ? b_.getDoubleTy() : b_.getFloatTy();
  Type* floats = llvm::FixedVectorType::get(number, lanes->getNumElements());
  const auto convert = [&](Value* from) {
    return is_unsigned ? b_.CreateUIToFP(from, floats) : b_.CreateSIToFP(from, floats);
  };
  Value* quotient = b_.CreateFDiv(convert(a), convert(b));
  return is_unsigned ? b_.CreateFPToUI(quotient, lanes) : b_.CreateFPToSI(quotient, lanes);
}

/// The divisor is not 0. Divides by 1 where it is -1, which would trap for MIN, and fixes that up.
Value* LaneOps::integer_division(Op op, DType type, Value* a, Value* b) {
  if (types::is_unsigned(type)) {
    Value* quotient = integer_quotient(type, a, b);
    return op == Op::Div ? quotient : b_.CreateSub(a, b_.CreateMul(quotient, b));
  }
  Value* zero = llvm::Constant::getNullValue(a->getType());
  Value* is_minus_one = b_.CreateICmpEQ(b, llvm::Constant::getAllOnesValue(b->getType()));
  Value* safe = b_.CreateSelect(is_minus_one, number(b, 1), b);
  Value* quotient = integer_quotient(type, a, safe);
  Value* rest = b_.CreateSub(a, b_.CreateMul(quotient, safe));
  Value* uneven = b_.CreateICmpNE(rest, zero);
  Value* opposite = b_.CreateICmpSLT(b_.CreateXor(rest, safe), zero);
  Value* adjust = b_.CreateAnd(uneven, opposite);
  if (op == Op::Rem) {
    Value* adjusted = b_.CreateSelect(adjust, b_.CreateAdd(rest, safe), rest);
    return b_.CreateSelect(is_minus_one, zero, adjusted);
  }
  Value* floored = b_.CreateSub(quotient, b_.CreateZExt(adjust, quotient->getType()));
  return b_.CreateSelect(is_minus_one, b_.CreateNeg(a), floored);
}

Value* LaneOps::mul_high(DType type, Value* a, Value* b) {
  const auto bits = static_cast<unsigned>(types::size_of(type) * 8);
  const bool is_signed = types::is_signed_integer(type);
  auto* lanes = llvm::dyn_cast<llvm::FixedVectorType>(a->getType());
  if (bits != 32 || lanes == nullptr || lanes->getNumElements() % 2 != 0) {
    Type* wide = a->getType()->getExtendedType();
    Value* product = is_signed ? b_.CreateMul(b_.CreateSExt(a, wide), b_.CreateSExt(b, wide))
                               : b_.CreateMul(b_.CreateZExt(a, wide), b_.CreateZExt(b, wide));
    return b_.CreateTrunc(b_.CreateLShr(product, bits), a->getType());
  }
  // The processor multiplies every other lane to twice the width.
  const unsigned half = lanes->getNumElements() / 2;
  Type* wide = llvm::FixedVectorType::get(b_.getInt64Ty(), half);
  const auto upper = [&](Value* v) {
    return is_signed ? b_.CreateAShr(v, 32) : b_.CreateLShr(v, 32);
  };
  const auto lower = [&](Value* v) {
    return is_signed ? b_.CreateAShr(b_.CreateShl(v, 32), 32)
                     : b_.CreateAnd(v, llvm::ConstantInt::get(wide, 0xffffffffu));
  };
  Value* x = b_.CreateBitCast(a, wide);
  Value* y = b_.CreateBitCast(b, wide);
  Value* even = b_.CreateBitCast(b_.CreateMul(lower(x), lower(y)), lanes);
  Value* odd = b_.CreateBitCast(b_.CreateMul(upper(x), upper(y)), lanes);
  std::vector<int> order;
  for (unsigned i = 0; i < half; ++i) {
    order.push_back(static_cast<int>(2 * i + 1));
    order.push_back(static_cast<int>(2 * half + 2 * i + 1));
  }
  return b_.CreateShuffleVector(even, odd, order);
}

Value* LaneOps::shift(Op op, DType type, Value* a, Value* b) {
  const unsigned width = a->getType()->getScalarSizeInBits();
  Value* limit = number(b, width);
  Value* inside = b_.CreateICmpULT(b, limit);
  if (op == Op::Shl || types::is_unsigned(type)) {
    Value* amount = b_.CreateSelect(inside, b, number(b, 0));
    Value* shifted = op == Op::Shl ? b_.CreateShl(a, amount) : b_.CreateLShr(a, amount);
    return b_.CreateSelect(inside, shifted, number(a, 0));
  }
  return b_.CreateAShr(a, b_.CreateSelect(inside, b, number(b, width - 1)));
}

Value* LaneOps::convert(DType from, DType to, Value* a) {
  Type* type = like(a, to);
  const bool from_float = types::is_float(from);
  const bool to_float = types::is_float(to);
  if (from == to) return a;
  if (from == DType::F16) return from_half(a);
  if (to == DType::F16) return to_half(a);
  if (to == DType::Bool) return compare(Op::Ne, from, a, number(a, 0));
  const bool is_unsigned = types::is_unsigned(from) || from == DType::Bool;
  if (from_float && to_float) return b_.CreateFPCast(a, type);
  if (to_float) return is_unsigned ? b_.CreateUIToFP(a, type) : b_.CreateSIToFP(a, type);
  if (!from_float)
    return is_unsigned ? b_.CreateZExtOrTrunc(a, type) : b_.CreateSExtOrTrunc(a, type);
  // The bounds are 0 or powers of two, exact in the float type; the upper one is excluded.
  const bool is_signed = types::is_signed_integer(to);
  const unsigned bits = static_cast<unsigned>(types::size_of(to)) * 8;
  const double high = std::ldexp(1.0, static_cast<int>(bits) - is_signed);
  const double low = is_signed ? -high : 0;
  Value* too_low = b_.CreateFCmpOLT(a, number(a, low));
  Value* too_high = b_.CreateFCmpOGE(a, number(a, high));
  Value* fits = b_.CreateAnd(b_.CreateFCmpOGE(a, number(a, low)), b_.CreateNot(too_high));
  Value* safe = b_.CreateSelect(fits, a, number(a, 0));
  Value* inside = is_signed ? b_.CreateFPToSI(safe, type) : b_.CreateFPToUI(safe, type);
  const auto limit = [&](const llvm::APInt& value) { return llvm::ConstantInt::get(type, value); };
  Value* lowest = limit(is_signed ? llvm::APInt::getSignedMinValue(bits) : llvm::APInt(bits, 0));
  Value* highest =
      limit(is_signed ? llvm::APInt::getSignedMaxValue(bits) : llvm::APInt::getMaxValue(bits));
  return b_.CreateSelect(too_high, highest, b_.CreateSelect(too_low, lowest, inside));
}

// Below v3 there is no instruction for f16, and LLVM would call a library: types/half.h in IR.

Value* LaneOps::from_half(Value* a) {
  Type* f32 = like(a, DType::F32);
  if (isa_ != plan::Isa::V2) {
    return b_.CreateFPExt(b_.CreateBitCast(a, a->getType()->getWithNewType(b_.getHalfTy())), f32);
  }
  Value* wide = b_.CreateZExt(a, like(a, DType::U32));
  Value* magnitude = b_.CreateShl(b_.CreateAnd(wide, number(wide, 0x7fff)), number(wide, 13));
  Value* product =
      b_.CreateFMul(b_.CreateBitCast(magnitude, f32), llvm::ConstantFP::get(f32, 0x1p112));
  Value* special = b_.CreateOr(magnitude, number(wide, 0x7f800000));
  Value* value = b_.CreateSelect(b_.CreateICmpUGE(magnitude, number(wide, 0x0f800000)), special,
                                 b_.CreateBitCast(product, wide->getType()));
  Value* sign = b_.CreateShl(b_.CreateAnd(wide, number(wide, 0x8000)), number(wide, 16));
  return b_.CreateBitCast(b_.CreateOr(value, sign), f32);
}

Value* LaneOps::to_half(Value* a) {
  Type* u16 = like(a, DType::U16);
  if (isa_ != plan::Isa::V2) {
    return b_.CreateBitCast(b_.CreateFPTrunc(a, a->getType()->getWithNewType(b_.getHalfTy())), u16);
  }
  Value* all = b_.CreateBitCast(a, like(a, DType::U32));
  const auto n = [&](std::uint32_t value) { return number(all, value); };
  Value* magnitude = b_.CreateAnd(all, n(0x7fffffff));
  Value* sign = b_.CreateAnd(b_.CreateLShr(all, n(16)), n(0x8000));
  Value* moved = b_.CreateFAdd(b_.CreateBitCast(magnitude, a->getType()), number(a, 0.5));
  Value* small = b_.CreateSub(b_.CreateBitCast(moved, all->getType()), n(0x3f000000));
  Value* last = b_.CreateAnd(b_.CreateLShr(magnitude, n(13)), n(1));
  Value* normal =
      b_.CreateLShr(b_.CreateAdd(b_.CreateSub(magnitude, n(0x38000000 - 0xfff)), last), n(13));
  Value* value = b_.CreateSelect(b_.CreateICmpULT(magnitude, n(0x38800000)), small, normal);
  value = b_.CreateSelect(b_.CreateICmpUGE(magnitude, n(0x47800000)), n(0x7c00), value);
  value = b_.CreateOr(value, sign);
  value = b_.CreateSelect(b_.CreateICmpUGT(magnitude, n(0x7f800000)), n(0x7e00), value);
  return b_.CreateTrunc(value, u16);
}

}  // namespace lw::backend::cpu
