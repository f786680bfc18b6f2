// Arrays of several dimensions, masks, and how arrays lie in memory.
#include "lanewise/api/layout.h"

#include <gtest/gtest.h>

#include <numeric>

#include "lanewise/lanewise.h"
#include "tests/support/message_of.h"

namespace lw {
namespace {

using Sizes = std::vector<std::int64_t>;

api::Placed placed(const double* data, const Sizes& strides) {
  return {.data = data, .size = 8, .strides = strides};
}

TEST(Layout, DimensionsThatFollowOneAnotherAreJoined) {
  const Sizes shape = {2, 3, 1, 4};
  const Sizes together = {96, 32, 7, 8};
  const std::vector<api::Placed> one = {placed(nullptr, together)};
  EXPECT_EQ(api::join_dimensions(shape, one).shape, Sizes{24});
  EXPECT_EQ(api::join_dimensions(shape, one).strides, Sizes{8});
  const Sizes rows = {0, 32, 7, 8};  // the first dimension repeats
  const std::vector<api::Placed> two = {placed(nullptr, together), placed(nullptr, rows)};
  EXPECT_EQ(api::join_dimensions(shape, two).shape, (Sizes{2, 12}));
  EXPECT_EQ(api::join_dimensions(shape, two).strides, (Sizes{96, 8, 0, 8}));
}

TEST(Layout, OneElementHasOneDimension) {
  const Sizes shape = {1, 1};
  const Sizes strides = {5, 6};
  const std::vector<api::Placed> one = {placed(nullptr, strides)};
  EXPECT_EQ(api::join_dimensions(shape, one).shape, Sizes{1});
  EXPECT_EQ(api::join_dimensions(shape, one).strides, Sizes{8});
}

TEST(Layout, ColumnsOfAMatrixDoNotOverlap) {
  const std::vector<double> m(12);
  const Sizes shape = {3, 2};
  const Sizes left = {32, 8};
  EXPECT_FALSE(api::overlaps(shape, placed(m.data(), left), placed(m.data() + 2, left)));
  EXPECT_TRUE(api::overlaps(shape, placed(m.data(), left), placed(m.data() + 1, left)));
  EXPECT_TRUE(api::touches(shape, placed(m.data(), left), m.data() + 9, 8));
  EXPECT_FALSE(api::touches(shape, placed(m.data(), left), m.data() + 10, 16));
}

TEST(Layout, RepeatedDimensionsOverlapThemselves) {
  const double x = 0;
  EXPECT_FALSE(api::overlaps_itself(Sizes{3, 2}, placed(&x, {8, 24})));
  EXPECT_TRUE(api::overlaps_itself(Sizes{3, 2}, placed(&x, {8, 16})));
  EXPECT_TRUE(api::overlaps_itself(Sizes{3, 2}, placed(&x, {8, 0})));
  EXPECT_FALSE(api::overlaps_itself(Sizes{3, 1}, placed(&x, {8, 0})));
  EXPECT_FALSE(api::overlaps_itself(Sizes{3, 0}, placed(&x, {0, 0})));
}

class Dimensions : public testing::TestWithParam<Compile> {};

TEST_P(Dimensions, TransposedAndRepeatedArraysAreReadAndWrittenInPlace) {
  constexpr std::int64_t kRows = 257, kColumns = 301;  // several blocks, none ends with a row
  std::vector<double> matrix(kRows * kColumns);
  std::iota(matrix.begin(), matrix.end(), 0);
  std::vector<double> row(kColumns);
  std::iota(row.begin(), row.end(), 0.25);
  std::vector<double> out(kRows * kColumns, -1);
  const Sizes shape = {kRows, kColumns};
  const Sizes transposed = {8, 8 * kRows};  // matrix and out have their columns together
  const Sizes repeated = {0, 8};
  Input a(DType::F64, matrix.data(), kRows * kColumns);
  a.strides = transposed;
  Input b(DType::F64, row.data(), kRows * kColumns);
  b.strides = repeated;
  Output to(DType::F64, out.data(), kRows * kColumns);
  to.strides = transposed;
  auto f = vectorize([](f64 x, f64 y) { return x * 2 + y; });
  for (const int threads : {1, 2}) {
    f.element_function().call_into({&to, 1}, std::array{a, b},
                                   {.threads = threads, .compile = GetParam(), .shape = shape});
    for (std::size_t r = 0; r < kRows; ++r) {
      for (std::size_t c = 0; c < kColumns; ++c) {
        const std::size_t at = c * kRows + r;
        ASSERT_EQ(out[at], matrix[at] * 2 + row[c]) << r << ", " << c;
      }
    }
  }
}

TEST_P(Dimensions, AMaskKeepsWhatItLeavesOut) {
  const std::vector<double> x = {1, 2, 3, 4};
  const std::array<bool, 4> mask = {true, false, false, true};
  std::vector<double> out(4, -1);
  auto f = vectorize([](f64 v, Variable<bool>) { return v * 10; });
  const Output to(out);
  f.element_function().call_into({&to, 1}, std::array{Input(x), Input(std::span<const bool>(mask))},
                                 {.compile = GetParam(), .mask = 1});
  EXPECT_EQ(out, (std::vector<double>{10, -1, -1, 40}));
}

INSTANTIATE_TEST_SUITE_P(Tiers, Dimensions, testing::Values(Compile::Never, Compile::Now));

TEST(DimensionErrors, ShapeAndStridesMustFit) {
  std::vector<double> x(6), out(6);
  auto f = vectorize([](f64 v) { return v + 1; });
  const Output to(out);
  const Sizes wrong = {2, 2}, right = {2, 3};
  EXPECT_EQ(test::message_of<UsageError>([&] {
              f.element_function().call_into({&to, 1}, std::array{Input(x)}, {.shape = wrong});
            }),
            "map: shape has another size; got 4 elements, expected 6.");
  EXPECT_EQ(test::message_of<UsageError>([&] {
              f.element_function().call_into({&to, 1}, std::array{Input(x)}, {.shape = right});
            }),
            "map: argument 0 has other dimensions; got strides along 0, expected 2, as many as "
            "shape has.");
  EXPECT_EQ(test::message_of<UsageError>([&] {
              f.element_function().call_into({&to, 1}, std::array{Input(x)}, {.mask = 0});
            }),
            "map: mask is not an array of bools; got argument 0, expected the number of one.");
}

TEST(CallOptions, ATimeoutEndsALoopThatNeverDoes) {
  auto endless = vectorize([](f64 x) {
    While([&] { return x > 0; }, [&] { x = x * 0.5 + 1; });
    return x;
  });
  const std::vector<double> ones(100, 1.0);
  EXPECT_EQ(test::message_of<Timeout>([&] { endless.with({.timeout = 0.1}, ones); }),
            "map: ran out of time; got a timeout of 0.1 s, expected a map that ends by then. "
            "Outputs are unfinished. Raise timeout, or map fewer elements at a time.");
}

TEST(CallOptions, ProgressIsToldHowManyElementsAreDone) {
  auto slow = vectorize([](f64 x) {
    While([&] { return x > 0; }, [&] { x = x - 1; });
    return x;
  });
  std::vector<std::int64_t> told;
  const std::vector<double> counts(200'000, 3000.0);
  slow.with({.threads = 1,
             .chunk = 1000,
             .progress = [&](const Progress& progress) { told.push_back(progress.done); }},
            counts);
  ASSERT_FALSE(told.empty());
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
  EXPECT_EQ(told.back(), 200'000);
}

TEST(CallOptions, AMapAtOnceIsDoneOrLeftToTheOtherWay) {
  auto f = vectorize([](i32 x, i32 y) { return x / y; });
  const std::vector<std::int32_t> x = {7, 9}, y = {2, 3}, zero = {1, 0};
  std::vector<std::int32_t> out(2);
  const Output to(out);
  const std::array inputs = {Input(x), Input(y)};
  const auto ready = f.element_function().prepare(inputs, {});
  const auto at_once = [&](const std::vector<std::int32_t>& divisors, double nanoseconds) {
    return ElementFunction::call_at_once(ready, {&to, 1}, std::array{Input(x), Input(divisors)}, 2,
                                         {}, nanoseconds);
  };
  EXPECT_FALSE(at_once(y, 1e6)) << "there is no code yet";
  f.with({.compile = Compile::Now}, x, y);
  EXPECT_TRUE(at_once(y, 1e6));
  EXPECT_EQ(out, (std::vector<std::int32_t>{3, 3}));
  EXPECT_FALSE(at_once(y, 0)) << "not short enough";
  EXPECT_FALSE(at_once(zero, 1e6)) << "an element fails";
}

}  // namespace
}  // namespace lw
