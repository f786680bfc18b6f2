// Functions of rows, matrices and images: what they give, the orders they keep, and that every tier
// and schedule gives what the evaluator gives.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "lanewise/lanewise.h"
#include "tests/support/as_evaluated.h"
#include "tests/support/message_of.h"

namespace lw {
namespace {

/// Numbers that sums round: no two alike, of both signs.
template <class T>
std::vector<T> numbers(std::size_t count) {
  std::vector<T> values;
  std::uint32_t state = 12345;
  for (std::size_t i = 0; i < count; ++i) {
    state = state * 1664525 + 1013904223;
    values.push_back(static_cast<T>(static_cast<double>(state >> 8) * 0x1p-20 - 7));
  }
  return values;
}

/// The order of sums: up to 8 terms from left to right, more in 64 stripes.
template <class T>
T sum_of(std::span<const T> terms) {
  if (terms.size() <= 8) {
    return std::accumulate(terms.begin() + 1, terms.end(), terms[0]);
  }
  std::vector<T> stripes;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (i < 64) {
      stripes.push_back(terms[i]);
    } else {
      stripes[i % 64] += terms[i];
    }
  }
  for (std::size_t half = 32; half > 0; half /= 2) {
    for (std::size_t s = 0; s < half && s + half < stripes.size(); ++s) {
      stripes[s] += stripes[s + half];
    }
    stripes.resize(std::min(stripes.size(), half));
  }
  return stripes[0];
}

template <class T>
std::vector<T> values_of(const Tensor& tensor) {
  const std::span<T> all = tensor.span<T>();
  return {all.begin(), all.end()};
}

/// Compares a function with the evaluator; `kinds` are arguments of the right shapes.
template <class F>
void expect_evaluated(const F& function, std::vector<Input> kinds, bool wild = false) {
  std::vector<std::int64_t> sizes;
  for (const Input& input : kinds) {
    if (input.kind == ir::ParamKind::Table) sizes.push_back(input.size);
  }
  test::expect_as_evaluated(api::trace_function(function, "f", kinds).function, 37, wild, sizes);
}

Input rows_of(DType type, const types::Shape& shape) {
  static const std::vector<double> memory(100000);
  return Input(type, memory.data(), shape.count()).in_shape(shape);
}
Input f32s(const types::Shape& shape) { return rows_of(DType::F32, shape); }

class GridSizes : public testing::TestWithParam<std::uint32_t> {
 protected:
  Input row() const { return f32s({GetParam()}); }
  std::size_t size() const { return GetParam(); }
};

TEST_P(GridSizes, SoftmaxAsEvaluated) {
  expect_evaluated(
      [](Row<float> x) {
        auto powers = exp(x - max(x));
        return powers / sum(powers);
      },
      {row()});
}

TEST_P(GridSizes, ReductionsAsEvaluated) {
  for (const bool wild : {false, true}) {
    expect_evaluated(
        [](Row<float> x) {
          return std::tuple(sum(x), prod(x), min(x), max(x), argmin(x), argmax(x), any(x > 1),
                            all(x > -1), mean(x), var(x), stddev(x), norm(x), logsumexp(x));
        },
        {row()}, wild);
  }
}

TEST_P(GridSizes, IntegersAreSummedIn64Bits) {
  expect_evaluated(
      [](Row<std::uint8_t> x) {
        return std::tuple(sum(x), mean(x), max(x), sum(x > 100), norm(x));
      },
      {rows_of(DType::U8, {GetParam()})});
  const std::vector<std::uint8_t> most(size(), 255);
  const Tensor total =
      map([](Row<std::uint8_t> x) { return sum(x); }, Input(most).in_rows(GetParam()));
  EXPECT_EQ(total.at<std::uint64_t>(0), 255u * GetParam());
}

TEST_P(GridSizes, SumsKeepTheirOrder) {
  const std::vector<float> x = numbers<float>(3 * size());
  const Tensor total = map([](Row<float> r) { return std::tuple(sum(r), mean(r)); },
                           Input(x).in_rows(GetParam()))[0];
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(total.at<float>(static_cast<std::int64_t>(i)),
              sum_of(std::span(x).subspan(i * size(), size())));
  }
}

TEST_P(GridSizes, ProductsAreChainsInOrder) {
  const std::vector<float> x = numbers<float>(2 * size());
  const std::vector<float> w = numbers<float>(3 * size());
  const Tensor got = map([](Row<float> r, Matrix<float> m) { return matmul(m, r); },
                         Input(x).in_rows(GetParam()), shared(w, {3, GetParam()}));
  ASSERT_EQ(got.shape(), types::Shape({3}));
  for (std::size_t e = 0; e < 2; ++e) {
    for (std::size_t j = 0; j < 3; ++j) {
      float chain = 0;
      for (std::size_t k = 0; k < size(); ++k) {
        chain = std::fma(w[j * size() + k], x[e * size() + k], chain);
      }
      EXPECT_EQ(got.at<float>(static_cast<std::int64_t>(3 * e + j)), chain);
    }
  }
}

TEST_P(GridSizes, ScansRunFromLeftToRight) {
  const std::vector<double> x = numbers<double>(size());
  const auto [sums, products] = map([](Row<double> r) { return std::tuple(cumsum(r), cumprod(r)); },
                                    Input(x).in_rows(GetParam()));
  double sum = x[0];
  double product = x[0];
  for (std::size_t i = 0; i < size(); ++i) {
    if (i > 0) sum += x[i];
    if (i > 0) product *= x[i];
    EXPECT_EQ(sums.at<double>(static_cast<std::int64_t>(i)), sum);
    EXPECT_EQ(products.at<double>(static_cast<std::int64_t>(i)), product);
  }
  expect_evaluated([](Matrix<float> m) { return std::tuple(cumsum(m, Axis(0)), cumsum(m)); },
                   {f32s({5, GetParam()})});
}

TEST_P(GridSizes, PositionsAsEvaluated) {
  expect_evaluated(
      [](Row<float> x, f32 y) {
        const int n = x.size();
        auto turned = each(n, [&](i32 i) { return x[n - 1 - i] + y * cast<float>(i); });
        auto pairs = each(3, [&](i32 i) {
          return each(n, [&](i32 j) { return x[j] - cast<float>(i) * turned[j]; });
        });
        return std::tuple(turned, pairs, sum(pairs, Axis(0)));
      },
      {row(), Input(DType::F32, nullptr, 0)});
}

TEST_P(GridSizes, LoopsOverAnAxisAsEvaluated) {
  expect_evaluated(
      [](Row<float> x, f32 y) {
        f32 value = y;
        For(0, x.size(), [&](i32 i) { If(x[i] > 0, [&] { value = value * 0.5f + x[i]; }); });
        Array<float> sorted(x);  // one pass of a bubble sort
        For(1, x.size(), [&](i32 i) {
          If(sorted[i - 1] > sorted[i], [&] {
            f32 keep = sorted[i];
            sorted[i] = sorted[i - 1];
            sorted[i - 1] = keep;
          });
        });
        return std::tuple(value, lw::row(sorted));
      },
      {row(), Input(DType::F32, nullptr, 0)});
}

TEST_P(GridSizes, ArrangedAsEvaluated) {
  expect_evaluated(
      [](Matrix<float> m, Row<float> x) {
        auto both = concat({x, flip(x)});
        auto two = stack({x, m[1]}, Axis(1));
        auto part = m(Slice(0, 4, 2), Slice());
        return std::tuple(both, two, part + x, transpose(m) * 2, reshape(m, {2, 2, -1}));
      },
      {f32s({4, GetParam()}), row()});
}

TEST_P(GridSizes, MadeAndMovedAsEvaluated) {
  const int size = GetParam();
  expect_evaluated(
      [size](Matrix<float> m, Row<float> x) {
        return std::tuple(roll(m, 2, Axis(0)) + roll(x, -1), pad(m, 1, 2, Axis(0), x[0]),
                          pad(x, 0, 3), outer(m[0], x) * eye<float>(size),
                          one_hot<float>(argmax(x), size));
      },
      {f32s({4, GetParam()}), row()});
}

INSTANTIATE_TEST_SUITE_P(Sizes, GridSizes, testing::Values(1, 3, 8, 9, 16, 17, 64, 65, 100, 200));

TEST(Grid, ResultsAreTensorsOfTheirShape) {
  const std::vector<float> x = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  const auto [whole, columns, first, total] =
      map([](Matrix<float> m) { return std::tuple(m + 1, sum(m, Axis(0)), m(0, 1), sum(m)); },
          Input(x).in_shape({2, 3}));
  EXPECT_EQ(whole.shape(), types::Shape({2, 3}));
  EXPECT_EQ(values_of<float>(whole), (std::vector<float>{2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}));
  EXPECT_EQ(columns.shape(), types::Shape({3}));
  EXPECT_EQ(values_of<float>(columns), (std::vector<float>{5, 7, 9, 17, 19, 21}));
  EXPECT_EQ(first.shape(), types::Shape());
  EXPECT_EQ(values_of<float>(first), (std::vector<float>{2, 8}));
  EXPECT_EQ(values_of<float>(total), (std::vector<float>{21, 57}));
  // A result is an argument of the same shape.
  const Tensor again = map([](Matrix<float> m) { return max(m, Axis(1)); }, whole);
  EXPECT_EQ(values_of<float>(again), (std::vector<float>{4, 7, 10, 13}));
}

TEST(Grid, RollPadOuterOneHotAndEye) {
  const std::vector<float> x = {1, 2, 3, 4};
  const Input rows = Input(x).in_rows(4);
  EXPECT_EQ(values_of<float>(map([](Row<float> r) { return roll(r, 1); }, rows)),
            (std::vector<float>{4, 1, 2, 3}));
  EXPECT_EQ(values_of<float>(map([](Row<float> r) { return roll(r, -9); }, rows)),
            (std::vector<float>{2, 3, 4, 1}));
  EXPECT_EQ(values_of<float>(map([](Row<float> r) { return pad(r, 1, 2, Axis(0), 7); }, rows)),
            (std::vector<float>{7, 1, 2, 3, 4, 7, 7}));
  EXPECT_EQ(values_of<float>(map([](Row<float> r) { return pad(r, 0, 0); }, rows)), x);
  EXPECT_EQ(values_of<float>(
                map([](Row<float> r) { return outer(r(Slice(0, 2)), r(Slice(2, 4))); }, rows)),
            (std::vector<float>{3, 4, 6, 8}));
  EXPECT_EQ(
      values_of<float>(map(
          [](Row<float> r) { return one_hot<float>(argmax(r), 4) + one_hot<float>(9, 4); }, rows)),
      (std::vector<float>{0, 0, 0, 1}));
  EXPECT_EQ(values_of<float>(map([](Row<float> r) { return matmul(eye<float>(4), r); }, rows)), x);
}

TEST(Grid, OperandsBroadcastAsInNumpy) {
  const std::vector<float> x = {1, 2, 3, 4, 5, 6};
  const std::vector<float> y = {10, 20, 30};
  const auto [rows, columns, numbers] = map(
      [](Matrix<float> m, Row<float> r, f32 s) {
        auto column = insert_axis(m(Slice(), 0), Axis(1));
        return std::tuple(m * r + s, column - r, 2 * m - 1);
      },
      Input(x).in_shape({2, 3}), shared(y), 0.5f);
  EXPECT_EQ(values_of<float>(rows), (std::vector<float>{10.5, 40.5, 90.5, 40.5, 100.5, 180.5}));
  EXPECT_EQ(values_of<float>(columns), (std::vector<float>{-9, -19, -29, -6, -16, -26}));
  EXPECT_EQ(values_of<float>(numbers), (std::vector<float>{1, 3, 5, 7, 9, 11}));
}

TEST(Grid, FunctionsComparisonsAndChoices) {
  const std::vector<float> x = {-2, -1, 0, 1, 2, 3};
  const auto [relu, near, power, signs, whole] = map(
      [](Row<float> r) {
        return std::tuple(max(r, 0), select(abs(r) < 2, r, 9), pow(2.0f, r),
                          select(r > 0 && !(r == 3), 1.0f * r[5], -1),
                          cast<std::int32_t>(ldexp(r, 1)) % 3);
      },
      Input(x).in_rows(6));
  EXPECT_EQ(values_of<float>(relu), (std::vector<float>{0, 0, 0, 1, 2, 3}));
  EXPECT_EQ(values_of<float>(near), (std::vector<float>{9, -1, 0, 1, 9, 9}));
  EXPECT_EQ(values_of<float>(power), (std::vector<float>{.25, .5, 1, 2, 4, 8}));
  EXPECT_EQ(values_of<float>(signs), (std::vector<float>{-1, -1, -1, 3, 3, -1}));
  EXPECT_EQ(values_of<std::int32_t>(whole), (std::vector<std::int32_t>{2, 1, 0, 2, 1, 0}));
}

TEST(Grid, AnAxisOnWhichNothingChangesIsAMultiplication) {
  const std::vector<float> x = {0.1f, 3};
  auto f = vectorize([](f32 y) { return sum(each(10000, [&](i32) { return y; })); });
  auto g = vectorize([](Row<float> r) {
    return sum(insert_axis(r, Axis(0)) + insert_axis(r * 0, Axis(1)), Axis(0));
  });
  EXPECT_EQ(g(Input(x).in_rows(2)).at<float>(0), 0.1f * 2);
  EXPECT_EQ(f(x).at<float>(1), 30000);
}

TEST(Grid, IndicesOfSeveralAxes) {
  std::vector<float> x(24);
  std::iota(x.begin(), x.end(), 0.0f);
  const auto [one, row, middle, moved] = map(
      [](Grid<float, 3> g, i32 i) {
        return std::tuple(g(1, 2, 3), g(1, i), g(Slice(), 1, Slice(0, 4, 3)), g(i, 2, 0));
      },
      Input(x).in_shape({2, 3, 4}), std::vector<std::int32_t>{1});
  EXPECT_EQ(values_of<float>(one), (std::vector<float>{23}));
  EXPECT_EQ(values_of<float>(row), (std::vector<float>{16, 17, 18, 19}));
  EXPECT_EQ(values_of<float>(middle), (std::vector<float>{4, 7, 16, 19}));
  EXPECT_EQ(middle.shape(), types::Shape({2, 2}));
  EXPECT_EQ(values_of<float>(moved), (std::vector<float>{20}));
}

TEST(Grid, IndicesThatElementsComputeAreChecked) {
  const std::vector<float> x = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  const std::vector<std::int32_t> at = {0, 2, 1};
  auto pick = vectorize([](Row<float> r, i32 i) { return r[i]; });
  EXPECT_EQ(values_of<float>(pick(Input(x).in_rows(3), at)), (std::vector<float>{1, 6, 8}));
  auto part = vectorize([](Matrix<float> m, i64 i) { return m[i] * 2; });
  EXPECT_EQ(values_of<float>(part(Input(x).in_shape({3, 3}), std::vector<std::int64_t>{1})),
            (std::vector<float>{8, 10, 12}));
  for (const Compile compile : {Compile::Never, Compile::Now}) {
    try {
      pick.with({.compile = compile}, Input(x).in_rows(3), std::vector<std::int32_t>{0, 1, 3});
      FAIL() << "no error";
    } catch (const ElementError& error) {
      EXPECT_EQ(error.element(), 2);
      EXPECT_NE(std::string(error.what()).find("got 3, expected 0 to 2"), std::string::npos)
          << error.what();
    }
  }
}

TEST(Grid, ProductsOfMatricesAsEvaluated) {
  expect_evaluated([](Matrix<float> a, Matrix<float> b) { return matmul(a, b); },
                   {f32s({5, 12}), f32s({12, 7})});
  expect_evaluated(
      [](Row<double> a, Matrix<double> b) { return std::tuple(matmul(a, b), dot(a, a)); },
      {rows_of(DType::F64, {20}), shared(rows_of(DType::F64, {20, 30}), {20, 30})});
  expect_evaluated([](Matrix<std::int32_t> a, Row<std::int32_t> b) { return matmul(a, b); },
                   {rows_of(DType::I32, {6, 9}), rows_of(DType::I32, {9})});
}

TEST(Grid, TwoLayersOfANetworkAsEvaluated) {
  expect_evaluated(
      [](Row<float> x, Matrix<float> w1, Row<float> b1, Matrix<float> w2) {
        auto hidden = tanh(matmul(w1, x) + b1);
        auto out = matmul(w2, hidden);
        return exp(out - logsumexp(out));
      },
      {f32s({40}), shared(f32s({24, 40}), {24, 40}), shared(f32s({24})),
       shared(f32s({10, 24}), {10, 24})});
}

TEST(Grid, ImagesAsEvaluated) {
  expect_evaluated(
      [](Grid<std::uint8_t, 3> image) {
        auto light = mean(cast<float>(image), Axis(2));
        auto centred = light - mean(light, Kept(1));
        auto edges = abs(light(Slice(1), Slice()) - light(Slice(0, light.size(0) - 1), Slice()));
        return std::tuple(centred, max(edges), argmax(edges, Axis(1)), sum(image, Axis(-1)));
      },
      {rows_of(DType::U8, {9, 13, 3})});
}

TEST(Grid, EveryAxisOfThreeAsEvaluated) {
  expect_evaluated(
      [](Grid<float, 3> x) {
        return std::tuple(sum(x, Axis(0)), max(x, Axis(1)), var(x, Axis(2)), argmin(x, Axis(1)),
                          logsumexp(x, Axis(0)), mean(transpose(x, {2, 0, 1}), Kept(0)),
                          sum(transpose(x)));
      },
      {f32s({4, 5, 11})});
}

TEST(Grid, HalvesAreCombinedInSingle) {
  expect_evaluated(
      [](Row<Half> x) { return std::tuple(sum(x), mean(x), max(x), x * x, stddev(x)); },
      {rows_of(DType::F16, {70})});
  expect_evaluated([](Row<BFloat16> x) { return std::tuple(sum(x), dot(x, x)); },
                   {rows_of(DType::BF16, {70})});
}

TEST(Grid, AnAccumulatorTakesWhatARowComesTo) {
  const std::vector<float> x = numbers<float>(400);
  Sum<double> total;
  const Tensor norms = map(
      [&](Row<float> r) {
        const f32 length = norm(r);
        total.add(cast<double>(length));
        return r / length;
      },
      Input(x).in_rows(4));
  EXPECT_EQ(norms.shape(), types::Shape({4}));
  double expected = 0;
  for (std::size_t i = 0; i < 100; ++i) {
    float squares = 0;
    for (std::size_t j = 0; j < 4; ++j) squares += x[4 * i + j] * x[4 * i + j];
    expected += static_cast<double>(std::sqrt(squares));
  }
  EXPECT_NEAR(total.value(), expected, 1e-9 * expected);
}

/// The order of an accumulator: stripes of blocks of 1024 elements, blocks by a tree.
TEST(Grid, RowsAreAccumulatedPlaceByPlace) {
  const std::vector<float> x = numbers<float>(3 * 3000);
  RowSum<float> total(3);
  RowMin<float> least(3);
  RowMax<float> greatest(3);
  Sum<float> single[3];
  for (const Compile compile : {Compile::Never, Compile::Now}) {
    total.reset();
    for (Sum<float>& sum : single) sum.reset();
    map(
        [&](Row<float> r) {
          total.add(r * 2);
          If(r[0] > 0, [&] { total.add(r); });
          for (int i = 0; i < 3; ++i) {
            single[i].add(r[i] * 2);
            If(r[0] > 0, [&] { single[i].add(r[i]); });
          }
          least.add(r);
          greatest.add(r);
        },
        Input(x).in_rows(3), MapOptions{.threads = 2, .compile = compile});
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(total.value()[i], single[i].value());
      float low = x[i];
      float high = x[i];
      for (std::size_t e = 0; e < 3000; ++e) {
        low = std::min(low, x[3 * e + i]);
        high = std::max(high, x[3 * e + i]);
      }
      EXPECT_EQ(least.value()[i], low);
      EXPECT_EQ(greatest.value()[i], high);
    }
  }
  // In branches alone; values add up over calls.
  RowSum<std::int64_t> counts(4);
  const std::vector<std::int64_t> ones(4 * 50, 1);
  for (int call = 0; call < 2; ++call) {
    map(
        [&](Matrix<std::int64_t> m) {
          const i64 number = element();
          If(number < 10, [&] { counts.add(m); });
          If(number < 5, [&] { counts.add(m * 10); });
        },
        Input(ones).in_shape({2, 2}));
  }
  EXPECT_EQ(counts.value(), std::vector<std::int64_t>(4, 2 * (10 + 50)));
}

TEST_P(GridSizes, RowsAreReturnedEarly) {
  const auto clipped = [](Row<float> x) {
    ReturnIf(max(x) < 1, x * 2, argmax(x));
    For(0, x.size(), [&](i32 i) { ReturnIf(x[i] > 3, x - x[i], i); });
    return std::tuple(flip(x), i32(-1));
  };
  expect_evaluated(clipped, {row()});
  expect_evaluated(
      [&](Row<float> x) {
        const auto [y, place] = Call(clipped, x);
        return std::tuple(y + 1, y, place);
      },
      {row()});
}

TEST(Grid, FunctionsOfRowsCallOneAnother) {
  auto softmax = vectorize([](Row<float> x) {
    auto powers = exp(x - max(x));
    return powers / sum(powers);
  });
  auto entropy = vectorize([&](Row<float> x) {
    auto p = softmax(x);
    ReturnIf(x[0] < 0, sum(x));
    return -sum(p * log(p));
  });
  std::vector<float> x(16, 3.0f);
  x[8] = -7;
  EXPECT_NEAR(entropy(Input(x).in_rows(8)).at<float>(0), std::log(8.0f), 1e-6);
  EXPECT_EQ(entropy(Input(x).in_rows(8)).at<float>(1), 14);
}

TEST(Grid, OtherShapesAreOtherTraces) {
  int traces = 0;
  auto f = vectorize([&](Matrix<float> m) {
    ++traces;
    return sum(m, Axis(0));
  });
  const std::vector<float> x(24, 1.0f);
  EXPECT_EQ(f(Input(x).in_shape({2, 6})).shape(), types::Shape({6}));
  EXPECT_EQ(f(Input(x).in_shape({3, 4})).shape(), types::Shape({4}));
  EXPECT_EQ(f(Input(x).in_shape({4, 3})).shape(), types::Shape({3}));
  EXPECT_EQ(f(Input(x).in_shape({3, 4})).shape(), types::Shape({4}));
  EXPECT_EQ(traces, 3);
}

TEST(Grid, RowsGoIntoMemoryOfTheCaller) {
  const std::vector<float> x = {1, 2, 3, 4};
  std::vector<float> y(4);
  map_into(Output(y).in_rows(2), [](Row<float> r) { return flip(r); }, Input(x).in_rows(2));
  EXPECT_EQ(y, (std::vector<float>{2, 1, 4, 3}));
  // A parameter itself, and one row twice.
  const auto results = map(
      [](Row<float> r) {
        auto t = r * 2;
        return std::tuple(r, t, t, row<float>({r[1], 7}));
      },
      Input(x).in_rows(2));
  EXPECT_EQ(values_of<float>(results[0]), x);
  EXPECT_EQ(values_of<float>(results[1]), values_of<float>(results[2]));
  EXPECT_EQ(values_of<float>(results[3]), (std::vector<float>{2, 7, 4, 7}));
}

TEST(Grid, ElementsMayStandApartOrOverlap) {
  const std::vector<float> x = {1, 2, 3, 4, 5, 6, 7, 8};
  auto f = vectorize([](Row<float> r) { return std::tuple(sum(r), r * 10); });
  Input windows = Input(DType::F32, x.data(), 6, sizeof(float));
  windows.row = 3;
  Input parts = Input(DType::F32, x.data(), 2, 4 * sizeof(float));
  parts.row = 3;
  for (const Compile compile : {Compile::Never, Compile::Now}) {
    EXPECT_EQ(values_of<float>(f.with({.compile = compile}, windows)[0]),
              (std::vector<float>{6, 9, 12, 15, 18, 21}));
    EXPECT_EQ(values_of<float>(f.with({.compile = compile}, parts)[1]),
              (std::vector<float>{10, 20, 30, 50, 60, 70}));
  }
}

TEST(Grid, ArraysTakeRowsInLoops) {
  // Jacobi's steps: every row of values is computed from the one before.
  const std::vector<float> x = {8, 0, 0, 0, 8, 0, 4, 0};
  const Tensor got = map(
      [](Row<float> start) {
        Array<float> state(start);
        const int n = start.size();
        For(0, 2, [&](i32) {
          auto now = row(state);
          assign(state,
                 each(n, [&](i32 i) { return (now[max(i - 1, 0)] + now[min(i + 1, n - 1)]) / 2; }));
        });
        return row(state);
      },
      Input(x).in_rows(4));
  EXPECT_EQ(values_of<float>(got), (std::vector<float>{4, 2, 2, 0, 5, 2, 4, 1}));
}

// --- errors ---

template <class F, class... A>
std::string refused(const F& function, const A&... arguments) {
  const std::string message =
      test::message_of<UsageError>([&] { vectorize(function)(arguments...); });
  const std::size_t path = message.find("grid_test.cpp:");
  if (path == std::string::npos) return message;
  return message.substr(message.find(' ', path) + 1);
}

const std::vector<float> kValues(12, 1.0f);

TEST(GridErrors, ShapesThatDoNotBroadcastAreNamedWithTheLine) {
  const auto add = [](Row<float> x, Row<float> y) { return x + y; };
  const std::string message = test::message_of<UsageError>(
      [&] { vectorize(add)(Input(kValues).in_rows(4), shared(kValues)); });
  EXPECT_NE(message.find("grid_test.cpp:" + std::to_string(__LINE__ - 3) +
                         ": add: shapes do not broadcast; got (4) and (12), expected equal sizes, "
                         "or 1, in every dimension."),
            std::string::npos)
      << message;
}

TEST(GridErrors, OtherDimensionsThanDeclared) {
  const auto rows = [](Row<float> x) { return sum(x); };
  EXPECT_EQ(refused(rows, kValues),
            "map: argument 0 has elements of other dimensions; got the shape (), expected 1 "
            "dimensions, as the function declares. Say what belongs to an element, "
            "lw::Input(values).in_shape({...}), or to all, lw::shared(values, {...}).");
  EXPECT_EQ(refused([](f32 x) { return x; }, Input(kValues).in_shape({2, 3})),
            "map: argument 0 has elements of other dimensions; got the shape (2, 3), expected 0 "
            "dimensions, as the function declares. Declare the parameter as lw::Row or "
            "lw::Matrix.");
  EXPECT_EQ(test::message_of<UsageError>([&] { Input(kValues).in_rows(5); }),
            "Input: elements do not fit; got 12 values in elements of the shape (5), expected "
            "sizes of at least 1 and a whole number of elements.");
  EXPECT_EQ(test::message_of<UsageError>([&] { Input(kValues).in_shape({1, 1, 1, 1, 1, 1, 12}); }),
            "Shape: too many dimensions; got 7 or more, expected at most 6.");
  EXPECT_EQ(test::message_of<UsageError>([&] { shared(kValues, {2, 3}); }),
            "shared: another number of values; got 12 and the shape (2, 3), expected as many as "
            "the shape has.");
}

TEST(GridErrors, AxesIndicesAndSlicesOutOfRange) {
  const Input m = Input(kValues).in_shape({3, 4});
  EXPECT_EQ(refused([](Matrix<float> x) { return sum(x, Axis(2)); }, m),
            "sum: no such axis; got 2, expected -2 to 1.");
  EXPECT_EQ(refused([](Matrix<float> x) { return x[3]; }, m),
            "index: out of range; got 3, expected 0 to 2.");
  EXPECT_EQ(refused([](Matrix<float> x) { return x(Slice(2, 5), 0); }, m),
            "Slice: wrong bounds; got 2 to 5 in steps of 1, expected at least one of the places 0 "
            "to 2, upwards. Use lw::flip for the other direction.");
  EXPECT_EQ(refused([](Matrix<float> x) { return reshape(x, {5, -1}); }, m),
            "reshape: another number of values; got (3, 4) and (5, 2), expected shapes of one "
            "size.");
  EXPECT_EQ(refused([](Matrix<float> x) { return matmul(x, x); }, m),
            "matmul: shapes do not fit; got (3, 4) and (3, 4), expected the sizes of the axes that "
            "are multiplied to be equal, not 4 and 3.");
  EXPECT_EQ(refused(
                [](Matrix<float> x) {
                  return concat({x[0], x(Slice(), 0)}) + stack({x[0], x(Slice(), 0)})[0];
                },
                m),
            "stack: shapes differ; got (4) and (3), expected equal sizes.");
  EXPECT_EQ(refused([](Matrix<float> x) { return pad(x, -1, 2); }, m),
            "pad: less than nothing; got -1 and 2 places, expected 0 or more.");
  EXPECT_EQ(refused([](Matrix<float> x) { return roll(x, 1, Axis(2)); }, m),
            "roll: no such axis; got 2, expected -2 to 1.");
  EXPECT_EQ(refused([](Row<float>) { return max(each(0, [](i32 i) { return i; })); },
                    Input(kValues).in_rows(4)),
            "each: wrong sizes; got (0), expected up to 6 of them, each from 1 to 1073741824.");
  EXPECT_EQ(refused([](Matrix<float> x) { return x(Slice(1, -1), 0); }, m),
            "Slice: wrong bounds; got 1 to -1 in steps of 1, expected at least one of the places 0 "
            "to 2, upwards. Use lw::flip for the other direction.");
  EXPECT_EQ(refused(
                [](Row<float>) {
                  auto wide = each(1 << 20, [](i32 i) { return i; });
                  return sum(insert_axis(wide, Axis(0)) + insert_axis(wide, Axis(1)));
                },
                Input(kValues).in_rows(4)),
            "trace: too many values; got the shape (1048576, 1048576), expected at most 1073741824 "
            "of them.");
}

TEST(GridErrors, WhatPositionsMustNotDo) {
  const Input rows = Input(kValues).in_rows(4);
  EXPECT_NE(refused(
                [](Row<float> x) {
                  f32 total = 0;
                  auto y = each(4, [&](i32 i) {
                    total += x[i];
                    return x[i];
                  });
                  return sum(y) + total;
                },
                rows)
                .find("a variable from outside is assigned for each position"),
            std::string::npos);
  EXPECT_EQ(refused(
                [](Row<float> x) {
                  Array<float> all(4);
                  return each(4, [&](i32 i) {
                    all[i] = x[i];
                    return x[i];
                  });
                },
                rows),
            "each: an array from outside is written for each position; got an assignment to it, "
            "expected a result. Give the value back from the function, or write a loop.");
  EXPECT_EQ(refused(
                [](Row<float> x) {
                  For(0, 3, [&](i32) {
                    each(4, [&](i32 i) {
                      BreakIf(x[i] > 0);
                      return x[i];
                    });
                  });
                  return x;
                },
                rows),
            "BreakIf: stands outside of any loop. Use it in the body of lw::While or lw::For.");
  EXPECT_EQ(refused(
                [](Row<float> x) {
                  return each(4, [&](i32 i) {
                    ReturnIf(x[i] > 0, x[i]);
                    return x[i];
                  });
                },
                rows),
            "Return: stands in what runs for each position. Give a value back from there, and "
            "choose with lw::select.");
  EXPECT_EQ(refused(
                [](Row<float> x) {
                  ReturnIf(x[0] > 0, x[0]);
                  return x;
                },
                rows),
            "Return: gives other types or shapes, or another number of values, than the function "
            "does elsewhere. Return the same everywhere.");
}

TEST(GridErrors, RowsOfAnAccumulatorHaveItsSize) {
  RowSum<float> total(3);
  const Input rows = Input(kValues).in_rows(4);
  EXPECT_EQ(refused([&](Row<float> x) { total.add(x); }, rows),
            "accumulator: another number of values; got the shape (4), expected 3 values.");
  EXPECT_EQ(refused(
                [&](Row<float> x) {
                  return each(4, [&](i32 i) {
                    total.add(x(Slice(1)));
                    return i;
                  });
                },
                rows),
            "each: an array from outside is written for each position; got an assignment to it, "
            "expected a result. Give the value back from the function, or write a loop.");
  EXPECT_EQ(test::message_of<UsageError>([] { RowSum<float>(0); }),
            "accumulator: wrong number of values; got 0, expected 1 to 4096. Add them in several "
            "accumulators, or add what is made of them.");
}

TEST(GridErrors, RowsDoNotOutliveTheirScope) {
  EXPECT_EQ(refused(
                [](Row<float> x) {
                  std::vector<Row<float>> kept;
                  If(x[0] > 0, [&] { kept.push_back(x * 2); });
                  return kept[0] + 1;
                },
                Input(kValues).in_rows(4)),
            "trace: values were used outside of the loop, branch or each they were made in; got "
            "some that not every element has, expected those of the present scope. Write them to "
            "an lw::Array from before.");
}

}  // namespace
}  // namespace lw
