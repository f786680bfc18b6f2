// Packets: `lanes` x `interleave` neighbours go through the whole kernel together.
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>

#include "lanewise/backend/cpu/emit.h"
#include "lanewise/runtime/context.h"

namespace lw::backend::cpu {

using llvm::Value;

void Emitter::packets() {
  bool has_loops = false;
  for (kernel::RegisterId r = 0; r < k_.registers.size(); ++r) {
    if (assignments_[r] > 1) slots_[r] = new_slots(r);
  }
  for (const kernel::Instruction& in : k_.body()) {
    has_loops = has_loops || (in.kind == kernel::Kind::Loop && !in.once);
  }
  Value* base = new_slot(b_.getInt32Ty(), "base");
  b_.CreateStore(b_.getInt32(0), base);

  // One round over packets of `width_` registers while `more(base)`.
  const auto round = [&](bool masked, auto more) {
    llvm::BasicBlock* test = new_block("more");
    llvm::BasicBlock* body = new_block("packet");
    llvm::BasicBlock* done = new_block("done");
    masked_ = masked;
    b_.CreateBr(test);
    b_.SetInsertPoint(test);
    base_ = b_.CreateLoad(b_.getInt32Ty(), base);
    b_.CreateCondBr(more(), body, done);
    b_.SetInsertPoint(body);
    held_.assign(static_cast<std::size_t>(s_.interleave), nullptr);
    if (masked) {
      for (int u = 0; u < width_; ++u) {
        Value* number =
            b_.CreateAdd(b_.CreateVectorSplat(unsigned(s_.lanes), packet_index(u)), ops_.iota());
        Value* limit = b_.CreateVectorSplat(unsigned(s_.lanes), count_);
        held_[static_cast<std::size_t>(u)] = ops_.to_mask(b_.CreateICmpSLT(number, limit));
      }
    }
    block(0);
    b_.CreateStore(b_.CreateAdd(base_, b_.getInt32(unsigned(width_ * s_.lanes))), base);
    b_.CreateBr(test);
    b_.SetInsertPoint(done);
  };

  if (!has_loops) {
    // Whole packets first, without masks, and past the caches where the outputs allow it; the rest
    // one register at a time.
    streams_ = can_stream();
    round(false, [&] {
      return b_.CreateICmpSLE(b_.CreateAdd(base_, b_.getInt32(unsigned(width_ * s_.lanes))),
                              count_);
    });
    llvm::BasicBlock* fence = new_block("fence");
    llvm::BasicBlock* rest = new_block("rest");
    b_.CreateCondBr(streams_, fence, rest);
    b_.SetInsertPoint(fence);
    b_.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {}, {});
    b_.CreateBr(rest);
    b_.SetInsertPoint(rest);
    streams_ = nullptr;
    width_ = 1;
  }
  round(true, [&] { return b_.CreateICmpSLT(base_, count_); });
  b_.CreateRet(b_.getInt32(0));
}

Value* Emitter::can_stream() {
  Value* allowed = b_.CreateICmpNE(context_field(runtime::ContextLayout::kStreams, b_.getInt32Ty()),
                                   b_.getInt32(0));
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    Value* address = b_.CreatePtrToInt(outputs_[i], b_.getInt64Ty());
    Value* over = b_.CreateAnd(address, b_.getInt64(packet_bytes(k_.outputs[i]) - 1));
    allowed = b_.CreateAnd(allowed, b_.CreateICmpEQ(over, b_.getInt64(0)));
  }
  return allowed;
}

}  // namespace lw::backend::cpu
