#include "lanewise/backend/cpu/emit.h"

#include <algorithm>
#include <functional>

#include <llvm/IR/Constants.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/MDBuilder.h>

#include "lanewise/base/check.h"
#include "lanewise/runtime/context.h"

namespace lw::backend::cpu {

using kernel::Instruction;
using kernel::Kind;
using kernel::RegisterId;
using llvm::Type;
using llvm::Value;
using ops::Op;
using Layout = runtime::ContextLayout;

void emit(llvm::Module& module, const std::string& name, const kernel::Kernel& kernel,
          const plan::Schedule& schedule) {
  Emitter emitter(module, name, kernel, schedule);
  if (kernel.inner) {
    emitter.inner();
  } else if (schedule.refill) {
    emitter.refill();
  } else {
    emitter.packets();
  }
}

Emitter::Emitter(llvm::Module& module, const std::string& name, const kernel::Kernel& kernel,
                 const plan::Schedule& schedule)
    : module_(module),
      k_(kernel),
      s_(schedule),
      b_(module.getContext()),
      ops_(b_, schedule.isa, schedule.lanes),
      width_(schedule.interleave),
      most_(kernel.inner ? std::max(schedule.interleave, kMostPositions) : schedule.interleave),
      group_(schedule.isa == plan::Isa::V4 ? 4 : 1),
      estimates_(choose_estimates(kernel, schedule)) {
  Type* pointer = b_.getPtrTy();
  auto* signature =
      llvm::FunctionType::get(b_.getInt32Ty(), {pointer, b_.getInt64Ty(), b_.getInt64Ty()}, false);
  function_ = llvm::Function::Create(signature, llvm::Function::ExternalLinkage, name, module);
  function_->addFnAttr("target-cpu", plan::name_of(s_.isa));
  function_->addFnAttr("prefer-vector-width", "512");
  function_->addFnAttr("min-legal-vector-width", "512");
  function_->addFnAttr(llvm::Attribute::NoUnwind);
  function_->addFnAttr(llvm::Attribute::NoRedZone);  // call_out pushes
  function_->addFnAttr("stackrealign");              // or spilled registers straddle cache lines
  context_ = function_->getArg(0);
  first_ = function_->getArg(1);

  b_.SetInsertPoint(new_block("entry"));
  count_ = b_.CreateTrunc(function_->getArg(2), b_.getInt32Ty(), "count");
  const auto arrays = [&](int offset, const std::vector<types::Item>& items, Values& out) {
    if (items.empty()) return;
    Value* list = context_field(offset, pointer);
    for (unsigned i = 0; i < items.size(); ++i) {
      Value* array = b_.CreateLoad(pointer, b_.CreateConstInBoundsGEP1_32(pointer, list, i));
      Value* first = items[i].is_row() ? b_.CreateMul(first_, b_.getInt64(items[i].size)) : first_;
      out.push_back(element_pointer(array, items[i].type, first));
    }
  };
  arrays(Layout::kInputs, k_.inputs, inputs_);
  arrays(Layout::kOutputs, k_.outputs, outputs_);
  for (std::uint32_t i = 0; i < k_.tables.size(); ++i) {
    tables_.push_back(table_field(i, offsetof(types::Table, data), pointer));
  }
  const kernel::FlatLayout layout = kernel::flat_layout(k_);
  Value* scratch = layout.bytes > 0 ? context_field(Layout::kScratch, pointer) : nullptr;
  for (std::size_t i = 0; i < k_.arrays.size(); ++i) {
    const kernel::Array& array = k_.arrays[i];
    Type* rows = llvm::ArrayType::get(memory_type(array.type, !array.is_flat), array.size);
    arrays_.emplace_back();
    if (array.is_flat && array.output != kernel::kNone) continue;  // it has the output's memory
    if (layout.offsets[i] != kernel::kNone) {
      arrays_.back().push_back(
          b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), scratch, layout.offsets[i]));
      continue;
    }
    for (int u = 0; u < (array.is_flat ? 1 : most_); ++u) {
      arrays_.back().push_back(new_slot(rows, "array"));
      llvm::cast<llvm::AllocaInst>(arrays_.back().back())->setAlignment(llvm::Align(64));
    }
  }
  if (!k_.sites.empty()) {
    ids_memory_ = new_slot(llvm::FixedVectorType::get(b_.getInt32Ty(), unsigned(s_.lanes)), "ids");
  }

  stopped_ = llvm::BasicBlock::Create(module.getContext(), "stopped", function_);
  llvm::IRBuilder<>(stopped_).CreateRet(
      b_.getInt32(static_cast<std::uint32_t>(runtime::Status::Stopped)));

  values_.resize(k_.registers.size());
  slots_.resize(k_.registers.size());
  hoisted_.assign(k_.registers.size(), false);
  for (auto& v : values_) v.assign(static_cast<std::size_t>(most_), nullptr);
  count_assignments();
  hoist_uniform();
  find_neighbours();
  find_few_places();
  find_byte_functions();
  find_checks();
}

llvm::BasicBlock* Emitter::new_block(const llvm::Twine& name) {
  return llvm::BasicBlock::Create(module_.getContext(), name, function_);
}

// --- registers ---

/// What `fail` clears counts as assigned there.
void Emitter::count_assignments() {
  assignments_.assign(k_.registers.size(), 0);
  reads_.assign(k_.registers.size(), 0);
  definition_.assign(k_.registers.size(), nullptr);
  kernel::for_each(k_, [&](const Instruction& in, int) {
    if (in.dst != kernel::kNone) {
      ++assignments_[in.dst];
      definition_[in.dst] = &in;
    }
    for (const RegisterId r : in.sources) ++reads_[r];
    if (in.kind == Kind::Active) active_ = in.dst;
    if (in.kind == Kind::Element) has_numbers_ = true;
    if (in.kind == Kind::Fail) {
      for (std::size_t i = 1; i < in.sources.size(); ++i) ++assignments_[in.sources[i]];
    }
  });
}

llvm::Type* Emitter::register_type(RegisterId r) const {
  return is_varying(r) ? ops_.lane_type(type(r)) : ops_.scalar_type(type(r));
}

Value* Emitter::new_slot(Type* type, const llvm::Twine& name) {
  llvm::IRBuilder<> entry(&function_->getEntryBlock(), function_->getEntryBlock().begin());
  return entry.CreateAlloca(type, nullptr, name);
}

Emitter::Values Emitter::new_slots(RegisterId r) {
  Values slots;
  for (int u = 0; u < (is_varying(r) ? most_ : 1); ++u) {
    slots.push_back(new_slot(register_type(r), "r" + llvm::Twine(r)));
  }
  return slots;
}

Value* Emitter::written(RegisterId r, int u) {
  const auto i = static_cast<std::size_t>(is_varying(r) ? u : 0);
  Value* value = values_[r][i];
  if (!slots_[r].empty()) {
    value =
        b_.CreateLoad(llvm::cast<llvm::AllocaInst>(slots_[r][i])->getAllocatedType(), slots_[r][i]);
  }
  LW_CHECK(value != nullptr);
  return value;
}

Value* Emitter::read(RegisterId r, int u, bool lanes) {
  Value* value = written(r, u);
  // While lanes retire one by one, the epilogue sees only those as active.
  if (phase_ == Phase::Epilogue && r == active_) {
    value = b_.CreateAnd(value, held_[static_cast<std::size_t>(u)]);
  }
  return lanes && !is_varying(r) ? ops_.splat(value, type(r)) : value;
}

void Emitter::write(RegisterId r, int u, Value* value) {
  places_.erase(r);
  const auto i = static_cast<std::size_t>(is_varying(r) ? u : 0);
  if (slots_[r].empty()) {
    values_[r][i] = value;
  } else {
    b_.CreateStore(value, slots_[r][i]);
  }
}

Emitter::Values Emitter::read_all(RegisterId r) {
  Values values;
  for (int u = begin_; u < begin_ + width_; ++u) values.push_back(read(r, u, true));
  return values;
}

// --- instructions ---

/// Uniform values outside of loops do not depend on the packet: computed once, at the entry.
void Emitter::hoist_uniform() {
  Value* shared = k_.shared.empty() ? nullptr : context_field(Layout::kShared, b_.getPtrTy());
  for (const Instruction& in : k_.body()) {
    if (in.dst == kernel::kNone || is_varying(in.dst) || assignments_[in.dst] != 1) continue;
    bool ready = !k_.inner || in.kind == Kind::Constant || in.kind == Kind::Shared ||
                 in.kind == Kind::TableSize || in.kind == Kind::TableRead ||
                 in.kind == Kind::Compute || in.kind == Kind::Copy;
    for (const RegisterId r : in.sources) ready = ready && hoisted_[r];
    if (!ready) continue;
    hoisted_[in.dst] = true;
    if (in.kind == Kind::Constant) {
      write(in.dst, 0, ops_.constant(in.constant));
    } else if (in.kind == Kind::Shared) {
      Value* at = b_.CreateConstInBoundsGEP1_32(b_.getInt64Ty(), shared, in.index);
      write(in.dst, 0,
            from_memory(type(in.dst), b_.CreateLoad(memory_type(type(in.dst), false), at)));
    } else {
      instruction(in);
    }
  }
}

bool Emitter::is_local(const Instruction& in) const {
  if (checks_.count(&in) > 0) return false;  // all registers are looked at together
  if (k_.inner && (in.kind == Kind::Collect || in.kind == Kind::Position)) return true;
  if (in.kind == Kind::ArrayWrite || in.kind == Kind::ArrayRead || in.kind == Kind::RowRead ||
      in.kind == Kind::TableWrite) {
    return !k_.inner || in.step != 0 || is_varying(in.sources[0]);
  }
  return (in.kind == Kind::Compute || in.kind == Kind::Copy || in.kind == Kind::TableRead) &&
         is_varying(in.dst);
}

bool Emitter::is_skipped(const Instruction& in) const {
  if ((in.dst != kernel::kNone && hoisted_[in.dst]) || done_.count(&in) > 0) return true;
  // A test that cannot hold at this step.
  return in.period != 0 && in.period % step_count_ == 0 &&
         step_ != (in.at_end ? step_count_ - 1 : 0);
}

/// Runs of instructions that only touch their own lanes are emitted for a group of registers before
/// the next: finishing one group before the next begins saves most spills, and the processor
/// overlaps them all the same.
void Emitter::block(kernel::BlockId id) {
  const auto& body = k_.blocks[id];
  for (std::size_t i = 0; i < body.size();) {
    std::size_t end = i;
    bool waits = false;
    for (; end < body.size() && is_local(body[end]); ++end) waits = waits || ends_part(body[end]);
    if (end == i) {
      if (!is_skipped(body[i])) instruction(body[i]);
      ++i;
      continue;
    }
    const std::span<const Instruction> run(body.data() + i, end - i);
    const int begin = begin_;
    const int width = width_;
    if (waits) {
      in_turns(run);
    } else {
      width_ = std::min(width_, group_);
      for (; begin_ < begin + width; begin_ += width_) {
        width_ = std::min(width_, begin + width - begin_);
        instructions(run);
      }
    }
    begin_ = begin;
    width_ = width;
    i = end;
  }
}

void Emitter::instructions(std::span<const Instruction> run) {
  for (const Instruction& in : run) {
    if (!is_skipped(in)) instruction(in);
  }
}

/// What waits for the divider is left for the next register, and taken up again a turn later: a
/// root, its reciprocal, and what comes behind are of three registers at a time.
void Emitter::in_turns(std::span<const Instruction> run) {
  std::vector<std::span<const Instruction>> parts;
  for (std::size_t i = 0, from = 0; i < run.size(); ++i) {
    if (!ends_part(run[i]) && i + 1 < run.size()) continue;
    parts.push_back(run.subspan(from, i + 1 - from));
    from = i + 1;
  }
  const int begin = begin_;
  const int width = std::exchange(width_, 1);
  const int count = static_cast<int>(parts.size());
  const auto part = [&](int number, int turn) {
    const int u = turn - number;
    if (u < 0 || u >= width) return;
    begin_ = begin + u;
    instructions(parts[static_cast<std::size_t>(number)]);
  };
  for (int turn = 0; turn < width + count - 1; ++turn) {
    part(0, turn);
    for (int number = count - 1; number > 0; --number) part(number, turn);
  }
}

void Emitter::steps(kernel::BlockId id, int first, int end, int count) {
  const int outer_step = step_;
  const int outer_count = std::exchange(step_count_, count);
  const auto& body = k_.blocks[id];
  const bool pairs = group_ == 1 && std::all_of(body.begin(), body.end(),
                                                [&](const auto& in) { return is_local(in); });
  if (pairs) {
    // Two steps of a register at a time: it is loaded and spilled half as often.
    const int begin = begin_;
    const int width = std::exchange(width_, 1);
    for (; first < end; first += 2) {
      for (begin_ = begin; begin_ < begin + width; ++begin_) {
        for (step_ = first; step_ < std::min(end, first + 2); ++step_) block(id);
      }
    }
    begin_ = begin;
    width_ = width;
  } else {
    for (step_ = first; step_ < end; ++step_) block(id);
  }
  step_ = outer_step;
  step_count_ = outer_count;
}

void Emitter::instruction(const Instruction& in) {
  switch (in.kind) {
    case Kind::Constant:
    case Kind::Shared:
      LW_UNREACHABLE("constants and shared values stand outside of loops");
      return;
    case Kind::Active:
      for (int u = begin_; u < begin_ + width_; ++u) {
        write(in.dst, u,
              phase_ == Phase::Prologue ? fill_
              : masked_                 ? held_[static_cast<std::size_t>(u)]
                                        : ops_.mask_constant(true));
      }
      return;
    case Kind::Load:
      if (k_.inner) {
        const DType t = type(in.dst);
        Value* at = element_pointer(inputs_[in.index], t, element_);
        return write(in.dst, 0, from_memory(t, b_.CreateLoad(memory_type(t, false), at)));
      }
      for (int u = begin_; u < begin_ + width_; ++u) {
        if (phase_ == Phase::Prologue) {
          write(in.dst, u, expand_load(in.index, u));
        } else {
          Value* mask = masked_ ? held_[static_cast<std::size_t>(u)] : nullptr;
          write(in.dst, u, load_lanes(in.index, packet_index(u), mask));
        }
      }
      return;
    case Kind::Compute:
      return compute(in);
    case Kind::Copy:
      if (!is_varying(in.dst)) return write(in.dst, 0, read(in.sources[0], 0, false));
      for (int u = begin_; u < begin_ + width_; ++u) write(in.dst, u, read(in.sources[0], u, true));
      return;
    case Kind::Loop:
      return kernel::is_part(in) ? part(in) : in.once ? branch(in) : loop(in);
    case Kind::ExitIf: {
      llvm::BasicBlock* go_on = new_block("stay");
      b_.CreateCondBr(read(in.sources[0], 0, false), exits_[exits_.size() - 1 - in.index], go_on);
      b_.SetInsertPoint(go_on);
      return;
    }
    case Kind::Fail:
      return k_.inner ? leave_element(in) : fail(in);
    case Kind::Store:
      if (k_.inner) {
        const DType t = type(in.sources[0]);
        Value* value = read(in.sources[0], 0, false);
        if (t == DType::Bool) value = b_.CreateZExt(value, b_.getInt8Ty());
        b_.CreateStore(value, element_pointer(outputs_[in.index], t, element_));
        return;
      }
      return store(in);
    case Kind::Element:
      return element(in);
    case Kind::TableSize:
      return write(in.dst, 0, table_field(in.index, offsetof(types::Table, size), b_.getInt64Ty()));
    case Kind::TableRead:
      return in.step != 0 ? flat_read(in) : table_read(in);
    case Kind::TableWrite:
      return k_.inner ? flat_write(in) : table_write(in);
    case Kind::RowRead:
      return k_.inner ? flat_read(in) : row_read(in);
    case Kind::RowLoad:
      return row_load(in);
    case Kind::RowStore:
      return row_store(in);
    case Kind::Array:
      return is_flat(in) ? flat_fill(in) : array_fill(in);
    case Kind::ArrayRead:
      return is_flat(in) ? flat_read(in) : array_read(in);
    case Kind::ArrayWrite:
      return is_flat(in) ? flat_write(in) : array_write(in);
    case Kind::Each:
      return each(in);
    case Kind::Position:
      for (int u = begin_; u < begin_ + width_; ++u) {
        Value* first = b_.CreateAdd(position_, b_.getInt32(static_cast<unsigned>(u * s_.lanes)));
        write(in.dst, u, ops_.numbers_from(first));
      }
      return;
    case Kind::Collect:
      return collect(in);
  }
}

void Emitter::compute(const Instruction& in) {
  if (const auto check = checks_.find(&in); check != checks_.end()) {
    return narrow(in, *check->second);
  }
  const auto table = byte_tables_.find(&in);
  if (table != byte_tables_.end()) return look_up_bytes(in, table->second);
  if (estimate_of(in) == Estimate::QuotientByOne) {
    const auto found = quotients(b_, read_all(in.sources[0]), read(in.sources[1], 0, false));
    for (int u = 0; u < width_; ++u) write(in.dst, begin_ + u, found[static_cast<std::size_t>(u)]);
    return;
  }
  const bool varying = is_varying(in.dst);
  const DType operand = type(in.sources.back());
  const int from = varying ? begin_ : 0;
  const int to = varying ? begin_ + width_ : 1;
  Values results;
  for (int u = from; u < to; ++u) {
    Value* value = masked_add(in, u);
    if (value == nullptr) value = add_of_mask(in, u);
    if (value == nullptr) value = estimated(in, u);
    if (value == nullptr) value = loaded_difference(in, u);
    if (value == nullptr) {
      Value* v[3] = {nullptr, nullptr, nullptr};
      for (std::size_t i = 0; i < in.sources.size(); ++i) v[i] = read(in.sources[i], u, varying);
      value = ops_.compute(in.op, operand, type(in.dst), varying, v[0], v[1], v[2]);
    }
    results.push_back(value);
  }
  for (int u = from; u < to; ++u) write(in.dst, u, results[static_cast<std::size_t>(u - from)]);
}

/// x - y as x + -y, where x was just loaded and y is the same for all lanes: an addition takes x
/// from memory, which needs no register then.
Value* Emitter::loaded_difference(const Instruction& in, int u) {
  if (!k_.inner || in.op != Op::Sub || !types::is_float(type(in.dst)) ||
      is_varying(in.sources[1]) || !is_varying(in.sources[0])) {
    return nullptr;
  }
  const Instruction* x = made_by(in.sources[0]);
  const bool is_loaded =
      x != nullptr && x->step == 1 && (x->kind == Kind::TableRead || x->kind == Kind::RowRead);
  if (!is_loaded) return nullptr;
  const DType t = type(in.dst);
  Value* negated = ops_.splat(b_.CreateFNeg(read(in.sources[1], 0, false)), t);
  return b_.CreateFAdd(negated, read(in.sources[0], u, true));
}

Value* Emitter::estimated(const Instruction& in, int u) {
  const auto source = [&](std::size_t i) { return read(in.sources[i], u, true); };
  switch (estimate_of(in)) {
    case Estimate::None:
    case Estimate::InvertedRoot:
    case Estimate::QuotientByOne:  // of all registers at a time
      return nullptr;
    case Estimate::ReciprocalOfRoot:
      return reciprocal_of_root(b_, source(1));
    case Estimate::NearInverseRoot:
      return near_inverse_root(b_, read(made_by(in.sources[1])->sources[0], u, true));
    case Estimate::NearReciprocal:
      return near_reciprocal(b_, source(1));
    case Estimate::NearQuotient:
      return near_quotient(b_, source(0), source(1));
    case Estimate::NearRoot:
      return near_root(b_, source(0));
  }
  return nullptr;
}

/// True when both are of one block, so that what the first reads is there for the second too. A
/// refilled loop parts the block it stands in.
bool Emitter::stand_together(const Instruction& first, const Instruction& second) const {
  const std::less_equal<const Instruction*> is_before;
  const auto skipped = s_.refill ? 1 : 0;
  return std::any_of(k_.blocks.begin() + skipped, k_.blocks.end(), [&](const auto& block) {
    return !block.empty() && is_before(&block.front(), &first) && is_before(&first, &second) &&
           is_before(&second, &block.back());
  });
}

/// x + 1 in the lanes of a mask for x + number(mask): one instruction with mask registers.
Value* Emitter::add_of_mask(const Instruction& in, int u) {
  if (in.op != Op::Add || !ops_.has_bit_masks() || !is_varying(in.dst) ||
      !types::is_integer(type(in.dst))) {
    return nullptr;
  }
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    const Instruction* number = made_by(in.sources[i]);
    const bool is_mask = number != nullptr && number->kind == Kind::Compute &&
                         number->op == Op::Convert && is_varying(number->sources[0]) &&
                         type(number->sources[0]) == DType::Bool &&
                         assignments_[number->sources[0]] == 1 && stand_together(*number, in);
    if (!is_mask) continue;
    Value* x = read(in.sources[1 - i], u, true);
    Value* more = b_.CreateAdd(x, llvm::ConstantInt::get(x->getType(), 1));
    return b_.CreateSelect(read(number->sources[0], u, true), more, x);
  }
  return nullptr;
}

Value* Emitter::masked_add(const Instruction& in, int u) {
  if (in.op != Op::Select || ops_.has_bit_masks() || !is_varying(in.dst) ||
      !is_varying(in.sources[0]) || !types::is_integer(type(in.dst)) ||
      types::size_of(type(in.dst)) * 8 != ops_.mask_element_bits()) {
    return nullptr;
  }
  const Instruction* sum = made_by(in.sources[1]);
  if (sum == nullptr || sum->kind != Kind::Compute || sum->op != Op::Add ||
      sum->sources[0] != in.sources[2] || is_varying(sum->sources[1]) ||
      assignments_[sum->sources[1]] != 1) {  // it may have changed since: a counter
    return nullptr;
  }
  Value* addend = read(sum->sources[1], u, true);
  Value* mask = read(in.sources[0], u, true);
  Value* old = read(in.sources[2], u, true);
  const auto* literal = llvm::dyn_cast<llvm::Constant>(addend);
  if (literal != nullptr && literal->isOneValue()) return b_.CreateSub(old, mask);
  return b_.CreateAdd(old, b_.CreateAnd(mask, addend));
}

bool Emitter::is_innermost(kernel::BlockId id) const {
  for (const Instruction& in : k_.blocks[id]) {
    if (in.kind == Kind::Loop && !(in.once && is_innermost(in.block))) return false;
  }
  return true;
}

llvm::MDNode* Emitter::unlikely() {
  return llvm::MDBuilder(module_.getContext()).createBranchWeights(1, 1000);
}

/// The block is run at most once, if any lane needs it.
void Emitter::branch(const Instruction& in) {
  llvm::BasicBlock* taken = new_block("taken");
  llvm::BasicBlock* common = new_block("common");
  const bool is_uniform = !is_varying(in.sources[0]);
  Value* any = is_uniform ? read(in.sources[0], 0, false) : any_of(in.sources[0]);
  b_.CreateCondBr(any, taken, common, in.rare ? unlikely() : nullptr);
  b_.SetInsertPoint(taken);
  if (!in.rare || is_uniform || !is_closed(in.block)) {
    exits_.push_back(common);
    if (!is_uniform && asks_for_lanes(in)) block_of_all(in, common);
    block(in.block);
    exits_.pop_back();
  } else {
    call_rare(in.block);
  }
  b_.CreateBr(common);
  b_.SetInsertPoint(common);
}

/// True for a short block much of which depends on which lanes run it.
bool Emitter::asks_for_lanes(const Instruction& branch) const {
  constexpr std::size_t kMost = 64;
  const auto& body = k_.blocks[branch.block];
  std::size_t asking = 0;
  for (const Instruction& in : body) {
    if (in.kind == Kind::Loop) return false;
    asking +=
        std::find(in.sources.begin(), in.sources.end(), branch.sources[0]) != in.sources.end();
  }
  return body.size() <= kMost && asking * 4 >= body.size();
}

/// The block of a branch without masks, for the case that all lanes take it.
void Emitter::block_of_all(const Instruction& branch, llvm::BasicBlock* common) {
  llvm::BasicBlock* all = new_block("all");
  llvm::BasicBlock* some = new_block("some");
  const RegisterId mask = branch.sources[0];
  b_.CreateCondBr(ops_.all(read_all(mask)), all, some);
  b_.SetInsertPoint(all);
  const Values masks = values_[mask];
  for (int u = begin_; u < begin_ + width_; ++u) {
    write(mask, u, llvm::Constant::getAllOnesValue(register_type(mask)));
  }
  block(branch.block);
  values_[mask] = masks;
  b_.CreateBr(common);
  b_.SetInsertPoint(some);
}

/// Where a mask says |x| > c, one comparison of the larger magnitude serves two registers.
Value* Emitter::any_of(RegisterId mask) {
  const Instruction* copy = made_by(mask);
  const bool is_copy = copy != nullptr && copy->kind == Kind::Copy;
  const Instruction* test = computed_by(is_copy ? copy->sources[0] : mask, Op::Gt);
  const Instruction* size = test == nullptr ? nullptr : computed_by(test->sources[0], Op::Abs);
  if (s_.isa != plan::Isa::V4 || width_ == 1 || size == nullptr ||
      !types::is_float(type(size->dst)) || packet_bytes(type(size->dst)) != 64 ||
      made_by(size->sources[0]) == nullptr || is_varying(test->sources[1])) {
    return ops_.any(read_all(mask));
  }
  const Values values = read_all(size->sources[0]);
  Value* bound = read(test->sources[1], 0, true);
  // In twos: a signalling NaN hides the other value, and gives a NaN, for which the branch is taken
  // too; a third value would hide that NaN.
  Values masks;
  for (std::size_t i = 0; i < values.size(); i += 2) {
    Value* second = values[std::min(i + 1, values.size() - 1)];
    masks.push_back(b_.CreateFCmpUGT(ops_.larger_magnitude(values[i], second), bound));
  }
  return ops_.any(masks);
}

void Emitter::loop(const Instruction& in) {
  llvm::BasicBlock* look = new_block("look");
  llvm::BasicBlock* body = new_block("step");
  llvm::BasicBlock* exit = new_block("left");
  forget_words(in.block);
  b_.CreateBr(look);
  b_.SetInsertPoint(look);
  if (in.sources.empty()) {
    b_.CreateBr(body);
  } else {
    b_.CreateCondBr(ops_.any(read_all(in.sources[0])), body, exit);
  }
  b_.SetInsertPoint(body);
  exits_.push_back(exit);
  const int count = is_innermost(in.block) ? s_.steps : 1;
  // Sums would sink below a look at the end, while what is added waits in registers.
  const bool looks_first = s_.batched > 0;
  if (looks_first) poll(in.block);
  steps(in.block, 0, count, count);
  exits_.pop_back();
  if (!looks_first) poll(in.block);
  b_.CreateBr(look);
  b_.SetInsertPoint(exit);
}

void Emitter::poll(kernel::BlockId loop, llvm::function_ref<void()> note) {
  llvm::BasicBlock* ask = new_block("ask");
  llvm::BasicBlock* go_on = new_block("go_on");
  auto* attention = b_.CreateLoad(b_.getInt32Ty(), context_place(Layout::kAttention));
  attention->setAtomic(llvm::AtomicOrdering::Monotonic);
  attention->setAlignment(llvm::Align(4));
  b_.CreateCondBr(b_.CreateICmpNE(attention, b_.getInt32(0)), ask, go_on, unlikely());
  b_.SetInsertPoint(ask);
  // Here and not in the loop: what is seldom asked for costs nothing.
  auto* number = b_.CreateStore(b_.getInt32(loop), context_place(Layout::kLoop));
  number->setAtomic(llvm::AtomicOrdering::Monotonic);
  number->setAlignment(llvm::Align(4));
  if (note) note();
  Value* answer = call_out(Layout::kPoll, "lanewise_enter_poll", b_.getInt32Ty(), {context_});
  b_.CreateCondBr(b_.CreateICmpNE(answer, b_.getInt32(0)), stopped_, go_on);
  b_.SetInsertPoint(go_on);
}

Value* Emitter::call_out(int field, const char* entry, Type* result,
                         llvm::ArrayRef<Value*> arguments) {
  llvm::SmallVector<Type*, 5> types;
  for (Value* argument : arguments) types.push_back(argument->getType());
  auto* signature = llvm::FunctionType::get(result, types, false);
  if (s_.isa == plan::Isa::V2) {  // may lack xsave
    return b_.CreateCall(signature, context_field(field, b_.getPtrTy()), arguments);
  }
  constexpr const char* kRegisters[] = {"{di}", "{si}", "{dx}", "{cx}", "{r8}"};
  std::string constraints = result->isVoidTy() ? "" : "={ax},";
  for (std::size_t i = 0; i < arguments.size(); ++i)
    constraints += kRegisters[i] + std::string(",");
  constraints += "~{dirflag},~{fpsr},~{flags},~{memory}";
  auto* call = llvm::InlineAsm::get(signature, std::string("callq ") + entry + "@PLT", constraints,
                                    /*hasSideEffects=*/true);
  return b_.CreateCall(signature, call, arguments);
}

void Emitter::store(const Instruction& in) {
  const DType t = type(in.sources[0]);
  const llvm::Align align(types::size_of(t));
  if (phase_ == Phase::Packet && streams_ != nullptr) return store_streaming(in);
  for (int u = begin_; u < begin_ + width_; ++u) {
    const auto i = static_cast<std::size_t>(u);
    Value* value = to_memory(t, read(in.sources[0], u, true));
    if (phase_ == Phase::Packet) {
      Value* at = element_pointer(outputs_[in.index], t, packet_index(u));
      if (masked_) {
        b_.CreateMaskedStore(value, at, align, ops_.from_mask(held_[i]));
      } else {
        b_.CreateAlignedStore(value, at, align);
      }
      continue;
    }
    Value* ids = b_.CreateLoad(ops_.iota()->getType(), ids_[i]);
    if (!ops_.has_bit_masks()) {
      scatter_lanes(in.index, u, ids, value);
      continue;
    }
    Value* at = b_.CreateInBoundsGEP(memory_type(t, false), outputs_[in.index], ids);
    b_.CreateMaskedScatter(value, at, align, ops_.from_mask(held_[i]));
  }
}

// --- memory ---

Value* Emitter::packet_index(int u) {
  return b_.CreateAdd(base_, b_.getInt32(static_cast<unsigned>(u * s_.lanes)));
}

/// A bool in memory is a byte.
Type* Emitter::memory_type(DType type, bool lanes) const {
  Type* scalar =
      type == DType::Bool ? llvm::Type::getInt8Ty(module_.getContext()) : ops_.scalar_type(type);
  return lanes ? llvm::FixedVectorType::get(scalar, static_cast<unsigned>(s_.lanes)) : scalar;
}

Value* Emitter::from_memory(DType type, Value* value) {
  if (type != DType::Bool) return value;
  Value* bits = b_.CreateICmpNE(value, llvm::Constant::getNullValue(value->getType()));
  return value->getType()->isVectorTy() ? ops_.to_mask(bits) : bits;
}

Value* Emitter::to_memory(DType type, Value* value) {
  if (type != DType::Bool) return value;
  return b_.CreateZExt(ops_.from_mask(value), memory_type(type, true));
}

Value* Emitter::element_pointer(Value* base, DType type, Value* index) {
  return b_.CreateInBoundsGEP(memory_type(type, false), base,
                              b_.CreateSExt(index, b_.getInt64Ty()));
}

Value* Emitter::context_place(int offset) {
  return b_.CreateConstInBoundsGEP1_32(b_.getInt8Ty(), context_, static_cast<unsigned>(offset));
}

Value* Emitter::context_field(int offset, Type* type) {
  return b_.CreateLoad(type, context_place(offset));
}

Value* Emitter::load_lanes(std::uint32_t input, Value* index, Value* mask) {
  const DType t = k_.inputs[input].type;
  Value* at = element_pointer(inputs_[input], t, index);
  Type* lanes = memory_type(t, true);
  const llvm::Align align(types::size_of(t));
  Value* value = mask == nullptr ? static_cast<Value*>(b_.CreateAlignedLoad(lanes, at, align))
                                 : b_.CreateMaskedLoad(lanes, at, align, ops_.from_mask(mask),
                                                       llvm::Constant::getNullValue(lanes));
  return from_memory(t, value);
}

}  // namespace lw::backend::cpu
