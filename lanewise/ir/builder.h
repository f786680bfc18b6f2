// Appends instructions to a function under construction, inferring types from the op rows.
#pragma once

#include <initializer_list>
#include <span>
#include <variant>

#include "lanewise/ir/function.h"

namespace lw::ir {

class Builder {
 public:
  /// There is room for `values` without moving them.
  explicit Builder(std::string name, std::size_t values = 0);
  Builder(const Builder&) = delete;  // points into itself
  Builder& operator=(const Builder&) = delete;
  /// Continues in block 0 of an existing function.
  explicit Builder(Function& function) : function_(&function) {}

  ValueId param(std::string name, DType type, ParamKind kind = ParamKind::Mapped,
                std::uint32_t size = 0);
  /// One like that of another function.
  ValueId param(const Param& p) { return param(p.name, p.type, p.kind, p.size); }
  /// A parameter behind those there are, wherever the function has got to.
  ValueId late_param(std::string name, DType type, ParamKind kind, std::uint32_t size = 0);

  ValueId constant(Scalar value);
  /// An elementwise op; throws UsageError naming op and types when they do not fit.
  ValueId op(Op op, std::span<const ValueId> operands, DType stated = DType::Bool);
  ValueId op(Op o, std::initializer_list<ValueId> operands, DType stated = DType::Bool) {
    return op(o, std::span(operands.begin(), operands.size()), stated);
  }
  ValueId convert(ValueId value, DType type);

  /// Opens a loop over `initial`; what follows goes into its body until `end_loop`.
  /// The carried values are `arguments(loop)`.
  ValueId begin_loop(std::span<const ValueId> initial, bool rare = false);
  std::span<const ValueId> arguments(ValueId loop) const;
  void break_if(ValueId condition, std::span<const ValueId> values, std::uint32_t up = 0);
  void end_loop(std::span<const ValueId> next);
  /// Leaves the body of a loop, whose `next` has been appended already, or of an `each`.
  void close_loop();
  /// Drops the loop that is open in a block of this depth, and what is inside.
  void discard_from(std::size_t depth);
  /// Result `index` of a loop or `each` that has ended.
  ValueId result(ValueId loop, std::uint32_t index);

  /// Opens an `each`; what follows goes into its body until `close_loop`. The position is its one
  /// argument. With a count, `size` is the most that it can be.
  ValueId begin_each(std::uint32_t size, ValueId count = kNone);
  /// Collects a value of the open `each`; `result` gives what becomes of it, counted from 0.
  void collect(Collect collect, ValueId value);
  /// Keeps the value of position p at place `first` + p of a target.
  void keep(ValueId value, ValueId target, ValueId first);

  /// Makes what stands in an open block from `position` on the body of a new loop without carried
  /// values, which is open then.
  ValueId wrap(std::size_t depth, std::size_t position);
  /// A slot with this value, before the instruction at `position` of an open block.
  ValueId early_slot(std::size_t depth, std::size_t position, Scalar initial);
  /// The same with a value of before, converted, or 0.
  ValueId early_slot(std::size_t depth, std::size_t position, DType type, ValueId initial = kNone);
  /// An array there, without values, or all of this value.
  ValueId early_array(std::size_t depth, std::size_t position, DType type, std::uint32_t size);
  ValueId early_array(std::size_t depth, std::size_t position, Scalar initial, std::uint32_t size);
  /// How many blocks are open; how many instructions the innermost has, or the one of a depth.
  std::size_t depth() const { return open_.size(); }
  std::size_t position() const { return position(depth() - 1); }
  std::size_t position(std::size_t depth) const {
    return function_->blocks[open_[depth]].body.size();
  }
  /// Moves what stands in the innermost loop, behind its first two instructions, into the block
  /// around it, and drops the loop. Does nothing, and is false, where that is more than a few
  /// operations, or something that can fail or has an effect.
  bool dissolve_loop();

  ValueId element(std::uint32_t word);
  ValueId table_size(ValueId table);
  /// Of a table or an array; `fill` is read outside of it where the mode is Fill.
  ValueId read(ValueId values, ValueId index, IndexMode mode, ValueId fill = kNone);
  ValueId array(ValueId initial, std::uint32_t size);
  void array_write(ValueId array, ValueId index, ValueId value, IndexMode mode);

  /// `values` are told when it fails.
  void fail_if(ValueId condition, FailKind kind, std::span<const ValueId> values = {});
  /// The element fails unless the i32 or i64 is from 0 to below `size`.
  void check_index(ValueId index, std::int64_t size);
  void ret(std::span<const ValueId> values);

  ValueId append(Instruction instruction);
  void set_location(base::Location location) { location_ = location; }

  DType type(ValueId id) const { return (*function_)[id].type; }
  base::Location location() const { return location_; }
  Function& function() { return *function_; }
  const Function& function() const { return *function_; }
  Function take() { return std::move(*function_); }

 private:
  /// With a value that is there, or that an instruction before the slot makes.
  ValueId insert_slot(std::size_t depth, std::size_t position,
                      std::variant<ValueId, Instruction> initial);

  Function owned_;
  Function* function_ = &owned_;
  std::vector<BlockId> open_ = {0};  // the innermost block is last
  base::Location location_;
};

}  // namespace lw::ir
