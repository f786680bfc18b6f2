// Arrays with any strides and alignment.
#include <gtest/gtest.h>

#include <cstring>

#include "lanewise/lanewise.h"
#include "tests/support/message_of.h"

namespace lw {
namespace {

auto sum() {
  return vectorize([](f32 x, f64 y) { return cast<double>(x) * 10 + y; });
}

class Strides : public testing::TestWithParam<Compile> {};

TEST_P(Strides, OfInputsAndOutputs) {
  constexpr std::int64_t kCount = 50000;  // several blocks
  std::vector<float> x(3 * kCount);
  std::vector<double> y(kCount);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = static_cast<double>(i) / 8;
  std::vector<double> out(2 * kCount, -1);
  auto f = sum();
  for (const int threads : {1, 2}) {
    f.into(Strided<double>{out.data(), kCount, 2}, {.threads = threads, .compile = GetParam()},
           Strided<const float>{x.data(), kCount, 3},
           Strided<const double>{y.data() + kCount - 1, kCount, -1});
    for (std::int64_t i = 0; i < kCount; ++i) {
      const auto at = static_cast<std::size_t>(i);
      ASSERT_EQ(out[2 * at], 30.0 * static_cast<double>(i) + y[y.size() - 1 - at]) << i;
      ASSERT_EQ(out[2 * at + 1], -1) << i;
    }
  }
}

TEST_P(Strides, OfZeroRepeatOneValue) {
  const float one = 1.5f;
  const std::vector<double> y = {1, 2, 3};
  const Tensor r = sum().with({.compile = GetParam()}, Strided<const float>{&one, 3, 0}, y);
  EXPECT_EQ(r.at<double>(2), 18);
}

TEST_P(Strides, AnyAlignment) {
  std::vector<std::byte> memory(4 * 1000 + 8 * 1000 + 16);
  std::byte* x = memory.data() + 1;
  std::byte* y = memory.data() + 4 * 1000 + 3;
  for (int i = 0; i < 1000; ++i) {
    const float a = static_cast<float>(i);
    const double b = i * 0.25;
    std::memcpy(x + 4 * i, &a, 4);
    std::memcpy(y + 8 * i, &b, 8);
  }
  const std::array<Input, 2> inputs = {Input(DType::F32, x, 1000), Input(DType::F64, y, 1000)};
  std::array<Tensor, 1> results;
  auto f = sum();
  f.element_function().call(results, inputs, {.compile = GetParam()});
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(results[0].at<double>(i), 10.0 * i + i * 0.25);
}

TEST_P(Strides, InLoopsWithRefillAndFailures) {
  auto count_down = vectorize([](i32 n) {
    i32 steps = 0;
    While([&] { return n > 0; },
          [&] {
            n = n - 1;
            steps = steps + 100 / n;
          });
    return steps;
  });
  std::vector<std::int32_t> n(2 * 40000, 77);
  for (std::size_t i = 0; i < n.size(); i += 2) n[i] = 0;
  n[2 * 31234] = 1;  // divides by zero at its only step
  const std::string words = test::message_of<ElementError>([&] {
    count_down.with({.compile = GetParam()}, Strided<const std::int32_t>{n.data(), 40000, 2});
  });
  EXPECT_NE(words.find("element 31234 divides an integer by zero"), std::string::npos) << words;
}

TEST_P(Strides, MembersOfStructsAreReadAndWrittenInPlace) {
  struct Body {
    char name[5];
    float mass;
    double speed, energy;
  };
  std::vector<Body> bodies(50000);
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    bodies[i] = {"body", static_cast<float>(i), 0.5 * static_cast<double>(i), -1};
  }
  const auto count = std::ssize(bodies);
  const auto stride = static_cast<std::int64_t>(sizeof(Body));
  sum().into(Output(DType::F64, &bodies[0].energy, count, stride),
             {.threads = 2, .compile = GetParam(), .chunk = 1000},
             Input(DType::F32, &bodies[0].mass, count, stride),
             Input(DType::F64, &bodies[0].speed, count, stride));
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const auto x = static_cast<double>(i);
    ASSERT_EQ(bodies[i].energy, 10 * x + 0.5 * x) << i;
    ASSERT_EQ(bodies[i].mass, static_cast<float>(i)) << i;
    ASSERT_EQ(bodies[i].speed, 0.5 * x) << i;
    ASSERT_STREQ(bodies[i].name, "body") << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Tiers, Strides, testing::Values(Compile::Never, Compile::Now));

TEST(StridedErrors, OutputsMustNotOverlapThemselvesOrInputs) {
  std::vector<double> memory(20);
  const std::vector<float> x(4);
  auto f = sum();
  EXPECT_EQ(test::message_of<UsageError>(
                [&] { f.into(Strided<double>{memory.data(), 4, 0}, {}, x, 1.0); }),
            "map: output 0 overlaps itself; got 0 bytes from one element to the next, expected at "
            "least 8.");
  const auto is_refused = [&](std::ptrdiff_t out, std::int64_t out_stride, std::ptrdiff_t in,
                              std::int64_t in_stride) {
    const Strided<double> to{memory.data() + out, 4, out_stride};
    const Strided<const double> from{memory.data() + in, 4, in_stride};
    try {
      f.into(to, {}, x, from);
      return false;
    } catch (const UsageError& error) {
      return std::string(error.what()).find("overlaps argument 1") != std::string::npos;
    }
  };
  EXPECT_TRUE(is_refused(6, -2, 5, 1));
  EXPECT_TRUE(is_refused(0, 2, 0, 2)) << "in place";
  EXPECT_TRUE(is_refused(0, 2, 6, -2)) << "in place, backward";
  EXPECT_TRUE(is_refused(0, 2, 4, 2)) << "shifted";
  EXPECT_TRUE(is_refused(0, 2, 4, 0)) << "a repeated value";
  EXPECT_FALSE(is_refused(0, 2, 3, 0)) << "a repeated value between";
  EXPECT_FALSE(is_refused(0, 2, 1, 2)) << "the elements between";
  EXPECT_FALSE(is_refused(0, 2, 7, -2)) << "the elements between, backward";
  EXPECT_TRUE(is_refused(0, 4, 2, 2));
  EXPECT_FALSE(is_refused(0, 4, 1, 2)) << "only odd ones";
  EXPECT_FALSE(is_refused(0, 1, 4, 1));
}

TEST(StridedErrors, ElementsThatOverlapInPartAreRefused) {
  std::vector<std::byte> memory(8 * 16);
  const std::vector<float> x(4);
  const auto is_refused = [&](std::ptrdiff_t in) {
    return test::message_of<UsageError>([&] {
             sum().into(Output(DType::F64, memory.data(), 4, 16), {}, x,
                        Input(DType::F64, memory.data() + in, 4, 16));
           }) != "[nothing was thrown]";
  };
  EXPECT_TRUE(is_refused(7));
  EXPECT_FALSE(is_refused(8));
  EXPECT_TRUE(is_refused(9));
}

}  // namespace
}  // namespace lw
