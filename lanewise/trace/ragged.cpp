#include "lanewise/trace/ragged.h"

#include <algorithm>
#include <set>
#include <utility>

#include "lanewise/trace/space.h"

namespace lw::trace {
namespace {

using ops::Op;

ir::Builder& build() { return Trace::current().builder(); }
ir::ValueId op(Op o, std::initializer_list<ir::ValueId> operands) {
  return build().op(o, operands);
}
ir::ValueId literal(DType type, double value) {
  return build().constant(types::scalar_of(type, value));
}

/// The type in which values are combined.
DType wide(DType type) { return type == DType::F16 || type == DType::BF16 ? DType::F32 : type; }

void require_number(ir::ValueId number, std::uint64_t trace) {
  require_here({.base = number, .is_number = true, .trace = trace});
}

/// A place of a table so much further on.
ir::ValueId moved_by(ir::ValueId start, ir::ValueId position) {
  return op(Op::Add, {start, build().convert(position, build().type(start))});
}

/// An index, an i32 or i64, as an i32; elements fail for which it is not 0 to before `length`.
ir::ValueId checked_position(ir::ValueId length, ir::ValueId index) {
  const DType type = build().type(index) == DType::I32 ? DType::U32 : DType::U64;
  const ir::ValueId bits = build().op(Op::Bitcast, {index}, type);  // those below 0 are large then
  const ir::ValueId outside = op(Op::Ge, {bits, build().convert(length, type)});
  const ir::ValueId told[] = {index, build().convert(length, DType::I64)};
  build().fail_if(outside, ir::FailKind::Index, told);
  return build().convert(index, DType::I32);
}

/// The value that an expression has at one position of a program.
class Reading {
 public:
  using Source = std::function<ir::ValueId(const RowExpression&)>;
  using Number = std::function<ir::ValueId(const RowView&)>;
  Reading(Source source, Number number)
      : source_(std::move(source)), number_(std::move(number)), line_(build().location()) {}
  ~Reading() { build().set_location(line_); }
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;

  ir::ValueId of(const RowView& row) {
    if (row.values == nullptr) return number_(row);
    const RowExpression& expression = *row.values;
    const auto [known, is_new] = known_.try_emplace(&expression, ir::kNone);
    if (!is_new) return known->second;
    if (expression.table != ir::kNone) return known->second = source_(expression);
    base::SmallVector<ir::ValueId, 4> values;
    for (const RowView& operand : expression.operands) values.push_back(of(operand));
    build().set_location(expression.line);  // where failures are
    return known->second = build().op(expression.op, values, expression.stated);
  }

 private:
  Source source_;
  Number number_;
  base::Location line_;
  std::map<const RowExpression*, ir::ValueId> known_;
};

/// Rows that begin some positions further on.
class Moving {
 public:
  explicit Moving(ir::ValueId by) : by_(by) {}

  RowView of(RowView row) {
    if (row.values == nullptr) return row;
    auto& known = known_[row.values.get()];
    if (known == nullptr) {
      RowExpression values = *row.values;
      if (values.table != ir::kNone) values.start = moved_by(values.start, by_);
      for (RowView& operand : values.operands) operand = of(operand);
      known = std::make_shared<RowExpression>(std::move(values));
    }
    row.values = known;
    return row;
  }

 private:
  ir::ValueId by_;
  std::map<const RowExpression*, std::shared_ptr<const RowExpression>> known_;
};

/// Calls `visit` for all that a row is made of, itself first: for rows, once each, and for numbers.
void for_each_part(const RowView& row, const std::function<void(const RowView&)>& visit) {
  std::set<const RowExpression*> seen;
  const std::function<void(const RowView&)> go = [&](const RowView& part) {
    if (part.values != nullptr && !seen.insert(part.values.get()).second) return;
    visit(part);
    if (part.values == nullptr) return;
    for (const RowView& operand : part.values->operands) go(operand);
  };
  go(row);
}

/// Refuses rows of another trace, with numbers of a scope that has ended, or whose lengths were
/// compared in one.
void require_row(const RowView& row) {
  for_each_part(row, [](const RowView& part) {
    require_number(part.values == nullptr ? part.number : part.length, part.trace);
    if (part.values == nullptr) return;
    for (const ir::ValueId needed : {part.values->agree, part.values->start}) {
      if (needed != ir::kNone) require_number(needed, part.trace);
    }
  });
}

void require_places(const Places& places) {
  require_number(places.length, places.trace);
  require_number(places.start, places.trace);
}

/// What becomes of all values, converted.
ir::ValueId collected(const RowView& row, ir::Collect how, DType type) {
  Trace& trace = Trace::current();
  require_row(row);
  const ir::ValueId position = trace.begin_each(ir::kMostCounted, row.length);
  const Trace::Collected one = {how, build().convert(value_at(row, position), type)};
  return trace.end_each({&one, 1})[0];
}

/// A sum or product, which of no values is `empty`.
ir::ValueId total(const RowView& row, ir::Collect how, DType type, double empty) {
  const ir::ValueId value = collected(row, how, wide(type));
  if (!types::is_float(type)) return value;
  const ir::ValueId is_empty = op(Op::Eq, {row.length, index_literal(0)});
  return op(Op::Select, {is_empty, literal(wide(type), empty), value});
}

void require_some(const RowView& row) {
  build().fail_if(op(Op::Eq, {row.length, index_literal(0)}), ir::FailKind::Empty);
}

/// The least or greatest value; of none, the one that changes no other.
ir::ValueId extreme(const RowView& row, DType own, ir::Collect how, ir::Collect of_bools) {
  return collected(row, own == DType::Bool ? of_bools : how, wide(own));
}

ir::ValueId place(const RowView& row, DType own, ir::Collect how) {
  require_some(row);
  return collected(row, how, own == DType::Bool ? DType::I32 : wide(own));
}

RowView converted(const RowView& row, DType own, DType type) {
  return own == type ? row : apply(Op::Convert, {row}, type);
}

ir::ValueId mean(const RowView& row, DType type) {
  const DType ours = wide(type);
  const ir::ValueId sum = total(row, ir::Collect::Sum, ours, 0);
  return op(Op::Div, {sum, build().convert(row.length, ours)});
}

ir::ValueId variance(const RowView& row, DType own, DType type) {
  const DType ours = wide(type);
  const RowView real = converted(row, own, ours);
  const RowView differs = apply(Op::Sub, {real, number_in_row(mean(real, ours))});
  return mean(apply(Op::Mul, {differs, differs}), ours);
}

ir::ValueId norm(const RowView& row, DType own, DType type) {
  const RowView real = converted(row, own, type);
  const ir::ValueId sum = total(apply(Op::Mul, {real, real}), ir::Collect::Sum, type, 0);
  return op(Op::Sqrt, {build().convert(sum, type)});
}

ir::ValueId log_sum_exp(const RowView& row, DType type) {
  const ir::ValueId largest =
      build().convert(extreme(row, type, ir::Collect::Max, ir::Collect::Or), type);
  const ir::ValueId shift =
      op(Op::Select, {op(Op::Isfinite, {largest}), largest, literal(type, 0)});
  const RowView powers = apply(Op::Exp, {apply(Op::Sub, {row, number_in_row(shift)})});
  const ir::ValueId sum = build().convert(total(powers, ir::Collect::Sum, type, 0), type);
  return op(Op::Add, {op(Op::Log, {sum}), shift});
}

ir::ValueId reduced(Reduction reduction, const RowView& row, DType own, DType type) {
  switch (reduction) {
    case Reduction::Sum:
      return total(row, ir::Collect::Sum, type, 0);
    case Reduction::Product:
      return total(row, ir::Collect::Product, type, 1);
    case Reduction::Min:
      require_some(row);
      return extreme(row, own, ir::Collect::Min, ir::Collect::And);
    case Reduction::Max:
      require_some(row);
      return extreme(row, own, ir::Collect::Max, ir::Collect::Or);
    case Reduction::Any:
      return collected(row, ir::Collect::Or, DType::Bool);
    case Reduction::All:
      return collected(row, ir::Collect::And, DType::Bool);
    case Reduction::ArgMin:
      return place(row, own, ir::Collect::ArgMin);
    case Reduction::ArgMax:
      return place(row, own, ir::Collect::ArgMax);
    case Reduction::Mean:
      return mean(row, type);
    case Reduction::Variance:
      return variance(row, own, type);
    case Reduction::Deviation:
      return op(Op::Sqrt, {build().convert(variance(row, own, type), type)});
    case Reduction::Norm:
      return norm(row, own, type);
    case Reduction::LogSumExp:
      return log_sum_exp(row, type);
  }
  return ir::kNone;
}

}  // namespace

Places places(ir::ValueId table, std::vector<ir::ValueId> inner, ir::ValueId start,
              ir::ValueId stop, std::optional<std::uint32_t> offsets) {
  return {.table = table,
          .inner = std::move(inner),
          .start = start,
          .length = build().convert(op(Op::Sub, {stop, start}), DType::I32),
          .offsets = offsets,
          .trace = Trace::current().id()};
}

Places inner_places(const Places& rows, ir::ValueId position) {
  const ir::ValueId at = moved_by(rows.start, position);
  const auto bound = [&](ir::ValueId place) {
    return build().read(rows.inner[0], place, ir::IndexMode::Unchecked);
  };
  const ir::ValueId start = bound(at);
  const ir::ValueId stop = bound(op(Op::Add, {at, literal(build().type(at), 1)}));
  return places(rows.table, {rows.inner.begin() + 1, rows.inner.end()}, start, stop, std::nullopt);
}

Places checked_inner_places(const Places& rows, ir::ValueId index) {
  require_places(rows);
  return inner_places(rows, checked_position(rows.length, index));
}

void loop_over(const Places& rows, const std::function<void(const Places&)>& body) {
  require_places(rows);
  count_up_to(rows.length, [&](ir::ValueId position) { body(inner_places(rows, position)); });
}

RowView row_of(const Places& places) {
  return {.values = std::make_shared<RowExpression>(
              RowExpression{.table = places.table, .start = places.start}),
          .length = places.length,
          .offsets = places.offsets,
          .trace = places.trace};
}

RowView number_in_row(ir::ValueId number) {
  return {.number = number, .trace = Trace::current().id()};
}

RowView apply(Op o, std::initializer_list<RowView> operands, DType stated) {
  RowView result{.trace = Trace::current().id()};
  RowExpression expression{
      .op = o, .stated = stated, .operands = operands, .line = build().location()};
  for (const RowView& operand : operands) {
    if (operand.values == nullptr) continue;
    require_row(operand);
    if (!result.offsets) result.offsets = operand.offsets;  // equal lengths are equal places
    if (result.length == ir::kNone) {
      result.length = operand.length;
    } else if (operand.length != result.length) {
      const ir::ValueId lengths[] = {result.length, operand.length};
      const ir::ValueId differ = build().op(Op::Ne, lengths);
      build().fail_if(differ, ir::FailKind::Lengths, lengths);
      expression.agree = differ;
    }
  }
  result.values = std::make_shared<RowExpression>(std::move(expression));
  return result;
}

RowView slice(const RowView& row, ir::ValueId first, std::optional<ir::ValueId> count) {
  require_row(row);
  const ir::ValueId one = index_literal(1);
  const ir::ValueId begin = checked_position(op(Op::Add, {row.length, one}), first);
  const ir::ValueId left = op(Op::Sub, {row.length, begin});
  RowView part = Moving(begin).of(row);
  part.length = count ? checked_position(op(Op::Add, {left, one}), *count) : left;
  part.offsets.reset();
  return part;
}

ir::ValueId value_at(const RowView& row, ir::ValueId position) {
  Reading reading(
      [&](const RowExpression& values) {
        const ir::ValueId at = moved_by(values.start, position);
        return build().read(values.table, at, ir::IndexMode::Unchecked);
      },
      [](const RowView& number) { return number.number; });
  return reading.of(row);
}

ir::ValueId checked_value_at(const RowView& row, ir::ValueId index) {
  require_row(row);
  return value_at(row, checked_position(row.length, index));
}

void loop_over(const RowView& row, const std::function<void(ir::ValueId)>& body) {
  require_row(row);
  count_up_to(row.length, body);
}

ir::ValueId reduce(Reduction reduction, const RowView& row, DType own, DType type) {
  require_row(row);
  return build().convert(reduced(reduction, row, own, type), type);
}

ir::ValueId dot(const RowView& a, const RowView& b, DType type) {
  const RowView product = apply(Op::Mul, {a, b});  // their lengths are compared
  if (!types::is_float(type)) return collected(product, ir::Collect::Sum, type);
  Trace& trace = Trace::current();
  const DType ours = wide(type);
  const ir::ValueId slot = trace.new_slot(literal(ours, 0));
  loop_over(product, [&](ir::ValueId at) {
    const ir::ValueId x = build().convert(value_at(a, at), ours);
    const ir::ValueId y = build().convert(value_at(b, at), ours);
    trace.write(slot, op(Op::Fma, {x, y, trace.read(slot)}));
  });
  return build().convert(trace.read(slot), type);
}

// --- rows that a function gives back ---

void require_end_of_function() {
  if (!Trace::current().is_left()) return;
  refuse(
      "Return: a function that gives a row of a length of its own was left before its end; got "
      "lw::Return, expected its last line. Choose with lw::select.");
}

namespace {

/// Where a row that only the function knows the length of begins in the result, and how many of its
/// values are written there.
std::pair<ir::ValueId, ir::ValueId> own_places(ir::ValueId length) {
  Trace& trace = Trace::current();
  const ir::ValueId begin = trace.late_param("begin", DType::I64, ir::ParamKind::Mapped, 0);
  const ir::ValueId end = trace.late_param("end", DType::I64, ir::ParamKind::Mapped, 0);
  const ir::ValueId before = build().convert(op(Op::Sub, {end, begin}), DType::I32);
  const ir::ValueId is_known = op(Op::Ge, {before, index_literal(0)});
  const ir::ValueId told[] = {length, before};
  const base::Location line = build().location();
  const base::Location ours = {.file = nullptr, .line = 1};  // no line of the user's
  base::set_message(ours,
                    "a row of results is not as long in the second pass as in the first, as "
                    "arguments have changed meanwhile");
  build().set_location(ours);
  build().fail_if(op(Op::And, {is_known, build().op(Op::Ne, told)}), ir::FailKind::Check, told);
  build().set_location(line);
  return {begin, build().op(Op::Min, told)};
}

}  // namespace

void write_rows(std::span<RowResult> rows, ResultList& list) {
  Trace& trace = Trace::current();
  for (RowResult& result : rows) {
    const RowView& row = result.row;
    require_row(row);
    if (!row.offsets) list.add(row.length);
    const auto [begin, count] =
        row.offsets ? std::pair(build().function().params[*row.offsets].value, row.length)
                    : own_places(row.length);
    const ir::ValueId position = trace.begin_each(ir::kMostCounted, count);
    const ir::ValueId value = value_at(row, position);
    result.type = build().type(value);
    const ir::ValueId target = trace.late_param("rows", result.type, ir::ParamKind::Target, 0);
    build().keep(value, target, begin);
    trace.end_each({});
  }
  if (list.values.empty() && !rows.empty()) list.add(rows[0].row.length);  // a program has results
}

}  // namespace lw::trace
