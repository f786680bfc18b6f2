// The evaluator counts back edges; here the count becomes part of the program: a counter carried
// through every loop, inner loops going on from the outer one's count.
#include <utility>

#include "lanewise/transform/copier.h"
#include "lanewise/transform/passes.h"

namespace lw::transform {
namespace {

using ir::Instruction;
using ir::Op;
using ir::ValueId;

class StepLimiter : public Copier {
 public:
  StepLimiter(const ir::Function& f, DType counter) : Copier(f), type_(counter) {}

  ir::Function run() {
    for (const ir::Param& p : f_.params) map_[p.value] = build_.param(p);
    limit_ = build_.param("max_steps", type_, ir::ParamKind::StepLimit);
    count_ = build_.constant(types::scalar_of(type_, 0));
    return Copier::run();
  }

 private:
  void instruction(ValueId id) override {
    const Instruction& in = f_[id];
    build_.set_location(in.location);
    switch (in.op) {
      case Op::Param:
        return;
      case Op::Loop:
        return count_loop(id);
      case Op::Each: {  // positions count from here each for itself
        const ValueId count = count_;
        Copier::each(id);
        count_ = count;
        return;
      }
      case Op::BreakIf: {
        ir::Operands operands = mapped(in.operands);
        operands.push_back(count_);
        build_.append({.op = Op::BreakIf, .operands = std::move(operands), .index = in.index});
        return;
      }
      case Op::Next: {
        build_.set_location(loop_location_);
        if (is_once_) {
          ir::Operands unchanged = mapped(in.operands);
          unchanged.push_back(count_);
          build_.append({.op = Op::Next, .operands = std::move(unchanged)});
          return;
        }
        const ValueId one = build_.constant(types::scalar_of(type_, 1));
        const ValueId count = build_.op(Op::Add, {count_, one});
        build_.fail_if(build_.op(Op::Gt, {count, limit_}), ir::FailKind::StepLimit);
        ir::Operands operands = mapped(in.operands);
        operands.push_back(count);
        build_.append({.op = Op::Next, .operands = std::move(operands)});
        return;
      }
      default:
        return Copier::instruction(id);
    }
  }

  void count_loop(ValueId id) {
    const Instruction& in = f_[id];
    ir::Operands initial = mapped(in.operands);
    const auto position = static_cast<std::uint32_t>(initial.size());
    initial.push_back(count_);
    const ValueId loop = build_.begin_loop(initial, in.index != 0);
    map_[id] = loop;
    const auto& arguments = f_.blocks[in.block].arguments;
    for (std::uint32_t i = 0; i < position; ++i) map_[arguments[i]] = build_.arguments(loop)[i];
    count_ = build_.arguments(loop)[position];
    const base::Location outer = std::exchange(loop_location_, in.location);
    const bool outer_once = std::exchange(is_once_, ir::is_once(f_, id));
    block(in.block);
    is_once_ = outer_once;
    loop_location_ = outer;
    build_.close_loop();
    count_ = build_.result(loop, position);
  }

  DType type_;
  ValueId limit_ = ir::kNone;
  ValueId count_ = ir::kNone;  // the counter's present value
  base::Location loop_location_;
  bool is_once_ = false;  // the innermost loop never goes round
};

}  // namespace

ir::Function limit_steps(const ir::Function& function, DType counter) {
  return StepLimiter(function, counter).run();
}

}  // namespace lw::transform
