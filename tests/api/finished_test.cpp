// Maps that return what is finished when their time is up, and go on later: in the end the bits are
// those of one call, on every schedule, tier and number of threads.
#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "lanewise/lanewise.h"
#include "tests/support/message_of.h"

namespace lw {
namespace {

using test::message_of;

/// Counts that differ from one element to the next, and a draw of the element's own.
f64 wander(f64 x) {
  f64 sum = random::uniform<double>();
  f64 left = x;
  While([&] { return left > 0; },
        [&] {
          sum = sum * 0.75 + left;
          left = left - 1;
        });
  return sum;
}

std::vector<double> uneven(std::size_t size) {
  std::vector<double> counts(size);
  for (std::size_t i = 0; i < size; ++i) counts[i] = static_cast<double>(i * 7919 % 4001);
  return counts;
}

TEST(Finished, RangesThatTouchBecomeOne) {
  Finished finished;
  finished.begin(100);
  for (const ElementRange range : {ElementRange{40, 50}, {0, 10}, {60, 70}, {10, 20}, {50, 60}}) {
    finished.add(range);
  }
  const std::vector<ElementRange> expected = {{0, 20}, {40, 70}};
  EXPECT_EQ(std::vector(finished.ranges().begin(), finished.ranges().end()), expected);
  EXPECT_EQ(finished.open(), (std::vector<ElementRange>{{20, 40}, {70, 100}}));
  EXPECT_EQ(finished.count(), 50);
  EXPECT_TRUE(finished.has(19) && finished.has(40) && !finished.has(20) && !finished.has(70));
  finished.add({20, 40});
  finished.add({70, 100});
  EXPECT_TRUE(finished.is_all());
  EXPECT_EQ(finished.ranges().size(), 1U);
}

TEST(Finished, ManyCallsWithLittleTimeGiveTheBitsOfOne) {
  const std::vector<double> counts = uneven(60'000);
  for (const std::optional<bool> refill : {std::optional(false), std::optional(true)}) {
    for (const Compile compile : {Compile::Never, Compile::Now, Compile::Auto}) {
      auto f = vectorize(wander, {.name = "wander", .schedule = {.refill = refill}});
      const Tensor whole = f.with({.seed = 5}, counts);
      for (const int threads : {1, 3}) {
        Finished finished;
        std::vector<double> out(counts.size(), -1.0);
        int calls = 0;
        for (; !finished.is_all() && calls < 100'000; ++calls) {
          const std::int64_t before = finished.count();
          f.into(out,
                 {.threads = threads,
                  .compile = compile,
                  .seed = 5,
                  .timeout = 2e-3,
                  .finished = &finished},
                 counts);
          EXPECT_GE(finished.count(), before);
          for (const ElementRange& range : finished.ranges()) {
            for (std::int64_t e = range.first; e < range.last; ++e) {
              ASSERT_EQ(out[static_cast<std::size_t>(e)], whole.at<double>(e)) << e;
            }
          }
          for (const ElementRange& range : finished.open()) {
            for (std::int64_t e = range.first; e < range.last; ++e) {
              const double value = out[static_cast<std::size_t>(e)];
              ASSERT_TRUE(value == -1.0 || std::isnan(value)) << e << " is " << value;
            }
          }
        }
        EXPECT_TRUE(finished.is_all());
        EXPECT_GT(calls, 1);
      }
    }
  }
}

TEST(Finished, ArraysThatDoNotStandTogetherAndMasks) {
  const std::vector<double> counts = uneven(20'000);
  std::vector<double> apart(2 * counts.size());
  for (std::size_t i = 0; i < counts.size(); ++i) apart[2 * i] = counts[i];
  const Strided<const double> strided{apart.data(), 20'000, 2};
  auto f = vectorize(wander);
  const Tensor whole = f.with({.seed = 2}, counts);
  const auto mask = std::make_unique<bool[]>(counts.size());
  for (std::size_t i = 0; i < counts.size(); ++i) mask[i] = i % 3 != 0;
  Finished finished;
  std::vector<double> out(2 * counts.size(), -1.0);
  while (!finished.is_all()) {
    f.into(Strided<double>{out.data(), 20'000, 2},
           {.seed = 2,
            .timeout = 1e-3,
            .finished = &finished,
            .where = std::span<const bool>(mask.get(), counts.size())},
           strided);
  }
  for (std::size_t i = 0; i < counts.size(); ++i) {
    ASSERT_EQ(out[2 * i], mask[i] ? whole.at<double>(static_cast<std::int64_t>(i)) : -1.0);
    ASSERT_EQ(out[2 * i + 1], -1.0);
  }
}

TEST(Finished, NewResultsHaveNaNWhereNothingIsFinished) {
  auto f = vectorize([](f64 x, i32 n) {
    While([&] { return x > 0; }, [&] { x = x - 1; });
    return std::tuple(x, n + 1);
  });
  std::vector<double> counts(3000, 5.0);
  counts[2000] = INFINITY;
  Finished finished;
  const auto [x, n] = f.with({.threads = 1, .timeout = 0.1, .finished = &finished}, counts, 7);
  EXPECT_FALSE(finished.is_all());
  EXPECT_FALSE(finished.has(2000));
  EXPECT_GT(finished.count(), 0);
  for (std::int64_t e = 0; e < 3000; ++e) {
    ASSERT_EQ(std::isnan(x.at<double>(e)), !finished.has(e));
    ASSERT_EQ(n.at<std::int32_t>(e), finished.has(e) ? 8 : 0);
  }
}

TEST(Finished, ACancelledCallReturnsAndOneThatIsInterruptedThrows) {
  auto f = vectorize([](f64 x) {
    While([&] { return x > 0; }, [&] { x = x - 1; });
    return x;
  });
  std::vector<double> counts(1000, 5.0);
  counts[999] = INFINITY;
  std::vector<double> out(1000);
  Finished finished;
  CancelToken token;
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    token.cancel();
  });
  f.into(out, {.cancel = token, .finished = &finished}, counts);
  later.join();
  EXPECT_FALSE(finished.is_all());
  EXPECT_GT(finished.count(), 0);
  const std::int64_t before = finished.count();
  f.into(out, {.cancel = token, .finished = &finished}, counts);  // cancelled before it begins
  EXPECT_EQ(finished.count(), before);
  EXPECT_THROW(f.into(out, {.interrupt = [] { return true; }, .finished = &finished}, counts),
               Cancelled);
}

TEST(Finished, ElementsThatFailAreRaisedInTheEndOrToldOnce) {
  auto f = vectorize([](f64 x, i32 d) {
    i32 q = 100 / d;
    While([&] { return x > 0; }, [&] { x = x - 1; });
    return q;
  });
  const std::vector<double> counts = uneven(20'000);
  std::vector<std::int32_t> divisors(counts.size());
  for (std::size_t i = 0; i < divisors.size(); ++i) divisors[i] = static_cast<int>(i % 500);
  std::vector<std::int32_t> out(counts.size());
  Finished finished;
  std::int64_t failed = 0;
  while (!finished.is_all()) {
    Failures failures;
    f.into(out,
           {.timeout = 1e-3,
            .finished = &finished,
            .on_error = OnError::Collect,
            .fill = {Scalar(-7)},
            .failures = &failures},
           counts, divisors);
    failed += failures.count;
    EXPECT_EQ(std::ssize(failures.first), failures.count);
  }
  EXPECT_EQ(failed, 40);
  for (std::size_t i = 0; i < out.size(); ++i) {
    ASSERT_EQ(out[i], divisors[i] == 0 ? -7 : 100 / divisors[i]);
  }
  Finished raising;
  const std::string said = message_of<ElementError>([&] {
    while (!raising.is_all()) {
      f.into(out, {.timeout = 1e-3, .finished = &raising}, counts, divisors);
    }
  });
  EXPECT_NE(said.find("map: element 0 divides an integer by zero"), std::string::npos) << said;
}

TEST(Finished, WhatCannotGoOnIsRefused) {
  const std::vector<double> x(10), y(11);
  auto f = vectorize([](f64 v) { return v + 1; });
  Finished finished;
  f.with({.finished = &finished}, x);
  EXPECT_TRUE(finished.is_all());
  std::vector<double> out(11);
  EXPECT_EQ(
      message_of<UsageError>([&] { f.into(out, {.finished = &finished}, y); }),
      "map: finished is of another map; got one of 10 elements, expected one of 11. Give each "
      "map a Finished of its own.");
  EXPECT_EQ(message_of<UsageError>([&] { f.with({.finished = &finished}, x); }),
            "map: some elements are finished and the results are new arrays; got 10 of them, "
            "expected none. Give the memory that has their results: f.into(out, ...).");
  Sum<double> total;
  Finished other;
  EXPECT_EQ(message_of<UsageError>(
                [&] { map([&](f64 v) { total.add(v); }, x, MapOptions{.finished = &other}); }),
            "map: finished with accumulators; got one, expected none: their totals are of all "
            "elements. Return what elements add, or map fewer of them at a time.");
  EXPECT_EQ(message_of<UsageError>([&] { f.with({.watchdog = -1}, x); }),
            "map: watchdog is negative; got -1, expected 0 for none or seconds.");
}

}  // namespace
}  // namespace lw
