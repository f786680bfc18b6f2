// Inner: one element after the other has all lanes to itself. What it does outside of every `each`
// is scalar code; in an `each`, lanes hold neighbouring positions, whole packets of them without
// masks and the rest with.
#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include "lanewise/backend/cpu/emit.h"
#include "lanewise/base/check.h"
#include "lanewise/kernel/invariant.h"
#include "lanewise/runtime/context.h"

namespace lw::backend::cpu {

using kernel::Instruction;
using kernel::Kind;
using llvm::Type;
using llvm::Value;
using ops::Op;
using Layout = runtime::ContextLayout;

namespace {

constexpr int kStripes = static_cast<int>(ir::kStripes);

bool is_place(const Instruction& in) { return ir::gives_place(static_cast<ir::Collect>(in.index)); }

}  // namespace

void Emitter::inner() {
  const int width = std::exchange(width_, 1);
  for (kernel::RegisterId r = 0; r < k_.registers.size(); ++r) {
    if (assignments_[r] > 1) slots_[r] = new_slots(r);
  }
  each_width_ = width;
  kernel::for_each(k_, [&](const Instruction& in, int) {
    if (streams_ == nullptr && is_last_write(in)) streams_ = may_stream();
  });
  const std::vector<bool> invariant = kernel::find_invariant(k_);
  for (std::size_t i = 0; i < invariant.size(); ++i) {
    const Instruction& in = k_.body()[i];
    if (!invariant[i] || is_skipped(in)) continue;
    instruction(in);
    done_.insert(&in);
  }
  Value* at = new_slot(b_.getInt32Ty(), "element");
  b_.CreateStore(b_.getInt32(0), at);
  llvm::BasicBlock* more = new_block("more");
  llvm::BasicBlock* body = new_block("element");
  llvm::BasicBlock* done = new_block("done");
  next_element_ = new_block("next_element");
  b_.CreateBr(more);
  b_.SetInsertPoint(more);
  element_ = b_.CreateLoad(b_.getInt32Ty(), at);
  b_.CreateCondBr(b_.CreateICmpSLT(element_, count_), body, done);
  b_.SetInsertPoint(body);
  block(0);
  b_.CreateBr(next_element_);
  b_.SetInsertPoint(next_element_);
  b_.CreateStore(b_.CreateAdd(element_, b_.getInt32(1)), at);
  poll(0);
  b_.CreateBr(more);
  b_.SetInsertPoint(done);
  if (streams_ != nullptr) finish_streams(streams_);
  b_.CreateRet(b_.getInt32(0));
}

/// It is told, and the next one comes.
void Emitter::leave_element(const Instruction& in) {
  llvm::BasicBlock* record = new_block("fail");
  llvm::BasicBlock* go_on = new_block("no_fail");
  Value* fails =
      is_varying(in.sources[0]) ? ops_.any(read_all(in.sources[0])) : read(in.sources[0], 0, false);
  b_.CreateCondBr(fails, record, go_on, unlikely());
  b_.SetInsertPoint(record);
  b_.CreateStore(element_, ids_memory_);
  call_out(Layout::kFail, "lanewise_enter_fail", b_.getVoidTy(),
           {context_, b_.getInt32(in.index), b_.getInt64(1), ids_memory_, first_});
  b_.CreateBr(next_element_);
  b_.SetInsertPoint(go_on);
}

// --- each ---

void Emitter::each(const Instruction& in) {
  for (const Instruction& inner : k_.blocks[in.block]) {
    if (inner.kind != Kind::Collect) continue;
    Stripes& stripes = stripes_[inner.dst];
    const auto registers = static_cast<unsigned>(kStripes / s_.lanes);
    const auto rows = [&](DType t) {
      return new_slot(llvm::ArrayType::get(ops_.lane_type(t), registers), "stripes");
    };
    if (stripes.values == nullptr) {
      stripes.values = rows(type(inner.sources[0]));
      if (is_place(inner)) stripes.places = rows(DType::I32);
    }
    for (unsigned i = 0; i < registers; ++i) {
      b_.CreateStore(neutral(inner), stripe_slot(stripes.values, b_.getInt32(i)));
      if (!is_place(inner)) continue;
      b_.CreateStore(llvm::Constant::getNullValue(ops_.lane_type(DType::I32)),
                     stripe_slot(stripes.places, b_.getInt32(i)));
    }
  }
  const bool combines = std::any_of(k_.blocks[in.block].begin(), k_.blocks[in.block].end(),
                                    [](const auto& i) { return i.kind == Kind::Collect; });
  if (in.sources.empty()) {
    known_positions(in, combines);
  } else {
    counted_positions(in, combines);
  }
  for (const Instruction& inner : k_.blocks[in.block]) {
    if (inner.kind != Kind::Collect) continue;
    const bool may_be_few = !in.sources.empty() && types::is_float(type(inner.sources[0]));
    write(inner.dst, 0,
          is_place(inner) ? best_place(inner)
          : may_be_few    ? combined_by_count(inner)
                          : combined(inner));
  }
}

/// Where values are combined, a step is all stripes, a register of positions for each register of
/// those, or a part of them.
int Emitter::registers_a_step(bool combines, int most) const {
  return combines ? std::min(kStripes / s_.lanes, most) : std::min(each_width_, most);
}

void Emitter::known_positions(const Instruction& in, bool combines) {
  step_registers_ = registers_a_step(combines, kMostPositions);
  const auto size = static_cast<int>(in.index);
  const int packet = step_registers_ * s_.lanes;
  const int whole = size / packet * packet;
  positions_ = b_.getInt32(in.index);
  if (whole > 0) {
    Value* slot = new_slot(b_.getInt32Ty(), "position");
    b_.CreateStore(b_.getInt32(0), slot);
    llvm::BasicBlock* step = new_block("positions");
    llvm::BasicBlock* rest = new_block("rest");
    b_.CreateBr(step);
    b_.SetInsertPoint(step);
    Value* next = whole_step(in, slot);
    b_.CreateCondBr(b_.CreateICmpSLT(next, b_.getInt32(static_cast<unsigned>(whole))), step, rest);
    b_.SetInsertPoint(rest);
  }
  if (whole < size) {
    const int left = (size - whole + s_.lanes - 1) / s_.lanes;
    positions(in, 0, left, b_.getInt32(static_cast<unsigned>(whole)),
              (size - whole) % s_.lanes != 0);
  }
}

/// Whole steps as long as there are, then one register after the other.
void Emitter::counted_positions(const Instruction& in, bool combines) {
  constexpr int kFewRegisters = 4;  // there is code for each of them twice
  step_registers_ = registers_a_step(combines, kFewRegisters);
  Value* count = read(in.sources[0], 0, false);
  positions_ = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, count, b_.getInt32(in.index));
  Value* slot = new_slot(b_.getInt32Ty(), "position");
  b_.CreateStore(b_.getInt32(0), slot);
  llvm::BasicBlock* look = new_block("look");
  llvm::BasicBlock* step = new_block("positions");
  llvm::BasicBlock* rest = new_block("rest");
  llvm::BasicBlock* done = new_block("positions_done");
  const auto further = [&](int registers) {
    const auto by = static_cast<unsigned>(registers * s_.lanes);
    return b_.CreateAdd(b_.CreateLoad(b_.getInt32Ty(), slot), b_.getInt32(by));
  };
  b_.CreateBr(look);
  b_.SetInsertPoint(look);
  b_.CreateCondBr(b_.CreateICmpSLE(further(step_registers_), positions_), step, rest);
  b_.SetInsertPoint(step);
  whole_step(in, slot);
  b_.CreateBr(look);
  b_.SetInsertPoint(rest);
  for (int u = 0; u < step_registers_; ++u) {
    llvm::BasicBlock* some = new_block("rest_of_positions");
    b_.CreateCondBr(b_.CreateICmpSLT(further(u), positions_), some, done);
    b_.SetInsertPoint(some);
    positions(in, u, 1, further(0), true);
  }
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
}

/// A step without masks from the position in the slot on, which moves on.
Value* Emitter::whole_step(const Instruction& in, Value* slot) {
  // Behind them, sums would sink below the look, out of the order that the divider wants.
  const auto& body = k_.blocks[in.block];
  const bool looks_first =
      std::any_of(body.begin(), body.end(), [&](const auto& i) { return ends_part(i); });
  if (looks_first) poll(in.block);
  Value* first = b_.CreateLoad(b_.getInt32Ty(), slot);
  positions(in, 0, step_registers_, first, false);
  Value* next = b_.CreateAdd(first, b_.getInt32(static_cast<unsigned>(step_registers_ * s_.lanes)));
  b_.CreateStore(next, slot);
  if (!looks_first) poll(in.block);
  return next;
}

void Emitter::positions(const Instruction& in, int begin, int width, Value* first, bool masked) {
  position_ = first;
  masked_ = masked;
  held_.assign(static_cast<std::size_t>(begin + width), nullptr);
  for (int u = begin; u < begin + width && masked; ++u) {
    if (u + 1 < begin + width) {  // only the last has lanes without a position
      held_[static_cast<std::size_t>(u)] = ops_.mask_constant(true);
      continue;
    }
    Value* from = b_.CreateAdd(first, b_.getInt32(static_cast<unsigned>(u * s_.lanes)));
    Value* limit = b_.CreateVectorSplat(unsigned(s_.lanes), positions_);
    held_[static_cast<std::size_t>(u)] =
        ops_.to_mask(b_.CreateICmpSLT(ops_.numbers_from(from), limit));
  }
  const int outer = std::exchange(width_, width);
  const int outer_begin = std::exchange(begin_, begin);
  block(in.block);
  begin_ = outer_begin;
  width_ = outer;
}

// --- combining ---

Value* Emitter::neutral(const Instruction& in) {
  const DType t = type(in.sources[0]);
  return ops_.splat(ops_.constant(ir::neutral(static_cast<ir::Collect>(in.index), t)), t);
}

Value* Emitter::combine(const Instruction& in, Value* a, Value* b) {
  const DType t = type(in.sources[0]);
  return ops_.compute(ir::combining_op(static_cast<ir::Collect>(in.index)), t, t, true, a, b,
                      nullptr);
}

/// One fma for a sum of products that are near.
Value* Emitter::fused_sum(const Instruction& in, Value* old, int u) {
  const Instruction* product = made_by(in.sources[0]);
  if (static_cast<ir::Collect>(in.index) != ir::Collect::Sum || product == nullptr ||
      !product->near || product->op != Op::Mul || made_by(product->sources[0]) == nullptr ||
      made_by(product->sources[1]) == nullptr) {
    return nullptr;
  }
  const DType t = type(product->dst);
  return ops_.compute(Op::Fma, t, t, true, read(product->sources[0], u, true),
                      read(product->sources[1], u, true), old);
}

void Emitter::collect(const Instruction& in) {
  const Stripes& stripes = stripes_[in.dst];
  const DType t = type(in.sources[0]);
  const auto registers = static_cast<unsigned>(kStripes / s_.lanes);
  for (int u = begin_; u < begin_ + width_; ++u) {
    const auto i = static_cast<std::size_t>(u);
    Value* row = b_.getInt32(static_cast<unsigned>(u));
    if (registers > static_cast<unsigned>(step_registers_)) {
      row =
          b_.CreateAdd(b_.CreateUDiv(position_, b_.getInt32(static_cast<unsigned>(s_.lanes))), row);
      row = b_.CreateAnd(row, b_.getInt32(registers - 1));
    }
    Value* value = read(in.sources[0], u, true);
    Value* slot = stripe_slot(stripes.values, row);
    Value* old = b_.CreateLoad(ops_.lane_type(t), slot);
    if (is_place(in)) {
      const bool least = static_cast<ir::Collect>(in.index) == ir::Collect::ArgMin;
      Value* takes =
          ops_.compute(least ? Op::Lt : Op::Gt, t, DType::Bool, true, value, old, nullptr);
      if (types::is_float(t)) {
        Value* is_nan = ops_.compute(Op::Ne, t, DType::Bool, true, value, value, nullptr);
        Value* is_number = ops_.compute(Op::Eq, t, DType::Bool, true, old, old, nullptr);
        takes = b_.CreateOr(takes, b_.CreateAnd(is_nan, is_number));
      }
      if (masked_) takes = b_.CreateAnd(takes, held_[i]);
      Value* first = b_.CreateAdd(position_, b_.getInt32(static_cast<unsigned>(u * s_.lanes)));
      Value* place_slot = stripe_slot(stripes.places, row);
      Value* place = b_.CreateLoad(ops_.lane_type(DType::I32), place_slot);
      Value* chosen = ops_.from_mask(takes);
      b_.CreateStore(b_.CreateSelect(chosen, ops_.numbers_from(first), place), place_slot);
      b_.CreateStore(b_.CreateSelect(chosen, value, old), slot);
      continue;
    }
    Value* sum = fused_sum(in, old, u);
    if (sum == nullptr) sum = combine(in, old, value);
    if (masked_) sum = ops_.compute(Op::Select, t, t, true, held_[i], sum, old);
    b_.CreateStore(sum, slot);
  }
}

Value* Emitter::stripe_slot(Value* rows, Value* row) {
  Type* type = llvm::cast<llvm::AllocaInst>(rows)->getAllocatedType();
  return b_.CreateInBoundsGEP(type, rows, {b_.getInt32(0), row});
}

Emitter::Values Emitter::stripe_values(Value* rows, DType type) {
  Values values;
  for (unsigned i = 0; i < static_cast<unsigned>(kStripes / s_.lanes); ++i) {
    values.push_back(b_.CreateLoad(ops_.lane_type(type), stripe_slot(rows, b_.getInt32(i))));
  }
  return values;
}

/// Few values from left to right: each is in a stripe of its own, and others change nothing.
Value* Emitter::combined_by_count(const Instruction& in) {
  llvm::BasicBlock* few = new_block("few");
  llvm::BasicBlock* many = new_block("many");
  llvm::BasicBlock* done = new_block("combined");
  const auto most = static_cast<unsigned>(ir::kFewTerms);
  b_.CreateCondBr(b_.CreateICmpSLE(positions_, b_.getInt32(most)), few, many);
  b_.SetInsertPoint(few);
  const DType t = type(in.sources[0]);
  const Values values = stripe_values(stripes_[in.dst].values, t);
  const auto lanes = static_cast<unsigned>(s_.lanes);
  Value* in_order = b_.CreateExtractElement(values[0], std::uint64_t{0});
  for (unsigned s = 1; s < most; ++s) {
    Value* next = b_.CreateExtractElement(values[s / lanes], std::uint64_t{s % lanes});
    const Op op = ir::combining_op(static_cast<ir::Collect>(in.index));
    in_order = ops_.compute(op, t, t, false, in_order, next, nullptr);
  }
  b_.CreateBr(done);
  few = b_.GetInsertBlock();
  b_.SetInsertPoint(many);
  Value* in_stripes = combined(in);
  b_.CreateBr(done);
  many = b_.GetInsertBlock();
  b_.SetInsertPoint(done);
  auto* result = b_.CreatePHI(in_order->getType(), 2);
  result->addIncoming(in_order, few);
  result->addIncoming(in_stripes, many);
  return result;
}

/// Stripes s with s + 32, s + 16 and so on: registers first, then halves of one.
Value* Emitter::combined(const Instruction& in) {
  const DType t = type(in.sources[0]);
  Values values = stripe_values(stripes_[in.dst].values, t);
  while (values.size() > 1) {
    const std::size_t half = values.size() / 2;
    for (std::size_t i = 0; i < half; ++i) values[i] = combine(in, values[i], values[i + half]);
    values.resize(half);
  }
  for (int half = s_.lanes / 2; half > 0; half /= 2) {
    llvm::SmallVector<int, 64> upper;
    for (int i = 0; i < s_.lanes; ++i) upper.push_back((i + half) % s_.lanes);
    values[0] = combine(in, values[0], b_.CreateShuffleVector(values[0], upper));
  }
  Value* value = values[0];
  if (t == DType::Bool) value = ops_.from_mask(value);
  return b_.CreateExtractElement(value, std::uint64_t{0});
}

/// The best of all lanes; of equals the first.
Value* Emitter::best_place(const Instruction& in) {
  const DType t = type(in.sources[0]);
  const bool least = static_cast<ir::Collect>(in.index) == ir::Collect::ArgMin;
  const Values values = stripe_values(stripes_[in.dst].values, t);
  const Values places = stripe_values(stripes_[in.dst].places, DType::I32);
  Value* best = values[0];
  Value* best_place = places[0];
  const auto better = [&](Value*& value, Value*& place, Value* other, Value* other_place) {
    Value* takes =
        ops_.compute(least ? Op::Lt : Op::Gt, t, DType::Bool, true, other, value, nullptr);
    Value* equal = ops_.compute(Op::Eq, t, DType::Bool, true, other, value, nullptr);
    Value* is_nan = nullptr;
    if (types::is_float(t)) {
      Value* a = ops_.compute(Op::Ne, t, DType::Bool, true, value, value, nullptr);
      Value* b = ops_.compute(Op::Ne, t, DType::Bool, true, other, other, nullptr);
      equal = b_.CreateOr(equal, b_.CreateAnd(a, b));
      is_nan = b_.CreateAnd(b, ops_.mask_not(a));
    }
    Value* earlier =
        ops_.compute(Op::Lt, DType::I32, DType::Bool, true, other_place, place, nullptr);
    takes = b_.CreateOr(takes, b_.CreateAnd(equal, earlier));
    if (is_nan != nullptr) takes = b_.CreateOr(takes, is_nan);
    Value* chosen = ops_.from_mask(takes);
    value = b_.CreateSelect(chosen, other, value);
    place = b_.CreateSelect(chosen, other_place, place);
  };
  for (std::size_t i = 1; i < values.size(); ++i) better(best, best_place, values[i], places[i]);
  for (int half = s_.lanes / 2; half > 0; half /= 2) {
    llvm::SmallVector<int, 64> upper;
    for (int i = 0; i < s_.lanes; ++i) upper.push_back((i + half) % s_.lanes);
    better(best, best_place, b_.CreateShuffleVector(best, upper),
           b_.CreateShuffleVector(best_place, upper));
  }
  return b_.CreateExtractElement(best_place, std::uint64_t{0});
}

// --- rows, tables and arrays ---

bool Emitter::is_flat(const Instruction& in) const { return k_.arrays[in.index].is_flat; }

Value* Emitter::flat_values(const Instruction& in, DType& type) {
  const auto of_element = [&](Value* array, std::uint32_t size) {
    Value* element = b_.CreateSExt(element_, b_.getInt64Ty());
    return element_pointer(array, type, b_.CreateMul(element, b_.getInt64(size)));
  };
  if (in.kind == Kind::TableRead || in.kind == Kind::TableWrite) {
    type = k_.tables[in.index];
    return tables_[in.index];
  }
  if (in.kind == Kind::RowRead) {
    type = k_.inputs[in.index].type;
    return of_element(inputs_[in.index], k_.inputs[in.index].size);
  }
  const kernel::Array& array = k_.arrays[in.index];
  type = array.type;
  if (array.output != kernel::kNone) return of_element(outputs_[array.output], array.size);
  return arrays_[in.index][0];
}

/// How far the place of the first lane's position is from that of position 0.
Value* Emitter::steps_from_first(const Instruction& in, int u) {
  Value* at = b_.CreateAdd(position_, b_.getInt32(static_cast<unsigned>(u * s_.lanes)));
  return b_.CreateMul(b_.CreateSExt(at, b_.getInt64Ty()),
                      b_.getInt64(static_cast<std::uint64_t>(std::int64_t{in.step})));
}

Value* Emitter::stepped_pointer(const Instruction& in, Value* base, DType type, int u) {
  Value* first = b_.CreateSExt(read(in.sources[0], 0, false), b_.getInt64Ty());
  return element_pointer(element_pointer(base, type, first), type, steps_from_first(in, u));
}

void Emitter::flat_read(const Instruction& in) {
  DType t = DType::F32;
  Value* base = flat_values(in, t);
  const llvm::Align align(types::size_of(t));
  if (!is_varying(in.dst)) {
    Value* at = element_pointer(base, t, read(in.sources[0], 0, false));
    return write(in.dst, 0, from_memory(t, b_.CreateAlignedLoad(memory_type(t, false), at, align)));
  }
  llvm::Type* lanes = memory_type(t, true);
  for (int u = begin_; u < begin_ + width_; ++u) {
    if (in.step == 0) {
      write(in.dst, u, gather(t, base, read(in.sources[0], u, true), read(in.sources[1], u, true)));
      continue;
    }
    Value* mask = read(in.sources[1], u, true);
    const auto* known = llvm::dyn_cast<llvm::Constant>(mask);
    const bool are_all_live = known != nullptr && known->isAllOnesValue();
    if (in.step != 1) {
      auto* type = ops_.iota()->getType();
      Value* places = b_.CreateMul(
          ops_.iota(),
          llvm::ConstantInt::get(type, static_cast<std::uint64_t>(std::int64_t{in.step})));
      Value* from = base;
      if (are_all_live) {
        from = stepped_pointer(in, base, t, u);
      } else {  // counted from place 0, which dead lanes may read
        Value* first = b_.CreateSExtOrTrunc(read(in.sources[0], 0, false), b_.getInt32Ty());
        first = b_.CreateAdd(first, b_.CreateTrunc(steps_from_first(in, u), b_.getInt32Ty()));
        places = b_.CreateAdd(places, b_.CreateVectorSplat(unsigned(s_.lanes), first));
      }
      write(in.dst, u, gather(t, from, places, mask));
      continue;
    }
    Value* at = stepped_pointer(in, base, t, u);
    Value* value = are_all_live ? static_cast<Value*>(b_.CreateAlignedLoad(lanes, at, align))
                                : b_.CreateMaskedLoad(lanes, at, align, ops_.from_mask(mask),
                                                      llvm::Constant::getNullValue(lanes));
    write(in.dst, u, from_memory(t, value));
  }
}

/// In an `each`, to places that follow one another; outside, to one.
void Emitter::flat_write(const Instruction& in) {
  DType t = DType::F32;
  Value* base = flat_values(in, t);
  const llvm::Align align(types::size_of(t));
  if (in.step == 0) {
    LW_CHECK(!is_varying(in.sources[0]) && !is_varying(in.sources[1]));
    Value* value = read(in.sources[1], 0, false);
    if (t == DType::Bool) value = b_.CreateZExt(value, b_.getInt8Ty());
    b_.CreateAlignedStore(value, element_pointer(base, t, read(in.sources[0], 0, false)), align);
    return;
  }
  LW_CHECK(in.step == 1);
  Values values, places, masks;
  for (int u = begin_; u < begin_ + width_; ++u) {
    values.push_back(to_memory(t, read(in.sources[1], u, true)));
    places.push_back(stepped_pointer(in, base, t, u));
    masks.push_back(read(in.sources[2], u, true));
  }
  const auto store_all = [&] {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto* known = llvm::dyn_cast<llvm::Constant>(masks[i]);
      if (known != nullptr && known->isAllOnesValue()) {
        b_.CreateAlignedStore(values[i], places[i], align);
      } else {
        b_.CreateMaskedStore(values[i], places[i], align, ops_.from_mask(masks[i]));
      }
    }
  };
  if (!is_last_write(in) || !stream_positions(values, places, masks, t, store_all)) store_all();
}

void Emitter::flat_fill(const Instruction& in) {
  DType t = DType::F32;
  Value* base = flat_values(in, t);
  Value* value = read(in.sources[0], 0, false);
  if (t == DType::Bool) value = b_.CreateZExt(value, b_.getInt8Ty());
  const auto lanes = static_cast<unsigned>(s_.lanes);
  const std::uint32_t size = k_.arrays[in.index].size;
  const llvm::Align align(types::size_of(t));
  if (size >= lanes) {
    Value* all = b_.CreateVectorSplat(lanes, value);
    count_to(b_.getInt32(size / lanes), [&](Value* i) {
      Value* first = b_.CreateMul(i, b_.getInt32(lanes));
      b_.CreateAlignedStore(all, element_pointer(base, t, first), align);
    });
  }
  for (std::uint32_t i = size / lanes * lanes; i < size; ++i) {
    b_.CreateAlignedStore(value, element_pointer(base, t, b_.getInt32(i)), align);
  }
}

}  // namespace lw::backend::cpu
