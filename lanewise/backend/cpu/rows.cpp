// Rows of elements that are lanes. Reads of single places gather; a whole row goes between memory
// and the array of a register by squares of lanes, which are transposed.
#include <llvm/IR/Constants.h>
#include <llvm/Support/MathExtras.h>

#include "lanewise/backend/cpu/emit.h"

namespace lw::backend::cpu {

using kernel::Instruction;
using llvm::Value;

/// The first row of register `u`, and how far from there each lane's row is.
Value* Emitter::rows_of_lanes(Value* base, types::Item item, int u, Value*& offsets) {
  if (phase_ == Phase::Packet) {
    Value* index = packet_index(u);
    if (masked_) {  // dead lanes may read the first row: there must be one
      index = b_.CreateSelect(b_.CreateICmpSLT(index, count_), index, b_.getInt32(0));
    }
    Value* first = b_.CreateMul(b_.CreateSExt(index, b_.getInt64Ty()), b_.getInt64(item.size));
    offsets = b_.CreateMul(ops_.iota(), llvm::ConstantInt::get(ops_.iota()->getType(), item.size));
    return element_pointer(base, item.type, first);
  }
  Value* ids = lane_ids(u);
  auto* wide = llvm::VectorType::get(b_.getInt64Ty(), llvm::cast<llvm::VectorType>(ids->getType()));
  offsets = b_.CreateMul(b_.CreateSExt(ids, wide), llvm::ConstantInt::get(wide, item.size));
  return base;
}

void Emitter::row_read(const Instruction& in) {
  const types::Item item = k_.inputs[in.index];
  for (int u = begin_; u < begin_ + width_; ++u) {
    Value* offsets = nullptr;
    Value* base = rows_of_lanes(inputs_[in.index], item, u, offsets);
    if (is_varying(in.sources[0])) {
      Value* place = read(in.sources[0], u, true);
      const bool is_wide = place->getType()->getScalarSizeInBits() > 32;
      llvm::Type* type = is_wide ? place->getType() : offsets->getType();
      offsets = b_.CreateAdd(b_.CreateSExt(offsets, type), b_.CreateSExt(place, type));
    } else {
      base = element_pointer(base, item.type, read(in.sources[0], 0, false));
    }
    write(in.dst, u, gather(item.type, base, offsets, read(in.sources[1], u, true)));
  }
}

Value* Emitter::row_pointers(Value* base, const kernel::Array& array, int u) {
  const auto lanes = static_cast<unsigned>(s_.lanes);
  Value* pointers = new_slot(llvm::ArrayType::get(b_.getPtrTy(), lanes), "rows");
  for (unsigned lane = 0; lane < lanes; ++lane) {
    Value* index = b_.CreateAdd(packet_index(u), b_.getInt32(lane));
    index = b_.CreateSelect(b_.CreateICmpSLT(index, count_), index, b_.getInt32(0));
    Value* first = b_.CreateMul(b_.CreateSExt(index, b_.getInt64Ty()), b_.getInt64(array.size));
    b_.CreateStore(element_pointer(base, array.type, first),
                   b_.CreateConstInBoundsGEP1_32(b_.getPtrTy(), pointers, lane));
  }
  return pointers;
}

/// Lanes become registers, and registers lanes: halves of the square change places, then quarters,
/// and so on.
void Emitter::transpose(Values& square) {
  const auto side = static_cast<unsigned>(square.size());
  for (unsigned apart = side / 2; apart > 0; apart /= 2) {
    llvm::SmallVector<int, 64> low, high;
    for (unsigned at = 0; at < side; ++at) {
      const bool is_second = (at & apart) != 0;
      low.push_back(static_cast<int>(is_second ? side + at - apart : at));
      high.push_back(static_cast<int>(is_second ? side + at : at + apart));
    }
    for (unsigned at = 0; at < side; ++at) {
      if ((at & apart) != 0) continue;
      Value* a = square[at];
      Value* b = square[at + apart];
      square[at] = b_.CreateShuffleVector(a, b, low);
      square[at + apart] = b_.CreateShuffleVector(a, b, high);
    }
  }
}

/// Copies so many squares, whose first places follow one another but for the last.
llvm::Function* Emitter::transpose_function(DType type, bool to_rows) {
  llvm::Function*& function = transposes_[{type, to_rows}];
  if (function != nullptr) return function;
  llvm::Type* pointer = b_.getPtrTy();
  auto* signature = llvm::FunctionType::get(
      b_.getVoidTy(), {pointer, pointer, b_.getInt32Ty(), b_.getInt32Ty()}, false);
  function =
      llvm::Function::Create(signature, llvm::Function::InternalLinkage, "transpose", module_);
  function->copyAttributesFrom(function_);
  function->setDSOLocal(true);
  function->addFnAttr(llvm::Attribute::NoInline);
  const llvm::IRBuilderBase::InsertPointGuard guard(b_);
  llvm::Function* const outer = std::exchange(function_, function);
  b_.SetInsertPoint(new_block("entry"));

  const auto side = static_cast<unsigned>(s_.lanes);
  llvm::Type* row_type = memory_type(type, true);
  const llvm::Align align(types::size_of(type));
  count_to(function->getArg(2), [&](Value* i) {
    Value* place = b_.CreateMul(i, b_.getInt32(side));
    Value* last = function->getArg(3);
    place = b_.CreateSelect(b_.CreateICmpULT(place, last), place, last);
    const auto lane_pointer = [&](unsigned at) {
      return b_.CreateInBoundsGEP(row_type, function->getArg(0),
                                  b_.CreateAdd(place, b_.getInt32(at)));
    };
    const auto row_pointer = [&](unsigned at) {
      Value* row =
          b_.CreateLoad(pointer, b_.CreateConstInBoundsGEP1_32(pointer, function->getArg(1), at));
      return element_pointer(row, type, place);
    };
    Values values;
    for (unsigned at = 0; at < side; ++at) {
      Value* from = to_rows ? lane_pointer(at) : row_pointer(at);
      values.push_back(b_.CreateAlignedLoad(row_type, from, align));
    }
    transpose(values);
    for (unsigned at = 0; at < side; ++at) {
      b_.CreateAlignedStore(values[at], to_rows ? row_pointer(at) : lane_pointer(at), align);
    }
  });
  b_.CreateRetVoid();
  function_ = outer;
  return function;
}

void Emitter::transpose_rows(const kernel::Array& array, Value* lanes, Value* pointers,
                             bool to_rows) {
  const auto side = static_cast<unsigned>(s_.lanes);
  b_.CreateCall(transpose_function(array.type, to_rows),
                {lanes, pointers, b_.getInt32((array.size + side - 1) / side),
                 b_.getInt32(array.size - side)});
}

void Emitter::row_load(const Instruction& in) {
  const kernel::Array& array = k_.arrays[in.index];
  for (int u = begin_; u < begin_ + width_; ++u) {
    if (array.size < 2 * static_cast<unsigned>(s_.lanes)) {
      where_all_hold(u, [&] { load_short_rows(in, u); }, [&] { gather_rows(in, u); });
    } else {
      transpose_rows(array, arrays_[in.index][static_cast<std::size_t>(u)],
                     row_pointers(inputs_[array.input], array, u), false);
    }
  }
}

/// Emits what is done where all lanes of a register hold an element, and what is done else.
void Emitter::where_all_hold(int u, llvm::function_ref<void()> all,
                             llvm::function_ref<void()> some) {
  llvm::BasicBlock* all_block = new_block("all_rows");
  llvm::BasicBlock* some_block = new_block("some_rows");
  llvm::BasicBlock* done = new_block("rows_done");
  Value* end = b_.CreateAdd(packet_index(u), b_.getInt32(static_cast<unsigned>(s_.lanes)));
  b_.CreateCondBr(b_.CreateICmpSLE(end, count_), all_block, some_block);
  b_.SetInsertPoint(all_block);
  all();
  b_.CreateBr(done);
  b_.SetInsertPoint(some_block);
  some();
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
}

/// The first row of register `u` in a packet.
Value* Emitter::packet_rows(Value* base, const kernel::Array& array, int u) {
  Value* index = b_.CreateSExt(packet_index(u), b_.getInt64Ty());
  return element_pointer(base, array.type, b_.CreateMul(index, b_.getInt64(array.size)));
}

/// A register whose lanes come from others: `from(lane)` says which one, and which lane of it.
Value* Emitter::pick_lanes(const Values& registers,
                           llvm::function_ref<std::pair<unsigned, unsigned>(unsigned)> from) {
  const auto lanes = static_cast<unsigned>(s_.lanes);
  Value* value = registers[0];
  for (unsigned i = 0; i < registers.size(); ++i) {
    llvm::SmallVector<int, 64> picked;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const auto [number, at] = from(lane);
      // What the first ones lack comes later.
      const unsigned place = number == i ? (i == 0 ? at : lanes + at) : i == 0 ? 0 : lane;
      picked.push_back(static_cast<int>(place));
    }
    value = b_.CreateShuffleVector(value, registers[i], picked);
  }
  return value;
}

/// True when a square of lanes takes fewer shuffles than picking every place out of all registers
/// that the rows are in.
bool Emitter::is_square_shorter(const kernel::Array& array) const {
  const auto lanes = static_cast<unsigned>(s_.lanes);
  if (array.size >= lanes) return true;
  // Rows end before the register does.
  return ops_.has_bit_masks() && array.size * (array.size - 1) > lanes * llvm::Log2_32(lanes);
}

/// The places from `first` on of all rows that begin at `base`: a register each.
Emitter::Values Emitter::load_square(Value* base, const kernel::Array& array, unsigned first) {
  const auto lanes = static_cast<unsigned>(s_.lanes);
  llvm::Type* type = memory_type(array.type, true);
  const llvm::Align align(types::size_of(array.type));
  Values square;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    Value* row = element_pointer(base, array.type, b_.getInt32(lane * array.size + first));
    if (array.size < lanes) {
      Value* none = llvm::Constant::getNullValue(type);
      square.push_back(b_.CreateMaskedLoad(type, row, align, first_lanes(array.size), none));
    } else {
      square.push_back(b_.CreateAlignedLoad(type, row, align));
    }
  }
  transpose(square);
  return square;
}

Value* Emitter::first_lanes(unsigned count) {
  llvm::SmallVector<llvm::Constant*, 64> bits;
  for (unsigned lane = 0; lane < static_cast<unsigned>(s_.lanes); ++lane) {
    bits.push_back(b_.getInt1(lane < count));
  }
  return llvm::ConstantVector::get(bits);
}

/// The rows of a register follow one another: as many registers as a row has places hold them, and
/// each place takes its lanes out of these. Where that is much, by squares of lanes.
void Emitter::load_short_rows(const Instruction& in, int u) {
  const kernel::Array& array = k_.arrays[in.index];
  const auto lanes = static_cast<unsigned>(s_.lanes);
  llvm::Type* type = memory_type(array.type, true);
  const llvm::Align align(types::size_of(array.type));
  Value* base = packet_rows(inputs_[array.input], array, u);
  Values places;
  if (is_square_shorter(array)) {
    places = load_square(base, array, 0);
    if (array.size > lanes) {
      const Values last = load_square(base, array, array.size - lanes);
      places.append(last.begin() + (2 * lanes - array.size), last.end());
    }
  } else {
    Values rows;
    for (unsigned i = 0; i < array.size; ++i) {
      Value* row = b_.CreateConstInBoundsGEP1_32(type, base, i);
      rows.push_back(b_.CreateAlignedLoad(type, row, align));
    }
    for (unsigned place = 0; place < array.size; ++place) {
      places.push_back(pick_lanes(rows, [&](unsigned lane) {
        const unsigned at = lane * array.size + place;
        return std::pair(at / lanes, at % lanes);
      }));
    }
  }
  for (unsigned place = 0; place < array.size; ++place) {
    b_.CreateAlignedStore(places[place], array_row(in, u, b_.getInt32(place)), align);
  }
}

void Emitter::gather_rows(const Instruction& in, int u) {
  const kernel::Array& array = k_.arrays[in.index];
  for (unsigned place = 0; place < array.size; ++place) {
    Value* offsets = nullptr;
    Value* rows = rows_of_lanes(inputs_[array.input], {array.type, array.size}, u, offsets);
    rows = element_pointer(rows, array.type, b_.getInt32(place));
    Value* live = masked_ ? held_[static_cast<std::size_t>(u)] : ops_.mask_constant(true);
    Value* value = to_memory(array.type, gather(array.type, rows, offsets, live));
    b_.CreateAlignedStore(value, array_row(in, u, b_.getInt32(place)),
                          llvm::Align(types::size_of(array.type)));
  }
}

/// Squares of lanes, or whole registers, where all of a register hold an element, else row by row.
void Emitter::row_store(const Instruction& in) {
  const kernel::Array& array = k_.arrays[in.index];
  const auto all = [&](int u) {
    if (array.size < 2 * static_cast<unsigned>(s_.lanes)) return store_short_rows(in, u);
    transpose_rows(array, arrays_[in.index][static_cast<std::size_t>(u)],
                   row_pointers(outputs_[array.output], array, u), true);
  };
  for (int u = begin_; u < begin_ + width_; ++u) {
    if (phase_ != Phase::Packet) {
      store_row_by_row(in, u);
      continue;
    }
    where_all_hold(u, [&] { all(u); }, [&] { store_row_by_row(in, u); });
  }
}

void Emitter::store_square(Value* base, const kernel::Array& array, unsigned first,
                           llvm::ArrayRef<Value*> places) {
  const auto lanes = static_cast<unsigned>(s_.lanes);
  const llvm::Align align(types::size_of(array.type));
  const llvm::ArrayRef<Value*> from = places.slice(first, std::min(lanes, array.size));
  Values square(from.begin(), from.end());
  square.resize(lanes, llvm::PoisonValue::get(memory_type(array.type, true)));
  transpose(square);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    Value* row = element_pointer(base, array.type, b_.getInt32(lane * array.size + first));
    if (array.size < lanes) {
      b_.CreateMaskedStore(square[lane], row, align, first_lanes(array.size));
    } else {
      b_.CreateAlignedStore(square[lane], row, align);
    }
  }
}

/// The other way round: each register of values that follow one another takes its lanes out of the
/// places, or squares of lanes do.
void Emitter::store_short_rows(const Instruction& in, int u) {
  const kernel::Array& array = k_.arrays[in.index];
  const auto lanes = static_cast<unsigned>(s_.lanes);
  llvm::Type* type = memory_type(array.type, true);
  const llvm::Align align(types::size_of(array.type));
  Value* base = packet_rows(outputs_[array.output], array, u);
  Values places;
  for (unsigned place = 0; place < array.size; ++place) {
    places.push_back(b_.CreateAlignedLoad(type, array_row(in, u, b_.getInt32(place)), align));
  }
  if (is_square_shorter(array)) {
    store_square(base, array, 0, places);
    if (array.size > lanes) store_square(base, array, array.size - lanes, places);
    return;
  }
  for (unsigned row = 0; row < array.size; ++row) {
    Value* value = pick_lanes(places, [&](unsigned lane) {
      const unsigned at = row * lanes + lane;
      return std::pair(at % array.size, at / array.size);
    });
    b_.CreateAlignedStore(value, b_.CreateConstInBoundsGEP1_32(type, base, row), align);
  }
}

/// The lanes that hold an element, or are done with it.
void Emitter::store_row_by_row(const Instruction& in, int u) {
  const kernel::Array& array = k_.arrays[in.index];
  llvm::Type* scalar = memory_type(array.type, false);
  const llvm::Align align(types::size_of(array.type));
  const auto i = static_cast<std::size_t>(u);
  Value* ids = new_slot(ops_.iota()->getType(), "row_ids");
  b_.CreateStore(lane_ids(u), ids);
  Value* holds = masked_ || phase_ != Phase::Packet ? held_[i] : ops_.mask_constant(true);
  Value* lanes = b_.CreateZExt(ops_.lane_bits(holds), b_.getInt64Ty());
  count_to(b_.getInt32(static_cast<unsigned>(s_.lanes)), [&](Value* lane) {
    llvm::BasicBlock* store = new_block("store_row");
    llvm::BasicBlock* next = new_block("next_row");
    Value* bit = b_.CreateLShr(lanes, b_.CreateZExt(lane, b_.getInt64Ty()));
    b_.CreateCondBr(b_.CreateTrunc(bit, b_.getInt1Ty()), store, next);
    b_.SetInsertPoint(store);
    Value* id = b_.CreateLoad(b_.getInt32Ty(), b_.CreateInBoundsGEP(b_.getInt32Ty(), ids, lane));
    Value* first = b_.CreateMul(b_.CreateSExt(id, b_.getInt64Ty()), b_.getInt64(array.size));
    Value* row = element_pointer(outputs_[array.output], array.type, first);
    Value* column = b_.CreateInBoundsGEP(scalar, arrays_[in.index][i], lane);
    count_to(b_.getInt32(array.size), [&](Value* place) {
      Value* from = b_.CreateInBoundsGEP(memory_type(array.type, true), column,
                                         b_.CreateSExt(place, b_.getInt64Ty()));
      b_.CreateAlignedStore(b_.CreateAlignedLoad(scalar, from, align),
                            element_pointer(row, array.type, place), align);
    });
    b_.CreateBr(next);
    b_.SetInsertPoint(next);
  });
}

}  // namespace lw::backend::cpu
