// Small values that a loop reads one behind the other: several are read at once.
//
// The first of a few steps between two looks has a word for all of them. Where lanes went into the
// loop together, words come four at a time: what a lane reads next is loaded as it stands, and
// registers of words are made of the lanes' by a transpose, without a gather.
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include "lanewise/backend/cpu/emit.h"
#include "lanewise/runtime/context.h"

namespace lw::backend::cpu {

using kernel::Instruction;
using kernel::Kind;
using kernel::RegisterId;
using llvm::Value;
using ops::Op;

namespace {

bool is_compute(const Instruction* in, Op op) {
  return in != nullptr && in->kind == Kind::Compute && in->op == op;
}

constexpr unsigned kWords = 4;  // that are read together
constexpr unsigned kBytes = 4 * kWords;
constexpr unsigned kAhead = 64;  // bytes

}  // namespace

/// Between two looks lanes only leave, so what a lane reads it would have read at the steps before.
void Emitter::find_neighbours() {
  if (k_.inner || s_.steps < 2) return;
  kernel::for_each(k_, [&](const Instruction& loop, int) {
    const bool has_steps = loop.kind == Kind::Loop && !loop.once && !loop.sources.empty();
    if (!has_steps || !is_innermost(loop.block)) return;
    Changes changes;
    kernel::for_each(
        k_,
        [&](const Instruction& in, int) {
          if (in.dst == kernel::kNone) return;
          const auto [at, is_first] = changes.try_emplace(in.dst, &in);
          if (!is_first) at->second = nullptr;
        },
        loop.block);
    find_neighbours(loop.block, loop.sources[0], changes);
  });
}

void Emitter::find_neighbours(kernel::BlockId block, RegisterId mask, const Changes& changes) {
  const auto stays = [&](RegisterId r) { return changes.count(r) == 0; };
  const auto counts = [&](RegisterId r) { return counts_up(r, mask, changes); };
  for (const Instruction& in : k_.blocks[block]) {
    const bool is_for_all = in.kind == Kind::Loop && in.once && !in.rare && !in.sources.empty() &&
                            in.sources[0] == mask;
    if (is_for_all) find_neighbours(in.block, mask, changes);
    if (in.kind != Kind::TableRead || !is_varying(in.dst) || in.sources[1] != mask ||
        types::size_of(k_.tables[in.index]) > 2) {
      continue;
    }
    const RegisterId place = in.sources[0];
    const Instruction* sum = stays(place) ? nullptr : made_by(place);
    const bool goes_on =
        is_compute(sum, Op::Add) && ((stays(sum->sources[0]) && counts(sum->sources[1])) ||
                                     (stays(sum->sources[1]) && counts(sum->sources[0])));
    if (!goes_on && !counts(place)) continue;
    add_neighbours(in);
  }
}

/// True for a register whose one change in a loop adds 1 in the lanes that stay.
bool Emitter::counts_up(RegisterId r, RegisterId mask, const Changes& changes) const {
  const auto found = changes.find(r);
  if (found == changes.end() || found->second == nullptr) return false;
  const Instruction* change = found->second;
  if (change->kind == Kind::Copy) {
    change = made_by(change->sources[0]);
  } else if (is_compute(change, Op::Select) && change->sources[0] == mask &&
             change->sources[2] == r) {
    change = made_by(change->sources[1]);
  }
  if (!is_compute(change, Op::Add) || change->sources[0] != r) return false;
  const Instruction* one = made_by(change->sources[1]);
  return one != nullptr && one->kind == Kind::Constant && types::to_int64(one->constant) == 1;
}

void Emitter::add_neighbours(const Instruction& in) {
  const auto in_word = 4 / static_cast<int>(types::size_of(k_.tables[in.index]));
  const bool come_together = ops_.has_bit_masks() && !s_.refill && s_.steps % in_word == 0;
  auto* word = llvm::FixedVectorType::get(b_.getInt32Ty(), static_cast<unsigned>(s_.lanes));
  std::vector<Neighbours>& all = neighbours_[&in];
  for (int u = 0; u < most_; ++u) {
    all.push_back({.word = new_slot(word, "word")});
    if (!come_together) continue;
    all.back().words = new_slot(llvm::ArrayType::get(word, kWords), "words");
    all.back().next = new_slot(b_.getInt32Ty(), "next_word");
  }
  if (come_together) {
    if (long_tables_.count(in.index) == 0) long_tables_[in.index] = long_table(in.index);
  } else if (word_tables_.count(in.index) == 0) {
    word_tables_[in.index] = word_table(in.index);
  }
}

/// A table of less than a word is copied to where a whole one can be read.
Emitter::WordTable Emitter::word_table(std::uint32_t table) {
  const DType t = k_.tables[table];
  const unsigned in_word = 4 / static_cast<unsigned>(types::size_of(t));
  auto* type = llvm::FixedVectorType::get(memory_type(t, false), in_word);
  Value* size = table_field(table, offsetof(types::Table, size), b_.getInt64Ty());
  Value* copy = new_slot(b_.getInt32Ty(), "word");
  Value* places = llvm::ConstantDataVector::get(
      module_.getContext(), llvm::ArrayRef<std::uint64_t>({0, 1, 2, 3}).take_front(in_word));
  Value* there = b_.CreateICmpSLT(places, b_.CreateVectorSplat(in_word, size));
  const llvm::Align align(types::size_of(t));
  b_.CreateStore(
      b_.CreateMaskedLoad(type, tables_[table], align, there, llvm::Constant::getNullValue(type)),
      copy);
  Value* last = b_.CreateSub(size, b_.getInt64(in_word));
  Value* is_whole = b_.CreateICmpSGE(last, b_.getInt64(0));
  return {b_.CreateSelect(is_whole, tables_[table], copy),
          b_.CreateSelect(is_whole, last, b_.getInt64(0))};
}

/// The word that begins at the place of a lane; at the end of the table, that and zeros.
Value* Emitter::gather_word(const Instruction& in, int u) {
  const WordTable& table = word_tables_.at(in.index);
  const DType t = k_.tables[in.index];
  const auto lanes = static_cast<unsigned>(s_.lanes);
  Value* index = read(in.sources[0], u, true);
  Value* live = ops_.from_mask(read(in.sources[1], u, true));
  llvm::Type* places = index->getType();
  Value* most = b_.getInt64(INT32_MAX);  // an i32 does not reach further
  Value* last =
      places->getScalarSizeInBits() < 64
          ? b_.CreateTrunc(b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, table.last, most),
                           places->getScalarType())
          : table.last;
  Value* first =
      b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, index, b_.CreateVectorSplat(lanes, last));
  auto* type = llvm::FixedVectorType::get(b_.getInt32Ty(), lanes);
  Value* at_first = first;
  Value* nothing = llvm::Constant::getNullValue(places);
  if (!ops_.has_bit_masks()) at_first = b_.CreateSelect(live, first, nothing);
  Value* at = b_.CreateInBoundsGEP(memory_type(t, false), table.words, at_first);
  const llvm::Align align(types::size_of(t));
  Value* word = ops_.has_bit_masks() ? b_.CreateMaskedGather(type, at, align, live,
                                                             llvm::Constant::getNullValue(type))
                                     : b_.CreateMaskedGather(type, at, align);
  Value* beyond = b_.CreateZExtOrTrunc(b_.CreateSub(index, first), type);
  const auto bits = static_cast<std::uint64_t>(8 * types::size_of(t));
  return b_.CreateLShr(word, b_.CreateMul(beyond, llvm::ConstantInt::get(type, bits)));
}

/// The last values of a table are copied to where as many can be read behind each of them.
Emitter::LongTable Emitter::long_table(std::uint32_t table) {
  const DType t = k_.tables[table];
  const auto size_of = static_cast<unsigned>(types::size_of(t));
  const unsigned values = kBytes / size_of;
  auto* type = llvm::FixedVectorType::get(memory_type(t, false), values);
  Value* size = table_field(table, offsetof(types::Table, size), b_.getInt64Ty());
  Value* nothing = llvm::Constant::getNullValue(type);
  Value* last = b_.CreateSub(size, b_.getInt64(values));
  Value* first = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, last, b_.getInt64(0));
  std::vector<std::uint64_t> numbers(values);
  for (unsigned i = 0; i < values; ++i) numbers[i] = i;
  Value* there = b_.CreateICmpSLT(llvm::ConstantDataVector::get(module_.getContext(), numbers),
                                  b_.CreateVectorSplat(values, b_.CreateSub(size, first)));
  const llvm::Align align(size_of);
  Value* end = new_slot(llvm::ArrayType::get(type, 2), "end");
  Value* from = element_pointer(tables_[table], t, first);
  b_.CreateAlignedStore(b_.CreateMaskedLoad(type, from, align, there, nothing), end, align);
  b_.CreateAlignedStore(nothing, b_.CreateConstInBoundsGEP1_32(type, end, 1), align);
  return {last, first, end};
}

/// Lanes read at so many places that nothing else would ask for what comes next at each.
void Emitter::ask_for(Value* address) {
  b_.CreateIntrinsic(llvm::Intrinsic::prefetch, {address->getType()},
                     {address, b_.getInt32(0), b_.getInt32(3), b_.getInt32(1)});
}

/// Reads what lanes have from their place on, and makes registers of words of it.
void Emitter::load_words(const Instruction& in, int u) {
  const LongTable& table = long_tables_.at(in.index);
  const auto lanes = static_cast<unsigned>(s_.lanes);
  const auto size = static_cast<std::uint64_t>(types::size_of(k_.tables[in.index]));
  auto* wide = llvm::FixedVectorType::get(b_.getInt64Ty(), lanes);
  const auto all = [&](Value* number) { return b_.CreateVectorSplat(lanes, number); };
  const auto address = [&](Value* base, Value* place) {
    Value* bytes = b_.CreateMul(place, llvm::ConstantInt::get(wide, size));
    return b_.CreateAdd(all(b_.CreatePtrToInt(base, b_.getInt64Ty())), bytes);
  };
  Value* live = ops_.from_mask(read(in.sources[1], u, true));
  Value* place = b_.CreateSExt(read(in.sources[0], u, true), wide);
  place = b_.CreateSelect(live, place, all(table.first));  // others read where something is
  Value* is_before_end = b_.CreateICmpSLE(place, all(table.last));
  Value* at = b_.CreateSelect(is_before_end, address(tables_[in.index], place),
                              address(table.end, b_.CreateSub(place, all(table.first))));
  Value* addresses = new_slot(wide, "addresses");
  b_.CreateStore(at, addresses);

  // Four registers with every fourth lane each, so that a square of words is in a quarter of them.
  auto* one = llvm::FixedVectorType::get(b_.getInt32Ty(), kWords);
  Values squares;
  for (unsigned first = 0; first < kWords; ++first) {
    Values rows;
    for (unsigned lane = first; lane < lanes; lane += kWords) {
      Value* slot = b_.CreateConstInBoundsGEP1_32(b_.getInt64Ty(), addresses, lane);
      Value* from = b_.CreateLoad(b_.getPtrTy(), slot);
      rows.push_back(b_.CreateAlignedLoad(one, from, llvm::Align(size)));
      ask_for(b_.CreateConstGEP1_32(b_.getInt8Ty(), from, kAhead));
    }
    squares.push_back(llvm::concatenateVectors(b_, rows));
  }
  const auto mixed = [&](Value* a, Value* b, unsigned step, unsigned from) {
    std::vector<int> taken;
    for (unsigned i = 0; i < lanes; ++i) {  // pairs of `step` words, by turns of a and b
      const unsigned quarter = i / kWords * kWords;
      const unsigned within = i % kWords;
      const bool is_b = within / step % 2 == 1;
      const unsigned word = step == 1 ? from + within / 2 : from + within % 2;
      taken.push_back(static_cast<int>(quarter + word + (is_b ? lanes : 0)));
    }
    return b_.CreateShuffleVector(a, b, taken);
  };
  for (unsigned half = 0; half < 2; ++half) {
    Value* even = mixed(squares[0], squares[1], 1, 2 * half);  // a0 b0 a1 b1
    Value* odd = mixed(squares[2], squares[3], 1, 2 * half);
    for (unsigned i = 0; i < 2; ++i) {
      Value* words = mixed(even, odd, 2, 2 * i);  // a0 b0 c0 d0
      b_.CreateStore(words,
                     b_.CreateConstInBoundsGEP1_32(
                         words->getType(), neighbours_.at(&in)[static_cast<std::size_t>(u)].words,
                         2 * half + i));
    }
  }
}

/// Takes the next word of all lanes, and loads more where there is none left.
void Emitter::take_words(const Instruction& in) {
  const auto of = [&](int u) { return neighbours_.at(&in)[static_cast<std::size_t>(u)]; };
  Value* next = b_.CreateLoad(b_.getInt32Ty(), of(begin_).next);
  llvm::BasicBlock* load = new_block("load_words");
  llvm::BasicBlock* take = new_block("take_words");
  b_.CreateCondBr(b_.CreateICmpEQ(next, b_.getInt32(0)), load, take);
  b_.SetInsertPoint(load);
  for (int u = begin_; u < begin_ + width_; ++u) load_words(in, u);
  b_.CreateBr(take);
  b_.SetInsertPoint(take);
  auto* type = llvm::FixedVectorType::get(b_.getInt32Ty(), static_cast<unsigned>(s_.lanes));
  for (int u = begin_; u < begin_ + width_; ++u) {
    Value* at = b_.CreateInBoundsGEP(type, of(u).words, b_.CreateZExt(next, b_.getInt64Ty()));
    b_.CreateStore(b_.CreateLoad(type, at), of(u).word);
  }
  Value* following = b_.CreateAnd(b_.CreateAdd(next, b_.getInt32(1)), b_.getInt32(kWords - 1));
  b_.CreateStore(following, of(begin_).next);
}

/// A loop begins with words that are not there yet.
void Emitter::forget_words(kernel::BlockId loop) {
  kernel::for_each(
      k_,
      [&](const Instruction& in, int) {
        const auto found = neighbours_.find(&in);
        if (found == neighbours_.end()) return;
        for (const Neighbours& one : found->second) {
          if (one.next != nullptr) b_.CreateStore(b_.getInt32(0), one.next);
        }
      },
      loop);
}

/// The first of a few steps reads a word for all of them: they want its bytes one after the other.
void Emitter::read_neighbours(const Instruction& in) {
  const DType t = k_.tables[in.index];
  const auto size = static_cast<int>(types::size_of(t));
  const int step = step_ % (4 / size);
  const std::vector<Neighbours>& all = neighbours_.at(&in);
  auto* type = llvm::FixedVectorType::get(b_.getInt32Ty(), static_cast<unsigned>(s_.lanes));
  if (step == 0 && all[0].words != nullptr) take_words(in);
  for (int u = begin_; u < begin_ + width_; ++u) {
    const Neighbours& own = all[static_cast<std::size_t>(u)];
    if (step == 0 && own.words == nullptr) b_.CreateStore(gather_word(in, u), own.word);
    Value* word =
        b_.CreateLShr(b_.CreateLoad(type, own.word), static_cast<std::uint64_t>(8 * size * step));
    auto* small = llvm::FixedVectorType::get(b_.getIntNTy(static_cast<unsigned>(8 * size)),
                                             static_cast<unsigned>(s_.lanes));
    Value* value = b_.CreateBitCast(b_.CreateTrunc(word, small), memory_type(t, true));
    write(in.dst, u, from_memory(t, value));
  }
}

}  // namespace lw::backend::cpu
