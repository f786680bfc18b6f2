#include "lanewise/ir/builder.h"

#include <fmt/core.h>

#include "lanewise/base/check.h"

namespace lw::ir {

bool has_value(const Instruction& instruction) {
  return ops::row(instruction.op).gives != ops::Gives::None;
}

namespace {

/// The first of `count` exits of a loop that is always left by the last of them, at its end.
ValueId first_exit(const Function& f, ValueId loop, int count) {
  const Block& block = f.blocks[f[loop].block];
  ValueId first = kNone;
  ValueId last = kNone;
  int exits = 0;
  for (const ValueId id : block.body) {
    if (f[id].op != Op::BreakIf) continue;
    if (exits == 0) first = id;
    last = id;
    ++exits;
  }
  if (exits != count || last != block.body[block.body.size() - 2]) return kNone;
  const Instruction& condition = f[f[last].operands[0]];
  return condition.op == Op::Constant && condition.constant.as<bool>() ? first : kNone;
}

}  // namespace

ValueId branch_exit(const Function& f, ValueId loop) {
  const ValueId first = first_exit(f, loop, 2);
  if (first == kNone) return kNone;
  const auto& arguments = f.blocks[f[loop].block].arguments;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (f[first].operands[i + 1] != arguments[i]) return kNone;
  }
  return first;
}

bool is_part(const Function& f, ValueId loop) { return first_exit(f, loop, 1) != kNone; }

bool has_loops(const Function& f) {
  bool found = false;
  for_each(
      f, [&](ValueId id, int) { found = found || (f[id].op == Op::Loop && can_go_round(f, id)); });
  return found;
}

Builder::Builder(std::string name) {
  owned_.name = std::move(name);
  owned_.blocks.emplace_back();
}

ValueId Builder::append(Instruction instruction) {
  if (!instruction.location) instruction.location = location_;
  const auto id = static_cast<ValueId>(function_->values.size());
  function_->values.push_back(std::move(instruction));
  function_->blocks[open_.back()].body.push_back(id);
  return id;
}

ValueId Builder::param(std::string name, DType type, bool mapped) {
  const auto index = static_cast<std::uint32_t>(function_->params.size());
  const ValueId id = append({.op = Op::Param, .type = type, .index = index});
  function_->params.push_back({std::move(name), type, mapped, id});
  return id;
}

ValueId Builder::constant(Scalar value) {
  return append({.op = Op::Constant, .type = value.type(), .constant = value.canonical()});
}

ValueId Builder::op(Op op, std::span<const ValueId> operands, DType stated) {
  base::SmallVector<DType, 4> operand_types;
  for (const ValueId operand : operands) operand_types.push_back(type(operand));
  const auto result = ops::result_type(op, operand_types, stated);
  if (!result) {
    std::string got;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      got += fmt::format("{}{}", i ? ", " : "", types::name_of(operand_types[i]));
    }
    throw UsageError(
        fmt::format("{}{}{}: operands do not fit; got ({}), expected {} of one accepted type. "
                    "Convert them first.",
                    base::to_string(location_), location_ ? ": " : "", ops::row(op).name, got,
                    ops::row(op).arity));
  }
  return append({.op = op, .type = *result, .operands = {operands.begin(), operands.end()}});
}

ValueId Builder::convert(ValueId value, DType to) {
  return type(value) == to ? value : op(Op::Convert, {value}, to);
}

ValueId Builder::begin_loop(std::span<const ValueId> initial) {
  const auto block = static_cast<BlockId>(function_->blocks.size());
  function_->blocks.emplace_back();
  const ValueId loop =
      append({.op = Op::Loop, .operands = {initial.begin(), initial.end()}, .block = block});
  for (std::uint32_t i = 0; i < initial.size(); ++i) {
    const auto argument = static_cast<ValueId>(function_->values.size());
    function_->values.push_back(
        {.op = Op::Argument, .type = type(initial[i]), .index = i, .location = location_});
    function_->blocks[block].arguments.push_back(argument);
  }
  open_.push_back(block);
  return loop;
}

std::span<const ValueId> Builder::arguments(ValueId loop) const {
  return function_->blocks[(*function_)[loop].block].arguments;
}

void Builder::break_if(ValueId condition, std::span<const ValueId> values) {
  Instruction exit{.op = Op::BreakIf, .operands = {condition}};
  exit.operands.append(values.begin(), values.end());
  append(std::move(exit));
}

void Builder::end_loop(std::span<const ValueId> next) {
  append({.op = Op::Next, .operands = {next.begin(), next.end()}});
  close_loop();
}

void Builder::close_loop() {
  LW_CHECK(open_.size() > 1);
  open_.pop_back();
}

void Builder::discard_loop(ValueId loop) {
  const BlockId body = (*function_)[loop].block;
  close_loop();
  function_->blocks.resize(body);
  function_->values.resize(loop);
  auto& around = function_->blocks[open_.back()].body;
  LW_CHECK(!around.empty() && around.back() == loop);
  around.pop_back();
}

ValueId Builder::result(ValueId loop, std::uint32_t index) {
  const DType t = type(arguments(loop)[index]);
  return append({.op = Op::Result, .type = t, .operands = {loop}, .index = index});
}

void Builder::fail_if(ValueId condition, FailKind kind) {
  append({.op = Op::Fail, .operands = {condition}, .index = static_cast<std::uint32_t>(kind)});
}

void Builder::ret(std::span<const ValueId> values) {
  for (const ValueId id : values) function_->results.push_back(type(id));
  append({.op = Op::Return, .operands = {values.begin(), values.end()}});
}

}  // namespace lw::ir
