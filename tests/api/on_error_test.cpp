// Maps in which elements fail and the others go on: what is filled, what is told, and what checks
// of numbers find. On every schedule, tier, chunk and number of threads it is the same.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

#include "lanewise/ir/parse.h"
#include "lanewise/lanewise.h"
#include "tests/support/as_evaluated.h"
#include "tests/support/message_of.h"

namespace lw {
namespace {

using test::message_of;

std::vector<std::int32_t> count_up(std::size_t size) {
  std::vector<std::int32_t> values(size);
  for (std::size_t i = 0; i < size; ++i) values[i] = static_cast<std::int32_t>(i);
  return values;
}

// --- programs as the evaluator has them ---

TEST(OnError, ALoopWithChecksInIt) {
  const ir::Function f = ir::parse(R"(function f(%0: i32, %1: i32, %2: f32) -> (i32, f32) {
    %10 = constant i32 0
    %11 = constant i32 1
    %12 = constant f32 0.5
    %3 = loop (%4: i32 = %0, %5: f32 = %2) {
      %6 = gt bool %4, %10
      %7 = not bool %6
      break_if %7 (%4, %5)
      %13 = constant i32 30
      %14 = sub i32 %4, %13
      %15 = rem i32 %1, %14
      %8 = sub i32 %4, %11
      %9 = add f32 %5, %12
      %16 = constant f32 30
      %17 = gt bool %9, %16
      fail_if %17 2 (%9)
      next (%8, %9)
    }
    %18 = result i32 %3 0
    %19 = result f32 %3 1
    return (%18, %19)
  })");
  EXPECT_GT(test::expect_collected(f, 1000, false), 100);
  EXPECT_GT(test::expect_collected(f, 1000, true, {}, 17), 500);
}

TEST(OnError, LoopsInLoopsAndArraysOfTheElement) {
  const ir::Function f = ir::parse(R"(function f(%0: i32, %1: i32) -> (i32) {
    %2 = constant i32 0
    %3 = constant i32 1
    %4 = constant i32 13
    %5 = array i32 %2 40
    %6 = loop (%7: i32 = %2, %8: i32 = %2) {
      %9 = ge bool %7, %0
      break_if %9 (%7, %8)
      %10 = rem i32 %1, %4
      %11 = loop (%12: i32 = %10, %13: i32 = %8) {
        %14 = le bool %12, %2
        break_if %14 (%12, %13)
        %15 = add i32 %7, %12
        array_write %5, %15, %13 check
        %16 = sub i32 %12, %3
        %17 = add i32 %13, %15
        next (%16, %17)
      }
      %18 = result i32 %11 1
      %19 = array_read i32 %5, %7 check
      %20 = add i32 %18, %19
      %21 = add i32 %7, %3
      next (%21, %20)
    }
    %22 = result i32 %6 1
    return (%22)
  })");
  EXPECT_GT(test::expect_collected(f, 700, false), 100);
}

TEST(OnError, TablesByIndex) {
  const ir::Function f = ir::parse(R"(function f(%0: i32, %1: f32 table, %2: i32 table) -> (f32) {
    %3 = table_read i32 %2, %0 check
    %4 = table_read f32 %1, %3 check
    %5 = constant i32 20
    %6 = add i32 %3, %5
    %7 = table_read f32 %1, %6 check
    %8 = add f32 %4, %7
    return (%8)
  })");
  EXPECT_GT(test::expect_collected(f, 3000, false, std::array<std::int64_t, 2>{70, 90}), 500);
}

TEST(OnError, RowsInEverySchedule) {
  for (const int size : {5, 64, 300}) {
    const ir::Function f = ir::parse(fmt::format(R"(function f(%0: f32[{0}]) -> (f32[{0}], f32) {{
    %1 = each {0} (%2: i32) {{
      %3 = table_read f32 %0, %2 check
      %4 = constant f32 1.9995
      %5 = gt bool %3, %4
      fail_if %5 2 (%3)
      %6 = exp f32 %3
      collect keep %6
      collect sum %6
    }}
    %7 = result f32 %1 0
    %8 = result f32 %1 1
    return (%7, %8)
  }})",
                                                 size));
    test::expect_collected(f, 500, false);
  }
}

// --- the same through the API ---

struct Way {
  const char* name;
  Compile compile;
  std::optional<bool> refill;
};

class OnErrorOn : public testing::TestWithParam<Way> {
 protected:
  MapOptions options(OnError on_error) const {
    return {.compile = GetParam().compile, .on_error = on_error};
  }
  template <class F>
  auto vectorized(F f) const {
    return vectorize(f, {.schedule = {.refill = GetParam().refill}});
  }
};

int check_line = 0;

/// Halves down to 1; numbers that are 3 modulo 7 on the way fail.
i32 halve(i32 x) {
  i32 steps = 0;
  While([&] { return x > 1; },
        [&] {
          check_line = __LINE__ + 1;
          Check(x % 7 != 3, "3 modulo 7");
          x = x / 2;
          steps = steps + 1;
        });
  return steps;
}

std::int32_t plain_halve(std::int32_t x) {
  std::int32_t steps = 0;
  for (; x > 1; x /= 2, ++steps) {
    if (x % 7 == 3) return -1;
  }
  return steps;
}

TEST_P(OnErrorOn, AllOthersEndAndTheFirstOnesAreTold) {
  const std::vector<std::int32_t> x = count_up(200000);
  std::vector<std::int64_t> failing;
  for (const std::int32_t i : x) {
    if (plain_halve(i) < 0) failing.push_back(i);
  }
  auto f = vectorized(&halve);
  Failures before;
  for (const int threads : {1, 2, 3}) {
    for (const std::int64_t chunk : {0, 1000, 70000}) {
      Failures failures;
      MapOptions with = options(OnError::Collect);
      with.threads = threads;
      with.chunk = chunk;
      with.failures = &failures;
      with.most_failures = 20;
      with.fill = {Scalar(std::int32_t{-1})};
      const Tensor got = f.with(with, x);
      for (const std::int32_t i : x) ASSERT_EQ(got.at<std::int32_t>(i), plain_halve(i)) << i;
      EXPECT_EQ(failures.count, std::ssize(failing));
      ASSERT_EQ(failures.first.size(), 20u);
      for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(failures.first[i].element, failing[i]);
      EXPECT_EQ(failures.first[0].message,
                fmt::format("map: element 3 failed ({}:{}): 3 modulo 7; got 3 and 3.", __FILE__,
                            check_line));
      EXPECT_EQ(failures.first[0].why.kind, ir::FailKind::Check);
      if (before.count > 0) {
        EXPECT_EQ(failures, before);
      }
      before = failures;
    }
  }
}

TEST_P(OnErrorOn, AMillionThatAllFailEndSoon) {
  const std::vector<std::int32_t> x(1000000, 3);
  Failures failures;
  MapOptions with = options(OnError::Collect);
  with.failures = &failures;
  const auto start = std::chrono::steady_clock::now();
  const Tensor got = vectorized(&halve).with(with, x);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
  EXPECT_EQ(failures.count, 1000000);
  EXPECT_EQ(failures.first.size(), 1000u);
  EXPECT_EQ(got.at<std::int32_t>(999999), 0);
}

TEST_P(OnErrorOn, StepLimitsAreFailures) {
  std::vector<std::int32_t> x = count_up(5000);
  auto f = vectorized([](i32 n) {
    i32 k = 0;
    While([&] { return k != n; }, [&] { k = k + 1 + k / 1000; });
    return k;
  });
  MapOptions with = options(OnError::Fill);
  with.max_steps = 900;
  with.fill = {Scalar(7.0)};
  const Tensor got = f.with(with, x);
  for (std::int32_t i = 0; i < 5000; ++i) EXPECT_EQ(got.at<std::int32_t>(i), i <= 900 ? i : 7);
}

TEST_P(OnErrorOn, ALoopThatElementsLeaveByFailingAlone) {
  auto f = vectorize([](i32 x) {
    i32 n = 0;
    While([&] { return n >= 0; },
          [&] {
            n = n + 1;
            Check(n < x);
          });
    return n;
  });
  Failures failures;
  MapOptions with = options(OnError::Collect);
  with.failures = &failures;
  with.timeout = 20;
  f.with(with, count_up(3000));
  EXPECT_EQ(failures.count, 3000);
  with.on_error = OnError::Raise;
  EXPECT_TRUE(message_of<ElementError>([&] {
                f.with(with, count_up(3000));
              }).starts_with("map: element 0 failed"));
}

TEST_P(OnErrorOn, AnElementThatFailsIsLeftOutOfTotals) {
  const std::vector<std::int32_t> x = count_up(100000);
  Sum<std::int64_t> total;
  Max<std::int32_t> most;
  auto f = vectorized([&](i32 v) {
    total.add(cast<std::int64_t>(v));
    most.add(v);
    i32 left = v;
    While([&] { return left > 100; }, [&] { left = left - 100 - left / 8; });
    Check(v % 3 != 0);
    return left;
  });
  std::int64_t expected = 0;
  for (const std::int32_t i : x) expected += i % 3 != 0 ? i : 0;
  for (const int threads : {1, 3}) {
    total.reset();
    most.reset();
    MapOptions with = options(OnError::Fill);
    with.threads = threads;
    f.with(with, x);
    EXPECT_EQ(total.value(), expected);
    EXPECT_EQ(most.value(), 99998);
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, OnErrorOn,
                         testing::Values(Way{"tile", Compile::Never, std::nullopt},
                                         Way{"beside", Compile::Auto, std::nullopt},
                                         Way{"packets", Compile::Now, false},
                                         Way{"refill", Compile::Now, true}),
                         [](const auto& test) { return test.param.name; });

TEST(OnError, SeveralResultsHaveValuesOfTheirOwn) {
  const std::vector<float> x = {1, -1, 4};
  auto f = vectorize([](f32 v) {
    Check(v >= 0);
    return std::tuple(sqrt(v), cast<std::int32_t>(v), v > 2);
  });
  auto got = f.with({.on_error = OnError::Fill}, x);
  EXPECT_TRUE(std::isnan(got[0].at<float>(1)));
  EXPECT_EQ(got[1].at<std::int32_t>(1), 0);
  EXPECT_EQ(got[0].at<float>(2), 2);
  got = f.with({.on_error = OnError::Fill, .fill = {Scalar(-2.5), Scalar(9), Scalar(true)}}, x);
  EXPECT_EQ(got[0].at<float>(1), -2.5f);
  EXPECT_EQ(got[1].at<std::int32_t>(1), 9);
  EXPECT_TRUE(got[2].at<bool>(1));
  EXPECT_FALSE(got[2].at<bool>(0));
}

TEST(OnError, ElementsThatAMaskLeavesOutKeepWhatTheyHave) {
  const std::vector<float> x = {1, -1, -4, 9};
  std::vector<float> y = {8, 8, 8, 8};
  const bool mask[] = {true, true, false, true};
  auto f = vectorize([](f32 v) {
    Check(v >= 0);
    return sqrt(v);
  });
  Failures failures;
  f.into(y,
         {.where = std::span<const bool>(mask),
          .on_error = OnError::Collect,
          .fill = {Scalar(0.0)},
          .failures = &failures},
         x);
  EXPECT_EQ(y, (std::vector<float>{1, 0, 8, 3}));
  EXPECT_EQ(failures.count, 1);
}

TEST(OnError, NothingFailed) {
  Failures failures{3, {}};
  auto f = vectorize([](i32 v) { return v / 3; });
  f.with({.on_error = OnError::Collect, .failures = &failures}, count_up(100));
  EXPECT_EQ(failures, Failures());
  failures.count = 3;
  f.with({.on_error = OnError::Collect, .failures = &failures}, count_up(0));
  EXPECT_EQ(failures, Failures());
}

TEST(OnError, WhatCannotBe) {
  auto f = vectorize([](i32 v) { return std::tuple(v / 3, v); });
  const std::vector<std::int32_t> x = count_up(10);
  EXPECT_EQ(message_of<UsageError>([&] { f.with({.on_error = OnError::Collect}, x); }),
            "map: failures are collected and nobody is told; got no Failures, expected one. Give "
            "failures, or let on_error be Fill.");
  EXPECT_EQ(
      message_of<UsageError>([&] {
        f.with({.on_error = OnError::Fill, .fill = {Scalar(1), Scalar(2), Scalar(3)}}, x);
      }),
      "map: fill has another number of values than the function; got 3, expected 1, or 2, one for "
      "each result.");
  EXPECT_EQ(message_of<UsageError>(
                [&] { f.with({.on_error = OnError::Fill, .fill = {Scalar(0.5)}}, x); }),
            "map: fill does not fit result 0; got 0.5, expected a value of i32.");
}

// --- numbers ---

int log_line = 0;

TEST(CheckNumerics, NamesTheLineInWhichAValueWasFiniteLast) {
  const std::vector<double> x = {2, 1, 0, -1};
  auto f = vectorize([](f64 v) {
    log_line = __LINE__ + 1;
    const f64 y = log(v);
    f64 sum = 0;
    For(0, 3, [&](i32 i) { sum = sum + y * cast<double>(i); });
    return 1 + sum;
  });
  Failures failures;
  for (const Compile compile : {Compile::Never, Compile::Now}) {
    f.with({.compile = compile,
            .on_error = OnError::Collect,
            .failures = &failures,
            .check_numerics = true},
           x);
    ASSERT_EQ(failures.count, 2);
    EXPECT_EQ(
        failures.first[1].message,
        fmt::format("map: element 3 has a value that is not finite ({}:{}); got nan, expected "
                    "a finite one.",
                    __FILE__, log_line));
    EXPECT_EQ(failures.first[0].why.location.line, log_line);
  }
  EXPECT_FALSE(std::isfinite(f.with({}, x).at<double>(2)));
}

TEST(CheckNumerics, OfOneValue) {
  auto f = vectorize([](f32 v) { return exp(-CheckNumerics(exp(v), "too hot")); });
  const std::vector<float> x = {1, 100, 2};
  EXPECT_TRUE(message_of<ElementError>([&] {
                f(x);
              }).ends_with("): too hot; got inf, expected a finite one."));
  EXPECT_EQ(f.with({.on_error = OnError::Fill, .fill = {Scalar(5)}}, x).at<float>(1), 5);
}

TEST(CheckNumerics, OfConversions) {
  auto narrow = vectorize([](f64 v) { return cast<std::int8_t>(v); });
  auto wide = vectorize([](f32 v) { return cast<std::uint64_t>(v); });
  const auto failing = [](auto& f, const auto& x) {
    Failures failures;
    f.with({.on_error = OnError::Collect, .failures = &failures, .check_numerics = true}, x);
    std::vector<std::int64_t> elements;
    for (const ElementFailure& one : failures.first) {
      EXPECT_EQ(one.why.kind, ir::FailKind::Conversion);
      elements.push_back(one.element);
    }
    return elements;
  };
  EXPECT_EQ(failing(narrow, std::vector<double>{127.9, 128, -128.9, -129, std::nan(""), -0.5}),
            (std::vector<std::int64_t>{1, 3, 4}));
  EXPECT_EQ(failing(wide, std::vector<float>{-0.9f, -1, 0x1p64f, 0x1.fffffep63f, INFINITY}),
            (std::vector<std::int64_t>{1, 2, 4}));
}

TEST(CheckNumerics, OfRows) {
  const ir::Function f = ir::parse(R"(function f(%0: f32[40]) -> (f32[40]) {
    %1 = each 40 (%2: i32) {
      %3 = table_read f32 %0, %2 check
      %4 = exp f32 %3
      collect keep %4
    }
    %5 = result f32 %1 0
    return (%5)
  })");
  std::vector<float> x(100 * 40, 1.0f);
  x[7 * 40 + 39] = 200;
  for (const Compile compile : {Compile::Never, Compile::Now}) {
    ElementFunction function([&](std::span<const Input>) { return f; }, {});
    std::array<Tensor, 1> results;
    const std::array inputs = {Input(x).in_rows(40)};
    Failures failures;
    function.call(results, inputs,
                  {.compile = compile,
                   .on_error = OnError::Collect,
                   .failures = &failures,
                   .check_numerics = true});
    EXPECT_EQ(failures.count, 1);
    EXPECT_TRUE(std::isnan(results[0].at<float>(7 * 40)));
    EXPECT_EQ(results[0].at<float>(8 * 40), results[0].at<float>(0));
  }
}

}  // namespace
}  // namespace lw
