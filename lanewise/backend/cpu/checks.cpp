// Failures of lanes. Lane form takes lanes that fail out of their mask where they do, and says so
// once, where straight code ends: with bit masks that costs a comparison a check.
//
// A check of an index is a branch that is not taken instead: one comparison serves all registers,
// and while all lanes are inside, dead ones too, the mask stays what it was, so that no access
// waits for it. Without bit masks any check would cost five instructions a register: there all are
// such branches, and a table is read without its mask.
#include <algorithm>

#include "lanewise/backend/cpu/emit.h"
#include "lanewise/runtime/context.h"

namespace lw::backend::cpu {

using kernel::Instruction;
using kernel::Kind;
using kernel::RegisterId;
using llvm::Type;
using llvm::Value;
using ops::Op;
using Layout = runtime::ContextLayout;

/// Of `fail before & !mask`: everything that was taken out of the mask since `before` was copied.
void Emitter::find_checks() {
  if (k_.inner) return;
  for (const auto& body : k_.blocks) {
    for (std::size_t end = 0; end < body.size(); ++end) {
      const Instruction& fail = body[end];
      if (fail.kind != Kind::Fail || fail.sources.size() < 2) continue;
      const Instruction* failing = computed_by(fail.sources[0], Op::And);
      const Instruction* stays =
          failing == nullptr ? nullptr : computed_by(failing->sources[1], Op::Not);
      if (stays == nullptr) continue;
      const RegisterId mask = stays->sources[0];
      std::vector<const Instruction*> narrowing;
      std::size_t at = end;
      while (at > 0 && body[at - 1].dst != failing->sources[0]) {
        if (body[--at].dst == mask) narrowing.push_back(&body[at]);
      }
      const bool is_known =
          at > 0 && std::all_of(narrowing.begin(), narrowing.end(), [&](const Instruction* in) {
            return in->kind == Kind::Compute && in->op == Op::And && in->sources[0] == mask;
          });
      const bool pays = !ops_.has_bit_masks() ||
                        std::all_of(narrowing.begin(), narrowing.end(), [&](const Instruction* in) {
                          return index_check(*in).has_value();
                        });
      if (!is_known || !pays) continue;
      for (const Instruction* in : narrowing) checks_.emplace(in, &fail);
      said_.insert(&fail);
    }
  }
}

/// Whether lanes stay where an index, as bits, is below a limit that all have.
std::optional<Emitter::IndexCheck> Emitter::index_check(const Instruction& in) const {
  const Instruction* inside = computed_by(in.sources[1], Op::Not);
  const Instruction* outside =
      inside == nullptr ? nullptr : computed_by(inside->sources[0], Op::Ge);
  const Instruction* bits =
      outside == nullptr ? nullptr : computed_by(outside->sources[0], Op::Bitcast);
  const bool is_index = bits != nullptr && type(bits->dst) == DType::U32 && is_varying(bits->dst) &&
                        !is_varying(outside->sources[1]) &&
                        (ops_.has_bit_masks() || ops_.mask_element_bits() == 32);
  if (!is_index) return std::nullopt;
  return IndexCheck{bits, outside->sources[1]};
}

void Emitter::narrow(const Instruction& in, const Instruction& fail) {
  const auto failing = [&](int u) {
    return b_.CreateAnd(read(in.dst, u, true), ops_.mask_not(read(in.sources[1], u, true)));
  };
  const auto look = [&] {
    Values all;
    for (int u = begin_; u < begin_ + width_; ++u) all.push_back(failing(u));
    kernel::Sources masks(fail.sources.begin() + 1, fail.sources.end());
    if (std::find(masks.begin(), masks.end(), in.dst) == masks.end()) masks.push_back(in.dst);
    fail_if(ops_.any(all), fail.index, masks, failing);
  };
  const auto index = index_check(in);
  if (!index) return look();

  llvm::BasicBlock* doubt = new_block("doubt");
  llvm::BasicBlock* all_inside = new_block("all_inside");
  const auto bits = [&](int u) { return read(index->bits->dst, u, true); };
  Value* most = bits(begin_);
  for (int u = begin_ + 1; u < begin_ + width_; ++u) {
    most = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umax, most, bits(u));
  }
  Place* place = ops_.has_bit_masks() ? nullptr : &places_[index->bits->sources[0]];
  if (place != nullptr) {
    find_tables(index->limit, place->tables);
    place->slots.resize(static_cast<std::size_t>(most_), nullptr);
    for (int u = begin_; u < begin_ + width_; ++u) {
      Value*& slot = place->slots[static_cast<std::size_t>(u)];
      if (slot == nullptr) slot = new_slot(bits(u)->getType(), "place");
      b_.CreateStore(bits(u), slot);
    }
  }
  Value* limit = read(index->limit, 0, true);
  Value* is_outside = ops_.any(ops_.to_mask(b_.CreateICmpUGE(most, limit)));
  b_.CreateCondBr(is_outside, doubt, all_inside, unlikely());
  b_.SetInsertPoint(doubt);
  look();
  for (int u = begin_; place != nullptr && u < begin_ + width_; ++u) {
    Value* inside = b_.CreateAnd(bits(u), read(in.dst, u, true));
    b_.CreateStore(inside, place->slots[static_cast<std::size_t>(u)]);
  }
  b_.CreateBr(all_inside);
  b_.SetInsertPoint(all_inside);
}

void Emitter::find_tables(RegisterId limit, std::set<std::uint32_t>& tables) const {
  const Instruction* in = made_by(limit);
  if (in == nullptr) return;
  if (in->kind == Kind::TableSize) tables.insert(in->index);
  if (in->kind != Kind::Compute) return;
  if (in->op == Op::Min) find_tables(in->sources[1], tables);
  bool is_at_most = in->op == Op::Min || in->op == Op::Convert;
  if (in->op == Op::Sub || in->op == Op::Max) {  // by what is beyond; nothing is below 0
    const Instruction* number = made_by(in->sources[1]);
    is_at_most = number != nullptr && number->kind == Kind::Constant &&
                 (in->op == Op::Sub ? types::to_int64(number->constant) >= 0
                                    : types::to_int64(number->constant) == 0);
  }
  if (is_at_most) find_tables(in->sources[0], tables);
}

std::pair<Value*, Value*> Emitter::place_in_table(const Instruction& in, int u) {
  const auto known = places_.find(in.sources[0]);
  if (known == places_.end() || known->second.tables.count(in.index) == 0) {
    return {read(in.sources[0], u, true), read(in.sources[1], u, true)};
  }
  Value* slot = known->second.slots[static_cast<std::size_t>(u)];
  Type* lanes = ops_.lane_type(type(in.sources[0]));
  return {b_.CreateLoad(lanes, slot), ops_.mask_constant(true)};
}

void Emitter::fail(const Instruction& in) {
  places_.clear();
  if (said_.count(&in) > 0) return;
  const Values failing = read_all(in.sources[0]);
  fail_if(ops_.any(failing), in.index, {in.sources.begin() + 1, in.sources.end()},
          [&](int u) { return failing[static_cast<std::size_t>(u - begin_)]; });
}

void Emitter::fail_if(Value* any, std::uint32_t site, const kernel::Sources& masks,
                      llvm::function_ref<Value*(int)> failing) {
  llvm::BasicBlock* record = new_block("fail");
  llvm::BasicBlock* go_on = new_block("no_fail");
  b_.CreateCondBr(any, record, go_on, unlikely());
  b_.SetInsertPoint(record);
  for (int u = begin_; u < begin_ + width_; ++u) {
    Value* lanes = failing(u);
    b_.CreateStore(lane_ids(u), ids_memory_);
    call_out(Layout::kFail, "lanewise_enter_fail", b_.getVoidTy(),
             {context_, b_.getInt32(site), b_.CreateZExt(ops_.lane_bits(lanes), b_.getInt64Ty()),
              ids_memory_, first_});
    for (const RegisterId mask : masks) {
      write(mask, u, b_.CreateAnd(written(mask, u), ops_.mask_not(lanes)));
    }
  }
  b_.CreateBr(go_on);
  b_.SetInsertPoint(go_on);
}

}  // namespace lw::backend::cpu
