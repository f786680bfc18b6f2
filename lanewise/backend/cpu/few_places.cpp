// Tables of which a program reads few places: machine registers hold them, and lanes take theirs
// out by permutes instead of a gather.
//
// A permute takes from two registers by the low bits of an index; of more pairs, each is asked, and
// the bits above choose. So an index may be anything in lanes that do not read.
//
// Many tables of bits are linear: what stands at a ^ b is what stands at a, xor what stands at b.
// Those of checksums are, of reversed or interleaved bits, of products in fields of 2^n. Whether
// one is, is seen at the entry, and then two permutes are enough.
#include <algorithm>
#include <numeric>

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>

#include "lanewise/backend/cpu/emit.h"
#include "lanewise/runtime/context.h"

namespace lw::backend::cpu {

using kernel::Instruction;
using kernel::Kind;
using llvm::Value;

namespace {

constexpr unsigned kRegisterBits = 512;
/// A permute and what chooses take as long as a gather's loads, where those are fast, with so many.
constexpr unsigned kMostRegisters = 16;

/// Bits of what is permuted: values of less than a word come with the word they stand in.
unsigned permuted_bits(DType type) {
  return std::max(32u, 8 * static_cast<unsigned>(types::size_of(type)));
}

}  // namespace

/// All tables together have so many registers; those that are read first come first.
void Emitter::find_few_places() {
  if (s_.isa != plan::Isa::V4) return;
  std::map<std::uint32_t, unsigned> most;  // places, by table
  std::vector<std::uint32_t> order;
  kernel::for_each(k_, [&](const Instruction& in, int) {
    if (in.kind != Kind::TableRead || in.below == 0) return;
    if (most.count(in.index) == 0) order.push_back(in.index);
    most[in.index] = std::max(most[in.index], in.below);
  });
  unsigned left = kMostRegisters;
  for (const std::uint32_t table : order) {
    const unsigned places =
        kRegisterBits / (8 * static_cast<unsigned>(types::size_of(k_.tables[table])));
    const unsigned count = (most[table] + places - 1) / places;
    if (count > left) continue;
    left -= count;
    FewPlaces& few = few_places_[table];
    for (unsigned i = 0; i < count; ++i) few.registers.push_back(places_from(table, i, places));
    const bool is_word = k_.tables[table] == DType::I32 || k_.tables[table] == DType::U32;
    if (is_word && count > 2) find_linear(few);
  }
}

/// Compares a table with what a linear one would have, which its places 1, 2, 4 and so on tell.
void Emitter::find_linear(FewPlaces& few) {
  auto* type = llvm::cast<llvm::FixedVectorType>(few.registers[0]->getType());
  const unsigned places = type->getNumElements();
  const auto count = static_cast<unsigned>(few.registers.size());
  Value* nothing = llvm::Constant::getNullValue(type);
  /// Lane i has what stands at i * first.
  const auto sums = [&](unsigned first, unsigned most) {
    Value* sum = nothing;
    for (unsigned bit = 1; bit < most; bit *= 2) {
      const unsigned place = bit * first;
      Value* value = b_.CreateExtractElement(few.registers[place / places], place % places);
      llvm::SmallVector<llvm::Constant*, 16> has_bit;
      for (unsigned i = 0; i < places; ++i) has_bit.push_back(b_.getInt1((i & bit) != 0));
      sum = b_.CreateXor(sum, b_.CreateSelect(llvm::ConstantVector::get(has_bit),
                                              b_.CreateVectorSplat(places, value), nothing));
    }
    return sum;
  };
  few.low = sums(1, places);
  few.high = sums(places, count);
  Value* wrong = nothing;
  for (unsigned i = 0; i < count; ++i) {
    Value* above = b_.CreateVectorSplat(places, b_.CreateExtractElement(few.high, i));
    Value* expected = b_.CreateXor(few.low, above);
    wrong = b_.CreateOr(wrong, b_.CreateXor(few.registers[i], expected));
  }
  few.is_linear = b_.CreateICmpEQ(b_.CreateOrReduce(wrong), b_.getInt32(0));
}

/// A register of a table, with zeros where that has ended.
Value* Emitter::places_from(std::uint32_t table, unsigned number, unsigned places) {
  const DType t = k_.tables[table];
  llvm::Type* one = memory_type(t, false);
  auto* type = llvm::FixedVectorType::get(one, places);
  Value* size = table_field(table, offsetof(types::Table, size), b_.getInt64Ty());
  Value* left = b_.CreateSub(size, b_.getInt64(std::uint64_t{number} * places));
  Value* most = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, left, b_.getInt64(places));
  std::vector<std::uint8_t> numbers(places);
  std::iota(numbers.begin(), numbers.end(), std::uint8_t{0});
  Value* there =
      b_.CreateICmpSGT(b_.CreateVectorSplat(places, b_.CreateTrunc(most, b_.getInt8Ty())),
                       llvm::ConstantDataVector::get(module_.getContext(), numbers));
  there = b_.CreateAnd(there, b_.CreateVectorSplat(places, b_.CreateICmpSGT(left, b_.getInt64(0))));
  Value* at = b_.CreateConstInBoundsGEP1_64(one, tables_[table], std::uint64_t{number} * places);
  Value* value = b_.CreateMaskedLoad(type, at, llvm::Align(types::size_of(t)), there,
                                     llvm::Constant::getNullValue(type));
  const unsigned bits = permuted_bits(t);
  return b_.CreateBitCast(value,
                          llvm::FixedVectorType::get(b_.getIntNTy(bits), kRegisterBits / bits));
}

/// What one register of indices finds.
Value* Emitter::permuted(const Values& registers, Value* index) {
  const bool is_wide = index->getType()->getScalarSizeInBits() == 64;
  if (registers.size() == 1) {
    return b_.CreateIntrinsic(is_wide ? llvm::Intrinsic::x86_avx512_permvar_di_512
                                      : llvm::Intrinsic::x86_avx512_permvar_si_512,
                              {}, {registers[0], index});
  }
  std::vector<Value*> found;
  for (std::size_t i = 0; i < registers.size(); i += 2) {
    Value* second = registers[std::min(i + 1, registers.size() - 1)];
    found.push_back(b_.CreateIntrinsic(is_wide ? llvm::Intrinsic::x86_avx512_vpermi2var_q_512
                                               : llvm::Intrinsic::x86_avx512_vpermi2var_d_512,
                                       {}, {registers[i], index, second}));
  }
  for (std::uint64_t bit = is_wide ? 16 : 32; found.size() > 1; bit *= 2) {
    Value* zero = llvm::Constant::getNullValue(index->getType());
    Value* is_upper =
        b_.CreateICmpNE(b_.CreateAnd(index, llvm::ConstantInt::get(index->getType(), bit)), zero);
    const std::size_t count = found.size();
    for (std::size_t i = 0; i < count; i += 2) {
      found[i / 2] = i + 1 == count ? found[i] : b_.CreateSelect(is_upper, found[i + 1], found[i]);
    }
    found.resize((count + 1) / 2);
  }
  return found[0];
}

/// For as many lanes as there are, a register of them after the other.
Value* Emitter::look_up(const Values& registers, Value* index) {
  const unsigned lanes = static_cast<unsigned>(s_.lanes);
  auto* type = llvm::cast<llvm::FixedVectorType>(registers[0]->getType());
  const unsigned in_register = type->getNumElements();
  index = b_.CreateZExtOrTrunc(index, llvm::FixedVectorType::get(type->getElementType(), lanes));
  Values parts;
  for (unsigned first = 0; first < lanes; first += in_register) {
    std::vector<int> taken(in_register, -1);
    for (unsigned i = 0; i < in_register && first + i < lanes; ++i) {
      taken[i] = static_cast<int>(first + i);
    }
    parts.push_back(permuted(registers, b_.CreateShuffleVector(index, taken)));
  }
  if (lanes >= in_register) return llvm::concatenateVectors(b_, parts);
  std::vector<int> own(lanes);
  std::iota(own.begin(), own.end(), 0);
  return b_.CreateShuffleVector(parts[0], own);
}

void Emitter::read_linear(const Instruction& in, const FewPlaces& few) {
  const Values indices = read_all(in.sources[0]);
  auto* type = llvm::FixedVectorType::get(b_.getInt32Ty(), static_cast<unsigned>(s_.lanes));
  llvm::BasicBlock* linear = new_block("linear");
  llvm::BasicBlock* other = new_block("not_linear");
  llvm::BasicBlock* done = new_block("looked_up");
  b_.CreateCondBr(few.is_linear, linear, other);
  Values found[2];
  b_.SetInsertPoint(linear);
  for (Value* index : indices) {
    index = b_.CreateZExtOrTrunc(index, type);
    found[0].push_back(
        b_.CreateXor(look_up({few.low}, index), look_up({few.high}, b_.CreateLShr(index, 4))));
  }
  b_.CreateBr(done);
  b_.SetInsertPoint(other);
  for (Value* index : indices) found[1].push_back(look_up(few.registers, index));
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
  for (int u = begin_; u < begin_ + width_; ++u) {
    const auto i = static_cast<std::size_t>(u - begin_);
    auto* value = b_.CreatePHI(type, 2);
    value->addIncoming(found[0][i], linear);
    value->addIncoming(found[1][i], other);
    write(in.dst, u, value);
  }
}

Value* Emitter::table_lanes(const Instruction& in, Value* index, Value* mask) {
  const DType t = k_.tables[in.index];
  const auto few = few_places_.find(in.index);
  if (in.below == 0 || few == few_places_.end()) return gather(t, tables_[in.index], index, mask);
  const auto bits = 8 * types::size_of(t);
  llvm::Type* lanes = memory_type(t, true);
  if (bits >= 32)
    return from_memory(t, b_.CreateBitCast(look_up(few->second.registers, index), lanes));
  const auto number = [&](std::uint64_t n) { return llvm::ConstantInt::get(index->getType(), n); };
  const unsigned log = bits == 8 ? 2 : 1;  // of how many stand in a word
  Value* word = look_up(few->second.registers, b_.CreateLShr(index, number(log)));
  Value* which = b_.CreateAnd(index, number((1u << log) - 1));
  Value* by = b_.CreateZExtOrTrunc(b_.CreateMul(which, number(bits)), word->getType());
  Value* value = b_.CreateTrunc(
      b_.CreateLShr(word, by), llvm::FixedVectorType::get(b_.getIntNTy(static_cast<unsigned>(bits)),
                                                          static_cast<unsigned>(s_.lanes)));
  return from_memory(t, b_.CreateBitCast(value, lanes));
}

}  // namespace lw::backend::cpu
