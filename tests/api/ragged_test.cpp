// Rows of different lengths: what functions of them give, on every tier and schedule, against plain
// loops.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "lanewise/lanewise.h"
#include "tests/support/message_of.h"
#include "tests/support/ragged_rows.h"

namespace lw {
namespace {

using test::message_of;

/// Rows of random lengths, many of them empty, and numbers whose sums round.
struct Rows : test::RaggedRows<float> {
  Rows(std::size_t rows, unsigned longest, unsigned seed = 1) {
    std::mt19937 random(seed);
    for (std::size_t i = 0; i < rows; ++i) {
      const auto length = random() % 3 == 0 ? 0 : random() % (longest + 1);
      offsets.push_back(offsets.back() + static_cast<std::int32_t>(length));
    }
    for (std::int32_t i = 0; i < offsets.back(); ++i) {
      values.push_back(static_cast<float>(random()) * 0x1p-28f - 7);
    }
  }
  std::span<const float> row(std::size_t i) const {
    return std::span(values).subspan(
        static_cast<std::size_t>(offsets[i]),
        static_cast<std::size_t>(offsets[i + 1]) - static_cast<std::size_t>(offsets[i]));
  }
  std::size_t size() const { return offsets.size() - 1; }
};

/// The order of sums and products: up to 8 terms from left to right, more in 64 stripes.
template <class T, class Combine>
T combined(std::vector<T> terms, T empty, const Combine& combine) {
  if (terms.empty()) return empty;
  if (terms.size() <= ir::kFewTerms) {
    return std::accumulate(terms.begin() + 1, terms.end(), terms[0], combine);
  }
  for (std::size_t i = ir::kStripes; i < terms.size(); ++i) {
    terms[i % ir::kStripes] = combine(terms[i % ir::kStripes], terms[i]);
  }
  std::size_t left = std::min<std::size_t>(terms.size(), ir::kStripes);
  for (std::size_t half = ir::kStripes / 2; half > 0; half /= 2) {
    for (std::size_t s = 0; s < half && s + half < left; ++s) {
      terms[s] = combine(terms[s], terms[s + half]);
    }
    left = std::min(left, half);
  }
  return terms[0];
}
float sum_of(std::span<const float> row) {
  return combined<float>({row.begin(), row.end()}, 0, std::plus<>());
}

/// Bits, so that NaNs are equal and zeros of other signs are not.
template <class T>
void expect_bits(T got, T expected, const std::string& where) {
  if (std::isnan(got) && std::isnan(expected)) return;
  EXPECT_EQ(std::memcmp(&got, &expected, sizeof(T)), 0)
      << where << ": " << got << ", expected " << expected;
}

class RaggedLengths : public testing::TestWithParam<unsigned> {};

TEST_P(RaggedLengths, SumsProductsAndMeansKeepTheirOrder) {
  const Rows rows(300, GetParam());
  for (const test::Way& way : test::every_row_way()) {
    auto f = vectorize(
        [](RaggedRow<float> x) {
          return std::tuple(sum(x), prod(x), mean(x), norm(x), var(x), x.size());
        },
        {.schedule = way.wish});
    const auto got = f.with(way.options, rows.view());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::span<const float> row = rows.row(i);
      const auto at = static_cast<std::int64_t>(i);
      const auto n = static_cast<float>(row.size());
      const float mean = sum_of(row) / n;
      std::vector<float> squares;
      std::vector<float> differences;
      for (const float x : row) {
        squares.push_back(x * x);
        differences.push_back((x - mean) * (x - mean));
      }
      const std::string where = way.name + ", row " + std::to_string(i);
      expect_bits(got[0].at<float>(at), sum_of(row), where + ", sum");
      expect_bits(got[1].at<float>(at),
                  combined<float>({row.begin(), row.end()}, 1, std::multiplies<>()),
                  where + ", prod");
      expect_bits(got[2].at<float>(at), mean, where + ", mean");
      expect_bits(got[3].at<float>(at), std::sqrt(sum_of(squares)), where + ", norm");
      expect_bits(got[4].at<float>(at), sum_of(differences) / n, where + ", var");
      ASSERT_EQ(got[5].at<std::int32_t>(at), static_cast<std::int32_t>(row.size()));
    }
  }
}

TEST_P(RaggedLengths, ExtremesAndPlacesOfRowsThatHaveValues) {
  Rows rows(200, GetParam());
  for (std::size_t i = 1; i < rows.offsets.size(); ++i) {  // one value more in each
    rows.offsets[i] += static_cast<std::int32_t>(i);
    rows.values.push_back(static_cast<float>(i % 7));
  }
  const auto f = [](RaggedRow<float> x) {
    return std::tuple(min(x), max(x), argmin(x), argmax(x), any(x > 3), all(x > -6));
  };
  const auto got = map(f, rows.view());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::span<const float> row = rows.row(i);
    const auto at = static_cast<std::int64_t>(i);
    const auto [least, most] = std::pair(std::min_element(row.begin(), row.end()),
                                         std::max_element(row.begin(), row.end()));
    ASSERT_EQ(got[0].at<float>(at), *least);
    ASSERT_EQ(got[1].at<float>(at), *most);
    ASSERT_EQ(got[2].at<std::int32_t>(at), least - row.begin());
    ASSERT_EQ(got[3].at<std::int32_t>(at), most - row.begin());
    ASSERT_EQ(got[4].at<bool>(at), *most > 3);
    ASSERT_EQ(got[5].at<bool>(at), *least > -6);
  }
}

TEST_P(RaggedLengths, RowsComeBackAsLongAsTheyWere) {
  const Rows rows(500, GetParam());
  const std::vector<float> scale = [&] {
    std::vector<float> all(rows.size());
    std::iota(all.begin(), all.end(), 1.0f);
    return all;
  }();
  for (const test::Way& way : test::every_row_way()) {
    auto f = vectorize(
        [](RaggedRow<float> x, f32 by) {
          const auto parts = x / sum(abs(x));
          return std::tuple(parts * by + 0.5f, sum(x), select(x > by, x, by));
        },
        {.schedule = way.wish});
    const auto [scaled, totals, larger] = f.with(way.options, rows.view(), scale);
    ASSERT_EQ(scaled.size(), std::ssize(rows.values));
    ASSERT_EQ(totals.size(), std::ssize(scale));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      std::vector<float> sizes;
      for (const float x : rows.row(i)) sizes.push_back(std::abs(x));
      const float total = sum_of(sizes);
      expect_bits(totals.at<float>(static_cast<std::int64_t>(i)), sum_of(rows.row(i)), way.name);
      for (std::int32_t j = rows.offsets[i]; j < rows.offsets[i + 1]; ++j) {
        const float x = rows.values[static_cast<std::size_t>(j)];
        expect_bits(scaled.at<float>(j), x / total * scale[i] + 0.5f, way.name);
        expect_bits(larger.at<float>(j), x > scale[i] ? x : scale[i], way.name);
      }
    }
  }
}

TEST_P(RaggedLengths, LoopsAndIndicesReadOneValueAfterTheOther) {
  const Rows rows(300, GetParam());
  for (const test::Way& way : test::every_row_way(false)) {
    auto f = vectorize(
        [](RaggedRow<float> x) {
          f32 by_value = 0;
          For(x * 2, [&](f32 v) { by_value = by_value * 0.5f + v; });
          f32 by_index = 0;
          For(0, x.size(), [&](i32 i) { by_index = by_index * 0.5f + x[i] * 2; });
          return std::tuple(by_value, by_index, dot(x, x));
        },
        {.schedule = way.wish});
    const auto got = f.with(way.options, rows.view());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      float expected = 0;
      float chain = 0;
      for (const float x : rows.row(i)) {
        expected = expected * 0.5f + x * 2;
        chain = std::fma(x, x, chain);
      }
      const auto at = static_cast<std::int64_t>(i);
      expect_bits(got[0].at<float>(at), expected, way.name);
      expect_bits(got[1].at<float>(at), expected, way.name);
      expect_bits(got[2].at<float>(at), chain, way.name);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Lengths, RaggedLengths, testing::Values(1u, 5u, 12u, 150u));

// --- softmax, and two arguments ---

RaggedRow<float> softmax(RaggedRow<float> x) {
  const auto powers = exp(x - logsumexp(x));
  return powers / sum(powers);
}

TEST(Ragged, ValuesArePartsOfOne) {
  const Rows rows(1000, 40);
  const Tensor parts = map([](RaggedRow<float> x) { return softmax(x); }, rows.view());
  const Ragged<float> got(parts, rows.offsets);
  for (std::int64_t i = 0; i < got.size(); ++i) {
    if (got[i].empty()) continue;
    EXPECT_NEAR(std::accumulate(got[i].begin(), got[i].end(), 0.0f), 1, 1e-5f);
  }
}

TEST(Ragged, LogsumexpOfNothingIsThatOfZero) {
  const std::vector<float> values = {3};
  const std::vector<std::int32_t> offsets = {0, 0, 1};
  const Tensor got =
      map([](RaggedRow<float> x) { return logsumexp(x); }, Ragged<float>(values, offsets));
  EXPECT_EQ(got.at<float>(0), -std::numeric_limits<float>::infinity());
  EXPECT_EQ(got.at<float>(1), 3);
}

TEST(Ragged, IntegersAreSummedIn64BitsAndOffsetsMayBeLong) {
  const std::vector<std::uint8_t> values(700, 255);
  const std::vector<std::int64_t> offsets = {0, 600, 600, 700};
  const auto [sums, means, halves] =
      map([](RaggedRow<std::uint8_t> x) { return std::tuple(sum(x), mean(x), cast<float>(x) / 2); },
          Ragged<std::uint8_t>(values, offsets));
  EXPECT_EQ(sums.at<std::uint64_t>(0), 600u * 255);
  EXPECT_EQ(sums.at<std::uint64_t>(1), 0u);
  EXPECT_TRUE(std::isnan(means.at<double>(1)));
  EXPECT_EQ(means.at<double>(2), 255);
  EXPECT_EQ(halves.at<float>(699), 127.5f);
}

TEST(Ragged, TwoArgumentsWithTheSameLengths) {
  const Rows rows(400, 30);
  std::vector<double> weights(rows.values.size());
  std::iota(weights.begin(), weights.end(), 0.25);
  const std::vector<std::int64_t> offsets(rows.offsets.begin(), rows.offsets.end());
  const auto [products, sums] = map(
      [](RaggedRow<float> x, RaggedRow<double> w) {
        const auto both = cast<double>(x) * w;
        return std::tuple(both, sum(both));
      },
      rows.view(), Ragged<double>(weights, offsets));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<double> terms;
    for (std::int32_t j = rows.offsets[i]; j < rows.offsets[i + 1]; ++j) {
      const auto at = static_cast<std::size_t>(j);
      terms.push_back(static_cast<double>(rows.values[at]) * weights[at]);
      ASSERT_EQ(products.at<double>(j), terms.back());
    }
    expect_bits(sums.at<double>(static_cast<std::int64_t>(i)),
                combined<double>(terms, 0, std::plus<>()), "sum");
  }
}

TEST(Ragged, NoRowsAndNoValues) {
  const std::vector<float> nothing;
  const std::vector<std::int32_t> no_rows = {0};
  const auto f = [](RaggedRow<float> x) { return std::tuple(x * 2 + sum(x), sum(x)); };
  const auto none = map(f, Ragged<float>(nothing, no_rows));
  EXPECT_EQ(none[0].size(), 0);
  EXPECT_EQ(none[1].size(), 0);
  const std::vector<std::int32_t> empty_rows = {0, 0, 0, 0};
  const auto empty = map(f, Ragged<float>(nothing, empty_rows));
  EXPECT_EQ(empty[0].size(), 0);
  ASSERT_EQ(empty[1].size(), 3);
  EXPECT_EQ(empty[1].at<float>(2), 0);
  EXPECT_FALSE(std::signbit(empty[1].at<float>(2)));
}

TEST(Ragged, ManyRowsAreDoneInBlocks) {
  const std::size_t count = 150000;
  std::vector<std::int32_t> offsets = {0};
  std::vector<std::int32_t> values;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < i % 4; ++j) values.push_back(static_cast<std::int32_t>(i));
    offsets.push_back(static_cast<std::int32_t>(values.size()));
  }
  const auto [numbers, own] = map(
      [](RaggedRow<std::int32_t> x) {
        const i32 number = element<std::int32_t>();
        return std::tuple(x - number, number);
      },
      Ragged<std::int32_t>(values, offsets));
  for (std::int64_t i = 0; i < numbers.size(); ++i) ASSERT_EQ(numbers.at<std::int32_t>(i), 0);
  for (std::int64_t i = 0; i < own.size(); ++i) ASSERT_EQ(own.at<std::int32_t>(i), i);
}

TEST(Ragged, LongRowsAreDoneInParts) {
  const std::vector<std::int32_t> offsets = {0, 0, 200000, 200003, 500000, 500000};
  std::vector<float> values(500000);
  for (std::size_t j = 0; j < values.size(); ++j) values[j] = static_cast<float>(j % 11) - 4;
  const std::vector<std::int8_t> small = {1, 2, 3, 4, 5};
  const auto [turned, moved] =
      map([](RaggedRow<float> x,
             i8 by) { return std::tuple(select(x.size() > 3, x, -x), cast<std::int8_t>(x) + by); },
          Ragged<float>(values, offsets), small);
  for (std::size_t i = 0; i < small.size(); ++i) {
    const bool is_long = offsets[i + 1] - offsets[i] > 3;
    for (std::int32_t j = offsets[i]; j < offsets[i + 1]; ++j) {
      const float x = values[static_cast<std::size_t>(j)];
      ASSERT_EQ(turned.at<float>(j), is_long ? x : -x);
      ASSERT_EQ(moved.at<std::int8_t>(j), static_cast<std::int8_t>(x) + small[i]);
    }
  }
}

TEST(Ragged, AddsToAccumulatorsOnce) {
  const std::size_t count = 150000;
  std::vector<std::int32_t> offsets(count + 1);
  std::iota(offsets.begin(), offsets.end(), 0);
  const std::vector<double> values(count, 2);
  Sum<double> total;
  auto f = vectorize([&](RaggedRow<double> x) {
    total.add(sum(x));
    return x * sum(x);
  });
  const Tensor squares = f(Ragged<double>(values, offsets));
  EXPECT_EQ(total.value(), 2.0 * count);
  EXPECT_EQ(squares.at<double>(count - 1), 4);
}

TEST(Ragged, AVectorizedFunctionInsideAnother) {
  const Rows rows(100, 10);
  auto doubled = vectorize([](RaggedRow<float> x) { return x + x; });
  const Tensor got = map([&](RaggedRow<float> x) { return sum(doubled(x)); }, rows.view());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<float> twice;
    for (const float x : rows.row(i)) twice.push_back(x + x);
    expect_bits(got.at<float>(static_cast<std::int64_t>(i)), sum_of(twice), "sum");
  }
}

TEST(Ragged, IntoMemoryOfTheCaller) {
  const Rows rows(100, 10);
  std::vector<float> halves(rows.values.size());
  std::vector<float> sums(rows.size());
  map_into(
      {sums, halves}, [](RaggedRow<float> x) { return std::tuple(sum(x), x / 2); }, rows.view());
  for (std::size_t j = 0; j < halves.size(); ++j) ASSERT_EQ(halves[j], rows.values[j] / 2);
  for (std::size_t i = 0; i < sums.size(); ++i) expect_bits(sums[i], sum_of(rows.row(i)), "sum");
}

TEST(Ragged, OnlyRowsWhereAMaskIsTrue) {
  const std::vector<float> values = {1, 2, 3};
  const std::vector<std::int32_t> offsets = {0, 2, 2, 3};
  const bool mask[] = {true, false, true};
  std::vector<float> out = {7, 7, 7};
  MapOptions options;
  options.where = std::span<const bool>(mask);
  map_into(out, [](RaggedRow<float> x) { return max(x); }, Ragged<float>(values, offsets), options);
  EXPECT_EQ(out, std::vector<float>({2, 7, 3}));
}

TEST(Ragged, OnlyRowsOfResultsWhereAMaskIsTrue) {
  const Rows rows(100, 40);
  for (const test::Way& way : test::every_row_way()) {
    bool mask[100];
    for (std::size_t i = 0; i < rows.size(); ++i) mask[i] = i % 3 != 1;
    std::vector<float> out(rows.values.size(), 7);
    MapOptions options = way.options;
    options.where = std::span<const bool>(mask);
    auto f = vectorize([](RaggedRow<float> x) { return x * sum(x); }, {.schedule = way.wish});
    f.into(out, options, rows.view());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (auto j = rows.offsets[i]; j < rows.offsets[i + 1]; ++j) {
        const auto at = static_cast<std::size_t>(j);
        expect_bits(out[at], mask[i] ? rows.values[at] * sum_of(rows.row(i)) : 7.0f, way.name);
      }
    }
  }
}

TEST(Ragged, NobodySeesTheOrderInWhichUnevenRowsRun) {
  const Rows rows(40'000, 100);
  std::vector<double> weights(rows.size());
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<double>(i);
  const auto f = [](RaggedRow<float> x, f64 weight) {
    f32 last = 0;
    For(x, [&](f32 value) { last = last * 0.5f + value; });
    return std::tuple(last, weight * 2, x + last);
  };
  for (const test::Way& way : test::every_row_way(false)) {
    auto g = vectorize(f, {.schedule = way.wish});
    const auto got = g.with(way.options, rows.view(), weights);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      float last = 0;
      for (const float x : rows.row(i)) last = last * 0.5f + x;
      const auto at = static_cast<std::int64_t>(i);
      expect_bits(got[0].at<float>(at), last, way.name);
      expect_bits(got[1].at<double>(at), weights[i] * 2, way.name);
      for (auto j = rows.offsets[i]; j < rows.offsets[i + 1]; ++j) {
        expect_bits(got[2].at<float>(j), rows.values[static_cast<std::size_t>(j)] + last, way.name);
      }
    }
  }
}

TEST(Ragged, TheFirstRowThatFailsIsNamedInWhateverOrderTheyRun) {
  std::vector<std::int32_t> offsets = {0};
  for (std::int32_t i = 0; i < 20'000; ++i) offsets.push_back(offsets.back() + i * 7 % 90);
  const std::vector<float> values(static_cast<std::size_t>(offsets.back()), 1);
  std::vector<std::int32_t> divisors(20'000, 2);
  for (const std::size_t bad : {17'001, 17'002, 17'030}) divisors[bad] = 0;
  const auto f = [](RaggedRow<float> x, i32 divisor) {
    f32 sum = 0;
    For(x, [&](f32 value) { sum += value; });
    return cast<std::int32_t>(sum) / divisor;
  };
  for (const test::Way& way : test::every_row_way(false)) {
    auto g = vectorize(f, {.schedule = way.wish});
    const std::string message = message_of<ElementError>(
        [&] { g.with(way.options, Ragged<float>(values, offsets), divisors); });
    EXPECT_NE(message.find("element 17001 divides"), std::string::npos) << way.name << message;
  }
}

// --- errors ---

TEST(RaggedErrors, OffsetsAndValues) {
  const std::vector<float> values = {1, 2, 3};
  const auto made = [&](std::vector<std::int32_t> offsets) {
    return message_of<UsageError>([&] { Ragged<float>(values, offsets); });
  };
  EXPECT_EQ(made({}),
            "Ragged: no offsets; got 0 of them, expected one more than there are rows. Without "
            "rows there is one, 0.");
  EXPECT_EQ(made({1, 3}),
            "Ragged: offsets do not begin at 0; got 1. Take the values from there on, and the "
            "offsets less that.");
  EXPECT_EQ(made({0, 2, 1, 3}),
            "Ragged: offsets fall; got 2 and then 1 (row 1), expected none less than the one "
            "before it.");
  EXPECT_EQ(made({0, 2}), "Ragged: offsets do not end at the number of values; got 2, expected 3.");
  EXPECT_EQ(message_of<UsageError>([&] { Ragged<float>(values, values); }),
            "Ragged: offsets of another type; got f32, expected i32 or i64, one more than there "
            "are rows.");
  EXPECT_EQ(
      message_of<UsageError>([&] { Ragged<double>(values, std::vector<std::int32_t>{0, 3}); }),
      "Ragged: values of another type; got f32, expected f64.");
  EXPECT_EQ(message_of<UsageError>([&] { Ragged<float>(values, 3); }),
            "Ragged: values or offsets do not stand together; got a number, rows, or a stride, "
            "expected two arrays. Copy them first.");
}

std::string after_line(const std::string& message) {
  const std::size_t at = message.find("ragged_test.cpp");
  return at == std::string::npos ? message : message.substr(message.find(')', at));
}

TEST(RaggedErrors, ElementsThatFail) {
  const std::vector<float> values = {1, 2, 3};
  const std::vector<std::int32_t> offsets = {0, 2, 2, 3};
  const std::vector<std::int32_t> others = {0, 2, 3, 3};
  const Ragged<float> rows(values, offsets);
  const auto fails = [&](auto f, const auto&... arguments) {
    return after_line(message_of<ElementError>([&] { map(f, arguments...); }));
  };
  EXPECT_EQ(fails([](RaggedRow<float> x) { return max(x); }, rows),
            "); got 0, expected at least one for a minimum, a maximum or its place. Leave such "
            "rows out, or ask for row.size() first.");
  EXPECT_EQ(fails([](RaggedRow<float> x) { return x[1]; }, rows).substr(0, 34),
            "); got 1, expected 0 to -1. Check ");
  EXPECT_EQ(fails([](RaggedRow<float> x, RaggedRow<float> y) { return x + y; }, rows,
                  Ragged<float>(values, others)),
            "); got 0 and 1, expected the same number of values.");
}

TEST(RaggedErrors, TheRowThatAFailingValueIsIn) {
  const std::vector<std::int32_t> values = {1, 2, 3, 0, 5};
  const std::vector<std::int32_t> offsets = {0, 2, 2, 5};
  const std::string message = message_of<ElementError>([&] {
    map([](RaggedRow<std::int32_t> x) { return 60 / x; }, Ragged<std::int32_t>(values, offsets));
  });
  EXPECT_EQ(message.substr(0, 41), "map: element 2 divides an integer by zero") << message;
}

TEST(RaggedErrors, Calls) {
  const std::vector<float> values = {1, 2, 3};
  const std::vector<std::int32_t> offsets = {0, 2, 2, 3};
  const Ragged<float> rows(values, offsets);
  const auto refused = [&](auto call) { return message_of<UsageError>(call); };
  EXPECT_EQ(refused([&] {
              map([](f32 y, RaggedRow<float> x) { return y * sum(x); }, std::vector<float>(4),
                  rows);
            }),
            "map: arguments disagree on the mapped size; got 3 rows (argument 1) and 4 (argument "
            "0), expected one size.");
  EXPECT_EQ(refused([&] {
              map([](RaggedRow<float> x, RaggedRow<float> y) { return sum(x) + sum(y); }, rows,
                  Ragged<float>(values, std::vector<std::int32_t>{0, 3}));
            }),
            "map: arguments disagree on the mapped size; got 3 rows (argument 0) and 1 rows "
            "(argument 1), expected one size.");
  EXPECT_EQ(refused([&] { map([](RaggedRow<double> x) { return sum(x); }, rows); }),
            "map: argument 0 has another element type; got f32, expected f64, as the function "
            "declares. Convert the array, or declare the parameter as lw::f32.");
  const auto twice = [](RaggedRow<float> x) { return x * 2; };
  std::vector<float> out(2);
  EXPECT_EQ(refused([&] { map_into(out, twice, rows); }),
            "map: output 0 has another size; got 2, expected 3, the number of values of all rows.");
  std::vector<double> wide(3);
  EXPECT_EQ(refused([&] { map_into(wide, twice, rows); }),
            "map: output 0 does not fit rows of results; got f64, expected f32, all values of all "
            "rows one behind the other.");
  EXPECT_EQ(refused([&] { map_into(const_cast<std::vector<float>&>(values), twice, rows); }),
            "map: output 0 overlaps an argument; got shared memory, expected separate arrays. Give "
            "another out, or none.");
}

TEST(RaggedErrors, WhatIsRecorded) {
  const std::vector<float> values = {1, 2, 3};
  const std::vector<std::int32_t> offsets = {0, 2, 2, 3};
  const Ragged<float> rows(values, offsets);
  const auto refused = [&](auto f) {
    const std::string message = message_of<UsageError>([&] { map(f, rows); });
    return message.substr(message.find(": ") + 2);
  };
  EXPECT_EQ(refused([](RaggedRow<float> x) {
              ReturnIf(x.size() == 0, x);
              return x * 2;
            }),
            "Return: a function that gives a row of a length of its own was left before its end; "
            "got lw::Return, expected its last line. Choose with lw::select.");
  EXPECT_EQ(refused([](RaggedRow<float> x) {
              std::optional<RaggedRow<float>> kept;
              If(x.size() > 1, [&] { kept.emplace(x * x[1]); });
              return sum(*kept);
            }),
            "trace: values were used outside of the loop, branch or each they were made in; got "
            "some that not every element has, expected those of the present scope. Write them to "
            "an lw::Array from before.");
}

}  // namespace
}  // namespace lw
