// Appends instructions to a function under construction, inferring types from the op rows.
#pragma once

#include <initializer_list>
#include <span>

#include "lanewise/ir/function.h"

namespace lw::ir {

class Builder {
 public:
  explicit Builder(std::string name);
  Builder(const Builder&) = delete;  // points into itself
  Builder& operator=(const Builder&) = delete;
  /// Continues in block 0 of an existing function.
  explicit Builder(Function& function) : function_(&function) {}

  ValueId param(std::string name, DType type, bool mapped = true);
  ValueId constant(Scalar value);
  /// An elementwise op; throws UsageError naming op and types when they do not fit.
  ValueId op(Op op, std::span<const ValueId> operands, DType stated = DType::Bool);
  ValueId op(Op o, std::initializer_list<ValueId> operands, DType stated = DType::Bool) {
    return op(o, std::span(operands.begin(), operands.size()), stated);
  }
  ValueId convert(ValueId value, DType type);

  /// Opens a loop over `initial`; what follows goes into its body until `end_loop`.
  /// The carried values are `arguments(loop)`.
  ValueId begin_loop(std::span<const ValueId> initial);
  std::span<const ValueId> arguments(ValueId loop) const;
  void break_if(ValueId condition, std::span<const ValueId> values);
  void end_loop(std::span<const ValueId> next);
  /// Leaves the loop body, whose `next` has been appended already.
  void close_loop();
  /// Drops the innermost loop, which is open, and everything recorded since it began.
  void discard_loop(ValueId loop);
  /// Result `index` of a loop that has ended.
  ValueId result(ValueId loop, std::uint32_t index);

  void fail_if(ValueId condition, FailKind kind);
  void ret(std::span<const ValueId> values);

  ValueId append(Instruction instruction);
  void set_location(base::Location location) { location_ = location; }

  DType type(ValueId id) const { return (*function_)[id].type; }
  Function& function() { return *function_; }
  Function take() { return std::move(*function_); }

 private:
  Function owned_;
  Function* function_ = &owned_;
  std::vector<BlockId> open_ = {0};  // the innermost block is last
  base::Location location_;
};

}  // namespace lw::ir
