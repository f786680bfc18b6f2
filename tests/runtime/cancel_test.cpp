// Stopping a map that would not end by itself.
#include "lanewise/runtime/cancel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

#include "lanewise/lanewise.h"
#include "tests/support/message_of.h"

namespace lw {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// Ends for no element above 0; others are left at once.
f32 endless(f32 x) {
  While([&] { return x > 0 && x < 4; }, [&] { x = x * 0.5f + 1; });
  return x;
}

f32 endless_inside(f32 x) {
  f32 y = 0;
  While([&] { return y < 1; },
        [&] {
          f32 z = x;
          While([&] { return z < 4; }, [&] { z = z * 0.5f + 1; });
          y = y + 1;
        });
  return y;
}

struct Way {
  const char* name;
  f32 (*function)(f32);
  Compile compile;
  std::optional<bool> refill;
};

class Cancel : public testing::TestWithParam<Way> {};

TEST_P(Cancel, EndsWithinASecondTwentyTimesOfTwentyAndTheFunctionIsUsableAfterwards) {
  const Way way = GetParam();
  auto f = vectorize(way.function, {.name = "endless", .schedule = {.refill = way.refill}});
  const std::vector<float> never_ends(3000, 1.0f);
  const std::vector<float> ends(3000, 5.0f);
  double slowest = 0;
  f.with({.compile = way.compile}, ends);  // compiled, where it is
  for (int round = 0; round < 20; ++round) {
    CancelToken token;
    Clock::time_point asked;
    std::thread canceller([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(1 + round));
      asked = Clock::now();
      token.cancel();
    });
    const std::string words = test::message_of<Cancelled>([&] {
      f.with({.threads = 1 + round % 3, .compile = way.compile, .chunk = 1000, .cancel = token},
             never_ends);
    });
    const Clock::time_point ended = Clock::now();
    canceller.join();
    EXPECT_TRUE(words.starts_with("map: cancelled before it ")) << words;  // began or ended
    slowest = std::max(slowest, std::chrono::duration<double>(ended - asked).count());
    EXPECT_EQ(f.with({.compile = way.compile}, ends).size(), 3000);
  }
  std::printf("cancel, %s: at most %.0f ms\n", way.name, slowest * 1e3);
  EXPECT_LT(slowest, 1.0);
}

INSTANTIATE_TEST_SUITE_P(Endless, Cancel,
                         testing::Values(Way{"tile", endless, Compile::Never, std::nullopt},
                                         Way{"packets", endless, Compile::Now, false},
                                         Way{"refill", endless, Compile::Now, true},
                                         Way{"inner_tile", endless_inside, Compile::Never,
                                             std::nullopt},
                                         Way{"inner_packets", endless_inside, Compile::Now, false}),
                         [](const auto& test) { return test.param.name; });

TEST(CancelInterrupt, TheCallersThreadIsAskedAndStopsTheMap) {
  for (const Compile compile : {Compile::Never, Compile::Now}) {
    auto f = vectorize(&endless);
    int asked = 0;
    const auto caller = std::this_thread::get_id();
    MapOptions options{.threads = 2, .compile = compile};
    options.interrupt = [&] {
      EXPECT_EQ(std::this_thread::get_id(), caller);
      return ++asked == 3;
    };
    EXPECT_THROW(f.with(options, std::vector<float>(100000, 1.0f)), Cancelled);
    EXPECT_EQ(asked, 3);
  }
}

TEST(CancelInterrupt, ACallbackThatSaysGoOnChangesNothing) {
  auto f = vectorize([](f32 x) {
    i32 n = 0;
    While([&] { return n < 2000000; },
          [&] {
            x = x * 0.5f + 1;
            n = n + 1;
          });
    return x;
  });
  MapOptions options{.threads = 1, .compile = Compile::Never};
  int asked = 0;
  options.interrupt = [&] {
    ++asked;
    return false;
  };
  const Tensor out = f.with(options, std::vector<float>(1000, 1.0f));
  EXPECT_EQ(out.at<float>(999), 2);
  EXPECT_GT(asked, 0);
}

TEST(CancelInterrupt, AlsoWhileCodeIsBeingCompiled) {
  auto f = vectorize([](f32 x) {  // some seconds' worth of code
    for (int i = 0; i < 400; ++i) x = sin(x) * static_cast<float>(i) + exp(-x * x);
    return x;
  });
  const std::vector<float> x(100, 1.0f);
  Clock::time_point asked = Clock::time_point::max();
  MapOptions options{.threads = 1, .compile = Compile::Now};
  int questions = 0;
  options.interrupt = [&] {
    if (++questions < 2) return false;
    asked = Clock::now();
    return true;
  };
  EXPECT_THROW(f.with(options, x), Cancelled);
  EXPECT_LT(Clock::now() - asked, 1s);
  EXPECT_EQ(f.with({.compile = Compile::Never}, x).size(), 100);
}

TEST(CancelToken, CopiesShareOneState) {
  CancelToken token;
  const CancelToken copy = token;
  EXPECT_FALSE(copy.is_cancelled());
  token.cancel();
  EXPECT_TRUE(copy.is_cancelled());
}

TEST(CancelMap, AMapOfStraightCodeStopsToo) {
  auto f = vectorize([](f32 x) { return x + 1; });
  const std::vector<float> xs(1 << 22);
  std::vector<float> out(xs.size());
  CancelToken token;
  token.cancel();
  for (const int threads : {1, 2}) {
    const MapOptions options{
        .threads = threads, .compile = Compile::Never, .chunk = 1, .cancel = token};
    EXPECT_THROW(f.into(out, options, xs), Cancelled);
  }
}

TEST(CancelTokens, AMapWhoseTokenIsCancelledAlreadyDoesNotBegin) {
  auto f = vectorize([](f32 x) { return x + 1; });
  MapOptions options;
  options.cancel.emplace();
  options.cancel->cancel();
  const std::vector<float> xs = {1};
  EXPECT_EQ(test::message_of<Cancelled>([&] { f.with(options, xs); }),
            "map: cancelled before it began.");
}

}  // namespace
}  // namespace lw
