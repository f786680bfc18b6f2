// Blocks that become functions of their own: parts that recur, and what is rarely run.
#include <algorithm>

#include <llvm/IR/Constants.h>

#include "lanewise/backend/cpu/emit.h"

namespace lw::backend::cpu {

using kernel::Instruction;
using kernel::Kind;
using kernel::RegisterId;
using llvm::Type;
using llvm::Value;

/// Parts that do the same are compiled once, so that a long chain of functions stays in the
/// instruction cache: for as many registers as a function can return.
void Emitter::part(const Instruction& in) {
  constexpr int kReturned = 4;
  if (!is_closed(in.block)) return block(in.block);
  const Interface& of = interface_of(in.block);
  const int begin = begin_;
  const int width = width_;
  for (; begin_ < begin + width; begin_ += width_) {
    width_ = std::min(kReturned, begin + width - begin_);
    Values arguments;
    for (const RegisterId r : of.inputs) {
      for (int i = 0; i < copies(r); ++i) {
        arguments.push_back(b_.CreateBitCast(read(r, begin_ + i, false), passed_type(r)));
      }
    }
    Value* results = b_.CreateCall(block_function(in.block, width_, false), arguments);
    unsigned at = 0;
    for (const RegisterId r : of.outputs) {
      for (int i = 0; i < copies(r); ++i) {
        Value* value = b_.CreateExtractValue(results, at++);
        write(r, begin_ + i, b_.CreateBitCast(value, register_type(r)));
      }
    }
  }
  begin_ = begin;
  width_ = width;
}

/// True when a block computes and does nothing else.
bool Emitter::is_closed(kernel::BlockId id) const {
  bool closed = true;
  kernel::for_each(
      k_,
      [&](const Instruction& in, int) {
        const bool is_plain_once = in.once && (in.sources.empty() || is_varying(in.sources[0]));
        closed = closed && (in.kind == Kind::Compute || in.kind == Kind::Copy || is_plain_once);
      },
      id);
  return closed;
}

llvm::Type* Emitter::passed_type(RegisterId r) const {
  Type* type = register_type(r);
  const bool is_bits = type->isVectorTy() && type->getScalarType()->isIntegerTy(1);
  return is_bits ? Type::getIntNTy(module_.getContext(), static_cast<unsigned>(s_.lanes)) : type;
}

llvm::StructType* Emitter::frame_type(const Interface& of) const {
  std::vector<Type*> fields;
  for (const auto* list : {&of.inputs, &of.outputs}) {
    for (const RegisterId r : *list) fields.push_back(register_type(r));
  }
  return llvm::StructType::get(module_.getContext(), fields);
}

const Emitter::Interface& Emitter::interface_of(kernel::BlockId id) {
  const auto [at, is_new] = interfaces_.try_emplace(id);
  Interface& of = at->second;
  if (!is_new) return of;
  // Registers are numbered by where they appear: inputs odd, those the block assigns even.
  std::map<RegisterId, std::uint64_t> number;
  std::map<RegisterId, std::pair<int, int>> here;  // assignments, reads
  std::vector<RegisterId> assigned;
  const auto describe = [&](RegisterId r) {
    return static_cast<std::uint64_t>(type(r)) << 1 | is_varying(r);
  };
  kernel::for_each(
      k_,
      [&](const Instruction& in, int depth) {
        of.key.push_back(static_cast<std::uint64_t>(in.kind) << 32 |
                         static_cast<std::uint64_t>(estimate_of(in)) << 28 |
                         static_cast<std::uint64_t>(in.op) << 16 |
                         static_cast<std::uint64_t>(depth));
        for (const RegisterId r : in.sources) {
          ++here[r].second;
          if (hoisted_[r] && llvm::isa<llvm::Constant>(values_[r][0])) {
            of.key.push_back(reinterpret_cast<std::uintptr_t>(values_[r][0]));
            continue;
          }
          if (number.try_emplace(r, 2 * of.inputs.size() + 1).second) of.inputs.push_back(r);
          of.key.push_back(number[r] << 8 | describe(r));
        }
        if (in.dst == kernel::kNone) return;
        if (++here[in.dst].first == 1) assigned.push_back(in.dst);
        number.try_emplace(in.dst, 2 * assigned.size());
        of.key.push_back(number[in.dst] << 8 | describe(in.dst));
      },
      id);
  for (const RegisterId r : assigned) {
    if (here[r] == std::pair(assignments_[r], reads_[r])) continue;
    of.outputs.push_back(r);
    of.key.push_back(number[r]);
  }
  return of;
}

llvm::Function* Emitter::block_function(kernel::BlockId id, int width, bool rare) {
  const Interface& of = interface_of(id);
  llvm::Function*& function = functions_[{of.key, rare ? 0 : width}];
  if (function != nullptr) return function;
  llvm::StructType* const frame = frame_type(of);
  const int outer_begin = std::exchange(begin_, 0);
  const int outer_width = std::exchange(width_, width);
  std::vector<Type*> arguments;
  std::vector<Type*> results;
  for (const RegisterId r : of.inputs) {
    arguments.insert(arguments.end(), static_cast<unsigned>(copies(r)), passed_type(r));
  }
  for (const RegisterId r : of.outputs) {
    results.insert(results.end(), static_cast<unsigned>(copies(r)), passed_type(r));
  }
  auto* result = llvm::StructType::get(module_.getContext(), results);
  auto* signature = rare ? llvm::FunctionType::get(b_.getVoidTy(), {b_.getPtrTy()}, false)
                         : llvm::FunctionType::get(result, arguments, false);
  function = llvm::Function::Create(signature, llvm::Function::InternalLinkage,
                                    rare ? "rare" : "part", module_);
  function->copyAttributesFrom(function_);
  function->setDSOLocal(true);
  function->addFnAttr(llvm::Attribute::NoInline);
  if (rare) function->addFnAttr(llvm::Attribute::Cold);

  // The block in the new function, as if there were nothing around it.
  const llvm::IRBuilderBase::InsertPointGuard guard(b_);
  const auto outer_values = values_;
  const auto outer_slots = slots_;
  llvm::Function* const outer_function = std::exchange(function_, function);
  const Phase outer_phase = std::exchange(phase_, Phase::Body);
  b_.SetInsertPoint(new_block("entry"));
  kernel::for_each(
      k_,
      [&](const Instruction& in, int) {
        if (in.dst == kernel::kNone) return;
        slots_[in.dst].clear();
        if (assignments_[in.dst] > 1) slots_[in.dst] = new_slots(in.dst);
      },
      id);
  const auto field = [&](unsigned i) { return b_.CreateStructGEP(frame, function->getArg(0), i); };
  unsigned at = 0;
  for (const RegisterId r : of.inputs) {
    for (int i = 0; i < copies(r); ++i, ++at) {
      Value* value = rare ? static_cast<Value*>(b_.CreateLoad(register_type(r), field(at)))
                          : b_.CreateBitCast(function->getArg(at), register_type(r));
      // What the block only reads has its value here, whatever it has around it.
      if (!slots_[r].empty() && slots_[r] == outer_slots[r]) slots_[r].clear();
      write(r, i, value);
    }
  }
  block(id);
  Value* returned = llvm::PoisonValue::get(result);
  unsigned place = 0;
  for (const RegisterId r : of.outputs) {
    for (int i = 0; i < copies(r); ++i) {
      Value* value = written(r, i);
      if (rare) {
        b_.CreateStore(value, field(at++));
      } else {
        returned = b_.CreateInsertValue(returned, b_.CreateBitCast(value, passed_type(r)), place++);
      }
    }
  }
  if (rare) {
    b_.CreateRetVoid();
  } else {
    b_.CreateRet(returned);
  }
  width_ = outer_width;
  begin_ = outer_begin;
  phase_ = outer_phase;
  function_ = outer_function;
  values_ = outer_values;
  slots_ = outer_slots;
  return function;
}

/// For one register of lanes, with what it reads and writes in a frame: such code is compiled once,
/// and leaves no trace in the code around it.
void Emitter::call_rare(kernel::BlockId id) {
  const Interface& of = interface_of(id);
  llvm::Function* function = block_function(id, 1, true);
  llvm::StructType* type = frame_type(of);
  Value*& frame = frames_[{function_, function}];
  if (frame == nullptr) frame = new_slot(type, "frame");
  const auto field = [&](std::size_t i) {
    return b_.CreateStructGEP(type, frame, static_cast<unsigned>(i));
  };
  for (int u = begin_; u < begin_ + width_; ++u) {
    std::size_t at = 0;
    for (const RegisterId r : of.inputs) b_.CreateStore(read(r, u, false), field(at++));
    b_.CreateCall(function, {frame});
    for (const RegisterId r : of.outputs) {
      write(r, u, b_.CreateLoad(register_type(r), field(at++)));
    }
  }
}

}  // namespace lw::backend::cpu
