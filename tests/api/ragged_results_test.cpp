// Rows of different lengths that a function makes: slices, rows of rows, and results that are as
// long as no argument.
#include <gtest/gtest.h>

#include <chrono>
#include <numeric>
#include <thread>

#include "lanewise/lanewise.h"
#include "tests/support/message_of.h"
#include "tests/support/ragged_rows.h"

namespace lw {
namespace {

using test::message_of;

/// Rows of 0 to 40 values: whole numbers, whose sums are exact.
struct Rows : test::RaggedRows<float> {
  explicit Rows(std::int32_t rows, std::int32_t longest = 40) {
    for (std::int32_t i = 0; i < rows; ++i) {
      for (std::int32_t j = 0; j < i * 7 % (longest + 1); ++j) {
        values.push_back(static_cast<float>(i % 100 * 100 + j));
      }
      end_row();
    }
  }
};

std::vector<float> to_vector(std::span<const float> row) { return {row.begin(), row.end()}; }

TEST(RaggedRows, TheTimeIsThatOfAllBlocks) {
  const Rows rows(20'000);  // more than a block
  const auto wait = [](const Progress&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  };
  const MapOptions options{.timeout = 0.25, .progress = wait};
  const auto words = message_of<Timeout>(
      [&] { vectorize([](RaggedRow<float> x) { return sum(x); }).with(options, rows.view()); });
  EXPECT_TRUE(words.starts_with("map: ran out of time; got a timeout of 0.25 s,")) << words;
}

// --- slices ---

TEST(RaggedSlices, ReadWhatTheyBeginAndEndWith) {
  const Rows rows(300);
  for (const test::Way& way : test::every_row_way()) {
    auto f = vectorize(
        [](RaggedRow<float> x) {
          const i32 half = x.size() / 2;
          const RaggedRow<float> front = (x * 2 + 1).slice(0, half);
          const RaggedRow<float> back = x.slice(half);
          f32 last = -1;
          For(back.slice(back.size() - min(back.size(), 1)), [&](f32 value) { last = value; });
          return std::tuple(sum(front), sum(back), back.size(), last,
                            sum(front * back.slice(0, half)));
        },
        {.schedule = way.wish});
    const auto got = f.with(way.options, rows.view());
    for (std::int64_t i = 0; i < 300; ++i) {
      const std::vector<float> row = to_vector(rows.view()[i]);
      const std::size_t half = row.size() / 2;
      float front = 0, back = 0, both = 0;  // exact: whole numbers below 2^24 but for the products
      for (std::size_t j = 0; j < half; ++j) front += row[j] * 2 + 1;
      for (std::size_t j = half; j < row.size(); ++j) back += row[j];
      for (std::size_t j = 0; j < half; ++j) both += (row[j] * 2 + 1) * row[half + j];
      ASSERT_EQ(got[0].at<float>(i), front) << way.name << i;
      ASSERT_EQ(got[1].at<float>(i), back) << way.name << i;
      ASSERT_EQ(got[2].at<std::int32_t>(i), static_cast<std::int32_t>(row.size() - half));
      ASSERT_EQ(got[3].at<float>(i), row.empty() ? -1 : row.back());
      ASSERT_NEAR(got[4].at<float>(i), both, both * 1e-5f);
    }
  }
}

TEST(RaggedSlices, OfSlicesAndByLongIndices) {
  const Rows rows(100);
  const Tensor got = map(
      [](RaggedRow<float> x, i64 first) {
        return sum(x.slice(first).slice(1, 2).slice(1));  // the one value at first + 2
      },
      Ragged<float>(rows.values,
                    std::vector<std::int32_t>{0, static_cast<std::int32_t>(rows.values.size())}),
      std::vector<std::int64_t>{5});
  EXPECT_EQ(got.at<float>(0), rows.values[7]);
}

TEST(RaggedSlices, ElementsThatHaveNotSoManyValuesFail) {
  const std::vector<float> values = {1, 2, 3};
  const std::vector<std::int32_t> offsets = {0, 3};
  const auto fails = [&](std::int32_t first, std::int32_t count) {
    const std::string message = message_of<ElementError>([&] {
      map([](RaggedRow<float> x, i32 a, i32 n) { return sum(x.slice(a, n)); },
          Ragged<float>(values, offsets), std::vector{first}, std::vector{count});
    });
    const std::size_t at = message.find("; ");
    return message.substr(0, 49) + message.substr(at, message.find(". ") - at);
  };
  const std::string begin = "map: element 0 uses an index that is out of range";
  EXPECT_EQ(fails(4, 0), begin + "; got 4, expected 0 to 3");
  EXPECT_EQ(fails(-1, 1), begin + "; got -1, expected 0 to 3");
  EXPECT_EQ(fails(2, 2), begin + "; got 2, expected 0 to 1");
  EXPECT_EQ(fails(0, -1), begin + "; got -1, expected 0 to 3");
}

// --- results of other lengths ---

TEST(RaggedResults, AreAsLongAsTheFunctionSays) {
  const Rows rows(2000);
  std::vector<std::int32_t> most(2000);
  for (std::size_t i = 0; i < most.size(); ++i) most[i] = static_cast<std::int32_t>(i % 23);
  for (const test::Way& way : test::every_row_way()) {
    auto f = vectorize(
        [](RaggedRow<float> x, i32 limit) {
          const i32 n = min(x.size(), limit);
          return std::tuple(x.slice(0, n) + sum(x), n, x * 2, cast<double>(x.slice(n)));
        },
        {.schedule = way.wish});
    const auto [front, counts, twice, back] = f.with(way.options, rows.view(), most);
    const Ragged<float> fronts(front);
    const Ragged<float> twos(twice);
    const Ragged<double> backs(back);
    ASSERT_EQ(fronts.size(), 2000);
    ASSERT_EQ(std::ssize(rows.values), front.size() + back.size());
    for (std::int64_t i = 0; i < 2000; ++i) {
      const std::vector<float> row = to_vector(rows.view()[i]);
      const auto n =
          std::min(row.size(), static_cast<std::size_t>(most[static_cast<std::size_t>(i)]));
      const float sum = std::accumulate(row.begin(), row.end(), 0.0f);
      ASSERT_EQ(counts.at<std::int32_t>(i), static_cast<std::int32_t>(n));
      ASSERT_EQ(fronts[i].size(), n) << way.name << i;
      ASSERT_EQ(backs[i].size(), row.size() - n) << way.name << i;
      for (std::size_t j = 0; j < row.size(); ++j) {
        ASSERT_EQ(twos[i][j], row[j] * 2);
        if (j < n) {
          ASSERT_EQ(fronts[i][j], row[j] + sum) << way.name << i;
        } else {
          ASSERT_EQ(backs[i][j - n], static_cast<double>(row[j])) << way.name << i;
        }
      }
    }
  }
}

TEST(RaggedResults, NoRowsNoValuesAndManyRows) {
  const auto front = [](RaggedRow<float> x) { return x.slice(0, min(x.size(), 1)); };
  const std::vector<float> nothing;
  const Tensor none = map(front, Ragged<float>(nothing, std::vector<std::int32_t>{0}));
  EXPECT_EQ(none.offsets().size(), 1u);
  const Tensor empty = map(front, Ragged<float>(nothing, std::vector<std::int32_t>{0, 0, 0}));
  EXPECT_EQ(empty.size(), 0);
  EXPECT_EQ(empty.offsets().size(), 3u);
  const Rows rows(50'000);  // in blocks, by their lengths
  const Ragged<float> all = rows.view();
  const Tensor first = map(front, all);
  const Ragged<float> got(first);
  for (std::int64_t i = 0; i < 50'000; ++i) {
    ASSERT_EQ(got[i].size(), all[i].empty() ? 0 : 1);
    ASSERT_TRUE(all[i].empty() || got[i][0] == all[i][0]);
  }
}

TEST(RaggedResults, AddToAccumulatorsOnceAndDrawTheSame) {
  const Rows rows(3000);
  Sum<double> total;
  auto f = vectorize([&](RaggedRow<float> x) {
    total.add(1);
    const i32 n = cast<std::int32_t>(random::uniform<float>() * cast<float>(x.size()));
    return std::tuple(x.slice(n), n);
  });
  const auto [values, counts] = f(rows.view());
  EXPECT_EQ(total.value(), 3000);
  const Ragged<float> got(values);
  for (std::int64_t i = 0; i < 3000; ++i) {
    const auto n = static_cast<std::size_t>(counts.at<std::int32_t>(i));
    ASSERT_EQ(got[i].size(), rows.view()[i].size() - n);
    ASSERT_TRUE(got[i].empty() || got[i][0] == rows.view()[i][n]);
  }
}

TEST(RaggedResults, AsLongAsAnArgumentHaveItsOffsets) {
  const Rows rows(10);
  const Tensor twice = map([](RaggedRow<float> x) { return x + x; }, rows.view());
  EXPECT_TRUE(std::equal(twice.offsets().begin(), twice.offsets().end(), rows.offsets.begin(),
                         rows.offsets.end()));
  const Tensor sums = map([](RaggedRow<float> x) { return sum(x); }, rows.view());
  EXPECT_TRUE(sums.offsets().empty());
  EXPECT_EQ(message_of<UsageError>([&] { Ragged<float>{sums}; }),
            "Ragged: no offsets; got 0 of them, expected one more than there are rows. Without "
            "rows there is one, 0.");
}

TEST(RaggedResults, ASliceAsLongAsAnArgumentStandsWhereThatDoes) {
  const std::vector<float> values = {1, 2, 3, 4};
  const std::vector<std::int32_t> offsets = {0, 3, 4};
  std::vector<float> out(4);
  map_into(
      out, [](RaggedRow<float> x, RaggedRow<float> y) { return x.slice(0) + y; },
      Ragged<float>(values, offsets), Ragged<float>(values, offsets));
  EXPECT_EQ(out, (std::vector<float>{2, 4, 6, 8}));
}

TEST(RaggedResults, AreExplained) {
  const Rows rows(10);
  auto f = vectorize([](RaggedRow<float> x) { return x.slice(x.size() / 2); }, {.name = "half"});
  EXPECT_NE(f.explain(rows.view()).program.find("half"), std::string::npos);
  EXPECT_NE(f.lower(rows.view()).find("collect keep"), std::string::npos);
}

TEST(RaggedResults, NoMemoryOfTheCaller) {
  const Rows rows(10);
  std::vector<float> out(10);
  EXPECT_EQ(message_of<UsageError>([&] {
              map_into(out, [](RaggedRow<float> x) { return x.slice(x.size()); }, rows.view());
            }),
            "map: memory for rows whose lengths only the function knows; got outputs, expected "
            "none. Leave them away, and the rows get theirs.");
}

/// Arguments change when the first pass is over for the first element: the second one says so.
TEST(RaggedResults, TwoPassesThatDisagreeAreAnError) {
  const std::vector<float> values = {1, 2, 3, 4, 5};
  const std::vector<std::int32_t> offsets = {0, 3, 5};
  const Ragged<float> rows(values, offsets);
  auto f = vectorize([](RaggedRow<float> x, i32 n) {
    // The last element takes longer than it takes to be asked whether to stop.
    i32 waits = 0;
    While([&] { return (element<std::int32_t>() == 1) & (waits < 150'000'000); },
          [&] { waits = (waits ^ 1) + 2; });
    return x.slice(select(waits < 0, i32(1), i32(0)), n);
  });
  for (const std::int32_t other : {1, 3}) {
    MapOptions options{.threads = 1, .compile = Compile::Now, .chunk = 1};
    std::vector<std::int32_t> counts = {2, 1};
    f.with(options, rows, counts);  // there is code from now on
    options.interrupt = [&] {
      counts[0] = other;
      return false;
    };
    EXPECT_EQ(message_of<ElementError>([&] { f.with(options, rows, counts); }),
              "map: element 0 failed: a row of results is not as long in the second pass as in the "
              "first, as arguments have changed meanwhile; got " +
                  std::to_string(other) + " and 2.");
  }
}

// --- rows of rows ---

TEST(RaggedNested, RowsOfRowsAreRead) {
  const Rows rows(600);
  std::vector<std::int64_t> groups = {0};
  for (std::int64_t i = 0; groups.back() < 600; ++i) {
    groups.push_back(std::min<std::int64_t>(groups.back() + i % 5, 600));
  }
  const Ragged<Ragged<float>> nested(rows.view(), groups);
  for (const test::Way& way : test::every_row_way()) {
    auto f = vectorize(
        [](RaggedRow<RaggedRow<float>> group) {
          f32 total = 0;
          i32 longest = 0;
          For(group, [&](RaggedRow<float> row) {
            total += sum(row);
            longest = max(longest, row.size());
          });
          f32 last = 0;
          If(group.size() > 0, [&] {
            const RaggedRow<float> row = group[group.size() - 1];
            If(row.size() > 0, [&] { last = row[row.size() - 1]; });
          });
          return std::tuple(group.size(), total, longest, last);
        },
        {.schedule = way.wish});
    const auto got = f.with(way.options, nested);
    ASSERT_EQ(got[0].size(), std::ssize(groups) - 1);
    for (std::int64_t g = 0; g < got[0].size(); ++g) {
      const auto at = static_cast<std::size_t>(g);
      float total = 0, last = 0;
      std::size_t longest = 0;
      for (std::int64_t i = groups[at]; i < groups[at + 1]; ++i) {
        const std::vector<float> row = to_vector(rows.view()[i]);
        total += std::accumulate(row.begin(), row.end(), 0.0f);  // exact: whole numbers
        longest = std::max(longest, row.size());
        last = row.empty() ? 0 : row.back();
      }
      ASSERT_EQ(got[0].at<std::int32_t>(g), groups[at + 1] - groups[at]);
      ASSERT_EQ(got[1].at<float>(g), total) << way.name << g;
      ASSERT_EQ(got[2].at<std::int32_t>(g), static_cast<std::int32_t>(longest));
      ASSERT_EQ(got[3].at<float>(g), last);
    }
  }
}

TEST(RaggedNested, OneOfTheRowsComesBackAndDepthHasNoLimit) {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  const std::vector<std::int32_t> words = {0, 2, 2, 3, 6};
  const std::vector<std::int64_t> sentences = {0, 2, 4};
  const std::vector<std::int32_t> texts = {0, 2};
  const Ragged<float> rows(values, words);
  const Ragged<Ragged<float>> groups(rows, sentences);
  const Tensor last =
      map([](RaggedRow<RaggedRow<float>> g) { return g[g.size() - 1] * 10; }, groups);
  EXPECT_EQ(to_vector(Ragged<float>(last)[0]), std::vector<float>{});
  EXPECT_EQ(to_vector(Ragged<float>(last)[1]), (std::vector<float>{40, 50, 60}));
  const Tensor deep = map(
      [](RaggedRow<RaggedRow<RaggedRow<float>>> text) { return sum(text[1][0]) + text[0][0][1]; },
      Ragged<Ragged<Ragged<float>>>(groups, texts));
  EXPECT_EQ(deep.at<float>(0), 5);
}

TEST(RaggedNested, BesideOtherArgumentsAndAMask) {
  const std::vector<float> values = {1, 2, 3};
  const std::vector<std::int32_t> offsets = {0, 1, 1, 3};
  const Ragged<float> rows(values, offsets);
  const std::vector<std::int32_t> groups = {0, 1, 3};
  const std::vector<float> scale = {10, 100};
  const bool mask[] = {false, true};
  std::vector<float> out = {7, 7};
  MapOptions options;
  options.where = std::span<const bool>(mask);
  map_into(
      out,
      [](f32 by, RaggedRow<RaggedRow<float>> g, RaggedRow<float> x) {
        return by * sum(g[1]) + sum(x);
      },
      scale, Ragged<Ragged<float>>(rows, groups),
      Ragged<float>(values, std::vector<std::int32_t>{0, 1, 3}), options);
  EXPECT_EQ(out, (std::vector<float>{7, 505}));
}

TEST(RaggedNested, Errors) {
  const std::vector<float> values = {1, 2, 3};
  const std::vector<std::int32_t> offsets = {0, 1, 3};
  const Ragged<float> rows(values, offsets);
  EXPECT_EQ(
      message_of<UsageError>([&] { Ragged<Ragged<float>>(rows, std::vector<std::int32_t>{0, 3}); }),
      "Ragged: offsets do not end at the number of values; got 3, expected 2.");
  const std::string message = message_of<ElementError>([&] {
    map([](RaggedRow<RaggedRow<float>> g) { return sum(g[2]); },
        Ragged<Ragged<float>>(rows, std::vector<std::int32_t>{0, 2}));
  });
  EXPECT_EQ(message.substr(0, 49), "map: element 0 uses an index that is out of range") << message;
  EXPECT_NE(message.find("; got 2, expected 0 to 1."), std::string::npos) << message;
}

}  // namespace
}  // namespace lw
