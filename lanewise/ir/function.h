// The element program: what happens to one element, as typed SSA in an arena.
//
// A value is the instruction that makes it; ids index the arena and never move. Control is
// structured: a block is a list of instructions; a `loop` owns a block whose arguments are the
// carried values. A loop is left only by `break_if cond (values...)`, which becomes its results;
// `next (values...)` ends the body and begins another step. So `while c: body` is a loop that
// begins with `break_if not c`, and a loop with a test at its end is one that ends with it.
//
// Printed by ir/print.h, read by ir/parse.h, checked by ir/verify.h; ir/evaluate.h says what it
// means.
#pragma once

#include <string>
#include <vector>

#include "lanewise/base/location.h"
#include "lanewise/base/small_vector.h"
#include "lanewise/ops/op.h"
#include "lanewise/types/scalar.h"

namespace lw::ir {

using ops::Op;
using ValueId = std::uint32_t;
using BlockId = std::uint32_t;
inline constexpr std::uint32_t kNone = ~0u;

using Operands = base::SmallVector<ValueId, 4>;

/// Why an element fails.
enum class FailKind : std::uint32_t { DivisionByZero, StepLimit, Check };

struct Instruction {
  Op op = Op::Constant;
  DType type = DType::Bool;  // of its value; bool where there is none
  Operands operands;         // loop: initial values; result: its loop; slot ops: the slot first
  Scalar constant;           // constant: the literal
  std::uint32_t index = 0;   // param, argument, result: position; fail_if: FailKind
  BlockId block = kNone;     // loop: its body
  base::Location location;
};

struct Block {
  std::vector<ValueId> arguments;
  std::vector<ValueId> body;  // in order; ends with return, or with next in a loop
};

struct Param {
  std::string name;
  DType type = DType::F32;
  bool mapped = true;  // one value per element; else the same value for all
  ValueId value = kNone;
};

struct Function {
  std::string name = "f";
  std::vector<Param> params;
  std::vector<DType> results;
  std::vector<Instruction> values;  // the arena; instructions no block lists are dead
  std::vector<Block> blocks;        // block 0 is the function's body

  const Instruction& operator[](ValueId id) const { return values[id]; }
  Instruction& operator[](ValueId id) { return values[id]; }
  const Block& body() const { return blocks[0]; }
};

/// True for instructions that have no value of their own.
bool has_value(const Instruction& instruction);

/// A loop that every element leaves in its first step is a branch: it skips the body by its first
/// exit, with the values it came with, or leaves at the end. Gives that first exit, or kNone.
ValueId branch_exit(const Function& function, ValueId loop);
inline bool is_branch(const Function& function, ValueId loop) {
  return branch_exit(function, loop) != kNone;
}

/// A loop that every element leaves at the end of its first step is a part: code that stands for
/// itself, which a backend may compile once for all parts that do the same.
bool is_part(const Function& function, ValueId loop);

/// True for loops that are neither.
inline bool can_go_round(const Function& function, ValueId loop) {
  return !is_branch(function, loop) && !is_part(function, loop);
}

/// True when some loop can go round.
bool has_loops(const Function& function);

/// Calls `visit(ValueId, depth)` for every instruction in order, loops before their bodies.
template <class Visit>
void for_each(const Function& f, const Visit& visit, BlockId block = 0, int depth = 0) {
  for (const ValueId id : f.blocks[block].body) {
    visit(id, depth);
    if (f[id].op == Op::Loop) for_each(f, visit, f[id].block, depth + 1);
  }
}

}  // namespace lw::ir
