// Elements that fail: the lowest is named, with its line and values, whatever ran first.
#include <gtest/gtest.h>

#include "lanewise/lanewise.h"
#include "tests/support/message_of.h"

namespace lw {
namespace {

struct Way {
  const char* name;
  Compile compile;
  std::optional<bool> refill;
};

int division_line = 0;

/// Divides 1000 by n, n - 1, ... down to m: fails where m is not above 0.
i32 divide_down(i32 n, i32 m) {
  i32 sum = 0;
  While([&] { return n >= m; },
        [&] {
          division_line = __LINE__ + 1;
          sum = sum + 1000 / n;
          n = n - 1;
        });
  return sum;
}

class RuntimeFailures : public testing::TestWithParam<Way> {};

TEST_P(RuntimeFailures, TheLowestFailingElementIsNamedOnAnyNumberOfThreads) {
  const std::size_t count = 60000;
  std::vector<std::int32_t> n(count, 20);
  std::vector<std::int32_t> m(count, 5);
  m[59999] = -1;
  m[45678] = 0;
  m[31234] = 0;
  n[31234] = 7;
  auto f = vectorize(&divide_down, {.name = "f", .schedule = {.refill = GetParam().refill}});
  for (const int threads : {1, 2, 3}) {
    for (const std::int64_t chunk : {0, 100, 5000}) {
      const MapOptions options{.threads = threads, .compile = GetParam().compile, .chunk = chunk};
      try {
        f.with(options, n, m);
        ADD_FAILURE() << "nothing failed";
      } catch (const ElementError& error) {
        EXPECT_EQ(error.element(), 31234);
        const std::string what = error.what();
        const std::string shown = what.substr(std::min(what.find('\n'), what.size()));
        EXPECT_TRUE(shown.starts_with("\n  sum = sum + 1000 / n;\n  ")) << what;
        EXPECT_EQ(what, "map: element 31234 divides an integer by zero (" + std::string(__FILE__) +
                            ":" + std::to_string(division_line) +
                            "); got 1000 / 0, expected a divisor that is not 0. Replace it by a "
                            "select." +
                            shown);
      }
    }
  }
  m.assign(count, 20);
  EXPECT_EQ(f.with({.compile = GetParam().compile}, n, m).at<std::int32_t>(0), 50);
}

TEST_P(RuntimeFailures, ADeadLaneMayDivideByZero) {
  // Lanes that left the loop go on computing; their divisor reaches 0 and nothing happens.
  auto f = vectorize(&divide_down, {.name = "f", .schedule = {.refill = GetParam().refill}});
  std::vector<std::int32_t> n(1000);
  std::vector<std::int32_t> m(1000);
  for (std::size_t i = 0; i < n.size(); ++i) {
    m[i] = 1 + static_cast<std::int32_t>(i % 3);
    n[i] = m[i] + static_cast<std::int32_t>(i * 7 % 90);
  }
  const Tensor out = f.with({.compile = GetParam().compile}, n, m);
  for (std::size_t i = 0; i < n.size(); ++i) {
    std::int32_t sum = 0;
    for (std::int32_t k = n[i]; k >= m[i]; --k) sum += 1000 / k;
    ASSERT_EQ(out.span<std::int32_t>()[i], sum) << i;
  }
}

TEST_P(RuntimeFailures, AnElementThatNeverDividesNeverFails) {
  auto f = vectorize(&divide_down, {.name = "f", .schedule = {.refill = GetParam().refill}});
  const std::vector<std::int32_t> n(100, 0);
  const std::vector<std::int32_t> m(100, 1);
  EXPECT_EQ(f.with({.compile = GetParam().compile}, n, m).at<std::int32_t>(50), 0);
}

INSTANTIATE_TEST_SUITE_P(Ways, RuntimeFailures,
                         testing::Values(Way{"tile", Compile::Never, std::nullopt},
                                         Way{"packets", Compile::Now, false},
                                         Way{"refill", Compile::Now, true}),
                         [](const auto& test) { return test.param.name; });

TEST(RuntimeFailuresStraight, RemaindersAndLiteralZerosFailToo) {
  const std::vector<std::int64_t> xs = {7, -8};
  for (const Compile compile : {Compile::Never, Compile::Now}) {
    int line = 0;
    auto f = vectorize([&](i64 x) {
      line = __LINE__ + 1;
      return x % 0;
    });
    const std::string words =
        test::message_of<ElementError>([&] { f.with({.compile = compile}, xs); });
    EXPECT_EQ(words, "map: element 0 divides an integer by zero (" + std::string(__FILE__) + ":" +
                         std::to_string(line) +
                         "); got 7 / 0, expected a divisor that is not 0. Replace it by a select.");
  }
}

TEST(RuntimeFailuresStraight, ADivisionWhoseResultIsNotUsedStillFails) {
  auto f = vectorize([](i32 x) {
    static_cast<void>(1 / x);
    return x;
  });
  EXPECT_THROW(f(std::vector<std::int32_t>{1, 0}), ElementError);
  EXPECT_NO_THROW(f(std::vector<std::int32_t>{1, 2}));
}

TEST(RuntimeFailuresStraight, ASelectedDivisorMakesItSafe) {
  auto f = vectorize([](i32 x) { return select(x == 0, i32(-1), 12 / select(x == 0, i32(1), x)); });
  const Tensor out = f(std::vector<std::int32_t>{3, 0, -5});
  EXPECT_EQ(out.at<std::int32_t>(0), 4);
  EXPECT_EQ(out.at<std::int32_t>(1), -1);
  EXPECT_EQ(out.at<std::int32_t>(2), -3);
}

}  // namespace
}  // namespace lw
