#include "lanewise/base/check.h"
#include "lanewise/transform/passes.h"

namespace lw::transform {
namespace {

using ir::Instruction;
using ir::Op;
using ir::ValueId;

class Copier {
 public:
  Copier(const ir::Function& f, const Replace& replace)
      : f_(f), replace_(replace), build_(f.name), map_(f.values.size(), ir::kNone) {}

  ir::Function run() {
    block(0);
    return build_.take();
  }

 private:
  ir::Operands mapped(std::span<const ValueId> ids) const {
    ir::Operands result;
    for (const ValueId id : ids) {
      LW_CHECK(map_[id] != ir::kNone);
      result.push_back(map_[id]);
    }
    return result;
  }

  void block(ir::BlockId id) {
    for (const ValueId value : f_.blocks[id].body) instruction(value);
  }

  void instruction(ValueId id) {
    const Instruction& old = f_[id];
    build_.set_location(old.location);
    if (old.op == Op::Param) {
      const ir::Param& p = f_.params[old.index];
      map_[id] = build_.param(p.name, p.type, p.kind);
    } else if (old.op == Op::Loop) {
      map_[id] = build_.begin_loop(mapped(old.operands), old.index != 0);
      const auto& arguments = f_.blocks[old.block].arguments;
      for (std::size_t i = 0; i < arguments.size(); ++i) {
        map_[arguments[i]] = build_.arguments(map_[id])[i];
      }
      block(old.block);
      build_.close_loop();
    } else if (old.op == Op::Return) {
      build_.ret(mapped(old.operands));
    } else {
      Instruction copy = old;
      copy.operands = mapped(old.operands);
      std::optional<ValueId> value;
      if (ops::is_elementwise(old.op)) value = replace_(build_, copy);
      map_[id] = value ? *value : build_.append(std::move(copy));
    }
  }

  const ir::Function& f_;
  const Replace& replace_;
  ir::Builder build_;
  std::vector<ValueId> map_;
};

}  // namespace

ir::Function rewrite(const ir::Function& function, const Replace& replace) {
  return Copier(function, replace).run();
}

}  // namespace lw::transform
