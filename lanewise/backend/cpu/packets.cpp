// Packets: `lanes` x `interleave` neighbours go through the whole kernel together.
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>

#include "lanewise/backend/cpu/emit.h"
#include "lanewise/runtime/context.h"

namespace lw::backend::cpu {

using llvm::Type;
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

  if (!has_loops && active_ == kernel::kNone) {
    straight_packets(base);
    b_.CreateRet(b_.getInt32(0));
    return;
  }
  round(true, [&] { return b_.CreateICmpSLT(base_, count_); });
  b_.CreateRet(b_.getInt32(0));
}

/// Without masks, and past the caches where the outputs allow it. What is left at the end goes
/// through the same code in copies of a whole packet.
void Emitter::straight_packets(Value* base) {
  const Values arrays = inputs_;
  const Values results = outputs_;
  Values inputs;  // slots: where the packet is
  Values outputs;
  const auto keep = [&](Value* value, const char* name) {
    Value* slot = new_slot(value->getType(), name);
    b_.CreateStore(value, slot);
    return slot;
  };
  for (Value* array : arrays) inputs.push_back(keep(array, "in"));
  for (Value* result : results) outputs.push_back(keep(result, "out"));
  Value* can = can_stream();
  Value* streams = keep(can, "streams");
  Value* at = keep(b_.getInt32(0), "at");
  Value* is_rest = keep(b_.getFalse(), "is_rest");
  const unsigned packet = static_cast<unsigned>(width_ * s_.lanes);

  llvm::BasicBlock* test = new_block("more");
  llvm::BasicBlock* some = new_block("some");
  llvm::BasicBlock* copy_in = new_block("copy_in");
  llvm::BasicBlock* body = new_block("packet");
  llvm::BasicBlock* again = new_block("again");
  llvm::BasicBlock* copy_out = new_block("copy_out");
  llvm::BasicBlock* done = new_block("done");
  /// Calls `copy(index, mask)` for each register of the rest.
  const auto each_register = [&](const auto& copy) {
    Value* first = b_.CreateLoad(b_.getInt32Ty(), base);
    for (int u = 0; u < width_; ++u) {
      Value* index = b_.CreateAdd(first, b_.getInt32(static_cast<unsigned>(u * s_.lanes)));
      Value* number = b_.CreateAdd(b_.CreateVectorSplat(unsigned(s_.lanes), index), ops_.iota());
      Value* limit = b_.CreateVectorSplat(unsigned(s_.lanes), count_);
      copy(u, index, b_.CreateICmpSLT(number, limit));
    }
  };
  /// Register `u` of the copy of an array.
  const auto in_copy = [&](Value* copy, DType t, int u) {
    return element_pointer(copy, t, b_.getInt32(static_cast<unsigned>(u * s_.lanes)));
  };
  const auto new_copies = [&](const std::vector<DType>& types) {
    Values copies;
    for (const DType t : types) {
      copies.push_back(new_slot(llvm::ArrayType::get(memory_type(t, false), packet), "copy"));
      llvm::cast<llvm::AllocaInst>(copies.back())->setAlignment(llvm::Align(64));
    }
    return copies;
  };
  const Values input_copies = new_copies(k_.inputs);
  const Values output_copies = new_copies(k_.outputs);

  b_.CreateBr(test);
  b_.SetInsertPoint(test);
  Value* begin = b_.CreateLoad(b_.getInt32Ty(), base);
  b_.CreateStore(begin, at);
  b_.CreateCondBr(b_.CreateICmpSLE(b_.CreateAdd(begin, b_.getInt32(packet)), count_), body, some);
  b_.SetInsertPoint(some);
  b_.CreateCondBr(b_.CreateICmpSLT(begin, count_), copy_in, done);

  b_.SetInsertPoint(copy_in);
  each_register([&](int u, Value* index, Value* mask) {
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      const DType t = k_.inputs[i];
      const llvm::Align align(types::size_of(t));
      Type* lanes = memory_type(t, true);
      Value* value = b_.CreateMaskedLoad(lanes, element_pointer(arrays[i], t, index), align, mask,
                                         llvm::Constant::getNullValue(lanes));
      b_.CreateAlignedStore(value, in_copy(input_copies[i], t, u), align);
    }
  });
  for (std::size_t i = 0; i < inputs.size(); ++i) b_.CreateStore(input_copies[i], inputs[i]);
  for (std::size_t i = 0; i < outputs.size(); ++i) b_.CreateStore(output_copies[i], outputs[i]);
  b_.CreateStore(b_.getFalse(), streams);
  b_.CreateStore(b_.getInt32(0), at);
  b_.CreateStore(b_.getTrue(), is_rest);
  b_.CreateBr(body);

  b_.SetInsertPoint(body);
  masked_ = false;
  base_ = b_.CreateLoad(b_.getInt32Ty(), at);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    inputs_[i] = b_.CreateLoad(b_.getPtrTy(), inputs[i]);
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    outputs_[i] = b_.CreateLoad(b_.getPtrTy(), outputs[i]);
  }
  streams_ = b_.CreateLoad(b_.getInt1Ty(), streams);
  block(0);
  b_.CreateCondBr(b_.CreateLoad(b_.getInt1Ty(), is_rest), copy_out, again);
  b_.SetInsertPoint(again);
  b_.CreateStore(b_.CreateAdd(begin, b_.getInt32(packet)), base);
  b_.CreateBr(test);

  b_.SetInsertPoint(copy_out);
  each_register([&](int u, Value* index, Value* mask) {
    for (std::size_t i = 0; i < results.size(); ++i) {
      const DType t = k_.outputs[i];
      const llvm::Align align(types::size_of(t));
      Value* value =
          b_.CreateAlignedLoad(memory_type(t, true), in_copy(output_copies[i], t, u), align);
      b_.CreateMaskedStore(value, element_pointer(results[i], t, index), align, mask);
    }
  });
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
  llvm::BasicBlock* fence = new_block("fence");
  llvm::BasicBlock* end = new_block("end");
  b_.CreateCondBr(can, fence, end);
  b_.SetInsertPoint(fence);
  b_.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {}, {});
  b_.CreateBr(end);
  b_.SetInsertPoint(end);
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
