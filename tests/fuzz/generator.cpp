// What kind of program it is, its ends, and straight code.
#include "tests/fuzz/generator.h"

#include <fmt/core.h>

#include <array>

#include "tests/fuzz/generator_parts.h"

namespace lw::fuzz {
namespace {

constexpr std::array kCommonTypes = {DType::Bool, DType::I32, DType::I64, DType::F32, DType::F64};

}  // namespace

Generator::Generator(std::uint64_t seed, const Options& options) : random_(seed), build_("f") {
  most_ = static_cast<std::size_t>(random_.between(options.least, options.most));
  choose_flavour();
}

ir::Function Generator::run() {
  parameters();
  if (!random_.chance(10)) {
    body();
    results();
    return build_.take();
  }
  // Early returns: the whole function is a block that is left in many places.
  std::vector<ValueId> initial;
  for (int i = random_.between(1, 3); i > 0; --i) {
    const DType type = random_type();
    initial.push_back(number(type, 0));
  }
  const std::size_t count = initial.size();
  if (has_arrays_ && random_.chance(50)) new_array();
  if (has_each_ && random_.chance(60)) each();
  open_scope(initial, false);
  body();
  observe_arrays(0, 0);
  std::vector<ValueId> values;
  for (std::size_t i = 0; i < count; ++i) {
    const ValueId start = scopes_.back().arguments[i];
    const DType type = build_.type(start);
    values.push_back(type == DType::Bool ? operand(type) : take_in(start, 0, 3));
  }
  const ValueId block = scopes_.back().loop;
  close_once(values);
  values.clear();
  for (std::uint32_t i = 0; i < count; ++i) values.push_back(build_.result(block, i));
  array_results(values);
  build_.ret(values);
  return build_.take();
}

void Generator::body() {
  if (has_arrays_ && random_.chance(50)) new_array();
  const int loops = random_.chance(has_each_ ? 60 : 15) ? 0 : random_.chance(70) ? 1 : 2;
  if (has_each_) each();
  if (!ragged_.empty()) ragged();
  write_rows();
  segment(loops == 0 ? random_.between(5, 40) : random_.between(0, 5));
  for (int i = 0; i < loops; ++i) {
    loop();
    segment(random_.between(0, 4));
    if (!arrays_.empty() && random_.chance(40)) update();
    if (fails_ && random_.chance(40)) fail_seldom();
  }
  if (has_each_ && has_budget()) each();
}

// --- what kind of program ---

void Generator::choose_flavour() {
  switch (random_.below(6)) {
    case 0:
      types_ = {DType::F32, DType::F32, DType::I32, DType::Bool};
      break;
    case 1:
      types_ = {DType::F64, DType::F64, DType::I64, DType::Bool};
      break;
    case 2:
    case 3:
      types_ = {kCommonTypes.begin(), kCommonTypes.end()};
      break;
    default:  // bool, i32 and a few of all
      types_ = {DType::Bool, DType::I32};
      for (int i = 0; i < 4; ++i) {
        types_.push_back(static_cast<DType>(random_.below(types::kDTypeCount)));
      }
  }
  divides_ = random_.chance(40);
  fails_ = random_.chance(20);
  branches_ = random_.chance(50);
  if (branches_) most_ += 30;
  has_arrays_ = random_.chance(30);
  has_numbers_ = random_.chance(12);
  has_each_ = random_.chance(30);
  if (has_each_) most_ += 60;
  const bool trigonometry = random_.chance(8);
  for (const ops::Row& row : ops::rows()) {
    if (row.kind == ops::Kind::Structural || row.arity < 1 || row.arity > 3) continue;
    if (row.op == Op::RawBits) continue;  // of a NaN gives any NaN's
    // Have loops inside, whose steps would be counted with those of the program.
    if (row.op == Op::Fmod || row.op == Op::Mod || row.op == Op::Remainder) continue;
    if (row.kind == ops::Kind::Expand && !trigonometry) continue;
    rows_.push_back(&row);
  }
  if (random_.chance(5)) {  // one function again and again: parts
    std::vector<const ops::Row*> functions;
    for (const ops::Row& row : ops::rows()) {
      const bool has_loops = row.op == Op::Fmod || row.op == Op::Mod || row.op == Op::Remainder;
      if (row.kind == ops::Kind::Expand && !has_loops) functions.push_back(&row);
    }
    rows_.insert(rows_.end(), rows_.size(), random_.pick(functions));
  }
}

void Generator::parameters() {
  const int count = random_.between(1, 4);
  for (int i = 0; i < count; ++i) {
    const bool mapped = i == 0 || random_.chance(70);
    DType type = random_type();
    while (i == 0 && type == DType::Bool) type = random_type();
    emit(build_.param(fmt::format("arg{}", i), type,
                      mapped ? ir::ParamKind::Mapped : ir::ParamKind::Shared),
         !mapped);
  }
  const int tables = random_.chance(75) ? 0 : random_.between(1, 2);
  for (int i = 0; i < tables; ++i) {
    const DType type = random_.chance(50) ? random_type() : any_type();
    tables_.push_back(build_.param(fmt::format("table{}", i), type, ir::ParamKind::Table));
  }
  if (random_.chance(6)) bits_parameter();
  if (has_each_) row_parameters();
  if (random_.chance(8)) ragged_parameters();
  const bool draws = random_.chance(4);
  if (draws) seed_ = build_.param("seed", DType::U64, ir::ParamKind::Seed);
  noise_ = noise_of(build_.function().params[0].value);
  if (draws) draws_ = number(DType::U32, 0);
  ragged_lengths();
  if (has_numbers_ && random_.chance(50)) {
    const ValueId word = build_.convert(build_.element(0), DType::I32);
    noise_ = build_.op(Op::Xor, {noise_, word});
  }
}

void Generator::results() {
  observe_arrays(0, 0);
  const int count = random_.between(1, 3);
  std::vector<ValueId> values;
  if (random_.chance(70)) values.push_back(take_in(number(DType::I64, 1), 0, 3));
  while (std::ssize(values) < count) {
    const auto varying = find_varying();
    values.push_back(varying ? *varying : any_value());
  }
  const int dice = random_.below(100);
  if (dice < 12) {
    values.push_back(is_there());
    for (int i = random_.between(1, 3); i > 0; --i) values.push_back(foldable());
  }
  array_results(values);
  if (dice >= 88) {
    const ValueId value = foldable();
    const ValueId is_here = is_there();
    const auto how = random_.chance(50) ? ir::Collect::Min : ir::Collect::Max;
    const ValueId none = build_.constant(ir::neutral(how, build_.type(value)));
    values.push_back(emit_op(Op::Select, {is_here, value, none}));
    values.push_back(is_here);
  }
  build_.ret(values);
}

ValueId Generator::is_there() {
  if (random_.chance(30)) return build_.constant(Scalar(true));
  const ValueId is_rare = rare_condition();
  return random_.chance(60) ? emit_op(Op::Not, {is_rare}) : is_rare;
}

ValueId Generator::foldable() {
  constexpr std::array kTypes = {DType::F32, DType::F64, DType::I32, DType::I64, DType::U32};
  const ValueId value = random_.chance(40) ? noise() : any_value();  // before the next draw
  return convert(value, random_.pick(kTypes));
}

/// Some of the arrays in scope, each once.
void Generator::array_results(std::vector<ValueId>& values) {
  constexpr int kMost = 3;
  int count = 0;
  for (const auto* list : {&kept_, &arrays_}) {
    for (const ValueId id : *list) {
      if (count == kMost || !random_.chance(40)) continue;
      values.push_back(id);
      ++count;
    }
  }
}

// --- straight code ---

void Generator::segment(int length) {
  constexpr int kDeepest = 3;       // loops
  constexpr std::size_t kMost = 5;  // scopes
  for (int i = 0; i < length && has_budget(); ++i) {
    const int depth = loop_depth();
    const bool may_open = scopes_.size() + each_.size() < kMost;
    const bool is_inside = !scopes_.empty() || !each_.empty();
    const int loops = depth == 0 ? 8 : depth == 1 ? 22 : 14;
    if (may_open && is_inside && depth < kDeepest && random_.chance(loops)) {
      loop();
    } else if (can_leave() && random_.chance(!branches_ ? 8 : scopes_.size() > 1 ? 22 : 12)) {
      exit();
    } else if (may_open && random_.chance(branches_ ? 18 : 4)) {
      branch();
    } else if (may_open && random_.chance(branches_ ? 6 : 1)) {
      once();
    } else if (may_open_each() && random_.chance(8)) {
      each();
    } else if (may_open_ragged() && random_.chance(8)) {
      ragged();
    } else if (has_memory() && random_.chance(35)) {
      memory_op();
    } else if (random_.chance(2)) {
      linear_loop();
    } else if (seed_ != ir::kNone && sites_ < 2 && random_.chance(20)) {
      draw();
    } else if (fails_ && random_.chance(15)) {
      fail_seldom();
    } else {
      random_op();
    }
  }
}

void Generator::random_op() {
  const ops::Row& row = *random_.pick(rows_);
  std::vector<DType> accepted;
  for (const DType type : types_) {
    if (ops::is_accepted(row.accepts, type)) accepted.push_back(type);
  }
  if (accepted.empty()) return;
  const DType type = random_.pick(accepted);
  if (ops::can_fail(row.op, type) && !divides_ && !fails_) return;
  std::vector<DType> operand_types(static_cast<std::size_t>(row.arity), type);
  if (row.op == Op::Select) operand_types[0] = DType::Bool;
  std::vector<DType> stated;  // the results the row can be asked for
  for (const DType result : types_) {
    if (ops::result_type(row.op, operand_types, result)) stated.push_back(result);
  }
  if (stated.empty()) return;
  const DType result = random_.pick(stated);
  std::vector<ValueId> operands;
  for (const DType wanted : operand_types) {
    operands.push_back(operand(wanted));
    if (operands.back() == operands[0] && operands.size() > 1) operands.back() = operand(wanted);
  }
  if (ops::can_fail(row.op, type)) {
    const bool may_fail = fails_ && random_.chance(40);
    operands[1] = may_fail ? seldom_zero(type) : not_zero(operands[1]);
  }
  emit_op(row.op, operands, result);
}

ValueId Generator::not_zero(ValueId value) {
  const DType type = build_.type(value);
  if (random_.chance(30)) return number(type, random_.chance(50) ? -1 : random_.between(1, 9));
  if (random_.chance(50)) return emit_op(Op::Or, {value, number(type, 1)});
  const ValueId is_zero = emit_op(Op::Eq, {value, number(type, 0)});
  return emit_op(Op::Select, {is_zero, number(type, random_.chance(50) ? 1 : -1), value});
}

ValueId Generator::seldom_zero(DType type) {
  ValueId bits = emit_op(Op::And, {noise(), number(DType::I32, 15)});
  if (!each_.empty()) {
    const ValueId odd = emit_op(Op::Or, {bits, number(DType::I32, 1)});
    bits = emit_op(Op::Select, {failing_condition(), bits, odd});
  }
  return type == DType::I32 ? bits : emit_op(Op::Convert, {bits}, type);
}

void Generator::fail_seldom() {
  using ir::FailKind;
  const ValueId condition = failing_condition();
  const auto fail = [&](FailKind kind, std::initializer_list<ValueId> told) {
    build_.fail_if(condition, kind, std::span(told.begin(), told.size()));
  };
  switch (random_.below(8)) {
    case 0:
      return fail(FailKind::Lengths, {operand(DType::I32), operand(DType::I32)});
    case 1:
      return fail(FailKind::Empty, {});
    case 2:
      return fail(FailKind::Singular, {});
    case 3:
      return fail(FailKind::NotPositive, {operand(random_.chance(50) ? DType::F32 : DType::F64)});
    default:
      return fail(FailKind::Check, {});
  }
}

ir::Function generate(std::uint64_t seed, const Options& options) {
  return Generator(seed, options).run();
}

}  // namespace lw::fuzz
