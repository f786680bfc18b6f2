// Rows of different lengths of which some fail while the others go on.
#include <gtest/gtest.h>

#include <cmath>

#include "lanewise/lanewise.h"
#include "tests/support/message_of.h"
#include "tests/support/ragged_rows.h"

namespace lw {
namespace {

using test::message_of;

/// Rows of 0 to 59 numbers above 0; those of some rows have one 0 among them.
struct Rows : test::RaggedRows<std::int32_t> {
  explicit Rows(std::int32_t rows, std::int32_t every) {
    for (std::int32_t i = 0; i < rows; ++i) {
      const std::int32_t length = i * 7 % 60;
      for (std::int32_t j = 0; j < length; ++j) values.push_back(1 + j % 9);
      if (i % every == 1 && length > 0) {
        values[values.size() - static_cast<std::size_t>(1 + i % length)] = 0;
        failing.push_back(i);
      }
      end_row();
    }
  }
  bool fails(std::int64_t row) const {
    return std::binary_search(failing.begin(), failing.end(), row);
  }

  std::vector<std::int64_t> failing;
};

TEST(RaggedOnError, FailingRowsAreFilledAndTold) {
  const Rows rows(20'000, 1000);
  const Ragged<std::int32_t> view = rows.view();
  for (const test::Way& way : test::every_row_way()) {
    auto f = vectorize(
        [](RaggedRow<std::int32_t> x) {
          const auto parts = 360 / x;
          return std::tuple(sum(parts), parts, cast<float>(parts) / 2);
        },
        {.schedule = way.wish});
    Failures failures;
    MapOptions options = way.options;
    options.on_error = OnError::Collect;
    options.failures = &failures;
    options.most_failures = 5;
    options.fill = {Scalar(-1.0), Scalar(-2.0), Scalar(0.5)};
    const auto [sums, parts, halves] = f.with(options, view);
    const Ragged<std::int32_t> quotients(parts);
    const Ragged<float> half(halves);
    for (std::int64_t i = 0; i < view.size(); ++i) {
      std::int64_t sum = 0;
      for (std::size_t j = 0; j < view[i].size(); ++j) {
        const std::int32_t expected = rows.fails(i) ? -2 : 360 / view[i][j];
        sum += expected;
        ASSERT_EQ(quotients[i][j], expected) << way.name << ", row " << i;
        ASSERT_EQ(half[i][j], rows.fails(i) ? 0.5f : static_cast<float>(expected) / 2);
      }
      ASSERT_EQ(sums.at<std::int64_t>(i), rows.fails(i) ? -1 : sum) << way.name << ", row " << i;
    }
    EXPECT_EQ(failures.count, std::ssize(rows.failing));
    ASSERT_EQ(failures.first.size(), 5u);
    for (std::size_t i = 0; i < 5; ++i) {
      EXPECT_EQ(failures.first[i].element, rows.failing[i]) << way.name;
      EXPECT_EQ(failures.first[i].why.kind, ir::FailKind::DivisionByZero);
      EXPECT_EQ(failures.first[i].message.find("map: element " + std::to_string(rows.failing[i]) +
                                               " divides"),
                0u)
          << failures.first[i].message;
    }
  }
}

TEST(RaggedOnError, WithoutAValueTheyAreNaNAndZero) {
  const std::vector<float> values = {4, -1, 9};
  const std::vector<std::int32_t> offsets = {0, 2, 2, 3};
  const auto [roots, sizes, greatest] = map(
      [](RaggedRow<float> x) {
        Check(!any(x < 0));
        return std::tuple(sqrt(x), x.size(), max(x));
      },
      Ragged<float>(values, offsets), MapOptions{.on_error = OnError::Fill});
  EXPECT_TRUE(std::isnan(roots.at<float>(0)) && std::isnan(roots.at<float>(1)));
  EXPECT_EQ(roots.at<float>(2), 3);
  EXPECT_EQ(sizes.at<std::int32_t>(0), 0);
  EXPECT_EQ(sizes.at<std::int32_t>(2), 1);
  EXPECT_TRUE(std::isnan(greatest.at<float>(1)));  // of no values
}

TEST(RaggedOnError, RowsThatFailBeforeTheirLengthIsKnownAreEmpty) {
  const Rows rows(5000, 50);
  const Ragged<std::int32_t> view = rows.view();
  std::vector<std::int32_t> firsts(5000, 1);
  for (const test::Way& way : test::every_row_way()) {
    auto f = vectorize([](RaggedRow<std::int32_t> x, i32 first) { return 360 / x.slice(first); },
                       {.schedule = way.wish});
    MapOptions options = way.options;
    options.on_error = OnError::Fill;
    options.fill = {Scalar(-1.0)};
    const Tensor parts = f.with(options, view, firsts);
    const Ragged<std::int32_t> got(parts);
    for (std::int64_t i = 0; i < view.size(); ++i) {
      ASSERT_EQ(got[i].size(), view[i].empty() ? 0 : view[i].size() - 1);
      const bool fails =
          !view[i].empty() && std::find(view[i].begin() + 1, view[i].end(), 0) != view[i].end();
      for (std::size_t j = 1; j < view[i].size(); ++j) {
        ASSERT_EQ(got[i][j - 1], fails ? -1 : 360 / view[i][j]) << way.name << ", row " << i;
      }
    }
  }
}

TEST(RaggedOnError, OnlyRowsWhereAMaskIsTrueFail) {
  const std::vector<std::int32_t> values = {0, 2, 0, 5};
  const std::vector<std::int32_t> offsets = {0, 2, 3, 4};
  const bool mask[] = {true, false, true};
  std::vector<std::int32_t> out(4, 7);
  Failures failures;
  MapOptions options{.on_error = OnError::Collect, .failures = &failures};
  options.where = std::span<const bool>(mask);
  map_into(
      out, [](RaggedRow<std::int32_t> x) { return 10 / x; }, Ragged<std::int32_t>(values, offsets),
      options);
  EXPECT_EQ(out, (std::vector<std::int32_t>{0, 0, 7, 2}));
  ASSERT_EQ(failures.count, 1);
  EXPECT_EQ(failures.first[0].element, 0);
}

TEST(RaggedOnError, AddNothingToAccumulators) {
  const Rows rows(3000, 10);
  Sum<std::int64_t> total;
  auto f = vectorize([&](RaggedRow<std::int32_t> x) {
    total.add(1);
    return 360 / x;
  });
  f.with({.on_error = OnError::Fill}, rows.view());
  EXPECT_EQ(total.value(), 3000 - std::ssize(rows.failing));
}

TEST(RaggedOnError, Messages) {
  const std::vector<std::int32_t> values = {1, 2};
  const std::vector<std::int32_t> offsets = {0, 2};
  const auto refused = [&](const MapOptions& options) {
    return message_of<UsageError>([&] {
      map([](RaggedRow<std::int32_t> x) { return std::tuple(x, sum(x)); },
          Ragged<std::int32_t>(values, offsets), options);
    });
  };
  EXPECT_EQ(refused({.on_error = OnError::Collect}),
            "map: failures are collected and nobody is told; got no Failures, expected one. Give "
            "failures, or let on_error be Fill.");
  EXPECT_EQ(refused({.on_error = OnError::Fill, .fill = std::vector<Scalar>(3, Scalar(1.0))}),
            "map: fill has another number of values than the function; got 3, expected 1, or 2, "
            "one for each result.");
  EXPECT_EQ(refused({.on_error = OnError::Fill, .fill = {Scalar(0.5), Scalar(1.0)}}),
            "map: fill does not fit result 0; got 0.5, expected a value of i32.");
}

}  // namespace
}  // namespace lw
