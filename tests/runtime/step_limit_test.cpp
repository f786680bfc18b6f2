// The step limit counts the back edges of an element exactly, on every tier and schedule.
#include <gtest/gtest.h>

#include "lanewise/ir/evaluate.h"
#include "lanewise/lanewise.h"
#include "lanewise/transform/passes.h"
#include "tests/support/message_of.h"

namespace lw {
namespace {

/// Takes n steps.
i32 count_down(i32 n) {
  While([&] { return n > 0; }, [&] { n = n - 1; });
  return n;
}

/// Takes n + (n - 1) + ... + 1 steps inside, and n outside.
i32 triangle(i32 n) {
  i32 sum = 0;
  While([&] { return n > 0; },
        [&] {
          i32 k = n;
          While([&] { return k > 0; },
                [&] {
                  k = k - 1;
                  sum = sum + 1;
                });
          n = n - 1;
        });
  return sum;
}

/// Two loops one after the other: n steps and n again.
i32 twice(i32 n) {
  i32 k = n;
  While([&] { return n > 0; }, [&] { n = n - 1; });
  While([&] { return k > 0; }, [&] { k = k - 1; });
  return k;
}

std::int64_t steps_of(i32 (*function)(i32), std::int32_t n) {
  const std::vector<std::int32_t> one = {n};
  const std::array<Input, 1> inputs = {Input(one)};
  const ir::Function f = transform::run(api::trace_function(function, "f", inputs).function);
  const std::array<Scalar, 1> argument = {n};
  return ir::evaluate(f, argument).steps;
}

struct Way {
  const char* name;
  Compile compile;
  std::optional<bool> refill;
};

class RuntimeStepLimit : public testing::TestWithParam<Way> {
 protected:
  /// Element 77 of 100 needs the most steps, k: a limit of k is enough and k - 1 is not.
  static void expect_exact(i32 (*function)(i32), std::int32_t n) {
    const std::int64_t k = steps_of(function, n);
    std::vector<std::int32_t> counts;
    for (int i = 0; i < 100; ++i) counts.push_back(i % (n - 1));
    counts[77] = n;
    auto f = vectorize(function, {.name = "f", .schedule = {.refill = GetParam().refill}});
    for (const int threads : {1, 2, 3}) {
      MapOptions options{.threads = threads, .compile = GetParam().compile, .chunk = 10};
      options.max_steps = k;
      EXPECT_NO_THROW(f.with(options, counts)) << k;
      options.max_steps = k - 1;
      try {
        f.with(options, counts);
        ADD_FAILURE() << "no failure with a limit of " << k - 1;
      } catch (const ElementError& error) {
        EXPECT_EQ(error.element(), 77);
        EXPECT_TRUE(std::string(error.what()).find("took more loop steps than allowed") !=
                    std::string::npos)
            << error.what();
      }
      options.max_steps = k + 1000;
      EXPECT_NO_THROW(f.with(options, counts));
    }
  }
};

TEST_P(RuntimeStepLimit, IsExactForALoop) {
  for (const std::int32_t n : {2, 7, 8, 9, 100, 1001}) expect_exact(&count_down, n);
}

TEST_P(RuntimeStepLimit, IsExactForNestedLoops) {
  for (const std::int32_t n : {2, 3, 10}) expect_exact(&triangle, n);
}

INSTANTIATE_TEST_SUITE_P(Ways, RuntimeStepLimit,
                         testing::Values(Way{"tile", Compile::Never, std::nullopt},
                                         Way{"packets", Compile::Now, false},
                                         Way{"refill", Compile::Now, true},
                                         Way{"background", Compile::Auto, std::nullopt}),
                         [](const auto& test) { return test.param.name; });

TEST(RuntimeStepLimitCount, LoopsOneAfterTheOtherAreCountedTogether) {
  EXPECT_EQ(steps_of(&twice, 5), 10);
  const std::vector<std::int32_t> counts = {5};
  for (const Compile compile : {Compile::Never, Compile::Now}) {
    auto f = vectorize(&twice);
    EXPECT_NO_THROW(f.with({.max_steps = 10, .compile = compile}, counts));
    EXPECT_THROW(f.with({.max_steps = 9, .compile = compile}, counts), ElementError);
  }
}

TEST(RuntimeStepLimitCount, LimitsBeyondThirtyTwoBitsWork) {
  const std::vector<std::int32_t> counts = {5, 6};
  for (const Compile compile : {Compile::Never, Compile::Now}) {
    auto f = vectorize(&count_down);
    EXPECT_EQ(f.with({.max_steps = std::int64_t{1} << 40, .compile = compile}, counts)
                  .at<std::int32_t>(1),
              0);
    EXPECT_EQ(f.with({.max_steps = INT32_MAX - 1, .compile = compile}, counts).at<std::int32_t>(1),
              0);
  }
}

TEST(RuntimeStepLimitCount, AnEndlessLoopEndsWithTheLimit) {
  for (const Compile compile : {Compile::Never, Compile::Now}) {
    int line = 0;
    auto f = vectorize([&](f32 x) {
      line = __LINE__ + 1;
      While([&] { return x == x; }, [&] { x = x + 1; });
      return x;
    });
    const std::string words = test::message_of<ElementError>(
        [&] { f.with({.max_steps = 5000, .compile = compile}, std::vector<float>{1, 2, 3}); });
    EXPECT_EQ(words,
              "map: element 0 took more loop steps than allowed (" + std::string(__FILE__) + ":" +
                  std::to_string(line) +
                  "); got a limit of 5000 steps. Raise max_steps, or check that the loop ends.");
  }
}

}  // namespace
}  // namespace lw
