// Products and small systems of equations of grids (trace/grid.h): einsum, matmul of stacks, solve,
// inverse, determinant, Cholesky.
#pragma once

#include <algorithm>

#include "lanewise/trace/grid.h"
#include "lanewise/trace/linalg.h"
#include "lanewise/trace/product.h"

namespace lw {
namespace trace {

/// The letters of an einsum, "ij,jk->ik", which are known while C++ compiles.
template <std::size_t n>
struct Letters {
  consteval Letters(const char (&letters)[n]) {  // NOLINT: implicit
    std::copy(letters, letters + n, text);
  }
  constexpr std::string_view all() const { return {text, n - 1}; }
  constexpr std::string_view first() const { return all().substr(0, all().find(',')); }
  constexpr std::string_view second() const {
    const std::size_t begin = std::min(all().find(','), n - 2) + 1;
    return all().substr(begin, all().find("->") - begin);
  }
  constexpr std::string_view result() const {
    return all().substr(std::min(all().find("->"), n - 3) + 2);
  }
  static constexpr bool are_letters(std::string_view names) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i] < 'a' || names[i] > 'z') return false;
      if (names.find(names[i], i + 1) != std::string_view::npos) return false;
    }
    return true;
  }
  constexpr bool is_right() const {
    return all().find(',') != std::string_view::npos &&
           all().find("->") != std::string_view::npos && are_letters(first()) &&
           are_letters(second()) && are_letters(result());
  }
  constexpr bool has_result() const {
    for (const char name : result()) {
      if ((first().find(name) & second().find(name)) == std::string_view::npos) return false;
    }
    return true;
  }
  char text[n] = {};
};

/// The dimensions of a product of matrices, or stacks of them.
constexpr int product_rank(int a, int b) { return std::max({a, b, 2}) - 2 + (a > 1) + (b > 1); }

}  // namespace trace

/// The sum of the products of two rows: one chain of fused multiplications and additions.
template <class T>
Variable<T> dot(const Row<T>& a, const Row<T>& b,
                std::source_location here = std::source_location::current()) {
  trace::locate(here);
  return trace::of_view<T, 0>(trace::product("dot", a.view(), b.view()));
}
/// The product of matrices; a row is one of one row on the left, of one column on the right. Axes
/// before the last two broadcast: stacks of matrices.
template <class T, int a_rank, int b_rank>
  requires(a_rank + b_rank > 2)
auto matmul(const Grid<T, a_rank>& a, const Grid<T, b_rank>& b,
            std::source_location here = std::source_location::current()) {
  trace::locate(here);
  return Grid<T, trace::product_rank(a_rank, b_rank)>(trace::product("matmul", a.view(), b.view()));
}
/// The sum of products of two grids whose axes are named by letters; those that the result has not
/// are summed over: einsum<"ij,jk->ik">(a, b).
template <trace::Letters letters, class T, int a_rank, int b_rank>
auto einsum(const Grid<T, a_rank>& a, const Grid<T, b_rank>& b,
            std::source_location here = std::source_location::current()) {
  static_assert(letters.is_right(), "two operands and a result, each letter once: ij,jk->ik");
  static_assert(letters.first().size() == a_rank && letters.second().size() == b_rank,
                "as many letters as an operand has dimensions");
  static_assert(letters.has_result(), "the letters of the result are those of operands");
  trace::locate(here);
  return trace::of_view<T, static_cast<int>(letters.result().size())>(trace::contract(
      "einsum", a.view(), letters.first(), b.view(), letters.second(), letters.result()));
}

/// x with a x = b, for up to 8 unknowns; b has one column, or several. An element fails whose
/// matrix is singular.
template <std::floating_point T, int rank>
  requires(rank <= 2)
Grid<T, rank> solve(const Matrix<T>& a, const Grid<T, rank>& b,
                    std::source_location here = std::source_location::current()) {
  trace::locate(here);
  return Grid<T, rank>(trace::solve(a.view(), b.view()));
}
template <std::floating_point T>
Matrix<T> inverse(const Matrix<T>& a, std::source_location here = std::source_location::current()) {
  trace::locate(here);
  return Matrix<T>(trace::inverse(a.view()));
}
/// 0 where the matrix is singular.
template <std::floating_point T>
Variable<T> determinant(const Matrix<T>& a,
                        std::source_location here = std::source_location::current()) {
  trace::locate(here);
  return Variable<T>::of(trace::determinant(a.view()));
}
/// The lower triangle whose product with its transpose is the matrix, of which only the lower
/// triangle is read. An element fails whose matrix is not positive.
template <std::floating_point T>
Matrix<T> cholesky(const Matrix<T>& a,
                   std::source_location here = std::source_location::current()) {
  trace::locate(here);
  return Matrix<T>(trace::cholesky(a.view()));
}

}  // namespace lw
