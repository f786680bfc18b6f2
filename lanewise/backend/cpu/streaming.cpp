// Stores past the caches, for results that are larger than those: a line that is written whole need
// not be read before.
#include <llvm/IR/Constants.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>

#include "lanewise/backend/cpu/emit.h"
#include "lanewise/runtime/context.h"

namespace lw::backend::cpu {

using kernel::Instruction;
using kernel::Kind;
using llvm::Value;

/// The runtime says so. Of small values, loads that straddle lines take the buffers that stores
/// past the caches need: plain ones are faster then.
Value* Emitter::may_stream() {
  const bool are_small = std::any_of(k_.outputs.begin(), k_.outputs.end(), [](const auto& item) {
    return types::size_of(item.type) < 4;
  });
  if (are_small) return b_.getFalse();
  Value* allowed = context_field(runtime::ContextLayout::kStreams, b_.getInt32Ty());
  return b_.CreateICmpNE(allowed, b_.getInt32(0));
}

Value* Emitter::can_stream() {
  Value* allowed = may_stream();
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    Value* address = b_.CreatePtrToInt(outputs_[i], b_.getInt64Ty());
    Value* over = b_.CreateAnd(address, b_.getInt64(packet_bytes(k_.outputs[i].type) - 1));
    allowed = b_.CreateAnd(allowed, b_.CreateICmpEQ(over, b_.getInt64(0)));
  }
  return allowed;
}

void Emitter::where_streams(Value* streams, llvm::function_ref<void()> past,
                            llvm::function_ref<void()> plain) {
  llvm::BasicBlock* stream = new_block("stream");
  llvm::BasicBlock* keep = new_block("plain");
  llvm::BasicBlock* done = new_block("stored");
  b_.CreateCondBr(streams, stream, keep);
  b_.SetInsertPoint(stream);
  past();
  b_.CreateBr(done);
  b_.SetInsertPoint(keep);
  plain();
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
}

void Emitter::store_past(Value* value, Value* place, std::uint64_t align) {
  auto* one = llvm::ConstantAsMetadata::get(b_.getInt32(1));
  b_.CreateAlignedStore(value, place, llvm::Align(align))
      ->setMetadata(llvm::LLVMContext::MD_nontemporal,
                    llvm::MDNode::get(module_.getContext(), one));
}

/// Whole packets.
void Emitter::store_streaming(const Instruction& in) {
  const DType t = type(in.sources[0]);
  Values values;
  Values places;
  for (int u = begin_; u < begin_ + width_; ++u) {
    values.push_back(to_memory(t, read(in.sources[0], u, true)));
    places.push_back(element_pointer(outputs_[in.index], t, packet_index(u)));
  }
  const auto store_all = [&](auto store) {
    for (std::size_t i = 0; i < values.size(); ++i) store(values[i], places[i]);
  };
  where_streams(
      streams_,
      [&] { store_all([&](Value* v, Value* at) { store_past(v, at, packet_bytes(t)); }); },
      [&] {
        store_all([&](Value* v, Value* at) {
          b_.CreateAlignedStore(v, at, llvm::Align(types::size_of(t)));
        });
      });
}

bool Emitter::is_last_write(const Instruction& in) const {
  if (in.kind != Kind::ArrayWrite || in.step != 1) return false;
  const std::uint32_t output = k_.arrays[in.index].output;
  if (output == kernel::kNone) return false;
  bool is_read = false;
  kernel::for_each(k_, [&](const Instruction& other, int) {
    is_read = is_read || (other.kind == Kind::ArrayRead && k_.arrays[other.index].output == output);
  });
  return !is_read;
}

/// If the first register begins at a place for one; the same as `plain` otherwise. False where some
/// are not whole: parts of lines would be left to the processor.
bool Emitter::stream_positions(const Values& values, const Values& places, const Values& masks,
                               DType type, llvm::function_ref<void()> plain) {
  const auto bytes = static_cast<std::uint64_t>(plan::register_bytes(s_.isa));
  const bool are_whole = std::all_of(masks.begin(), masks.end(), [](const Value* mask) {
    const auto* known = llvm::dyn_cast<llvm::Constant>(mask);
    return known != nullptr && known->isAllOnesValue();
  });
  if (!are_whole || packet_bytes(type) < bytes) return false;
  Value* over = b_.CreateAnd(b_.CreatePtrToInt(places[0], b_.getInt64Ty()), b_.getInt64(bytes - 1));
  Value* streams = b_.CreateAnd(streams_, b_.CreateICmpEQ(over, b_.getInt64(0)));
  const auto past = [&] {
    for (std::size_t i = 0; i < values.size(); ++i) store_past(values[i], places[i], bytes);
  };
  where_streams(streams, past, plain);
  return true;
}

/// Nobody may be told that results are there before they are.
void Emitter::finish_streams(Value* streams) {
  const auto fence = [&] { b_.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {}, {}); };
  where_streams(streams, fence, [] {});
}

}  // namespace lw::backend::cpu
