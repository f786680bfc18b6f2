// Functions of one byte that give a byte: pixels that are lightened, say. There are 256 results,
// which are computed here, once; four machine registers hold them, and lanes take theirs out by
// permutes, however long the function is.
//
// A permute takes one of 64 words of two bytes by the bits of an index above the lowest, which says
// which of the two it is; of two permutes the highest bit chooses.
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "lanewise/backend/cpu/emit.h"
#include "lanewise/base/float_state.h"
#include "lanewise/ir/evaluate.h"

namespace lw::backend::cpu {

using kernel::Instruction;
using kernel::Kind;
using kernel::RegisterId;
using llvm::Value;
using ops::Op;

namespace {

constexpr unsigned kBytes = 64;  // of a machine register
constexpr unsigned kWords = kBytes / 2;
constexpr std::size_t kMostSteps = 400;

/// Rough cycles of an instruction for 16 lanes; looking a result up takes kLookUp of them.
constexpr int kLookUp = 6;
int cycles_of(Op op, DType type) {
  const int registers = types::size_of(type) == 8 ? 2 : 1;
  const bool divides = op == Op::Sqrt || op == Op::Div || op == Op::Rem;
  return registers * (divides ? 10 : op == Op::Convert ? 2 : 1);
}

bool is_byte(DType type) { return type == DType::U8 || type == DType::I8; }

/// What a lane does that is alone, in instructions that only compute.
class OneLane {
 public:
  explicit OneLane(const kernel::Kernel& k) : k_(k), values_(k.registers.size()) {}

  Scalar& operator[](RegisterId r) { return values_[r]; }

  void run(const Instruction& in) {
    if (in.kind == Kind::Copy) {
      values_[in.dst] = values_[in.sources[0]];
    } else if (in.kind == Kind::Compute) {
      std::array<Scalar, 3> operands;
      for (std::size_t i = 0; i < in.sources.size(); ++i) operands[i] = values_[in.sources[i]];
      values_[in.dst] = ir::evaluate_op(in.op, k_.registers[in.dst].type,
                                        std::span(operands).first(in.sources.size()));
    } else if (in.sources.empty() || values_[in.sources[0]].as<bool>()) {
      for (const Instruction& inside : k_.blocks[in.block]) run(inside);
    }
  }

 private:
  const kernel::Kernel& k_;
  std::vector<Scalar> values_;  // by register
};

}  // namespace

struct Emitter::Touched {
  std::map<RegisterId, int> assigned, read;
};

/// How a byte is computed from another one.
struct Emitter::ByteFunction {
  RegisterId argument = kernel::kNone;
  std::vector<RegisterId> constants;
  std::vector<const Instruction*> steps;  // of one block, in its order
};

/// How often registers are assigned and read by an instruction and all that stands in its block.
Emitter::Touched Emitter::touched_by(const Instruction& in) const {
  Touched touched;
  const auto add = [&](const Instruction& one) {
    if (one.dst != kernel::kNone) ++touched.assigned[one.dst];
    for (const RegisterId r : one.sources) ++touched.read[r];
  };
  add(in);
  if (in.block != kernel::kNone) {
    kernel::for_each(k_, [&](const Instruction& inside, int) { add(inside); }, in.block);
  }
  return touched;
}

/// True for what computes registers, with branches or without, and can neither fail nor do more.
bool Emitter::is_step(const Instruction& in) const {
  bool only_computes = in.kind == Kind::Compute || in.kind == Kind::Copy ||
                       (in.kind == Kind::Loop && in.once && is_closed(in.block));
  const auto check = [&](const Instruction& inside) {
    if (inside.kind != Kind::Compute || (inside.op != Op::Div && inside.op != Op::Rem)) return;
    const Instruction* divisor = made_by(inside.sources[1]);
    only_computes = only_computes && (types::is_float(type(inside.dst)) ||
                                      (divisor != nullptr && divisor->constant.bits() != 0));
  };
  check(in);
  if (in.block != kernel::kNone) {
    kernel::for_each(k_, [&](const Instruction& inside, int) { check(inside); }, in.block);
  }
  return only_computes;
}

/// Goes back from an instruction through its block, to a byte that all it needs is computed from.
std::optional<Emitter::ByteFunction> Emitter::byte_function(
    std::span<const Instruction> up_to) const {
  ByteFunction f;
  std::set<RegisterId> needed = {up_to.back().dst};
  for (auto in = up_to.rbegin(); in != up_to.rend() && f.steps.size() <= kMostSteps; ++in) {
    const Touched touched = touched_by(*in);
    const bool is_needed = std::any_of(touched.assigned.begin(), touched.assigned.end(),
                                       [&](const auto& r) { return needed.count(r.first) > 0; });
    if (!is_needed || in->kind == Kind::Constant) continue;
    if (is_step(*in)) {
      // Where a branch is not taken, there is what was there before.
      if (in->dst != kernel::kNone) needed.erase(in->dst);
      for (const auto& [r, reads] : touched.read) {
        const auto here = touched.assigned.find(r);
        const bool is_own = in->block != kernel::kNone && here != touched.assigned.end() &&
                            here->second == assignments_[r];
        if (!is_own) needed.insert(r);
      }
      f.steps.push_back(&*in);
      continue;
    }
    const bool is_argument = in->dst != kernel::kNone && is_varying(in->dst) &&
                             is_byte(type(in->dst)) && made_by(in->dst) != nullptr &&
                             f.argument == kernel::kNone;
    if (!is_argument) return std::nullopt;
    f.argument = in->dst;
    needed.erase(in->dst);
  }
  std::reverse(f.steps.begin(), f.steps.end());
  f.constants.assign(needed.begin(), needed.end());
  const bool are_constants = std::all_of(needed.begin(), needed.end(), [&](RegisterId r) {
    return made_by(r) != nullptr && made_by(r)->kind == Kind::Constant;
  });
  if (!are_constants || f.argument == kernel::kNone) return std::nullopt;
  return f;
}

/// Computing results one by one is as fast, if there is little to compute.
bool Emitter::is_worth_a_table(const ByteFunction& f) const {
  int cycles = 0;
  for (const Instruction* in : f.steps) {
    if (in->kind == Kind::Compute) cycles += cycles_of(in->op, type(in->dst));
  }
  return cycles > kLookUp && f.steps.size() <= kMostSteps;
}

Emitter::ByteTable Emitter::byte_table(const ByteFunction& f) const {
  const base::FloatState state;
  OneLane lane(k_);
  for (const RegisterId r : f.constants) lane[r] = made_by(r)->constant;
  std::array<std::uint8_t, 256> bytes;
  for (unsigned i = 0; i < bytes.size(); ++i) {
    lane[f.argument] = types::scalar_of_bits(type(f.argument), i);
    for (const Instruction* in : f.steps) lane.run(*in);
    bytes[i] = static_cast<std::uint8_t>(lane[f.steps.back()->dst].bits());
  }
  auto* words = llvm::FixedVectorType::get(llvm::Type::getInt16Ty(module_.getContext()), kWords);
  ByteTable table{f.argument, {}};
  for (std::size_t i = 0; i < bytes.size(); i += kBytes) {
    const llvm::ArrayRef<std::uint8_t> part(bytes.data() + i, kBytes);
    auto* constant = llvm::ConstantDataVector::get(module_.getContext(), part);
    table.registers.push_back(llvm::ConstantExpr::getBitCast(constant, words));
  }
  return table;
}

/// What only the last step and others like it read need not be computed any more.
void Emitter::leave_out_steps(const ByteFunction& f) {
  std::map<const Instruction*, Touched> left;
  for (const Instruction* in : f.steps) left.emplace(in, touched_by(*in));
  const auto is_read_elsewhere = [&](RegisterId r) {
    int reads = 0;
    for (const auto& [in, touched] : left) {
      const auto found = touched.read.find(r);
      reads += found == touched.read.end() ? 0 : found->second;
    }
    return reads < reads_[r];
  };
  const Instruction* last = f.steps.back();
  for (bool changed = true; changed;) {
    changed = std::erase_if(left, [&](const auto& step) {
                return step.first != last &&
                       std::any_of(step.second.assigned.begin(), step.second.assigned.end(),
                                   [&](const auto& r) { return is_read_elsewhere(r.first); });
              }) > 0;
  }
  for (const auto& [in, touched] : left) {
    if (in != last) done_.insert(in);
  }
}

/// The last results come first: what those are computed from has no table of its own.
void Emitter::find_byte_functions() {
  if (s_.isa != plan::Isa::V4) return;
  std::set<const Instruction*> known;
  // A refilled loop parts the block it stands in.
  for (std::size_t id = s_.refill ? 1 : 0; id < k_.blocks.size(); ++id) {
    const std::span<const Instruction> block = k_.blocks[id];
    for (std::size_t i = block.size(); i-- > 0;) {
      const Instruction& in = block[i];
      const bool is_result = in.kind == Kind::Compute && is_varying(in.dst) &&
                             is_byte(type(in.dst)) && made_by(in.dst) != nullptr;
      if (!is_result || known.count(&in) > 0) continue;
      const auto f = byte_function(block.first(i + 1));
      if (!f || !is_worth_a_table(*f)) continue;
      byte_tables_.emplace(&in, byte_table(*f));
      known.insert(f->steps.begin(), f->steps.end());
      leave_out_steps(*f);
    }
  }
}

/// As many registers of lanes as a machine register has bytes for are looked up together.
void Emitter::look_up_bytes(const Instruction& in, const ByteTable& table) {
  const auto lanes = static_cast<unsigned>(s_.lanes);
  const auto concatenated = [&](const Values& parts, unsigned size) {
    Value* all = parts.size() == 1 ? parts[0] : llvm::concatenateVectors(b_, parts);
    std::vector<int> places(size, -1);
    std::iota(places.begin(), places.begin() + lanes * static_cast<unsigned>(parts.size()), 0);
    return b_.CreateShuffleVector(all, places);
  };
  const auto together = static_cast<int>(std::max(1u, kWords / lanes));
  for (int u = begin_; u < begin_ + width_; u += together) {
    const int end = std::min(u + together, begin_ + width_);
    Values parts;
    for (int i = u; i < end; ++i) parts.push_back(read(table.argument, i, true));
    Value* found = byte_results(table, concatenated(parts, kWords));
    for (int i = u; i < end; ++i) {
      std::vector<int> own(lanes);
      std::iota(own.begin(), own.end(), (i - u) * s_.lanes);
      write(in.dst, i, b_.CreateShuffleVector(found, own));
    }
  }
}

Value* Emitter::byte_results(const ByteTable& table, Value* bytes) {
  Value* index = b_.CreateZExt(bytes, table.registers[0]->getType());
  const auto number = [&](std::uint64_t n) { return llvm::ConstantInt::get(index->getType(), n); };
  const auto has_bit = [&](std::uint64_t bit) {
    return b_.CreateICmpNE(b_.CreateAnd(index, number(bit)), number(0));
  };
  Value* place = b_.CreateLShr(index, number(1));
  const auto found = [&](std::size_t first) {
    return b_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_vpermi2var_hi_512, {},
                              {table.registers[first], place, table.registers[first + 1]});
  };
  Value* word = b_.CreateSelect(has_bit(0x80), found(2), found(0));
  word = b_.CreateSelect(has_bit(1), b_.CreateLShr(word, number(8)), word);
  return b_.CreateTrunc(word, llvm::FixedVectorType::get(b_.getInt8Ty(), kWords));
}

}  // namespace lw::backend::cpu
