// A row of a length that differs between elements, while its function is recorded. Nothing of it is
// stored: operators make expressions, which are computed where they are read, by an index, a loop
// or a reduction. Types are those of the program: trace/ragged_row.h gives rows the types of C++.
//
// A row that a function gives back is written by the element, value by value, to where it begins in
// the result: where the row of the argument does that is as long. Where those begin that are as
// long as none is known when all lengths are: a first pass over the elements gives them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "lanewise/trace/reduce.h"
#include "lanewise/trace/trace.h"

namespace lw::trace {

struct RowExpression;

/// A row, or a number beside one.
struct RowView {
  std::shared_ptr<const RowExpression> values;  // none: it is a number
  ir::ValueId number = ir::kNone;
  ir::ValueId length = ir::kNone;             // an i32
  std::optional<std::uint32_t> offsets = {};  // the argument that says where rows like this begin
  std::uint64_t trace = 0;                    // that it belongs to
};

/// The values of an argument, or an op of values at the same position.
struct RowExpression {
  ir::ValueId table = ir::kNone;
  ir::ValueId start = ir::kNone;  // of the row in the table

  ops::Op op = ops::Op::Constant;
  DType stated = DType::Bool;
  std::vector<RowView> operands;
  base::Location line;
  ir::ValueId agree = ir::kNone;  // the test that lengths are equal, which has to stand before
};

/// Places of an argument that stand together: values of a table, or rows of them.
struct Places {
  ir::ValueId table = ir::kNone;   // the values
  std::vector<ir::ValueId> inner;  // tables of where rows of rows begin, outermost first
  ir::ValueId start = ir::kNone;
  ir::ValueId length = ir::kNone;  // an i32
  std::optional<std::uint32_t> offsets = {};
  std::uint64_t trace = 0;
};

/// From `start` to before `stop`.
Places places(ir::ValueId table, std::vector<ir::ValueId> inner, ir::ValueId start,
              ir::ValueId stop, std::optional<std::uint32_t> offsets);
/// The row at a position, an i32, that is there; its places are values, or rows again.
Places inner_places(const Places& rows, ir::ValueId position);
/// The same of an i32 or i64; elements that have no such position fail.
Places checked_inner_places(const Places& rows, ir::ValueId index);
/// A loop over the rows.
void loop_over(const Places& rows, const std::function<void(const Places&)>& body);

/// The row of values.
RowView row_of(const Places& places);
RowView number_in_row(ir::ValueId number);

/// Some of the values, as a row; without a count, all that follow. Elements that have not so many
/// fail.
RowView slice(const RowView& row, ir::ValueId first, std::optional<ir::ValueId> count);

/// An op of rows, and of numbers beside them; elements whose rows differ in length fail.
RowView apply(ops::Op op, std::initializer_list<RowView> operands, DType stated = DType::Bool);

/// The value at a position, an i32, that is there.
ir::ValueId value_at(const RowView& row, ir::ValueId position);
/// The same of an i32 or i64; elements that have no such position fail.
ir::ValueId checked_value_at(const RowView& row, ir::ValueId index);
/// A loop over the positions.
void loop_over(const RowView& row, const std::function<void(ir::ValueId)>& body);

/// `own` is the type of the values, `type` that of the result; of ArgMin and ArgMax it is i32. An
/// element with no values fails where there is no answer: a least one, or its place.
ir::ValueId reduce(Reduction reduction, const RowView& row, DType own, DType type);
/// The sum of products: one chain of fused multiplications and additions.
ir::ValueId dot(const RowView& a, const RowView& b, DType type);

/// A row that a function gives back.
struct RowResult {
  std::size_t place = 0;  // among the results of the function
  RowView row;
  DType type = DType::F32;  // of the values
};

/// Refuses a row as the result of a function that has been left before its end.
void require_end_of_function();
/// Lets elements write their rows to targets, a parameter for each row, behind all others. Before
/// those of a row that is as long as none of an argument are two that say from where to where it
/// goes, and its length is one more result. Where they say -1 values, nothing is written; else an
/// element fails whose row has another length.
void write_rows(std::span<RowResult> rows, ResultList& list);

}  // namespace lw::trace
