// Rebuilding a function instruction by instruction; a pass says what it does otherwise.
#pragma once

#include "lanewise/ir/builder.h"

namespace lw::transform {

class Copier {
 public:
  explicit Copier(const ir::Function& f)
      : f_(f), build_(f.name, f.values.size()), map_(f.values.size(), ir::kNone) {}
  virtual ~Copier() = default;
  Copier(const Copier&) = delete;
  Copier& operator=(const Copier&) = delete;

  ir::Function run() {
    block(0);
    return build_.take();
  }

 protected:
  /// What stands for these values in the copy.
  ir::Operands mapped(std::span<const ir::ValueId> ids) const;
  void block(ir::BlockId id) {
    for (const ir::ValueId value : f_.blocks[id].body) instruction(value);
  }
  /// Appends one instruction's copy, what has a body with that.
  virtual void instruction(ir::ValueId id);
  void loop(ir::ValueId id);
  void each(ir::ValueId id);

  const ir::Function& f_;
  ir::Builder build_;
  std::vector<ir::ValueId> map_;  // by value: what stands for it
};

}  // namespace lw::transform
