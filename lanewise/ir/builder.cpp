#include "lanewise/ir/builder.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "lanewise/base/check.h"

namespace lw::ir {

bool has_value(const Instruction& instruction) {
  return ops::row(instruction.op).gives != ops::Gives::None;
}

std::string_view name_of(IndexMode mode) {
  switch (mode) {
    case IndexMode::Check:
      return "check";
    case IndexMode::Clip:
      return "clip";
    case IndexMode::Wrap:
      return "wrap";
    case IndexMode::Fill:
      return "fill";
    case IndexMode::Unchecked:
      return "unchecked";
  }
  return {};
}

std::string_view name_of(Collect collect) {
  constexpr std::string_view kNames[] = {"keep", "sum", "product", "min",   "max",
                                         "and",  "or",  "argmin",  "argmax"};
  return kNames[static_cast<std::size_t>(collect)];
}

Op combining_op(Collect collect) {
  switch (collect) {
    case Collect::Sum:
      return Op::Add;
    case Collect::Product:
      return Op::Mul;
    case Collect::Min:
      return Op::Min;
    case Collect::Max:
      return Op::Max;
    case Collect::And:
      return Op::And;
    case Collect::Or:
      return Op::Or;
    case Collect::Keep:
    case Collect::ArgMin:
    case Collect::ArgMax:
      break;
  }
  LW_UNREACHABLE("no two values are combined by an op");
}

Scalar neutral(Collect collect, DType type) {
  return types::with_type(type, [&]<class T>() -> Scalar {
    if constexpr (std::is_same_v<T, bool>) {
      return Scalar(collect == Collect::And || collect == Collect::Min);
    } else if constexpr (std::is_floating_point_v<T> || std::is_integral_v<T>) {
      constexpr bool is_float = std::is_floating_point_v<T>;
      switch (collect) {
        case Collect::Sum:
          return is_float ? types::scalar_of(type, -0.0) : Scalar(T{0});
        case Collect::Product:
          return Scalar(T{1});
        case Collect::Min:
        case Collect::ArgMin:
          return is_float ? Scalar(std::numeric_limits<T>::infinity())
                          : Scalar(std::numeric_limits<T>::max());
        case Collect::Max:
        case Collect::ArgMax:
          return is_float ? Scalar(-std::numeric_limits<T>::infinity())
                          : Scalar(std::numeric_limits<T>::lowest());
        case Collect::And:
          return types::scalar_of_bits(type, -1);
        case Collect::Or:
        case Collect::Keep:
          return Scalar(T{0});
      }
    }
    LW_UNREACHABLE("halves are not combined");
    return {};
  });
}

std::vector<ValueId> collects_of(const Function& f, ValueId each) {
  std::vector<ValueId> list;
  for (const ValueId id : f.blocks[f[each].block].body) {
    if (f[id].op == Op::Collect) list.push_back(id);
  }
  return list;
}

const Instruction& collect_of(const Function& f, ValueId each, std::uint32_t index) {
  return f[collects_of(f, each).at(index)];
}

namespace {

/// The instruction that collects what a `result` gives; null where that is no `each`'s.
const Instruction* collected_by(const Function& f, const Instruction& in) {
  if (in.op != Op::Result || f[in.operands[0]].op != Op::Each) return nullptr;
  return &collect_of(f, in.operands[0], in.index);
}

}  // namespace

bool is_target(const Function& f, ValueId id) {
  return f[id].op == Op::Param && f.params[f[id].index].is_target();
}

bool is_array(const Function& f, ValueId id) {
  if (f[id].op == Op::Array) return true;
  const Instruction* collect = collected_by(f, f[id]);
  return collect != nullptr && static_cast<Collect>(collect->index) == Collect::Keep;
}

std::uint32_t size_of(const Function& f, ValueId id) {
  const Instruction& in = f[id];
  if (in.op == Op::Param) return f.params[in.index].size;
  if (in.op == Op::Array) return in.index;
  const ValueId kept = collected_by(f, in)->operands[0];
  return f[in.operands[0]].index * (is_array(f, kept) ? size_of(f, kept) : 1);
}

types::Item item_of(const Function& f, ValueId id) {
  return {f[id].type, is_array(f, id) ? size_of(f, id) : 0};
}

bool is_number(const Function& f, ValueId id) {
  const Instruction& in = f[id];
  if (in.op == Op::Param) return !f.params[in.index].is_indexed();
  return has_value(in) && in.op != Op::Slot && !is_array(f, id);
}

namespace {

/// The exits that leave the loop whose body, or a block `up` loops inside of it, is given; no more
/// than three are counted.
struct Exits {
  int count = 0;
  ValueId first = kNone;
};

void find_exits(const Function& f, BlockId block, std::uint32_t up, Exits& exits) {
  for (const ValueId id : f.blocks[block].body) {
    if (exits.count > 2) return;
    if (f[id].op == Op::Loop) find_exits(f, f[id].block, up + 1, exits);
    if (f[id].op != Op::BreakIf || f[id].index != up) continue;
    if (exits.count++ == 0) exits.first = up == 0 ? id : kNone;
  }
}

}  // namespace

bool leaves_always(const Function& f, const Instruction& in) {
  if (in.op != Op::BreakIf) return false;
  const Instruction& condition = f[in.operands[0]];
  return condition.op == Op::Constant && condition.constant.as<bool>();
}

bool leaves(const Function& f, ValueId id, std::uint32_t up) {
  if (f[id].op == Op::BreakIf) return f[id].index == up;
  if (f[id].op != Op::Loop) return false;
  const auto& body = f.blocks[f[id].block].body;
  return std::any_of(body.begin(), body.end(),
                     [&](ValueId inner) { return leaves(f, inner, up + 1); });
}

bool is_once(const Function& f, ValueId loop) {
  const auto& body = f.blocks[f[loop].block].body;
  if (body.size() < 2) return false;
  const Instruction& last = f[body[body.size() - 2]];
  return leaves_always(f, last) && last.index == 0;
}

ValueId branch_exit(const Function& f, ValueId loop) {
  if (!is_once(f, loop)) return kNone;
  Exits exits;
  find_exits(f, f[loop].block, 0, exits);
  if (exits.count != 2 || exits.first == kNone) return kNone;
  const auto& arguments = f.blocks[f[loop].block].arguments;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (f[exits.first].operands[i + 1] != arguments[i]) return kNone;
  }
  return exits.first;
}

bool is_part(const Function& f, ValueId loop) {
  if (!is_once(f, loop)) return false;
  Exits exits;
  find_exits(f, f[loop].block, 0, exits);
  return exits.count == 1;
}

bool has_loops(const Function& f) {
  bool found = false;
  for_each(
      f, [&](ValueId id, int) { found = found || (f[id].op == Op::Loop && can_go_round(f, id)); });
  return found;
}

Builder::Builder(std::string name, std::size_t values) {
  owned_.name = std::move(name);
  owned_.values.reserve(values);
  owned_.blocks.emplace_back();
}

ValueId Builder::append(Instruction instruction) {
  if (!instruction.location) instruction.location = location_;
  const auto id = static_cast<ValueId>(function_->values.size());
  function_->values.push_back(std::move(instruction));
  function_->blocks[open_.back()].body.push_back(id);
  return id;
}

ValueId Builder::param(std::string name, DType type, ParamKind kind, std::uint32_t size) {
  const auto index = static_cast<std::uint32_t>(function_->params.size());
  const ValueId id = append({.op = Op::Param, .type = type, .index = index});
  function_->params.push_back({std::move(name), type, kind, id, size});
  return id;
}

ValueId Builder::late_param(std::string name, DType type, ParamKind kind, std::uint32_t size) {
  const auto index = static_cast<std::uint32_t>(function_->params.size());
  const auto id = static_cast<ValueId>(function_->values.size());
  function_->values.push_back({.op = Op::Param, .type = type, .index = index});
  function_->params.push_back({std::move(name), type, kind, id, size});
  auto& body = function_->blocks[0].body;
  body.insert(body.begin() + index, id);
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

ValueId Builder::begin_loop(std::span<const ValueId> initial, bool rare) {
  const auto block = static_cast<BlockId>(function_->blocks.size());
  function_->blocks.emplace_back();
  const ValueId loop = append({.op = Op::Loop,
                               .operands = {initial.begin(), initial.end()},
                               .index = rare,
                               .block = block});
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

void Builder::break_if(ValueId condition, std::span<const ValueId> values, std::uint32_t up) {
  Instruction exit{.op = Op::BreakIf, .operands = {condition}, .index = up};
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

void Builder::discard_from(std::size_t depth) {
  LW_CHECK(depth + 1 < open_.size());
  open_.resize(depth + 1);
  function_->blocks[open_.back()].body.pop_back();
}

bool Builder::dissolve_loop() {
  constexpr std::size_t kTest = 2;  // not, break_if
  constexpr std::size_t kMost = 16;
  auto& body = function_->blocks[open_.back()].body;
  if (body.size() > kMost + kTest) return false;
  for (std::size_t i = kTest; i < body.size(); ++i) {
    const Instruction& in = (*function_)[body[i]];
    const bool is_free = in.op == Op::Constant || in.op == Op::SlotRead;
    if (!is_free && (!ops::is_elementwise(in.op) || ops::can_fail(in.op, in.type))) return false;
  }
  std::vector<ValueId> moved(body.begin() + kTest, body.end());
  discard_from(depth() - 2);
  auto& around = function_->blocks[open_.back()].body;
  around.insert(around.end(), moved.begin(), moved.end());
  return true;
}

ValueId Builder::begin_each(std::uint32_t size, ValueId count) {
  const auto block = static_cast<BlockId>(function_->blocks.size());
  function_->blocks.emplace_back();
  const ValueId each = append({.op = Op::Each, .index = size, .block = block});
  if (count != kNone) (*function_)[each].operands.push_back(count);
  const auto position = static_cast<ValueId>(function_->values.size());
  function_->values.push_back({.op = Op::Argument, .type = DType::I32, .location = location_});
  function_->blocks[block].arguments.push_back(position);
  open_.push_back(block);
  return each;
}

void Builder::collect(Collect collect, ValueId value) {
  append({.op = Op::Collect,
          .type = type(value),
          .operands = {value},
          .index = static_cast<std::uint32_t>(collect)});
}

void Builder::keep(ValueId value, ValueId target, ValueId first) {
  append({.op = Op::Collect,
          .type = type(value),
          .operands = {value, target, first},
          .index = static_cast<std::uint32_t>(Collect::Keep)});
}

ValueId Builder::result(ValueId loop, std::uint32_t index) {
  if ((*function_)[loop].op == Op::Each) {
    const Instruction& in = collect_of(*function_, loop, index);
    const auto collect = static_cast<Collect>(in.index);
    return append({.op = Op::Result,
                   .type = gives_place(collect) ? DType::I32 : in.type,
                   .operands = {loop},
                   .index = index});
  }
  const DType t = type(arguments(loop)[index]);
  return append({.op = Op::Result, .type = t, .operands = {loop}, .index = index});
}

namespace {

/// Exits that leave more than the loops inside of the block have one loop more to leave.
void raise_exits(Function& f, BlockId block, std::uint32_t inside) {
  for (const ValueId id : f.blocks[block].body) {
    if (f[id].op == Op::Loop) raise_exits(f, f[id].block, inside + 1);
    if (f[id].op == Op::BreakIf && f[id].index >= inside) ++f[id].index;
  }
}

}  // namespace

ValueId Builder::wrap(std::size_t depth, std::size_t position) {
  const auto inner = static_cast<BlockId>(function_->blocks.size());
  function_->blocks.emplace_back();
  auto& around = function_->blocks[open_[depth]].body;
  const auto first = around.begin() + static_cast<std::ptrdiff_t>(position);
  function_->blocks[inner].body.assign(first, around.end());
  around.erase(first, around.end());
  raise_exits(*function_, inner, 0);
  const auto loop = static_cast<ValueId>(function_->values.size());
  function_->values.push_back({.op = Op::Loop, .block = inner, .location = location_});
  around.push_back(loop);
  open_.insert(open_.begin() + static_cast<std::ptrdiff_t>(depth) + 1, inner);
  return loop;
}

ValueId Builder::early_slot(std::size_t depth, std::size_t position, Scalar initial) {
  return insert_slot(depth, position,
                     Instruction{.op = Op::Constant, .type = initial.type(), .constant = initial});
}

ValueId Builder::early_slot(std::size_t depth, std::size_t position, DType type, ValueId initial) {
  if (initial == kNone) return early_slot(depth, position, types::scalar_of(type, 0));
  if (this->type(initial) == type) return insert_slot(depth, position, initial);
  return insert_slot(
      depth, position,
      Instruction{.op = Op::Convert, .type = type, .operands = {initial}, .location = location_});
}

ValueId Builder::early_array(std::size_t depth, std::size_t position, DType type,
                             std::uint32_t size) {
  const auto id = static_cast<ValueId>(function_->values.size());
  function_->values.push_back(
      {.op = Op::Array, .type = type, .index = size, .location = location_});
  auto& body = function_->blocks[open_[depth]].body;
  body.insert(body.begin() + static_cast<std::ptrdiff_t>(position), id);
  return id;
}

ValueId Builder::early_array(std::size_t depth, std::size_t position, Scalar initial,
                             std::uint32_t size) {
  const auto value = static_cast<ValueId>(function_->values.size());
  function_->values.push_back(
      {.op = Op::Constant, .type = initial.type(), .constant = initial, .location = location_});
  const ValueId array = early_array(depth, position, initial.type(), size);
  (*function_)[array].operands = {value};
  auto& body = function_->blocks[open_[depth]].body;
  body.insert(body.begin() + static_cast<std::ptrdiff_t>(position), value);
  return array;
}

ValueId Builder::insert_slot(std::size_t depth, std::size_t position,
                             std::variant<ValueId, Instruction> initial) {
  base::SmallVector<ValueId, 4> ids;
  const auto add = [&](Instruction in) {
    ids.push_back(static_cast<ValueId>(function_->values.size()));
    function_->values.push_back(std::move(in));
    return ids.back();
  };
  const auto* known = std::get_if<ValueId>(&initial);
  const ValueId value = known != nullptr ? *known : add(std::move(std::get<Instruction>(initial)));
  const ValueId slot = add({.op = Op::Slot, .type = type(value)});
  add({.op = Op::SlotWrite, .operands = {slot, value}});
  auto& body = function_->blocks[open_[depth]].body;
  body.insert(body.begin() + static_cast<std::ptrdiff_t>(position), ids.begin(), ids.end());
  return slot;
}

ValueId Builder::element(std::uint32_t word) {
  return append({.op = Op::Element, .type = DType::U32, .index = word});
}

ValueId Builder::table_size(ValueId table) {
  const Param& p = function_->params[(*function_)[table].index];
  if (p.is_row()) return constant(Scalar(static_cast<std::int64_t>(p.size)));
  return append({.op = Op::TableSize, .type = DType::I64, .operands = {table}});
}

ValueId Builder::read(ValueId values, ValueId index, IndexMode mode, ValueId fill) {
  Instruction in{.op = is_array(*function_, values) ? Op::ArrayRead : Op::TableRead,
                 .type = type(values),
                 .operands = {values, index},
                 .index = static_cast<std::uint32_t>(mode)};
  if (fill != kNone) in.operands.push_back(fill);
  return append(std::move(in));
}

ValueId Builder::array(ValueId initial, std::uint32_t size) {
  return append({.op = Op::Array, .type = type(initial), .operands = {initial}, .index = size});
}

void Builder::array_write(ValueId array, ValueId index, ValueId value, IndexMode mode) {
  append({.op = Op::ArrayWrite,
          .operands = {array, index, value},
          .index = static_cast<std::uint32_t>(mode)});
}

void Builder::fail_if(ValueId condition, FailKind kind, std::span<const ValueId> values) {
  Instruction fail{
      .op = Op::Fail, .operands = {condition}, .index = static_cast<std::uint32_t>(kind)};
  fail.operands.append(values.begin(), values.end());
  append(std::move(fail));
}

void Builder::check_index(ValueId index, std::int64_t size) {
  const DType type = this->type(index) == DType::I32 ? DType::U32 : DType::U64;
  const ValueId bits = op(Op::Bitcast, {index}, type);  // those below 0 are large then
  const ValueId outside = op(Op::Ge, {bits, constant(types::scalar_of_bits(type, size))});
  fail_if(outside, FailKind::Index, std::initializer_list<ValueId>{index, constant(Scalar(size))});
}

void Builder::ret(std::span<const ValueId> values) {
  for (const ValueId id : values) function_->results.push_back(item_of(*function_, id));
  append({.op = Op::Return, .operands = {values.begin(), values.end()}});
}

}  // namespace lw::ir
