// Products, small systems of equations, orders, convolutions and pools of grids against plain
// loops, and all tiers and schedules against the evaluator.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lanewise/lanewise.h"
#include "tests/support/as_evaluated.h"
#include "tests/support/message_of.h"

namespace lw {
namespace {

using test::message_of;
using Plain = std::vector<std::vector<double>>;

/// Numbers that sums round: no two alike, of both signs.
template <class T>
std::vector<T> numbers(std::size_t count, std::uint32_t state = 12345) {
  std::vector<T> values;
  for (std::size_t i = 0; i < count; ++i) {
    state = state * 1664525 + 1013904223;
    values.push_back(static_cast<T>(static_cast<double>(state >> 8) * 0x1p-20 - 7));
  }
  return values;
}

template <class F>
void expect_evaluated(const F& function, const std::vector<Input>& kinds, bool wild = false) {
  test::expect_as_evaluated(api::trace_function(function, "f", kinds).function, 37, wild);
}
Input rows_of(DType type, const types::Shape& shape) {
  static const std::vector<double> memory(100000);
  return Input(type, memory.data(), shape.count()).in_shape(shape);
}

/// A matrix of one element of the map.
Plain matrix(std::span<const double> values, std::size_t element, std::size_t rows,
             std::size_t columns) {
  Plain m(rows, std::vector<double>(columns));
  for (std::size_t i = 0; i < rows * columns; ++i) {
    m[i / columns][i % columns] = values[element * rows * columns + i];
  }
  return m;
}

/// Gaussian elimination with the largest pivot of a column; gives the sign of the exchanges.
double eliminate(Plain& rows) {
  double sign = 1;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    std::size_t best = k;
    for (std::size_t i = k + 1; i < rows.size(); ++i) {
      if (std::abs(rows[i][k]) > std::abs(rows[best][k])) best = i;
    }
    if (best != k) {
      std::swap(rows[best], rows[k]);
      sign = -sign;
    }
    for (std::size_t i = k + 1; i < rows.size(); ++i) {
      const double factor = rows[i][k] / (rows[k][k] == 0 ? 1 : rows[k][k]);
      for (std::size_t j = k + 1; j < rows[i].size(); ++j) rows[i][j] -= factor * rows[k][j];
    }
  }
  return sign;
}
Plain solved(Plain rows) {
  eliminate(rows);
  const std::size_t n = rows.size();
  Plain x(n, std::vector<double>(rows[0].size() - n));
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t c = 0; c < x[k].size(); ++c) {
      double total = rows[k][n + c];
      for (std::size_t j = k + 1; j < n; ++j) total -= rows[k][j] * x[j][c];
      x[k][c] = total / rows[k][k];
    }
  }
  return x;
}

class GridUnknowns : public testing::TestWithParam<std::uint32_t> {
 protected:
  static constexpr std::size_t kCount = 21;
  std::uint32_t n() const { return GetParam(); }
  Input square() const { return rows_of(DType::F64, {n(), n()}); }
};

TEST_P(GridUnknowns, SolvesAsEliminationDoes) {
  const std::size_t n = this->n();
  const std::vector<double> a = numbers<double>(kCount * n * n);
  const std::vector<double> b = numbers<double>(kCount * n * 2, 99);
  const auto [x, inverses, determinants] = map(
      [](Matrix<double> m, Matrix<double> right) {
        return std::tuple(solve(m, right), inverse(m), determinant(m));
      },
      Input(a).in_shape({GetParam(), GetParam()}), Input(b).in_shape({GetParam(), 2}));
  ASSERT_EQ(x.shape(), types::Shape({GetParam(), 2}));
  for (std::size_t e = 0; e < kCount; ++e) {
    Plain rows = matrix(a, e, n, n);
    Plain with_ones = rows;
    Plain with_right = rows;
    const Plain right = matrix(b, e, n, 2);
    for (std::size_t i = 0; i < n; ++i) {
      with_right[i].insert(with_right[i].end(), right[i].begin(), right[i].end());
      for (std::size_t j = 0; j < n; ++j) with_ones[i].push_back(i == j ? 1 : 0);
    }
    const Plain solution = solved(with_right);
    const Plain inverted = solved(with_ones);
    double determinant = eliminate(rows);
    for (std::size_t i = 0; i < n; ++i) {
      determinant *= rows[i][i];
      for (std::size_t j = 0; j < 2; ++j) {
        EXPECT_EQ(x.at<double>(static_cast<std::int64_t>((e * n + i) * 2 + j)), solution[i][j]);
      }
      for (std::size_t j = 0; j < n; ++j) {
        EXPECT_EQ(inverses.at<double>(static_cast<std::int64_t>((e * n + i) * n + j)),
                  inverted[i][j]);
      }
    }
    EXPECT_EQ(determinants.at<double>(static_cast<std::int64_t>(e)), determinant);
  }
}

TEST_P(GridUnknowns, FindsTheTriangleOfAPositiveMatrix) {
  const std::size_t n = this->n();
  const std::vector<double> values = numbers<double>(kCount * n * n);
  const auto [positive, triangles] = map(
      [](Matrix<double> m) {
        const auto a = matmul(m, transpose(m)) + eye<double>(m.size(0));
        return std::tuple(a, cholesky(a));
      },
      Input(values).in_shape({GetParam(), GetParam()}));
  for (std::size_t e = 0; e < kCount; ++e) {
    const Plain a = matrix(positive.span<double>(), e, n, n);
    Plain l(n, std::vector<double>(n));
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t i = j; i < n; ++i) {
        double total = a[i][j];
        for (std::size_t k = 0; k < j; ++k) total -= l[i][k] * l[j][k];
        l[i][j] = i == j ? std::sqrt(total) : total / l[j][j];
      }
    }
    EXPECT_EQ(matrix(triangles.span<double>(), e, n, n), l);
  }
}

TEST_P(GridUnknowns, AsEvaluated) {
  expect_evaluated([](Matrix<double> m) { return determinant(m); }, {square()});
  if (n() <= 3) {
    expect_evaluated(
        [](Matrix<double> m, Row<double> b) {
          return solve(sin(m) + 10 * eye<double>(m.size(0)), b);  // never singular
        },
        {square(), rows_of(DType::F64, {n()})});
    expect_evaluated([](Matrix<double> m) { return determinant(m); }, {square()}, true);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, GridUnknowns, testing::Values(1u, 2u, 3u, 5u, 8u));

TEST(GridAlgebra, ElementsWithoutASolutionFail) {
  const std::vector<double> singular = {1, 2, 3, 4, 1, 2, 2, 4};
  const Input matrices = Input(singular).in_shape({2, 2});
  const auto behind_line = [](const std::string& message) {
    return message.substr(0, message.find(" (")) + message.substr(message.find(')'));
  };
  EXPECT_EQ(behind_line(message_of<ElementError>(
                [&] { map([](Matrix<double> m) { return inverse(m); }, matrices); })),
            "map: element 1 has a singular matrix); got a pivot of 0, expected one that can be "
            "solved for.");
  EXPECT_EQ(behind_line(message_of<ElementError>(
                [&] { map([](Matrix<double> m) { return cholesky(m); }, matrices); })),
            "map: element 0 has a matrix that is not positive); got -5 under a root, expected more "
            "than 0.");
  const Tensor zero = map([](Matrix<double> m) { return determinant(m); }, matrices);
  EXPECT_EQ(zero.at<double>(1), 0);
}

TEST(GridAlgebra, ShapesThatDoNotFitAreRefused) {
  const std::vector<double> values(81);
  const auto refused = [&](auto f, const types::Shape& shape) {
    const std::string message =
        message_of<UsageError>([&] { map(f, Input(values).in_shape(shape)); });
    return message.substr(message.find(": ") + 2);
  };
  EXPECT_EQ(refused([](Matrix<double> m) { return inverse(m); }, {9, 9}),
            "inverse: not a small square matrix; got the shape (9, 9), expected (n, n) with n up "
            "to 8.");
  EXPECT_EQ(refused([](Matrix<double> m) { return determinant(m); }, {3, 9}),
            "determinant: not a small square matrix; got the shape (3, 9), expected (n, n) with n "
            "up to 8.");
  EXPECT_EQ(refused([](Matrix<double> m) { return solve(m, row<double>({1, 2})); }, {3, 3}),
            "solve: shapes do not fit; got (3, 3) and (2), expected 3 rows on the right.");
  EXPECT_EQ(refused([](Matrix<double> m) { return einsum<"ij,jk->ik">(m, m); }, {3, 9}),
            "einsum: shapes do not fit; got (3, 9) and (3, 9), expected equal sizes of the axes "
            "that are multiplied.");
  EXPECT_EQ(refused([](Row<double> r) { return sort(r); }, {81}),
            "sort: too many values; got 81 along the axis, expected at most 64. Sort outside of "
            "the function.");
  EXPECT_EQ(refused([](Matrix<double> m) { return max_pool(m, {4, 4}); }, {3, 9}),
            "max_pool: the window does not fit; got 4 places in steps of 4 along an axis of 3, "
            "expected 1 to 3, and steps of at least 1.");
  EXPECT_EQ(
      refused([](Grid<double, 3> image) { return conv2d(image, reshape(image, {1, 1, 3, 27})); },
              {3, 3, 9}),
      "conv2d: shapes do not fit; got (3, 3, 9) and (1, 1, 3, 27), expected (channels, "
      "height, width) and (outputs, channels, rows, columns).");
}

// --- products ---

TEST(GridAlgebra, EinsumIsOneChainForEachNumber) {
  const std::vector<float> a = numbers<float>(3 * 2 * 4 * 5);
  const std::vector<float> b = numbers<float>(3 * 5 * 4 * 3, 7);
  const Tensor got =
      map([](Grid<float, 3> x, Grid<float, 3> y) { return einsum<"bij,jik->kb">(x, y); },
          Input(a).in_shape({2, 4, 5}), Input(b).in_shape({5, 4, 3}));
  ASSERT_EQ(got.shape(), types::Shape({3, 2}));
  for (std::size_t e = 0; e < 3; ++e) {
    for (std::size_t k = 0; k < 3; ++k) {
      for (std::size_t s = 0; s < 2; ++s) {
        float chain = 0;
        for (std::size_t i = 0; i < 4; ++i) {
          for (std::size_t j = 0; j < 5; ++j) {
            chain =
                std::fma(a[((e * 2 + s) * 4 + i) * 5 + j], b[((e * 5 + j) * 4 + i) * 3 + k], chain);
          }
        }
        EXPECT_EQ(got.at<float>(static_cast<std::int64_t>((e * 3 + k) * 2 + s)), chain);
      }
    }
  }
}

TEST(GridAlgebra, MatmulOfStacks) {
  const std::vector<float> a = numbers<float>(2 * 3 * 2 * 4);
  const std::vector<float> b = numbers<float>(2 * 4 * 2, 7);
  const Tensor got = map([](Grid<float, 3> x, Matrix<float> y) { return matmul(x, y); },
                         Input(a).in_shape({3, 2, 4}), Input(b).in_shape({4, 2}));
  ASSERT_EQ(got.shape(), types::Shape({3, 2, 2}));
  for (std::size_t e = 0; e < 2; ++e) {
    for (std::size_t row = 0; row < 6; ++row) {
      for (std::size_t c = 0; c < 2; ++c) {
        float chain = 0;
        for (std::size_t k = 0; k < 4; ++k) {
          chain = std::fma(a[(e * 6 + row) * 4 + k], b[(e * 4 + k) * 2 + c], chain);
        }
        EXPECT_EQ(got.at<float>(static_cast<std::int64_t>((e * 6 + row) * 2 + c)), chain);
      }
    }
  }
}

// --- orders ---

TEST(GridAlgebra, SortsEveryLengthUpTo64) {
  for (std::uint32_t n = 1; n <= 64; n += n < 20 ? 1 : 11) {
    std::vector<float> x = numbers<float>(3 * n);
    for (float& v : x) v = std::floor(v);  // some are equal
    if (n > 2) x[n + 1] = std::numeric_limits<float>::quiet_NaN();
    const auto [sorted, places] =
        map([](Row<float> r) { return std::tuple(sort(r), argsort(r)); }, Input(x).in_rows(n));
    for (std::size_t e = 0; e < 3; ++e) {
      std::vector<std::int32_t> order(n);
      for (std::size_t i = 0; i < n; ++i) order[i] = static_cast<std::int32_t>(i);
      const float* const own = x.data() + e * n;
      const auto is_before = [&](std::int32_t i, std::int32_t j) {
        return own[i] < own[j] || (std::isnan(own[j]) && !std::isnan(own[i]));
      };
      std::sort(order.begin(), order.end(), [&](std::int32_t i, std::int32_t j) {
        return is_before(i, j) || (!is_before(j, i) && i < j);
      });
      for (std::size_t i = 0; i < n; ++i) {
        const auto at = static_cast<std::int64_t>(e * n + i);
        ASSERT_EQ(places.at<std::int32_t>(at), order[i]) << n;
        const float value = own[order[i]];
        ASSERT_TRUE(sorted.at<float>(at) == value ||
                    (std::isnan(value) && std::isnan(sorted.at<float>(at))));
      }
    }
  }
}

TEST(GridAlgebra, SortsAlongAnAxis) {
  const std::vector<std::int32_t> x = {5, 1, 4, 2, 3, 0};
  const Tensor got =
      map([](Matrix<std::int32_t> m) { return sort(m, Axis(0)); }, Input(x).in_shape({3, 2}));
  const std::span<const std::int32_t> values = got.span<std::int32_t>();
  EXPECT_EQ(std::vector<std::int32_t>(values.begin(), values.end()),
            std::vector<std::int32_t>({3, 0, 4, 1, 5, 2}));
}

TEST(GridAlgebra, OrdersAsEvaluated) {
  for (const bool wild : {false, true}) {
    expect_evaluated(
        [](Matrix<float> m) { return std::tuple(sort(m), argsort(m, Axis(0)), cumsum(m)); },
        {rows_of(DType::F32, {5, 9})}, wild);
  }
}

// --- convolutions and pools ---

TEST(GridAlgebra, ConvolutionsOfRows) {
  const std::vector<float> a = numbers<float>(2 * 11);
  const std::vector<float> b = numbers<float>(2 * 4, 7);
  const auto [full, same, valid, correlated, turned] = map(
      [](Row<float> x, Row<float> y) {
        return std::tuple(convolve(x, y), convolve(x, y, Reach::Same), convolve(y, x, Reach::Valid),
                          correlate(x, y), correlate(y, x));
      },
      Input(a).in_rows(11), Input(b).in_rows(4));
  ASSERT_EQ(full.shape(), types::Shape({14}));
  ASSERT_EQ(same.shape(), types::Shape({11}));
  ASSERT_EQ(valid.shape(), types::Shape({8}));
  for (std::int64_t e = 0; e < 2; ++e) {
    const float* const x = a.data() + e * 11;
    const float* const y = b.data() + e * 4;
    for (std::int64_t i = 0; i < 14; ++i) {
      float chain = 0;
      for (std::int64_t k = 0; k < 4; ++k) {
        const std::int64_t at = i - 3 + k;
        chain = std::fma(at >= 0 && at < 11 ? x[at] : 0, y[3 - k], chain);
      }
      EXPECT_EQ(full.at<float>(e * 14 + i), chain);
      if (i >= 1 && i < 12) {
        EXPECT_EQ(same.at<float>(e * 11 + i - 1), chain);
      }
      if (i >= 3 && i < 11) {
        EXPECT_EQ(valid.at<float>(e * 8 + i - 3), chain);
      }
    }
    for (std::int64_t i = 0; i < 8; ++i) {
      float chain = 0;
      for (std::int64_t k = 0; k < 4; ++k) chain = std::fma(x[i + k], y[k], chain);
      EXPECT_EQ(correlated.at<float>(e * 8 + i), chain);
      EXPECT_EQ(turned.at<float>(e * 8 + 7 - i), chain);
    }
  }
}

/// The sum of products of a kernel with an image around a place; zeros stand outside.
float windowed(const float* image, std::int64_t h, std::int64_t w, std::int64_t channels,
               const float* kernel, std::int64_t m, std::int64_t n, std::int64_t top,
               std::int64_t left) {
  float chain = 0;
  for (std::int64_t c = 0; c < channels; ++c) {
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        const std::int64_t y = top + i;
        const std::int64_t x = left + j;
        const bool is_inside = y >= 0 && y < h && x >= 0 && x < w;
        chain = std::fma(is_inside ? image[(c * h + y) * w + x] : 0, kernel[(c * m + i) * n + j],
                         chain);
      }
    }
  }
  return chain;
}

TEST(GridAlgebra, ConvolutionsOfImages) {
  const std::vector<float> images = numbers<float>(2 * 7 * 9);
  const std::vector<float> kernel = numbers<float>(3 * 2, 7);
  const auto [plain, same, strided] = map(
      [](Matrix<float> image, Matrix<float> k) {
        return std::tuple(conv2d(image, k), conv2d(image, k, {.same = true}),
                          conv2d(image, k, {.stride = {2, 3}, .padding = {1, 2}}));
      },
      Input(images).in_shape({7, 9}), shared(kernel, {3, 2}));
  ASSERT_EQ(plain.shape(), types::Shape({5, 8}));
  ASSERT_EQ(same.shape(), types::Shape({7, 9}));
  ASSERT_EQ(strided.shape(), types::Shape({4, 4}));
  for (std::int64_t e = 0; e < 2; ++e) {
    const auto expected = [&](std::int64_t top, std::int64_t left) {
      return windowed(images.data() + e * 63, 7, 9, 1, kernel.data(), 3, 2, top, left);
    };
    for (std::int64_t i = 0; i < 40; ++i) {
      EXPECT_EQ(plain.at<float>(e * 40 + i), expected(i / 8, i % 8));
    }
    for (std::int64_t i = 0; i < 63; ++i) {
      EXPECT_EQ(same.at<float>(e * 63 + i), expected(i / 9 - 1, i % 9));
    }
    for (std::int64_t i = 0; i < 16; ++i) {
      EXPECT_EQ(strided.at<float>(e * 16 + i), expected(i / 4 * 2 - 1, i % 4 * 3 - 2));
    }
  }
}

TEST(GridAlgebra, ConvolutionsOfChannels) {
  const std::vector<float> images = numbers<float>(2 * 3 * 5 * 6);
  const std::vector<float> kernels = numbers<float>(4 * 3 * 3 * 3, 7);
  const Tensor got = map([](Grid<float, 3> image, Grid<float, 4> k) { return conv2d(image, k); },
                         Input(images).in_shape({3, 5, 6}), shared(kernels, {4, 3, 3, 3}));
  ASSERT_EQ(got.shape(), types::Shape({4, 3, 4}));
  for (std::int64_t e = 0; e < 2; ++e) {
    for (std::int64_t i = 0; i < 48; ++i) {
      EXPECT_EQ(got.at<float>(e * 48 + i),
                windowed(images.data() + e * 90, 5, 6, 3, kernels.data() + i / 12 * 27, 3, 3,
                         i / 4 % 3, i % 4));
    }
  }
}

TEST(GridAlgebra, Pools) {
  const std::vector<float> images = numbers<float>(2 * 6 * 7);
  const auto [largest, means, close] = map(
      [](Matrix<float> image) {
        return std::tuple(max_pool(image), mean_pool(image, {2, 3}),
                          max_pool(image, {3, 3}, {1, 2}));
      },
      Input(images).in_shape({6, 7}));
  ASSERT_EQ(largest.shape(), types::Shape({3, 3}));
  ASSERT_EQ(means.shape(), types::Shape({3, 2}));
  ASSERT_EQ(close.shape(), types::Shape({4, 3}));
  const auto window = [&](std::int64_t e, std::int64_t top, std::int64_t left, std::int64_t rows,
                          std::int64_t columns) {
    std::vector<float> values;
    for (std::int64_t i = 0; i < rows * columns; ++i) {
      const std::int64_t at = (e * 6 + top + i / columns) * 7 + left + i % columns;
      values.push_back(images[static_cast<std::size_t>(at)]);
    }
    return values;
  };
  for (std::int64_t e = 0; e < 2; ++e) {
    for (std::int64_t i = 0; i < 9; ++i) {
      EXPECT_EQ(largest.at<float>(e * 9 + i),
                std::ranges::max(window(e, i / 3 * 2, i % 3 * 2, 2, 2)));
    }
    for (std::int64_t i = 0; i < 6; ++i) {
      float total = 0;
      for (const float x : window(e, i / 2 * 2, i % 2 * 3, 2, 3)) total += x;
      EXPECT_EQ(means.at<float>(e * 6 + i), total / 6);
    }
    for (std::int64_t i = 0; i < 12; ++i) {
      EXPECT_EQ(close.at<float>(e * 12 + i), std::ranges::max(window(e, i / 3, i % 3 * 2, 3, 3)));
    }
  }
}

TEST(GridAlgebra, WindowsAsEvaluated) {
  expect_evaluated(
      [](Matrix<float> image, Matrix<float> k) {
        return std::tuple(conv2d(image, k, {.same = true}), max_pool(image), mean_pool(image),
                          convolve(image[0], k[0]));
      },
      {rows_of(DType::F32, {8, 10}), rows_of(DType::F32, {3, 3})});
}

}  // namespace
}  // namespace lw
