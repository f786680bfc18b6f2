// What a long map tells while it runs: progress, and a silence in which no element has ended.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "lanewise/lanewise.h"

namespace lw {
namespace {

Vectorized<f64 (*)(f64)> countdown() {
  return vectorize(
      +[](f64 x) {
        While([&] { return x > 0; }, [&] { x = x - 1; });
        return x;
      },
      {.name = "countdown"});
}

TEST(Watching, ProgressHasRateAndEstimate) {
  auto f = countdown();
  const std::vector<double> counts(20'000, 3e4);
  std::vector<Progress> told;
  f.with({.compile = Compile::Never, .progress = [&](const Progress& p) { told.push_back(p); }},
         counts);
  ASSERT_GT(told.size(), 2U);
  for (const Progress& p : told) {
    EXPECT_EQ(p.total, 20'000);
    if (p.done == 0) continue;
    EXPECT_NEAR(p.rate, static_cast<double>(p.done) / p.seconds, 1e-6 * p.rate);
    EXPECT_NEAR(p.left, static_cast<double>(p.total - p.done) / p.rate, 1e-6 * p.left);
  }
  EXPECT_EQ(told.back().done, 20'000);
  EXPECT_EQ(told.back().left, 0);
}

TEST(Watching, WhatProgressThrowsEndsTheMap) {
  auto f = countdown();
  for (const int threads : {1, 2}) {
    for (const Compile compile : {Compile::Never, Compile::Now}) {
      const MapOptions options{.threads = threads, .compile = compile, .progress = [](const auto&) {
                                 throw std::out_of_range("enough");
                               }};
      EXPECT_THROW(f.with(options, std::vector<double>(1000, INFINITY)), std::out_of_range);
    }
  }
}

TEST(Watching, ALineOfProgress) {
  EXPECT_EQ(to_string(Progress{.done = 42, .total = 100, .rate = 1.2e6, .left = 2.5}, "root"),
            "root: 42.0 %, 1.2e+06 elements/s, 3 s left");
  EXPECT_EQ(to_string(Progress{.total = 100, .left = std::numeric_limits<double>::infinity()}, "f"),
            "f: 0.0 %");
  EXPECT_EQ(to_string(Progress{}, "f"), "f: 100.0 %");
  testing::internal::CaptureStderr();
  auto f = countdown();
  f.with({.progress = progress_line("countdown")}, std::vector<double>(10, 3.0));
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("\rcountdown: 100.0 %, "), std::string::npos) << said;
  EXPECT_TRUE(said.ends_with("\n"));
}

TEST(Watching, ASilenceNamesElementsAndLoops) {
  auto f = countdown();
  std::vector<double> counts(500, 3.0);
  counts[300] = INFINITY;
  for (const int threads : {1, 2}) {
    std::vector<Silence> told;
    EXPECT_THROW(f.with({.threads = threads,
                         .timeout = 0.5,
                         .watchdog = 0.1,
                         .on_silence = [&](const Silence& s) { told.push_back(s); }},
                        counts),
                 Timeout);
    ASSERT_GE(told.size(), 2U);
    EXPECT_EQ(told[0].function, "countdown");
    EXPECT_GE(told[0].seconds, 0.1);
    ASSERT_EQ(told[0].running.size(), 1U);
    EXPECT_LE(told[0].running[0].elements.first, 300);
    EXPECT_GT(told[0].running[0].elements.last, 300);
    ASSERT_EQ(told[0].loops.size(), 1U);
    EXPECT_NE(base::to_string(told[0].loops[0]).find("watching_test.cpp:"), std::string::npos);
  }
}

/// What is said while element 100 of 200 never ends.
template <class F>
std::vector<Silence> silences(F& f, Compile compile, const std::vector<double>& x,
                              const std::vector<double>& y) {
  f.with({.compile = compile}, std::vector(x.size(), 1.0), std::vector(x.size(), 1.0));
  std::vector<Silence> told;
  EXPECT_THROW(f.with({.compile = compile,
                       .timeout = 0.6,
                       .watchdog = 0.2,
                       .on_silence = [&](const Silence& s) { told.push_back(s); }},
                      x, y),
               Timeout);
  EXPECT_FALSE(told.empty());
  return told;
}

std::vector<int> numbers_of(const std::vector<base::Location>& lines) {
  std::vector<int> numbers;
  for (const base::Location& line : lines) {
    EXPECT_TRUE(std::string_view(line.file).ends_with("watching_test.cpp"));
    numbers.push_back(line.line);
  }
  return numbers;
}

TEST(Watching, ASilenceNamesTheLoopThatRuns) {
  int first = 0, second = 0;
  std::vector<double> usual(200, 3.0), endless = usual;
  endless[100] = INFINITY;
  for (const Compile compile : {Compile::Never, Compile::Now}) {
    auto f = vectorize([&](f64 x, f64 y) {
      first = __LINE__ + 1;
      While([&] { return x > 0; }, [&] { x = x - 1; });
      second = __LINE__ + 1;
      While([&] { return y > 0; }, [&] { y = y - 1; });
      return x + y;
    });
    for (const Silence& said : silences(f, compile, endless, usual)) {
      ASSERT_FALSE(said.running.empty());
      EXPECT_EQ(numbers_of(said.running[0].loops), std::vector{first});
      EXPECT_EQ(numbers_of(said.loops), (std::vector{first, second}));
    }
    for (const Silence& said : silences(f, compile, usual, endless)) {
      ASSERT_FALSE(said.running.empty());
      EXPECT_EQ(numbers_of(said.running[0].loops), std::vector{second});
    }
  }
}

TEST(Watching, ALoopThatRunsIsNamedWithThoseAroundIt) {
  int outer = 0, inner = 0;
  std::vector<double> usual(200, 3.0), endless = usual;
  endless[100] = INFINITY;
  const auto nested = [&](f64 x, f64 y) {
    outer = __LINE__ + 1;
    While([&] { return x > 0; },
          [&] {
            f64 left = y;
            inner = __LINE__ + 1;
            While([&] { return left > 0; }, [&] { left = left - 1; });
            x = x - 1 + left;
          });
    return x;
  };
  for (const bool refill : {false, true}) {
    for (const Compile compile : {Compile::Never, Compile::Now}) {
      auto f = vectorize(nested, {.schedule = {.refill = refill}});
      for (const Silence& said : silences(f, compile, usual, endless)) {
        ASSERT_FALSE(said.running.empty());
        EXPECT_EQ(numbers_of(said.running[0].loops), (std::vector{outer, inner}));
      }
      // The inner one comes to its end again and again.
      for (const Silence& said : silences(f, compile, endless, usual)) {
        ASSERT_FALSE(said.running.empty());
        ASSERT_FALSE(said.running[0].loops.empty());
        EXPECT_EQ(numbers_of(said.running[0].loops)[0], outer);
      }
    }
  }
}

TEST(Watching, ALoopOfAnElementThatHasAllLanesIsNamed) {
  constexpr int kSize = 256;
  int line = 0;
  auto f = vectorize(
      [&](Row<double> x) {
        f64 total = 0;
        line = __LINE__ + 1;
        While([&] { return total < 1; }, [&] { total = total + sum(x * total + x); });
        return total;
      },
      {.schedule = {.inner = true}});
  std::vector<double> values(3 * kSize, 1.0);
  f.with({.compile = Compile::Now}, Input(values).in_rows(kSize));
  std::fill_n(values.begin() + kSize, kSize, 0.0);
  std::vector<Silence> told;
  const MapOptions options{
      .timeout = 0.6, .watchdog = 0.2, .on_silence = [&](const Silence& s) { told.push_back(s); }};
  EXPECT_THROW(f.with(options, Input(values).in_rows(kSize)), Timeout);
  ASSERT_FALSE(told.empty());
  ASSERT_FALSE(told[0].running.empty());
  EXPECT_EQ(numbers_of(told[0].running[0].loops), std::vector{line});
}

TEST(Watching, ASilenceAsText) {
  Silence silence{.function = "f",
                  .seconds = 5.04,
                  .running = {{.worker = 1, .elements = {64, 128}, .seconds = 5.5}},
                  .loops = {{base::intern("a.py"), 3}, {base::intern("a.py"), 9}}};
  EXPECT_EQ(to_string(silence),
            "map: f: no element has ended for 5.0 s; worker 1 has been at elements 64 to 127 for "
            "5.5 s. Loops: a.py:3, a.py:9.");
  silence.running[0].loops = {{base::intern("a.py"), 3}, {base::intern("a.py"), 9}};
  EXPECT_EQ(to_string(silence),
            "map: f: no element has ended for 5.0 s; worker 1 has been at elements 64 to 127 for "
            "5.5 s, in the loop of a.py:9 in that of a.py:3.");
  EXPECT_EQ(to_string(Silence{.function = "f", .seconds = 1}),
            "map: f: no element has ended for 1.0 s; machine code is being made, or was waited "
            "for.");
}

}  // namespace
}  // namespace lw
