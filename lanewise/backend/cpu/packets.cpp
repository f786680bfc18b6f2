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
    has_loops = has_loops || (in.kind == kernel::Kind::Loop && !in.once) ||
                in.kind == kernel::Kind::RowLoad || in.kind == kernel::Kind::RowStore;
  }
  if (has_loops || has_numbers_ || active_ != kernel::kNone) {
    masked_packets();
  } else {
    straight_packets();
  }
}

/// Where masks are needed anyway, they also say which lanes hold an element.
void Emitter::masked_packets() {
  Value* base = new_slot(b_.getInt32Ty(), "base");
  b_.CreateStore(b_.getInt32(0), base);
  llvm::BasicBlock* more = new_block("more");
  llvm::BasicBlock* body = new_block("packet");
  llvm::BasicBlock* done = new_block("done");
  b_.CreateBr(more);
  b_.SetInsertPoint(more);
  base_ = b_.CreateLoad(b_.getInt32Ty(), base);
  b_.CreateCondBr(b_.CreateICmpSLT(base_, count_), body, done);
  b_.SetInsertPoint(body);
  masked_ = true;
  held_.clear();
  for (int u = 0; u < width_; ++u) {
    Value* limit = b_.CreateVectorSplat(unsigned(s_.lanes), count_);
    held_.push_back(ops_.to_mask(b_.CreateICmpSLT(ops_.numbers_from(packet_index(u)), limit)));
  }
  block(0);
  b_.CreateStore(b_.CreateAdd(base_, b_.getInt32(unsigned(width_ * s_.lanes))), base);
  b_.CreateBr(more);
  b_.SetInsertPoint(done);
  b_.CreateRet(b_.getInt32(0));
}

/// Without masks, and past the caches where the outputs allow it. What is left at the end goes
/// through the same code in copies of a whole packet.
void Emitter::straight_packets() {
  const auto packet = static_cast<unsigned>(width_ * s_.lanes);
  const auto keep = [&](Value* value, const char* name) {
    Value* slot = new_slot(value->getType(), name);
    b_.CreateStore(value, slot);
    return slot;
  };
  struct Array {
    DType type;
    Value* memory;
    Value* copy;   // of a packet
    Value* place;  // slot: which of them the packet is in
  };
  const auto arrays = [&](const Values& memory, const std::vector<types::Item>& items) {
    std::vector<Array> list;
    for (std::size_t i = 0; i < items.size(); ++i) {
      const DType type = items[i].type;
      Type* elements = llvm::ArrayType::get(memory_type(type, false), packet);
      list.push_back({type, memory[i], new_slot(elements, "copy"), keep(memory[i], "place")});
    }
    return list;
  };
  const std::vector<Array> inputs = arrays(inputs_, k_.inputs);
  const std::vector<Array> outputs = arrays(outputs_, k_.outputs);
  Value* const can = can_stream();
  Value* const streams = keep(can, "streams");
  Value* const base = keep(b_.getInt32(0), "base");
  Value* const is_rest = keep(b_.getFalse(), "is_rest");
  Value* const rest = b_.CreateURem(count_, b_.getInt32(packet));
  Value* const whole = b_.CreateSub(count_, rest);
  /// Which lanes of the register that begins at `first` of the rest hold an element.
  const auto lanes_left = [&](Value* first) -> Value* {
    const auto lanes = static_cast<unsigned>(s_.lanes);
    Value* left = b_.CreateSub(rest, first);
    if (!ops_.has_bit_masks()) {
      return b_.CreateICmpSLT(ops_.iota(), b_.CreateVectorSplat(lanes, left));
    }
    // Not by comparing lanes: what that needs would be kept in registers around the loop.
    left = b_.CreateSExt(left, b_.getInt64Ty());
    Value* bits = b_.CreateSub(b_.CreateShl(b_.getInt64(1), left), b_.getInt64(1));
    bits = b_.CreateSelect(b_.CreateICmpSLT(left, b_.getInt64(lanes)), bits, b_.getInt64(~0ull));
    bits = b_.CreateSelect(b_.CreateICmpSLT(left, b_.getInt64(0)), b_.getInt64(0), bits);
    return b_.CreateBitCast(b_.CreateTrunc(bits, b_.getIntNTy(lanes)),
                            llvm::FixedVectorType::get(b_.getInt1Ty(), lanes));
  };
  /// A register at a time, so that what is read next is forwarded from the store.
  const auto copy_rest = [&](const std::vector<Array>& list, bool back) {
    llvm::BasicBlock* before = b_.GetInsertBlock();
    llvm::BasicBlock* one = new_block("copy");
    llvm::BasicBlock* copied = new_block("copied");
    b_.CreateBr(one);
    b_.SetInsertPoint(one);
    auto* first = b_.CreatePHI(b_.getInt32Ty(), 2);
    first->addIncoming(b_.getInt32(0), before);
    Value* mask = lanes_left(first);
    for (const Array& array : list) {
      Type* lanes = memory_type(array.type, true);
      const llvm::Align align(types::size_of(array.type));
      Value* copy = element_pointer(array.copy, array.type, first);
      Value* home = element_pointer(array.memory, array.type, b_.CreateAdd(whole, first));
      if (back) {
        b_.CreateMaskedStore(b_.CreateAlignedLoad(lanes, copy, align), home, align, mask);
      } else {
        Value* zero = llvm::Constant::getNullValue(lanes);
        b_.CreateAlignedStore(b_.CreateMaskedLoad(lanes, home, align, mask, zero), copy, align);
      }
    }
    Value* next = b_.CreateAdd(first, b_.getInt32(static_cast<unsigned>(s_.lanes)));
    first->addIncoming(next, one);
    b_.CreateCondBr(b_.CreateICmpSLT(next, b_.getInt32(packet)), one, copied);
    b_.SetInsertPoint(copied);
  };
  const auto read_places = [&](const std::vector<Array>& list, Values& to) {
    to.clear();
    for (const Array& array : list) to.push_back(b_.CreateLoad(b_.getPtrTy(), array.place));
  };

  llvm::BasicBlock* more = new_block("more");
  llvm::BasicBlock* last = new_block("last");
  llvm::BasicBlock* copy_in = new_block("copy_in");
  llvm::BasicBlock* body = new_block("packet");
  llvm::BasicBlock* next = new_block("next");
  llvm::BasicBlock* copy_out = new_block("copy_out");
  llvm::BasicBlock* done = new_block("done");
  b_.CreateBr(more);
  b_.SetInsertPoint(more);
  b_.CreateCondBr(b_.CreateICmpSLT(b_.CreateLoad(b_.getInt32Ty(), base), whole), body, last);
  b_.SetInsertPoint(last);
  b_.CreateCondBr(b_.CreateICmpNE(rest, b_.getInt32(0)), copy_in, done);

  b_.SetInsertPoint(copy_in);
  if (!inputs.empty()) copy_rest(inputs, false);
  for (const auto* list : {&inputs, &outputs}) {
    for (const Array& array : *list) b_.CreateStore(array.copy, array.place);
  }
  b_.CreateStore(b_.getFalse(), streams);
  b_.CreateStore(b_.getInt32(0), base);
  b_.CreateStore(b_.getTrue(), is_rest);
  b_.CreateBr(body);

  b_.SetInsertPoint(body);
  masked_ = false;
  base_ = b_.CreateLoad(b_.getInt32Ty(), base);
  read_places(inputs, inputs_);
  read_places(outputs, outputs_);
  streams_ = b_.CreateLoad(b_.getInt1Ty(), streams);
  block(0);
  b_.CreateCondBr(b_.CreateLoad(b_.getInt1Ty(), is_rest), copy_out, next);
  b_.SetInsertPoint(next);
  b_.CreateStore(b_.CreateAdd(base_, b_.getInt32(packet)), base);
  b_.CreateBr(more);

  b_.SetInsertPoint(copy_out);
  copy_rest(outputs, true);
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
  finish_streams(can);
  b_.CreateRet(b_.getInt32(0));
}

}  // namespace lw::backend::cpu
