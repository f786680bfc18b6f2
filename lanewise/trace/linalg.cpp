#include "lanewise/trace/linalg.h"

#include <fmt/core.h>

#include "lanewise/trace/arrange.h"
#include "lanewise/trace/space.h"

namespace lw::trace {
namespace {

using ops::Op;
using Numbers = std::vector<std::vector<ir::ValueId>>;

ir::Builder& build() { return Trace::current().builder(); }
ir::ValueId op(Op o, std::initializer_list<ir::ValueId> operands) {
  return build().op(o, operands);
}
ir::ValueId literal(DType type, double value) {
  return build().constant(types::scalar_of(type, value));
}

void require_square(std::string_view call, const View& a) {
  require_here(a);
  if (a.shape[0] == a.shape[1] && a.shape[0] <= kMostUnknowns) return;
  refuse(
      fmt::format("{}: not a small square matrix; got the shape {}, expected (n, n) with n up to "
                  "{}.",
                  call, types::to_string(a.shape), kMostUnknowns));
}

/// The numbers of a matrix; those of a row as a matrix of one column.
Numbers numbers_of(const View& matrix) {
  const Steps steps = steps_of(matrix);
  Numbers rows(matrix.shape[0]);
  const std::uint32_t columns = matrix.rank() > 1 ? matrix.shape[1] : 1;
  for (std::uint32_t i = 0; i < rows.size(); ++i) {
    for (std::uint32_t j = 0; j < columns; ++j) {
      const ir::ValueId at[] = {index_literal(i), index_literal(j)};
      rows[i].push_back(read_at(matrix, std::span(at).first(steps.size()), steps));
    }
  }
  return rows;
}

View matrix_of(const Numbers& rows) {
  std::vector<View> views;
  for (const std::vector<ir::ValueId>& row : rows) {
    for (const ir::ValueId number : row) views.push_back(number_view(number));
  }
  const std::int64_t shape[] = {std::ssize(rows), std::ssize(rows[0])};
  return reshape(stack(views, 0), shape);
}

/// a - b * c, rounded twice.
ir::ValueId less_product(ir::ValueId a, ir::ValueId b, ir::ValueId c) {
  return op(Op::Sub, {a, op(Op::Mul, {b, c})});
}

/// Brings the row with the pivot of a column up; gives where it was, kNone for the last column.
ir::ValueId exchange(Numbers& rows, std::size_t column) {
  ir::ValueId largest = op(Op::Abs, {rows[column][column]});
  ir::ValueId place = index_literal(static_cast<std::int64_t>(column));
  if (column + 1 == rows.size()) return ir::kNone;
  for (std::size_t i = column + 1; i < rows.size(); ++i) {
    const ir::ValueId size = op(Op::Abs, {rows[i][column]});
    const ir::ValueId is_larger = op(Op::Gt, {size, largest});
    largest = op(Op::Select, {is_larger, size, largest});
    place = op(Op::Select, {is_larger, index_literal(static_cast<std::int64_t>(i)), place});
  }
  for (std::size_t j = 0; j < rows[column].size(); ++j) {
    const ir::ValueId top = rows[column][j];
    for (std::size_t i = column + 1; i < rows.size(); ++i) {
      const ir::ValueId is_here = op(Op::Eq, {place, index_literal(static_cast<std::int64_t>(i))});
      rows[column][j] = op(Op::Select, {is_here, rows[i][j], rows[column][j]});
      rows[i][j] = op(Op::Select, {is_here, top, rows[i][j]});
    }
  }
  return place;
}

/// Takes multiples of a row from those below it, so that their numbers in the column become 0.
void eliminate(Numbers& rows, std::size_t column, ir::ValueId pivot) {
  for (std::size_t i = column + 1; i < rows.size(); ++i) {
    const ir::ValueId factor = op(Op::Div, {rows[i][column], pivot});
    for (std::size_t j = column + 1; j < rows[i].size(); ++j) {
      rows[i][j] = less_product(rows[i][j], factor, rows[column][j]);
    }
  }
}

/// Solves for the columns behind the square, from top to bottom and back.
Numbers solved(Numbers rows, DType type) {
  const std::size_t size = rows.size();
  const ir::ValueId zero = literal(type, 0);
  for (std::size_t k = 0; k < size; ++k) {
    exchange(rows, k);
    build().fail_if(op(Op::Eq, {rows[k][k], zero}), ir::FailKind::Singular);
    eliminate(rows, k, rows[k][k]);
  }
  Numbers solution(size);
  for (std::size_t k = size; k-- > 0;) {
    for (std::size_t column = size; column < rows[k].size(); ++column) {
      ir::ValueId total = rows[k][column];
      for (std::size_t j = k + 1; j < size; ++j) {
        total = less_product(total, rows[k][j], solution[j][column - size]);
      }
      solution[k].push_back(op(Op::Div, {total, rows[k][k]}));
    }
  }
  return solution;
}

}  // namespace

View solve(const View& a, const View& b) {
  require_square("solve", a);
  require_here(b);
  if (b.shape[0] != a.shape[0]) {
    refuse(fmt::format("solve: shapes do not fit; got {} and {}, expected {} rows on the right.",
                       types::to_string(a.shape), types::to_string(b.shape), a.shape[0]));
  }
  Numbers rows = numbers_of(a);
  const Numbers right = numbers_of(b);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].insert(rows[i].end(), right[i].begin(), right[i].end());
  }
  const std::vector<std::int64_t> shape(b.shape.begin(), b.shape.end());
  return reshape(matrix_of(solved(std::move(rows), type_of(a))), shape);
}

View inverse(const View& a) {
  require_square("inverse", a);
  const DType type = type_of(a);
  Numbers rows = numbers_of(a);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = 0; j < rows.size(); ++j) rows[i].push_back(literal(type, i == j ? 1 : 0));
  }
  return matrix_of(solved(std::move(rows), type));
}

ir::ValueId determinant(const View& a) {
  require_square("determinant", a);
  const DType type = type_of(a);
  const ir::ValueId one = literal(type, 1);
  const ir::ValueId zero = literal(type, 0);
  Numbers rows = numbers_of(a);
  ir::ValueId result = one;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const ir::ValueId place = exchange(rows, k);
    const ir::ValueId pivot = rows[k][k];
    result = op(Op::Mul, {result, pivot});
    if (place != ir::kNone) {
      const ir::ValueId here = index_literal(static_cast<std::int64_t>(k));
      result = op(Op::Select, {op(Op::Ne, {place, here}), op(Op::Neg, {result}), result});
    }
    // Below a pivot of 0 all is 0.
    eliminate(rows, k, op(Op::Select, {op(Op::Eq, {pivot, zero}), one, pivot}));
  }
  return result;
}

View cholesky(const View& a) {
  require_square("cholesky", a);
  const DType type = type_of(a);
  const ir::ValueId zero = literal(type, 0);
  const Numbers given = numbers_of(a);
  const std::size_t size = given.size();
  Numbers rows(size, std::vector<ir::ValueId>(size, zero));
  for (std::size_t j = 0; j < size; ++j) {
    for (std::size_t i = j; i < size; ++i) {
      ir::ValueId total = given[i][j];
      for (std::size_t k = 0; k < j; ++k) total = less_product(total, rows[i][k], rows[j][k]);
      if (i > j) {
        rows[i][j] = op(Op::Div, {total, rows[j][j]});
        continue;
      }
      const ir::ValueId is_wrong = op(Op::Not, {op(Op::Gt, {total, zero})});
      build().fail_if(is_wrong, ir::FailKind::NotPositive, {&total, 1});
      rows[j][j] = op(Op::Sqrt, {total});
    }
  }
  return matrix_of(rows);
}

}  // namespace lw::trace
