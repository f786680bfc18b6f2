// Tables, the elements' own arrays, and the elements' numbers.
//
// An array has a row of lanes for each place, one after the other, so that an index that is the
// same for all lanes reads and writes whole registers; another one gathers and scatters.
#include <llvm/IR/Constants.h>
#include <llvm/IR/InlineAsm.h>

#include "lanewise/backend/cpu/emit.h"
#include "lanewise/runtime/context.h"

namespace lw::backend::cpu {

using kernel::Instruction;
using llvm::Value;
using Layout = runtime::ContextLayout;

Value* Emitter::lane_ids(int u) {
  if (phase_ == Phase::Packet) return ops_.numbers_from(packet_index(u));
  if (phase_ == Phase::Prologue) return take_ids_;
  return b_.CreateLoad(ops_.iota()->getType(), ids_[static_cast<std::size_t>(u)]);
}

/// Sums of 32 bits: the low word wraps at most once in a chunk.
void Emitter::element(const Instruction& in) {
  const auto lanes = static_cast<unsigned>(s_.lanes);
  Value* first = b_.CreateAdd(first_, context_field(Layout::kFirstElement, b_.getInt64Ty()));
  if (k_.inner) {
    Value* number = b_.CreateAdd(first, b_.CreateSExt(element_, b_.getInt64Ty()));
    return write(in.dst, 0, b_.CreateTrunc(b_.CreateLShr(number, 32 * in.index), b_.getInt32Ty()));
  }
  Value* low = b_.CreateVectorSplat(lanes, b_.CreateTrunc(first, b_.getInt32Ty()));
  for (int u = begin_; u < begin_ + width_; ++u) {
    Value* number = b_.CreateAdd(low, lane_ids(u));
    if (in.index == 1) {
      Value* carry = b_.CreateZExt(b_.CreateICmpULT(number, low), number->getType());
      Value* high = b_.CreateTrunc(b_.CreateLShr(first, 32), b_.getInt32Ty());
      number = b_.CreateAdd(b_.CreateVectorSplat(lanes, high), carry);
    }
    write(in.dst, u, number);
  }
}

Value* Emitter::table_field(std::uint32_t table, int offset, llvm::Type* type) {
  Value* tables = context_field(Layout::kTables, b_.getPtrTy());
  const auto at = table * sizeof(types::Table) + static_cast<unsigned>(offset);
  return b_.CreateLoad(type, b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), tables, at));
}

/// Values of one or two bytes, as integers. There are no gathers of them, and a load a lane takes
/// longer: the words are gathered that they stand in. An aligned word with a byte of the table in
/// it lies in a page that is there.
Value* Emitter::gather_small(std::size_t size, Value* base, Value* index, Value* live) {
  const auto count = static_cast<unsigned>(s_.lanes);
  const unsigned in_word = size == 1 ? 4 : 2;
  llvm::Type* places = index->getType();
  const auto number = [&](std::uint64_t n) { return llvm::ConstantInt::get(places, n); };
  Value* address = b_.CreatePtrToInt(base, b_.getInt64Ty());
  Value* apart = b_.CreateUDiv(b_.CreateAnd(address, 3), b_.getInt64(size));
  Value* words = b_.CreateIntToPtr(b_.CreateAnd(address, ~std::uint64_t{3}), b_.getPtrTy());
  Value* first = b_.CreateZExtOrTrunc(apart, places->getScalarType());
  Value* place = b_.CreateAdd(index, b_.CreateVectorSplat(count, first));
  Value* at = b_.CreateInBoundsGEP(b_.getInt32Ty(), words,
                                   b_.CreateAShr(place, number(in_word == 4 ? 2 : 1)));
  auto* type = llvm::FixedVectorType::get(b_.getInt32Ty(), count);
  Value* word =
      b_.CreateMaskedGather(type, at, llvm::Align(4), live, llvm::Constant::getNullValue(type));
  Value* bits = b_.CreateShl(b_.CreateAnd(place, number(in_word - 1)), number(size == 1 ? 3 : 4));
  Value* value = b_.CreateLShr(word, b_.CreateZExtOrTrunc(bits, type));
  return b_.CreateTrunc(
      value, llvm::FixedVectorType::get(b_.getIntNTy(static_cast<unsigned>(8 * size)), count));
}

/// A load a lane. Two indices leave the vector unit at a time: that, and not the loads, is what
/// takes long. LLVM would take addresses of 64 bits out one by one.
Value* Emitter::gather_pairs(llvm::Type* lanes, Value* base, Value* index) {
  llvm::Type* word = b_.getInt64Ty();
  auto* unseen = llvm::InlineAsm::get(llvm::FunctionType::get(word, {word}, false), "", "=r,0",
                                      /*hasSideEffects=*/false);
  const auto count = static_cast<unsigned>(s_.lanes);
  Value* words = b_.CreateBitCast(index, llvm::FixedVectorType::get(word, count / 2));
  Value* values = llvm::PoisonValue::get(lanes);
  for (unsigned i = 0; i < count; i += 2) {
    Value* pair = b_.CreateCall(unseen, {b_.CreateExtractElement(words, i / 2)});
    Value* places[] = {b_.CreateSExt(b_.CreateTrunc(pair, b_.getInt32Ty()), word),
                       b_.CreateAShr(pair, 32)};
    for (unsigned k = 0; k < 2; ++k) {
      llvm::Type* type = lanes->getScalarType();
      Value* value = b_.CreateLoad(type, b_.CreateInBoundsGEP(type, base, places[k]));
      values = b_.CreateInsertElement(values, value, i + k);
    }
  }
  return values;
}

/// Lanes of `mask` read from their place; the others from none.
Value* Emitter::gather(DType type, Value* base, Value* index, Value* mask) {
  llvm::Type* lanes = memory_type(type, true);
  const llvm::Align align(types::size_of(type));
  Value* zero = llvm::Constant::getNullValue(lanes);
  Value* live = ops_.from_mask(mask);
  Value* value = nullptr;
  if (ops_.has_bit_masks() && types::size_of(type) < 4) {
    value = b_.CreateBitCast(gather_small(types::size_of(type), base, index, live), lanes);
  } else if (ops_.has_bit_masks()) {
    Value* at = b_.CreateInBoundsGEP(memory_type(type, false), base, index);
    value = b_.CreateMaskedGather(lanes, at, align, live, zero);
  } else {
    // Not by masked gathers, which are a branch a lane here: dead lanes read the first place.
    index = index->getType() == mask->getType()
                ? b_.CreateAnd(index, mask)
                : b_.CreateSelect(live, index, llvm::Constant::getNullValue(index->getType()));
    value = index->getType()->getScalarType()->isIntegerTy(32)
                ? gather_pairs(lanes, base, index)
                : b_.CreateMaskedGather(
                      lanes, b_.CreateInBoundsGEP(memory_type(type, false), base, index), align);
  }
  return from_memory(type, value);
}

void Emitter::table_read(const Instruction& in) {
  if (step_count_ > 1 && neighbours_.count(&in) > 0) return read_neighbours(in);
  if (!is_varying(in.dst)) {
    const DType t = k_.tables[in.index];
    Value* at = element_pointer(tables_[in.index], t, read(in.sources[0], 0, false));
    return write(in.dst, 0, from_memory(t, b_.CreateLoad(memory_type(t, false), at)));
  }
  const auto few = few_places_.find(in.index);
  if (in.below > 0 && few != few_places_.end() && few->second.is_linear != nullptr) {
    return read_linear(in, few->second);
  }
  for (int u = begin_; u < begin_ + width_; ++u) {
    const auto [place, mask] = place_in_table(in, u);
    write(in.dst, u, table_lanes(in, place, mask));
  }
}

/// To places of the elements' own; in inner they follow one another, and `flat_write` does it.
void Emitter::table_write(const Instruction& in) {
  const DType t = k_.tables[in.index];
  for (int u = begin_; u < begin_ + width_; ++u) {
    Value* at = b_.CreateInBoundsGEP(memory_type(t, false), tables_[in.index],
                                     read(in.sources[0], u, true));
    b_.CreateMaskedScatter(to_memory(t, read(in.sources[1], u, true)), at,
                           llvm::Align(types::size_of(t)),
                           ops_.from_mask(read(in.sources[2], u, true)));
  }
}

void Emitter::count_to(Value* count, llvm::function_ref<void(Value*)> body) {
  Value* slot = new_slot(b_.getInt32Ty(), "i");
  b_.CreateStore(b_.getInt32(0), slot);
  llvm::BasicBlock* step = new_block("count");
  llvm::BasicBlock* done = new_block("counted");
  b_.CreateBr(step);
  b_.SetInsertPoint(step);
  Value* i = b_.CreateLoad(b_.getInt32Ty(), slot);
  body(i);
  Value* next = b_.CreateAdd(i, b_.getInt32(1));
  b_.CreateStore(next, slot);
  b_.CreateCondBr(b_.CreateICmpULT(next, count), step, done);
  b_.SetInsertPoint(done);
}

/// Which of an array's values, counted from its beginning, a lane has at a place.
Value* Emitter::lane_places(Value* index) {
  auto* type = llvm::cast<llvm::VectorType>(index->getType());
  Value* lane = b_.CreateZExtOrTrunc(ops_.iota(), type);
  Value* lanes = llvm::ConstantInt::get(type, static_cast<std::uint64_t>(s_.lanes));
  return b_.CreateAdd(b_.CreateMul(index, lanes), lane);
}

/// The row of lanes at a place that all have in common.
Value* Emitter::array_row(const Instruction& in, int u, Value* place) {
  return b_.CreateInBoundsGEP(memory_type(k_.arrays[in.index].type, true),
                              arrays_[in.index][static_cast<std::size_t>(u)],
                              b_.CreateSExt(place, b_.getInt64Ty()));
}

/// Only the lanes that take an element begin anew while others are under way.
void Emitter::array_fill(const Instruction& in) {
  const kernel::Array& array = k_.arrays[in.index];
  Value* slot = new_slot(b_.getInt32Ty(), "place");
  b_.CreateStore(b_.getInt32(0), slot);
  llvm::BasicBlock* row = new_block("fill_row");
  llvm::BasicBlock* done = new_block("filled");
  Values values;
  for (int u = begin_; u < begin_ + width_; ++u) {
    values.push_back(to_memory(array.type, read(in.sources[0], u, true)));
  }
  b_.CreateBr(row);
  b_.SetInsertPoint(row);
  Value* place = b_.CreateLoad(b_.getInt32Ty(), slot);
  const llvm::Align align(types::size_of(array.type));
  for (int u = begin_; u < begin_ + width_; ++u) {
    Value* value = values[static_cast<std::size_t>(u - begin_)];
    Value* at = array_row(in, u, place);
    if (phase_ == Phase::Prologue && !is_first_take_) {
      b_.CreateMaskedStore(value, at, align, ops_.from_mask(fill_));
    } else {
      b_.CreateAlignedStore(value, at, align);
    }
  }
  Value* next = b_.CreateAdd(place, b_.getInt32(1));
  b_.CreateStore(next, slot);
  b_.CreateCondBr(b_.CreateICmpULT(next, b_.getInt32(array.size)), row, done);
  b_.SetInsertPoint(done);
}

void Emitter::array_read(const Instruction& in) {
  const DType t = k_.arrays[in.index].type;
  for (int u = begin_; u < begin_ + width_; ++u) {
    if (is_varying(in.sources[0])) {
      Value* places = lane_places(read(in.sources[0], u, true));
      Value* base = arrays_[in.index][static_cast<std::size_t>(u)];
      write(in.dst, u, gather(t, base, places, read(in.sources[1], u, true)));
    } else {
      Value* at = array_row(in, u, read(in.sources[0], 0, false));
      Value* row = b_.CreateAlignedLoad(memory_type(t, true), at, llvm::Align(types::size_of(t)));
      write(in.dst, u, from_memory(t, row));
    }
  }
}

void Emitter::array_write(const Instruction& in) {
  const DType t = k_.arrays[in.index].type;
  const llvm::Align align(types::size_of(t));
  for (int u = begin_; u < begin_ + width_; ++u) {
    Value* value = to_memory(t, read(in.sources[1], u, true));
    Value* live = ops_.from_mask(read(in.sources[2], u, true));
    if (is_varying(in.sources[0])) {
      Value* at = b_.CreateInBoundsGEP(memory_type(t, false),
                                       arrays_[in.index][static_cast<std::size_t>(u)],
                                       lane_places(read(in.sources[0], u, true)));
      b_.CreateMaskedScatter(value, at, align, live);
    } else {
      // Dead lanes keep what they have; not by a masked store, which reads wait for.
      Value* at = array_row(in, u, read(in.sources[0], 0, false));
      Value* old = b_.CreateAlignedLoad(memory_type(t, true), at, align);
      b_.CreateAlignedStore(b_.CreateSelect(live, value, old), at, align);
    }
  }
}

}  // namespace lw::backend::cpu
