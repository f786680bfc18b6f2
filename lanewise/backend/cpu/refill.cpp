// Refill: a lane that leaves the loop stores its result and takes the next element inside of it.
//
//   start   every lane takes its first element
//   main    `steps` steps of all registers (one, if there are loops inside); then, if `threshold`
//           lanes are finished (one pooled branch: a branch per register lets LLVM run the
//           registers one after the other):
//             finished lanes retire (epilogue) and take the next elements (prologue)
//           until no element is left
//   drain   single steps until all lanes are finished
//   end     all lanes that hold an element retire; each does so once, as it may change its arrays
//
// Lanes start only at looks and masks are sticky, so several steps between looks are exact.
#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <algorithm>

#include "lanewise/backend/cpu/emit.h"
#include "lanewise/base/check.h"
#include "lanewise/runtime/context.h"

namespace lw::backend::cpu {

using kernel::Instruction;
using kernel::Kind;
using kernel::RegisterId;
using llvm::Value;
using Layout = runtime::ContextLayout;

void Emitter::split() {
  enum { kBefore = 1, kLoop = 2, kAfter = 4 };
  std::vector<int> touched(k_.registers.size(), 0);
  std::vector<bool> assigned_before(k_.registers.size(), false);
  const auto touch = [&](const Instruction& in, int where) {
    for (const RegisterId r : in.sources) touched[r] |= where;
    if (in.dst == kernel::kNone) return;
    touched[in.dst] |= where;
    if (where == kBefore) assigned_before[in.dst] = true;
  };
  for (const Instruction& in : k_.body()) {
    if (in.kind == Kind::Loop && !in.once) {
      loop_ = &in;
      for (const RegisterId r : in.sources) touched[r] |= kLoop;
      kernel::for_each(k_, [&](const Instruction& inner, int) { touch(inner, kLoop); }, in.block);
    } else if (in.dst == kernel::kNone || !hoisted_[in.dst]) {
      (loop_ == nullptr ? before_ : after_).push_back(&in);
      const int where = loop_ == nullptr ? kBefore : kAfter;
      touch(in, where);
      if (in.once) {
        kernel::for_each(k_, [&](const Instruction& inner, int) { touch(inner, where); }, in.block);
      }
    }
  }
  for (RegisterId r = 0; r < k_.registers.size(); ++r) {
    const int where = touched[r];
    const bool crosses = (where & (where - 1)) != 0;
    if (hoisted_[r] || (!crosses && assignments_[r] < 2)) continue;
    slots_[r] = new_slots(r);
    if (is_varying(r) && assigned_before[r]) crossing_.push_back(r);
  }
}

void Emitter::refill() {
  LW_CHECK(k_.refillable && s_.lanes <= 16 && (ops_.has_bit_masks() || s_.lanes <= 8));
  split();
  const RegisterId alive = loop_->sources[0];
  auto* id_type = ops_.iota()->getType();
  for (int u = 0; u < s_.interleave; ++u) ids_.push_back(new_slot(id_type, "id"));
  next_ = new_slot(b_.getInt32Ty(), "next");
  held_.assign(static_cast<std::size_t>(s_.interleave), nullptr);
  const auto all_lanes = static_cast<unsigned>(s_.interleave * s_.lanes);
  Value* limit = b_.CreateVectorSplat(unsigned(s_.lanes), count_);

  for (int u = 0; u < s_.interleave; ++u) {
    Value* ids = ops_.numbers_from(b_.getInt32(unsigned(u * s_.lanes)));
    take(u, ops_.to_mask(b_.CreateICmpSLT(ids, limit)), nullptr, ids, true);
    b_.CreateStore(ids, ids_[static_cast<std::size_t>(u)]);
  }
  b_.CreateStore(b_.getInt32(all_lanes), next_);
  enter_body();

  llvm::BasicBlock* main = new_block("main");
  llvm::BasicBlock* again = new_block("again");
  llvm::BasicBlock* refill = new_block("refill");
  llvm::BasicBlock* drain = new_block("drain");
  llvm::BasicBlock* drain_step = new_block("drain_step");
  llvm::BasicBlock* end = new_block("end");
  b_.CreateCondBr(b_.CreateICmpSLT(b_.getInt32(all_lanes), count_), main, drain);

  b_.SetInsertPoint(main);
  // A refill decided on masks that are some steps old is as right as any other, and its branch,
  // hard to predict, is known when it is reached.
  const int count = is_innermost(loop_->block) ? s_.steps : 1;
  const int look = count >= 4 ? count / 4 * 2 : count;
  body_steps(0, look, count);
  Value* live = count_live();
  if (look < count) body_steps(look, count, count);
  poll(loop_->block);
  const unsigned most = all_lanes - static_cast<unsigned>(s_.threshold);
  b_.CreateCondBr(b_.CreateICmpULE(live, b_.getInt32(most)), refill, main);

  b_.SetInsertPoint(refill);
  refill_all();
  b_.CreateBr(again);
  b_.SetInsertPoint(again);
  b_.CreateCondBr(b_.CreateICmpSLT(b_.CreateLoad(b_.getInt32Ty(), next_), count_), main, drain);

  b_.SetInsertPoint(drain);
  b_.CreateCondBr(ops_.any(read_all(alive)), drain_step, end);
  b_.SetInsertPoint(drain_step);
  body_steps(0, 1, 1);
  poll(loop_->block, [&] { note_live(count_live()); });
  b_.CreateBr(drain);

  b_.SetInsertPoint(end);
  for (int u = 0; u < s_.interleave; ++u) {
    Value* ids = b_.CreateLoad(id_type, ids_[static_cast<std::size_t>(u)]);
    retire(u, ops_.to_mask(b_.CreateICmpSLT(ids, limit)), false);
  }
  if (!ops_.has_bit_masks()) store_staged();
  b_.CreateRet(b_.getInt32(0));
}

Value* Emitter::count_live() {
  Value* live = b_.getInt32(0);
  for (Value* mask : read_all(loop_->sources[0])) {
    live =
        b_.CreateAdd(live, b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, ops_.lane_bits(mask)));
  }
  return live;
}

void Emitter::note_live(Value* live) {
  const auto all = static_cast<unsigned>(s_.interleave * s_.lanes);
  b_.CreateStore(b_.CreateAdd(live, b_.getInt32(all << 16)), context_place(Layout::kLanes));
}

/// What is noted here holds until the next one: lanes fall from all to as many as there are then.
/// The loop itself must not be asked, whose registers are all in use.
void Emitter::refill_all() {
  const RegisterId alive = loop_->sources[0];
  Value* limit = b_.CreateVectorSplat(unsigned(s_.lanes), count_);
  Value* const before = b_.CreateLoad(b_.getInt32Ty(), next_);
  for (int u = 0; u < s_.interleave; ++u) {
    Value* dead = ops_.mask_not(read(alive, u, true));
    retire(u, dead, true);
    Value* next = b_.CreateLoad(b_.getInt32Ty(), next_);
    Value* order = rank(dead);
    Value* ids = b_.CreateAdd(b_.CreateVectorSplat(unsigned(s_.lanes), next), order);
    Value* is_there = ops_.to_mask(b_.CreateICmpSLT(ids, limit));
    take(u, b_.CreateAnd(dead, is_there), order, ids, false);
    // Where no element is left, a lane gets a number that none has: it has nothing to retire.
    Value* held = ids_[static_cast<std::size_t>(u)];
    Value* old = b_.CreateLoad(ids->getType(), held);
    b_.CreateStore(b_.CreateSelect(ops_.from_mask(dead), ids, old), held);
    Value* taken = b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, ops_.lane_bits(dead));
    b_.CreateStore(b_.CreateAdd(next, taken), next_);
  }
  Value* dead = b_.CreateSub(b_.CreateLoad(b_.getInt32Ty(), next_), before);
  Value* all = b_.getInt32(static_cast<unsigned>(s_.interleave * s_.lanes));
  note_live(b_.CreateSub(all, b_.CreateLShr(dead, 1)));
  enter_body();
}

void Emitter::body_steps(int first, int end, int count) {
  enter_body();
  steps(loop_->block, first, end, count);
}

/// What follows is about all registers again.
void Emitter::enter_body() {
  phase_ = Phase::Body;
  begin_ = 0;
  width_ = s_.interleave;
}

void Emitter::take(int u, Value* fill, Value* order, Value* ids, bool first) {
  phase_ = Phase::Prologue;
  begin_ = u;
  width_ = 1;
  fill_ = fill;
  rank_ = order;
  take_ids_ = ids;
  is_first_take_ = first;
  // The prologue writes to slots of its own; then the filled lanes are moved over.
  std::vector<Values> state = slots_;
  for (const RegisterId r : crossing_) slots_[r] = new_slots(r);
  for (const Instruction* in : before_) instruction(*in);
  std::vector<Values> taken = std::exchange(slots_, std::move(state));
  const auto i = static_cast<std::size_t>(u);
  const auto move = [&](Value* from, Value* to) {
    auto* type = llvm::cast<llvm::AllocaInst>(to)->getAllocatedType();
    Value* value = b_.CreateLoad(type, from);
    if (!first) value = b_.CreateSelect(ops_.from_mask(fill), value, b_.CreateLoad(type, to));
    b_.CreateStore(value, to);
  };
  for (const RegisterId r : crossing_) move(taken[r][i], slots_[r][i]);
}

void Emitter::retire(int u, Value* done, bool all_hold_elements) {
  phase_ = Phase::Epilogue;
  begin_ = u;
  width_ = 1;
  held_[static_cast<std::size_t>(u)] = done;
  all_hold_elements_ = all_hold_elements;
  for (const Instruction* in : after_) instruction(*in);
}

// --- storing without scatter ---

void Emitter::scatter_lanes(std::uint32_t output, int u, Value* ids, Value* value) {
  const DType t = k_.outputs[output].type;
  if (all_hold_elements_) {
    // Plain stores of all lanes beat a branch per lane. An unfinished lane stores a value that is
    // overwritten when it finishes.
    for (int lane = 0; lane < s_.lanes; ++lane) {
      const auto i = static_cast<std::uint64_t>(lane);
      b_.CreateAlignedStore(b_.CreateExtractElement(value, i),
                            element_pointer(outputs_[output], t, b_.CreateExtractElement(ids, i)),
                            llvm::Align(types::size_of(t)));
    }
    return;
  }
  // At the end some lanes may hold nothing. A loop over all lanes is small code for what is done
  // once.
  const auto all_lanes = static_cast<std::uint64_t>(s_.interleave * s_.lanes);
  if (staged_.empty()) {
    staged_ids_ = new_slot(llvm::ArrayType::get(b_.getInt32Ty(), all_lanes), "staged_ids");
    for (const types::Item& item : k_.outputs) {
      staged_.push_back(
          new_slot(llvm::ArrayType::get(memory_type(item.type, false), all_lanes), "staged"));
    }
  }
  Value* place = b_.getInt64(static_cast<std::uint64_t>(u * s_.lanes));
  b_.CreateAlignedStore(value, element_pointer(staged_[output], t, place), llvm::Align(1));
  b_.CreateAlignedStore(ids, b_.CreateInBoundsGEP(b_.getInt32Ty(), staged_ids_, place),
                        llvm::Align(1));
}

void Emitter::store_staged() {
  Value* lane = new_slot(b_.getInt32Ty(), "lane");
  b_.CreateStore(b_.getInt32(0), lane);
  llvm::BasicBlock* test = new_block("test_lane");
  llvm::BasicBlock* store = new_block("store_lane");
  llvm::BasicBlock* next = new_block("next_lane");
  llvm::BasicBlock* done = new_block("stored");
  b_.CreateBr(test);
  b_.SetInsertPoint(test);
  Value* number = b_.CreateLoad(b_.getInt32Ty(), lane);
  Value* at =
      b_.CreateInBoundsGEP(b_.getInt32Ty(), staged_ids_, b_.CreateSExt(number, b_.getInt64Ty()));
  Value* id = b_.CreateLoad(b_.getInt32Ty(), at);
  b_.CreateCondBr(b_.CreateICmpSLT(id, count_), store, next);
  b_.SetInsertPoint(store);
  for (std::size_t i = 0; i < staged_.size(); ++i) {
    if (k_.outputs[i].is_row()) continue;  // stored lane by lane already
    const DType t = k_.outputs[i].type;
    Value* value = b_.CreateLoad(memory_type(t, false), element_pointer(staged_[i], t, number));
    b_.CreateStore(value, element_pointer(outputs_[i], t, id));
  }
  b_.CreateBr(next);
  b_.SetInsertPoint(next);
  Value* following = b_.CreateAdd(number, b_.getInt32(1));
  b_.CreateStore(following, lane);
  const auto all_lanes = static_cast<unsigned>(s_.interleave * s_.lanes);
  b_.CreateCondBr(b_.CreateICmpSLT(following, b_.getInt32(all_lanes)), test, done);
  b_.SetInsertPoint(done);
}

// --- taking elements ---

/// Row m holds, for each lane of mask m, how many lanes before it are set.
Value* Emitter::rank_table() {
  const std::string name = "rank" + std::to_string(s_.lanes);
  if (auto* known = module_.getNamedGlobal(name)) return known;
  std::vector<std::uint32_t> numbers;
  for (unsigned mask = 0; mask < 1u << s_.lanes; ++mask) {
    std::uint32_t before = 0;
    for (int lane = 0; lane < s_.lanes; ++lane) {
      numbers.push_back(before);
      before += (mask >> lane) & 1;
    }
  }
  auto* data = llvm::ConstantDataArray::get(b_.getContext(), numbers);
  auto* table = new llvm::GlobalVariable(module_, data->getType(), true,
                                         llvm::GlobalValue::PrivateLinkage, data, name);
  table->setAlignment(llvm::Align(64));
  return table;
}

Value* Emitter::rank(Value* mask) {
  auto* type = ops_.iota()->getType();
  if (ops_.has_bit_masks()) {
    // Expanding 0, 1, 2, ... into the set lanes; from memory it is one instruction.
    auto* numbers = llvm::cast<llvm::Constant>(ops_.iota());
    auto* table = module_.getNamedGlobal("iota");
    if (table == nullptr) {
      table = new llvm::GlobalVariable(module_, type, true, llvm::GlobalValue::PrivateLinkage,
                                       numbers, "iota");
      table->setAlignment(llvm::Align(64));
    }
    return b_.CreateMaskedExpandLoad(type, table, mask, llvm::Constant::getNullValue(type));
  }
  Value* row = b_.CreateInBoundsGEP(type, rank_table(),
                                    b_.CreateZExt(ops_.lane_bits(mask), b_.getInt64Ty()));
  return b_.CreateAlignedLoad(type, row, llvm::Align(4));
}

Value* Emitter::expand_load(std::uint32_t input, int u) {
  const DType t = k_.inputs[input].type;
  if (is_first_take_) {
    return load_lanes(input, b_.getInt32(static_cast<unsigned>(u * s_.lanes)), fill_);
  }
  llvm::Type* lanes = memory_type(t, true);
  Value* next = b_.CreateLoad(b_.getInt32Ty(), next_);
  Value* zero = llvm::Constant::getNullValue(lanes);
  Value* value = nullptr;
  if (ops_.has_bit_masks()) {
    value = b_.CreateMaskedExpandLoad(lanes, element_pointer(inputs_[input], t, next), fill_, zero);
  } else {
    Value* numbers = ops_.numbers_from(next);
    Value* limit = b_.CreateVectorSplat(unsigned(s_.lanes), count_);
    Value* there = b_.CreateICmpSLT(numbers, limit);
    const llvm::Align align(types::size_of(t));
    if (s_.isa == plan::Isa::V3 && t != DType::Bool &&
        s_.lanes * std::max(4, static_cast<int>(types::size_of(t))) <= 32) {
      value =
          b_.CreateMaskedLoad(lanes, element_pointer(inputs_[input], t, next), align, there, zero);
      value = permute(value, rank_);
    } else {
      Value* at = b_.CreateInBoundsGEP(memory_type(t, false), inputs_[input], take_ids_);
      value = b_.CreateMaskedGather(lanes, at, align, ops_.from_mask(fill_), zero);
    }
  }
  return from_memory(t, value);
}

/// Lane i of the result is lane order[i]; AVX2, up to one 256-bit register.
Value* Emitter::permute(Value* lanes, Value* order) {
  auto* type = lanes->getType();
  auto* floats8 = llvm::FixedVectorType::get(b_.getFloatTy(), 8);
  auto* floats4 = llvm::FixedVectorType::get(b_.getFloatTy(), 4);
  const unsigned bits = type->getScalarSizeInBits();
  if (bits < 32) {
    auto* wide = llvm::FixedVectorType::get(b_.getInt32Ty(), static_cast<unsigned>(s_.lanes));
    return b_.CreateTrunc(permute(b_.CreateZExt(lanes, wide), order), type);
  }
  if (s_.lanes == 8 && bits == 32) {
    Value* moved = b_.CreateIntrinsic(llvm::Intrinsic::x86_avx2_permps, {},
                                      {b_.CreateBitCast(lanes, floats8), order});
    return b_.CreateBitCast(moved, type);
  }
  if (s_.lanes == 4 && bits == 64) {
    // Two 32-bit halves per lane: 2 * order and the one behind it.
    Value* twice = b_.CreateShuffleVector(b_.CreateShl(order, 1), {0, 0, 1, 1, 2, 2, 3, 3});
    Value* halves = llvm::ConstantDataVector::get(
        b_.getContext(), llvm::ArrayRef<std::uint32_t>{0, 1, 0, 1, 0, 1, 0, 1});
    Value* moved =
        b_.CreateIntrinsic(llvm::Intrinsic::x86_avx2_permps, {},
                           {b_.CreateBitCast(lanes, floats8), b_.CreateOr(twice, halves)});
    return b_.CreateBitCast(moved, type);
  }
  LW_CHECK(s_.lanes == 4 && bits == 32);
  Value* moved = b_.CreateIntrinsic(llvm::Intrinsic::x86_avx_vpermilvar_ps, {},
                                    {b_.CreateBitCast(lanes, floats4), order});
  return b_.CreateBitCast(moved, type);
}

}  // namespace lw::backend::cpu
