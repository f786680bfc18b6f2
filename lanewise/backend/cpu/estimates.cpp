#include "lanewise/backend/cpu/estimates.h"

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/MDBuilder.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace lw::backend::cpu {

using kernel::Instruction;
using kernel::RegisterId;
using llvm::Value;
using ops::Op;
namespace Intrinsic = llvm::Intrinsic;

// --- arithmetic ---

namespace {

bool is_single(Value* x) { return x->getType()->getScalarType()->isFloatTy(); }

/// Newton's steps from 14 bits to about the last.
int steps_for(Value* x) { return is_single(x) ? 1 : 2; }

Value* literal(Value* like, double value) { return llvm::ConstantFP::get(like->getType(), value); }

Value* estimate(llvm::IRBuilder<>& b, Intrinsic::ID single, Intrinsic::ID twice, Value* x) {
  Value* all = llvm::Constant::getAllOnesValue(b.getIntNTy(is_single(x) ? 16 : 8));
  return b.CreateIntrinsic(is_single(x) ? single : twice, {}, {x, x, all});
}

Value* inverse_estimate(llvm::IRBuilder<>& b, Value* x) {
  return estimate(b, Intrinsic::x86_avx512_rcp14_ps_512, Intrinsic::x86_avx512_rcp14_pd_512, x);
}

Value* inverse_root_estimate(llvm::IRBuilder<>& b, Value* x) {
  return estimate(b, Intrinsic::x86_avx512_rsqrt14_ps_512, Intrinsic::x86_avx512_rsqrt14_pd_512, x);
}

Value* fma(llvm::IRBuilder<>& b, Value* x, Value* y, Value* z) {
  return b.CreateIntrinsic(Intrinsic::fma, {x->getType()}, {x, y, z});
}

Value* fma_upwards(llvm::IRBuilder<>& b, Value* x, Value* y, Value* z) {
  constexpr unsigned kUpWithoutExceptions = 2 | 8;
  return b.CreateIntrinsic(
      is_single(x) ? Intrinsic::x86_avx512_vfmadd_ps_512 : Intrinsic::x86_avx512_vfmadd_pd_512, {},
      {x, y, z, b.getInt32(kUpWithoutExceptions)});
}

/// 1 - x * y.
Value* error_of(llvm::IRBuilder<>& b, Value* x, Value* y) {
  return fma(b, b.CreateFNeg(x), y, literal(x, 1));
}

/// Lanes that can be improved. In others x is 0, infinite or NaN, or its inverse overflows: their
/// estimate is the result, and the error of it -infinity or NaN.
Value* is_ordinary(llvm::IRBuilder<>& b, Value* error) {
  return b.CreateFCmpOGT(error, literal(error, -1));
}

constexpr unsigned kZeroOrInfinity = 0b1110;
constexpr unsigned kSubnormal = 0b100000;

Value* is_of_class(llvm::IRBuilder<>& b, Value* x, unsigned classes) {
  return b.CreateIntrinsic(
      is_single(x) ? Intrinsic::x86_avx512_fpclass_ps_512 : Intrinsic::x86_avx512_fpclass_pd_512,
      {}, {x, b.getInt32(classes)});
}

}  // namespace

Value* reciprocal_of_root(llvm::IRBuilder<>& b, Value* root) {
  Value* y = inverse_estimate(b, root);
  for (int i = 1; i < steps_for(root); ++i) y = fma(b, y, error_of(b, root, y), y);
  y = fma_upwards(b, y, error_of(b, root, y), y);
  y = fma(b, y, error_of(b, root, y), y);
  // 0 and infinity gave NaN. An instruction says what they give instead, four bits for each kind.
  constexpr int kZero = 2, kInfinity = 5;                  // kinds
  constexpr std::uint64_t kInfinityOfSign = 6, kNone = 8;  // answers
  constexpr std::uint64_t kAnswers = kInfinityOfSign << (4 * kZero) | kNone << (4 * kInfinity);
  auto* shape = llvm::cast<llvm::VectorType>(root->getType());
  Value* answers = llvm::ConstantInt::get(llvm::VectorType::getInteger(shape), kAnswers);
  Value* all = llvm::Constant::getAllOnesValue(b.getIntNTy(is_single(root) ? 16 : 8));
  constexpr unsigned kPresentRounding = 4;
  return b.CreateIntrinsic(is_single(root) ? Intrinsic::x86_avx512_mask_fixupimm_ps_512
                                           : Intrinsic::x86_avx512_mask_fixupimm_pd_512,
                           {},
                           {y, root, answers, b.getInt32(0), all, b.getInt32(kPresentRounding)});
}

Value* near_reciprocal(llvm::IRBuilder<>& b, Value* x) {
  Value* y = inverse_estimate(b, x);
  Value* ordinary = nullptr;
  for (int i = 0; i < steps_for(x); ++i) {
    Value* error = error_of(b, x, y);
    if (ordinary == nullptr) ordinary = is_ordinary(b, error);
    y = b.CreateSelect(ordinary, fma(b, y, error, y), y);
  }
  return y;
}

Value* near_quotient(llvm::IRBuilder<>& b, Value* x, Value* y) {
  // The reciprocals of subnormal numbers may be infinite, where quotients are not.
  Value* is_small = is_of_class(b, y, kSubnormal);
  Value* scale = literal(y, is_single(y) ? 0x1p24 : 0x1p53);
  x = b.CreateSelect(is_small, b.CreateFMul(x, scale), x);
  y = b.CreateSelect(is_small, b.CreateFMul(y, scale), y);
  return b.CreateFMul(x, near_reciprocal(b, y));
}

Value* near_inverse_root(llvm::IRBuilder<>& b, Value* x) {
  Value* y = inverse_root_estimate(b, x);
  Value* ordinary = nullptr;
  for (int i = 0; i < steps_for(x); ++i) {
    Value* error = error_of(b, b.CreateFMul(x, y), y);
    if (ordinary == nullptr) ordinary = is_ordinary(b, error);
    Value* half = b.CreateFMul(y, literal(y, 0.5));
    y = b.CreateSelect(ordinary, fma(b, half, error, y), y);
  }
  return y;
}

Value* near_root(llvm::IRBuilder<>& b, Value* x) {
  Value* y = inverse_root_estimate(b, x);
  for (int i = 1; i < steps_for(x); ++i) {
    Value* error = error_of(b, b.CreateFMul(x, y), y);
    y = fma(b, b.CreateFMul(y, literal(y, 0.5)), error, y);
  }
  Value* root = b.CreateFMul(x, y);
  Value* half = b.CreateFMul(root, literal(x, 0.5));
  root = fma(b, half, error_of(b, root, y), root);
  // These are their own roots.
  return b.CreateSelect(is_of_class(b, x, kZeroOrInfinity), x, root);
}

namespace {

/// Between these no step of a quotient leaves the numbers that have all their bits.
struct Bounds {
  int of_divisor;  // as exponents of two, of both signs
  int of_number;
};
Bounds bounds_of(Value* x) { return is_single(x) ? Bounds{30, 90} : Bounds{300, 600}; }

/// True when a lane of a register is no number within these bounds, and not zero either.
Value* has_extreme(llvm::IRBuilder<>& b, llvm::ArrayRef<Value*> x, int bound) {
  llvm::Type* type = llvm::VectorType::getInteger(llvm::cast<llvm::VectorType>(x[0]->getType()));
  const auto bits = [&](double number) {  // without the sign
    Value* n = b.CreateBitCast(literal(x[0], number), type);
    return b.CreateShl(n, llvm::ConstantInt::get(type, 1));
  };
  Value* one = llvm::ConstantInt::get(type, 1);
  Value* most = nullptr;
  Value* least = nullptr;  // less one: zero is the largest
  for (Value* lanes : x) {
    Value* n = b.CreateShl(b.CreateBitCast(lanes, type), one);
    Value* before = b.CreateSub(n, one);
    most = most == nullptr ? n : b.CreateBinaryIntrinsic(Intrinsic::umax, most, n);
    least = least == nullptr ? before : b.CreateBinaryIntrinsic(Intrinsic::umin, least, before);
  }
  Value* is_extreme =
      b.CreateOr(b.CreateICmpUGT(most, bits(std::ldexp(1, bound))),
                 b.CreateICmpULT(least, b.CreateSub(bits(std::ldexp(1, -bound)), one)));
  return b.CreateOrReduce(is_extreme);
}

}  // namespace

llvm::SmallVector<Value*, 4> quotients(llvm::IRBuilder<>& b, llvm::ArrayRef<Value*> x, Value* y) {
  const Bounds bounds = bounds_of(x[0]);
  const auto number = [&](double value) { return llvm::ConstantFP::get(y->getType(), value); };
  const unsigned lanes = llvm::cast<llvm::FixedVectorType>(x[0]->getType())->getNumElements();
  Value* all_y = b.CreateVectorSplat(lanes, y);
  Value* reciprocal = b.CreateVectorSplat(lanes, b.CreateFDiv(number(1), y));
  Value* is_usual = b.CreateAnd(b.CreateFCmpOGE(y, number(std::ldexp(1, -bounds.of_divisor))),
                                b.CreateFCmpOLE(y, number(std::ldexp(1, bounds.of_divisor))));
  Value* rare = b.CreateOr(has_extreme(b, x, bounds.of_number), b.CreateNot(is_usual));

  llvm::Function* function = b.GetInsertBlock()->getParent();
  const auto block = [&](const char* name) {
    return llvm::BasicBlock::Create(b.getContext(), name, function);
  };
  llvm::BasicBlock* divide = block("divide");
  llvm::BasicBlock* multiply = block("multiply");
  llvm::BasicBlock* done = block("quotients");
  b.CreateCondBr(rare, divide, multiply,
                 llvm::MDBuilder(b.getContext()).createUnlikelyBranchWeights());
  llvm::SmallVector<Value*, 4> results;
  b.SetInsertPoint(done);
  for (Value* lanes_of_x : x) results.push_back(b.CreatePHI(lanes_of_x->getType(), 2));
  const auto add = [&](std::size_t i, Value* quotient) {
    llvm::cast<llvm::PHINode>(results[i])->addIncoming(quotient, b.GetInsertBlock());
  };
  b.SetInsertPoint(divide);
  for (std::size_t i = 0; i < x.size(); ++i) add(i, b.CreateFDiv(x[i], all_y));
  b.CreateBr(done);
  b.SetInsertPoint(multiply);
  for (std::size_t i = 0; i < x.size(); ++i) {
    Value* quotient = b.CreateFMul(x[i], reciprocal);
    Value* excess = fma(b, quotient, all_y, b.CreateFNeg(x[i]));  // +0 if there is none
    add(i, fma(b, b.CreateFNeg(excess), reciprocal, quotient));
  }
  b.CreateBr(done);
  b.SetInsertPoint(done);
  return results;
}

// --- choice ---

namespace {

/// What a block keeps busy, in halves of a cycle: the two units for arithmetic, and the one for
/// divisions and roots.
struct Work {
  int arithmetic = 0;
  int divider = 0;

  int time() const { return std::max(arithmetic, divider); }
  Work operator+(Work other) const {
    return {arithmetic + other.arithmetic, divider + other.divider};
  }
  Work operator-(Work other) const {
    return {arithmetic - other.arithmetic, divider - other.divider};
  }
};

Work work_of(Op op, DType type) {
  const bool single = type == DType::F32;
  if (op == Op::Div && types::is_float(type)) return {3, single ? 20 : 32};
  if (op == Op::Sqrt) return {3, single ? 24 : 36};
  return {1, 0};
}

/// Of Newton's steps and what is around them, for f32; each further step has two or four more.
int arithmetic_of(Estimate how, DType type) {
  const bool single = type == DType::F32;
  switch (how) {
    case Estimate::None:
    case Estimate::InvertedRoot:
      return 0;
    case Estimate::ReciprocalOfRoot:
      return single ? 8 : 10;
    case Estimate::QuotientByOne:
      return single ? 7 : 9;
    case Estimate::NearInverseRoot:
      return single ? 8 : 12;
    case Estimate::NearReciprocal:
      return single ? 6 : 8;
    case Estimate::NearQuotient:
      return single ? 10 : 12;
    case Estimate::NearRoot:
      return single ? 9 : 13;
  }
  return 0;
}

class Chooser {
 public:
  Chooser(const kernel::Kernel& k, const plan::Schedule& s)
      : k_(k), s_(s), made_by_(k.registers.size()), reads_(k.registers.size(), 0) {
    estimates_.assign(k.registers.size(), Estimate::None);
    is_needless_.assign(k.registers.size(), false);
    std::vector<int> assignments(k.registers.size(), 0);
    kernel::for_each(k, [&](const Instruction& in, int) {
      for (const RegisterId r : in.sources) ++reads_[r];
      if (in.dst == kernel::kNone) return;
      made_by_[in.dst] = ++assignments[in.dst] == 1 ? &in : nullptr;
    });
  }

  std::vector<Estimate> run() && {
    // What stands around a loop with refill is parted, and not where the time goes.
    for (std::size_t i = s_.refill ? 1 : 0; i < k_.blocks.size(); ++i) choose_in(k_.blocks[i]);
    return std::move(estimates_);
  }

 private:
  DType type(const Instruction& in) const { return k_.registers[in.dst].type; }

  bool is_candidate(const Instruction& in, Op op) const {
    return in.kind == kernel::Kind::Compute && in.op == op && k_.registers[in.dst].varying &&
           types::is_float(type(in)) && made_by_[in.dst] != nullptr &&
           static_cast<std::size_t>(s_.lanes) * types::size_of(type(in)) == 64;
  }

  bool is_one(RegisterId r) const {
    const Instruction* in = made_by_[r];
    return in != nullptr && in->kind == kernel::Kind::Constant &&
           in->constant == types::scalar_of(k_.registers[r].type, 1);
  }

  void choose_in(const std::vector<Instruction>& block) {
    Work all;
    for (const Instruction& in : block) {
      if (in.kind != kernel::Kind::Compute || !k_.registers[in.dst].varying) continue;
      all = all + work_of(in.op, type(in));
    }
    const auto takes = [&](const Instruction& in, Estimate how, Work saved) {
      const Work then = all - saved + Work{arithmetic_of(how, type(in)), 0};
      if (then.time() >= all.time()) return false;
      all = then;
      estimates_[in.dst] = how;
      return true;
    };
    for (const Instruction& in : block) {
      if (!is_candidate(in, Op::Div)) continue;
      const Work saved = work_of(Op::Div, type(in));
      if (s_.inner && !k_.registers[in.sources[1]].varying) {
        takes(in, Estimate::QuotientByOne, saved);
        continue;
      }
      const Instruction* root = is_one(in.sources[0]) ? made_by_[in.sources[1]] : nullptr;
      const bool is_of_root = root != nullptr && is_candidate(*root, Op::Sqrt);
      if (is_of_root && in.near && root->near && stand_together(*root, in, block)) {
        const bool is_last = reads_[root->dst] == 1;
        const Work both = is_last ? saved + work_of(Op::Sqrt, type(in)) : saved;
        if (takes(in, Estimate::NearInverseRoot, both)) {
          is_needless_[root->dst] = is_last;
          continue;
        }
      }
      if (in.near) {
        takes(in, is_one(in.sources[0]) ? Estimate::NearReciprocal : Estimate::NearQuotient, saved);
      } else if (is_of_root && takes(in, Estimate::ReciprocalOfRoot, saved)) {
        estimates_[root->dst] = Estimate::InvertedRoot;
      }
    }
    // Roots that are left.
    for (const Instruction& in : block) {
      if (!in.near || !is_candidate(in, Op::Sqrt) || is_needless_[in.dst] ||
          estimates_[in.dst] != Estimate::None) {
        continue;
      }
      takes(in, Estimate::NearRoot, work_of(Op::Sqrt, type(in)));
    }
  }

  /// What the root is of can be read where its reciprocal is.
  bool stand_together(const Instruction& root, const Instruction& in,
                      const std::vector<Instruction>& block) const {
    const std::less_equal<const Instruction*> is_before;
    return is_before(block.data(), &root) && is_before(&root, &in) &&
           made_by_[root.sources[0]] != nullptr;
  }

  const kernel::Kernel& k_;
  const plan::Schedule& s_;
  std::vector<const Instruction*> made_by_;  // by register: null where it is assigned again
  std::vector<int> reads_;
  std::vector<Estimate> estimates_;
  std::vector<bool> is_needless_;  // by register: a root that nobody reads any more
};

}  // namespace

std::vector<Estimate> choose_estimates(const kernel::Kernel& kernel,
                                       const plan::Schedule& schedule) {
  if (schedule.isa != plan::Isa::V4) return std::vector(kernel.registers.size(), Estimate::None);
  return Chooser(kernel, schedule).run();
}

}  // namespace lw::backend::cpu
