#include "lanewise/transform/split.h"

#include "lanewise/transform/copier.h"

namespace lw::transform {

using ir::Collect;
using ir::Instruction;
using ir::Op;
using ir::ValueId;

bool keeps_numbers(const ir::Function& f, ValueId each) {
  for (const ValueId id : f.blocks[f[each].block].body) {
    const Instruction& in = f[id];
    const bool is_kept = in.op != Op::Collect || (in.operands.size() == 1 &&
                                                  static_cast<Collect>(in.index) == Collect::Keep &&
                                                  ir::is_number(f, in.operands[0]));
    if (!is_kept || in.op == Op::Each) return false;
  }
  return true;
}

namespace {

class Splitter : public Copier {
 public:
  Splitter(const ir::Function& f, const std::map<ValueId, Sizes>& sizes)
      : Copier(f), sizes_(sizes) {}

 private:
  void instruction(ValueId id) override {
    const auto found = sizes_.find(id);
    if (found == sizes_.end()) return Copier::instruction(id);
    build_.set_location(f_[id].location);
    const ir::Block& block = f_.blocks[f_[id].block];
    std::vector<ValueId> eaches;
    ValueId place = ir::kNone;
    for (const std::uint32_t size : found->second) {
      eaches.push_back(build_.begin_each(size));
      const ValueId position = build_.arguments(eaches.back())[0];
      if (place == ir::kNone) {
        place = position;
      } else {
        const ValueId count = build_.constant(Scalar(static_cast<std::int32_t>(size)));
        place = build_.op(Op::Add, {build_.op(Op::Mul, {place, count}), position});
      }
    }
    map_[block.arguments[0]] = place;
    this->block(f_[id].block);
    const auto kept = static_cast<std::uint32_t>(ir::collects_of(f_, id).size());
    while (eaches.size() > 1) {
      build_.close_loop();
      const ValueId inner = eaches.back();
      eaches.pop_back();
      for (std::uint32_t i = 0; i < kept; ++i) {
        build_.collect(Collect::Keep, build_.result(inner, i));
      }
    }
    build_.close_loop();
    map_[id] = eaches[0];
  }

  const std::map<ValueId, Sizes>& sizes_;  // by each
};

}  // namespace

ir::Function split(const ir::Function& function, const std::map<ValueId, Sizes>& eaches) {
  return Splitter(function, eaches).run();
}

}  // namespace lw::transform
