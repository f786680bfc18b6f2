// Lane form: what one packet of lanes does, as a structured register machine. There is one lowering
// to it (kernel/lower.h); the tile machine interprets it and the machine code generator compiles
// it.
//
// A register holds one value for all lanes (uniform, written u0) or one per lane (varying, v0). It
// may be assigned several times. A varying bool is a mask. Every instruction computes all lanes,
// dead ones too, and none of them traps; what must not happen in a dead lane is written with a
// select. So a program in lane form says itself what each mask does:
//
//   kernel f(f32, f32) -> (i32)
//     v0: f32 = load 0            one element's value per lane
//     v2: bool = active           lanes that hold an element
//     v3: bool = copy v2
//     loop v3 {                   while any lane of v3 is set
//       v5: bool = le v4, u1
//       v3: bool = and v3, v5     sticky: a lane that left stays out
//       v6: f32 = select v3, v7, v6
//     }
//     store 0, v6                 for the lanes that hold an element
//
// A step of a masked loop may be run again when no lane of its mask is set: it changes nothing that
// is read afterwards. Backends use this to run several steps between two looks at the mask.
//
// An array has a row of lanes for each of its places; tables are the same for all. An index that
// varies comes with a mask, and only lanes of that have one that is inside; one that does not is
// always inside.
//
// In a kernel that is `inner`, an element is not a lane but has all lanes to itself. Its values are
// uniform, and only in the block of an `each` do registers vary: lanes hold positions there. What
// is read and written then stands in flat arrays, in rows and in tables. An access whose places
// follow one another has a `step`. Who fails goes no further.
#pragma once

#include <string>
#include <vector>

#include "lanewise/ir/function.h"

namespace lw::kernel {

using ops::Op;
using RegisterId = std::uint32_t;
using BlockId = std::uint32_t;
inline constexpr std::uint32_t kNone = ~0u;

using Sources = base::SmallVector<RegisterId, 4>;

struct Register {
  DType type = DType::Bool;
  bool varying = false;
};

enum class Kind : std::uint8_t {
  Constant,    // dst = literal
  Shared,      // dst = shared parameter `index`
  Load,        // dst = mapped input `index`, a number
  RowRead,     // dst = mapped input `index`, a row, at source 0, for lanes of source 1
  RowLoad,     // array `index` = the row of the input that it is a copy of
  Active,      // dst = lanes that hold an element
  Compute,     // dst = op(sources)
  Copy,        // dst = source
  Loop,        // while any lane of source 0 is set (always, without a source): block; with `once`
               // one time at most (without a source: exactly), and source 0 may be uniform
  ExitIf,      // leaves a loop or branch, `index` further out than the innermost, when the uniform
               // bool source 0 is set
  Fail,        // lanes of source 0 fail at site `index`; they are cleared from the other sources
  Store,       // output `index` = source 0, for lanes that hold an element
  RowStore,    // the output that array `index` belongs to = that array, likewise
  Element,     // dst = word `index` (0 low, 1 high) of the number of each lane's element
  TableSize,   // dst = number of values of table `index`
  TableRead,   // dst = table `index` at source 0, for lanes of source 1 if source 0 varies
  TableWrite,  // table `index` at source 0 = source 1, for lanes of source 2
  Array,       // all places of array `index` = source 0; nobody reads them before, without a source
  ArrayRead,   // dst = array `index` at source 0, as TableRead
  ArrayWrite,  // array `index` at source 0 = source 1, for lanes of source 2
  Each,        // inner: the block for all positions below `index`, and below source 0 if it has one
  Position,    // inner: dst = the position of each lane
  Collect,     // inner: dst = what ir::Collect(index) makes of source 0, known behind the `each`
};

struct Instruction {
  Kind kind = Kind::Compute;
  Op op = Op::Add;  // Compute
  RegisterId dst = kNone;
  Sources sources;
  Scalar constant;
  std::uint32_t index = 0;
  BlockId block = kNone;  // Loop
  bool once = false;      // Loop: a branch or, without a source, a part; text calls them so
  bool rare = false;      // branch: few elements take it
  bool near = false;      // Compute: as in ir/function.h
  // A test that cannot take a lane out of its loop except at every `period`-th step, counted from
  // where the lane entered: at its beginning, or at its end. 0: at any step.
  std::int64_t period = 0;
  bool at_end = false;
  // Accesses in an `each`: the place of position p is source 0, which is uniform, + step * p. 0:
  // it is source 0.
  std::int32_t step = 0;
  // TableRead of a varying place: lanes that read have one below this, which is at most kMostFew.
  // 0: it is not known.
  std::uint32_t below = 0;
};

/// As many places of a table as registers can hold.
inline constexpr std::int64_t kMostFew = 256;

/// A place where an element can fail.
struct Site {
  ir::FailKind kind = ir::FailKind::Check;
  base::Location location;
};

/// Where what goes round stands in the source.
struct LoopLine {
  BlockId block = kNone;  // its body
  base::Location location;
};

/// An array of the element's own.
struct Array {
  DType type = DType::F32;
  std::uint32_t size = 0;
  std::uint32_t input = kNone;   // that RowLoad reads it from
  std::uint32_t output = kNone;  // that RowStore writes it to; inner: whose memory it is
  bool is_flat = false;          // inner: one value for each place, no lanes
};

struct Kernel {
  std::string name = "f";
  std::vector<types::Item> inputs;  // mapped parameters
  std::vector<DType> shared;        // shared parameters
  std::vector<DType> tables;
  std::vector<Array> arrays;
  std::vector<types::Item> outputs;
  std::vector<Register> registers;
  std::vector<std::vector<Instruction>> blocks = {{}};  // block 0 is the whole
  std::vector<Site> sites;
  std::vector<LoopLine> lines;  // of loops and positions, where they are known
  bool refillable = false;      // lowered for refill: straight code, one masked loop, straight code
  bool inner = false;           // lanes hold positions of one element

  const std::vector<Instruction>& body() const { return blocks[0]; }
};

/// A block that is run exactly once where it stands. Registers it assigns are seen behind it.
inline bool is_part(const Instruction& in) {
  return in.kind == Kind::Loop && in.once && in.sources.empty();
}

/// Calls `visit(instruction, depth)` for every instruction in order, loops before their bodies.
template <class Visit>
void for_each(const Kernel& k, const Visit& visit, BlockId block = 0, int depth = 0) {
  for (const Instruction& in : k.blocks[block]) {
    visit(in, depth);
    if (in.block != kNone) for_each(k, visit, in.block, depth + 1);
  }
}

std::string_view name_of(Kind kind);
/// True where `index` names an array, a word, a site.
bool has_index(Kind kind);

/// Bytes of an array of one element, in whole cache lines: each begins at one.
inline std::uint64_t line_bytes(std::uint64_t size, DType type) {
  constexpr std::uint64_t kLine = 64;
  return (size * types::size_of(type) + kLine - 1) / kLine * kLine;
}

/// Where each array of a kernel for positions lies in the memory of a worker, and how much that is.
/// Small ones lie on the stack, as all arrays of lanes do: kNone.
struct FlatLayout {
  std::vector<std::uint64_t> offsets;  // by array
  std::uint64_t bytes = 0;
};
FlatLayout flat_layout(const Kernel& kernel);
inline constexpr std::uint64_t kMostOnStack = 64 << 10;

/// Lines of the loops that a block stands in, its own last; equal ones once.
std::vector<base::Location> lines_around(const Kernel& kernel, BlockId block);

bool has_parts(const Kernel& kernel);
/// The same kernel with the instructions of its parts in their place.
Kernel without_parts(const Kernel& kernel);

/// Text that `parse` reads back.
std::string print(const Kernel& kernel);

/// Reads lane-form text; the result is verified. Throws UsageError naming the line.
Kernel parse(std::string_view text);

/// Throws UsageError saying which instruction breaks which rule.
void verify(const Kernel& kernel);

}  // namespace lw::kernel
