#include "lanewise/base/check.h"
#include "lanewise/transform/copier.h"
#include "lanewise/transform/passes.h"

namespace lw::transform {

using ir::Instruction;
using ir::Op;
using ir::ValueId;

ir::Operands Copier::mapped(std::span<const ValueId> ids) const {
  ir::Operands result;
  for (const ValueId id : ids) {
    LW_CHECK(map_[id] != ir::kNone);
    result.push_back(map_[id]);
  }
  return result;
}

void Copier::instruction(ValueId id) {
  const Instruction& in = f_[id];
  build_.set_location(in.location);
  if (in.op == Op::Param) {
    map_[id] = build_.param(f_.params[in.index]);
  } else if (in.op == Op::Loop) {
    loop(id);
  } else if (in.op == Op::Each) {
    each(id);
  } else if (in.op == Op::Return) {
    build_.ret(mapped(in.operands));
  } else {
    Instruction copy = in;
    copy.operands = mapped(in.operands);
    map_[id] = build_.append(std::move(copy));
  }
}

void Copier::loop(ValueId id) {
  const Instruction& in = f_[id];
  map_[id] = build_.begin_loop(mapped(in.operands), in.index != 0);
  const auto& arguments = f_.blocks[in.block].arguments;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    map_[arguments[i]] = build_.arguments(map_[id])[i];
  }
  block(in.block);
  build_.close_loop();
}

void Copier::each(ValueId id) {
  const Instruction& in = f_[id];
  map_[id] = build_.begin_each(in.index, ir::has_count(in) ? mapped(in.operands)[0] : ir::kNone);
  map_[f_.blocks[in.block].arguments[0]] = build_.arguments(map_[id])[0];
  block(in.block);
  build_.close_loop();
}

namespace {

class Rewriter : public Copier {
 public:
  Rewriter(const ir::Function& f, const Replace& replace) : Copier(f), replace_(replace) {}

 private:
  void instruction(ValueId id) override {
    if (!ops::is_elementwise(f_[id].op)) return Copier::instruction(id);
    Instruction copy = f_[id];
    build_.set_location(copy.location);
    copy.operands = mapped(copy.operands);
    const std::optional<ValueId> value = replace_(build_, copy);
    map_[id] = value ? *value : build_.append(std::move(copy));
  }

  const Replace& replace_;
};

}  // namespace

ir::Function rewrite(const ir::Function& function, const Replace& replace) {
  return Rewriter(function, replace).run();
}

}  // namespace lw::transform
