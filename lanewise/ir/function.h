// The element program: what happens to one element, as typed SSA in an arena.
//
// A value is the instruction that makes it; ids index the arena and never move. Control is
// structured: a block is a list of instructions; a `loop` owns a block whose arguments are the
// carried values. A loop is left only by `break_if cond (values...)`, which becomes its results;
// `next (values...)` ends the body and begins another step. So `while c: body` is a loop that
// begins with `break_if not c`, and a loop with a test at its end is one that ends with it.
// `break_if cond up n (values...)` leaves the loop n further out, and all loops inside of it.
//
// What never goes round is a loop too, which all leave at its end at the latest: `if c: body` one
// that begins with `break_if not c`; the body of a loop, for `continue`, and that of a function,
// for an early `return`, one that is left before its end.
//
// An `array` belongs to the element and is changed in place; a table is a parameter with many
// values that all elements read; a row is a parameter with many values for each element.
//
// `each n` runs its block for the positions 0 .. n - 1, none of which sees what another does. Its
// `collect`s say what becomes of the values they have: all are kept, as an array that nobody
// changes, or they are combined in an order that lanes can keep (see `Collect`). `each n of %c` has
// as many positions as the element says, an i32: none below 0, and n at most. What it keeps goes to
// a target, a parameter for results of different lengths: places of its own for each element.
//
// Printed by ir/print.h, read by ir/parse.h, checked by ir/verify.h; ir/evaluate.h says what it
// means.
#pragma once

#include <string>
#include <vector>

#include "lanewise/base/location.h"
#include "lanewise/base/small_vector.h"
#include "lanewise/ops/op.h"
#include "lanewise/types/item.h"
#include "lanewise/types/scalar.h"

namespace lw::ir {

using ops::Op;
using ValueId = std::uint32_t;
using BlockId = std::uint32_t;
inline constexpr std::uint32_t kNone = ~0u;
inline constexpr std::uint32_t kMostInArray = 4096;
inline constexpr std::uint32_t kMostPositions = 1u << 30;
inline constexpr std::uint32_t kMostCounted = (1u << 31) - (1u << 16);  // positions, by a count

using Operands = base::SmallVector<ValueId, 4>;

/// Why an element fails. Lengths: of two rows, which are told; Empty: a row without values;
/// Conversion: of a float to an integer that cannot hold it.
enum class FailKind : std::uint32_t {
  DivisionByZero,
  StepLimit,
  Check,
  Index,
  Lengths,
  Empty,
  Singular,
  NotPositive,
  NotFinite,
  Conversion
};

/// What an `each` makes of one value per position. Keep: an array of them; of arrays, one behind
/// the other; with an array or target and an index as further operands, it goes to the places from
/// there on. ArgMin, ArgMax: the first position of the least or greatest value, or of a NaN. The
/// others combine up to 8 values from left to right; of more, value j goes to stripe j mod 64,
/// stripes combine in sequence, and then s with s + 32, s + 16 and so on to s + 1, where both are
/// there. Of no values they are `neutral`, and the place is 0.
enum class Collect : std::uint32_t { Keep, Sum, Product, Min, Max, And, Or, ArgMin, ArgMax };
std::string_view name_of(Collect collect);
inline constexpr std::uint32_t kStripes = 64;
inline constexpr std::uint32_t kFewTerms = 8;
/// What combines two values: of Sum, Product, Min, Max, And, Or.
Op combining_op(Collect collect);
/// The value that changes no other it is combined with, or compared.
Scalar neutral(Collect collect, DType type);
/// True for those that give a position.
inline bool gives_place(Collect collect) {
  return collect == Collect::ArgMin || collect == Collect::ArgMax;
}

/// What happens with an index outside of 0 .. size - 1: the element fails; the nearest inside;
/// modulo the size; a given value is read, and nothing written; or anything (the caller vouches for
/// it).
enum class IndexMode : std::uint32_t { Check, Clip, Wrap, Fill, Unchecked };
std::string_view name_of(IndexMode mode);

struct Instruction {
  Op op = Op::Constant;
  DType type = DType::Bool;  // of its value; bool where there is none
  Operands operands;         // loop: initial values; each: how many, if elements differ in that;
                             // result: its loop or each; slot ops: the slot first;
                             // array and table ops: the array or table first, then the index
  Scalar constant;           // constant: the literal
  std::uint32_t index = 0;   // param, argument, result: position; fail_if: FailKind; break_if: how
                             // many loops further out; loop: 1 if few elements run it; array: size;
                             // array and table ops: IndexMode; element: word; each: size at most;
                             // collect: Collect; add, sub, mul, div, sqrt: 1 if `near`
  BlockId block = kNone;     // loop, each: its body
  base::Location location;
};

struct Block {
  std::vector<ValueId> arguments;
  std::vector<ValueId> body;  // in order; ends with return, or with next in a loop
};

/// Mapped: one value per element, or a row. Shared: one for all. Table: many for all, read by
/// index. Target: memory for results, in which elements write places of their own, and read what
/// they have written. The step limit and the seed are shared values that come from the options of a
/// call.
enum class ParamKind : std::uint8_t { Mapped, Shared, Table, StepLimit, Seed, Target };

struct Param {
  std::string name;
  DType type = DType::F32;
  ParamKind kind = ParamKind::Mapped;
  ValueId value = kNone;
  std::uint32_t size = 0;  // of a row; 0: it is a number

  bool is_mapped() const { return kind == ParamKind::Mapped; }
  bool is_row() const { return size > 0; }
  bool is_target() const { return kind == ParamKind::Target; }
  bool is_table() const { return kind == ParamKind::Table || is_target(); }
  /// Read by index.
  bool is_indexed() const { return is_table() || is_row(); }
  types::Item item() const { return {type, size}; }
};

struct Function {
  std::string name = "f";
  std::vector<Param> params;
  std::vector<types::Item> results;
  std::vector<Instruction> values;  // the arena; instructions no block lists are dead
  std::vector<Block> blocks;        // block 0 is the function's body

  const Instruction& operator[](ValueId id) const { return values[id]; }
  Instruction& operator[](ValueId id) { return values[id]; }
  const Block& body() const { return blocks[0]; }
};

/// Near (math = fast): a quotient or root need not be correctly rounded, and a product and a sum
/// that are may be rounded once for both. Passes may forget it.
constexpr bool can_be_near(Op op) {
  return op == Op::Add || op == Op::Sub || op == Op::Mul || op == Op::Div || op == Op::Sqrt;
}
inline bool is_near(const Instruction& in) { return can_be_near(in.op) && in.index != 0; }

/// True for instructions that have no value of their own.
bool has_value(const Instruction& instruction);

/// True for a loop that every element leaves at the end of its first step at the latest.
bool is_once(const Function& function, ValueId loop);

/// A loop of that kind with two exits is a branch: an element skips the body by the first, with the
/// values it came with, or leaves at the end. Gives that first exit, or kNone.
ValueId branch_exit(const Function& function, ValueId loop);
inline bool is_branch(const Function& function, ValueId loop) {
  return branch_exit(function, loop) != kNone;
}

/// One that every element leaves at the end is a part: code that stands for itself, which a backend
/// may compile once for all parts that do the same.
bool is_part(const Function& function, ValueId loop);

inline bool can_go_round(const Function& function, ValueId loop) {
  return !is_once(function, loop);
}

/// True for an exit whose condition is the literal true.
bool leaves_always(const Function& function, const Instruction& instruction);

/// True when the instruction, or one inside of it, leaves the loop `up` further out than the one it
/// stands in.
bool leaves(const Function& function, ValueId id, std::uint32_t up);

/// True for memory of results that elements write to.
bool is_target(const Function& function, ValueId id);
/// True for arrays, and for what an `each` has kept.
bool is_array(const Function& function, ValueId id);
/// How many values it has, also a row.
std::uint32_t size_of(const Function& function, ValueId id);
/// A number or an array as a function gives it back.
types::Item item_of(const Function& function, ValueId id);
/// True for an `each` that has as many positions as the element says.
inline bool has_count(const Instruction& in) { return in.op == Op::Each && !in.operands.empty(); }
/// What an `each` collects, in order.
std::vector<ValueId> collects_of(const Function& function, ValueId each);
/// The instruction that collects result `index` of an `each`.
const Instruction& collect_of(const Function& function, ValueId each, std::uint32_t index);

/// True for values that ops can compute with: neither arrays nor slots nor tables.
bool is_number(const Function& function, ValueId id);

/// True when some loop can go round.
bool has_loops(const Function& function);

/// Calls `visit(ValueId, depth)` for every instruction in order, what has a body before that.
template <class Visit>
void for_each(const Function& f, const Visit& visit, BlockId block = 0, int depth = 0) {
  for (const ValueId id : f.blocks[block].body) {
    visit(id, depth);
    if (f[id].block != kNone) for_each(f, visit, f[id].block, depth + 1);
  }
}

}  // namespace lw::ir
