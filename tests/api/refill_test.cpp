// What stands around a loop whose lanes take the next element when they are done: it runs for the
// lanes that are done, once, while the others of the same register are still in the loop.
#include <gtest/gtest.h>

#include "lanewise/lanewise.h"
#include "tests/support/every_way.h"
#include "tests/support/message_of.h"

namespace lw {
namespace {

using test::expect_same;

/// Counts of steps that differ much, so that lanes are done at different looks.
constexpr int kMost = 200;

/// Runs for `steps` steps.
void spin(i32 steps, i32& n) {
  While([&] { return steps > 0; },
        [&] {
          steps = steps - 1;
          n = n * 3 + steps;
        });
}
int plain_spin(int steps, int n) {
  auto bits = static_cast<std::uint32_t>(n);
  while (steps > 0) bits = bits * 3 + static_cast<std::uint32_t>(--steps);
  return static_cast<int>(bits);
}

/// Code that is too long for a select.
i32 stir(i32 n) {
  for (int i = 0; i < 24; ++i) n = (n ^ (n >> 3)) * 5 + i;
  return n;
}
int plain_stir(int n) {
  for (int i = 0; i < 24; ++i) {
    n = static_cast<int>(static_cast<std::uint32_t>(n ^ (n >> 3)) * 5 +
                         static_cast<std::uint32_t>(i));
  }
  return n;
}

TEST(Refill, AnEarlyReturnBehindTheLoop) {
  expect_same(
      [](i32 a, i32 b) -> i32 {
        i32 n = b;
        spin(a, n);
        ReturnIf(b % 3 == 0, n);
        ReturnIf(n % 5 == 1, n ^ b);
        return stir(n);
      },
      [](int a, int b) {
        const int n = plain_spin(a, b);
        if (b % 3 == 0) return n;
        if ((n % 5 + 5) % 5 == 1) return n ^ b;
        return plain_stir(n);
      },
      true, kMost);
}

TEST(Refill, AnEarlyReturnBeforeAndBehindTheLoop) {
  expect_same(
      [](i32 a, i32 b) -> i32 {
        ReturnIf(a % 7 == 0, b);
        i32 n = stir(b);
        ReturnIf(n % 7 == 0, a);
        spin(a, n);
        ReturnIf(b % 3 == 0, n);
        return n - 1;
      },
      [](int a, int b) {
        if (a % 7 == 0) return b;
        int n = plain_stir(b);
        if (n % 7 == 0) return a;
        n = plain_spin(a, n);
        return b % 3 == 0 ? n : n - 1;
      },
      true, kMost);
}

i32 leave_early(i32 a, i32 b) {
  ReturnIf(b % 5 == 0, stir(a));
  i32 n = b;
  spin(a, n);
  ReturnIf(n % 2 == 0, n);
  return stir(n);
}
int plain_leave_early(int a, int b) {
  if (b % 5 == 0) return plain_stir(a);
  const int n = plain_spin(a, b);
  return n % 2 == 0 ? n : plain_stir(n);
}

TEST(Refill, ACalledFunctionThatLeavesEarlyInOneThatDoes) {
  expect_same(
      [](i32 a, i32 b) -> i32 {
        ReturnIf(a == b, i32(-1));
        i32 n = Call(leave_early, a, b);
        ReturnIf(n % 3 == 0, stir(n));
        return n + b;
      },
      [](int a, int b) {
        if (a == b) return -1;
        const int n = plain_leave_early(a, b);
        return n % 3 == 0 ? plain_stir(n)
                          : static_cast<int>(static_cast<std::uint32_t>(n) +
                                             static_cast<std::uint32_t>(b));
      },
      true, kMost);
}

TEST(Refill, AnEarlyReturnThatAllTakeOrNone) {
  const std::vector<std::int32_t> a = test::small_numbers(777, kMost);
  for (const test::Way& way : test::every_way(true)) {
    auto f = vectorize(
        [](i32 steps, i32 limit) -> i32 {
          ReturnIf(limit == 3, steps);
          i32 n = limit;
          spin(steps, n);
          ReturnIf(limit == 4, -n);
          return n;
        },
        {.schedule = way.wish});
    for (const int limit : {3, 4, 5}) {
      const Tensor got = f.with(way.options, a, limit);
      for (std::size_t i = 0; i < a.size(); ++i) {
        const int n = plain_spin(a[i], limit);
        ASSERT_EQ(got.at<std::int32_t>(static_cast<std::int64_t>(i)),
                  limit == 3   ? a[i]
                  : limit == 4 ? static_cast<int>(0u - static_cast<std::uint32_t>(n))
                               : n)
            << way.name << ", limit " << limit;
      }
    }
  }
}

TEST(Refill, AnArrayThatIsChangedBehindTheLoop) {
  expect_same(
      [](i32 a, i32 b) -> i32 {
        Array<std::int32_t> sums(4, b);
        ReturnIf(b % 9 == 0, i32(-b));
        While([&] { return a > 0; },
              [&] {
                sums[a & 3] += a;
                a = a - 1;
              });
        sums[b & 3] += 1000;
        sums[0] = sums[0] * 2;
        return sums[0] + 3 * sums[1] + 5 * sums[2] + 7 * sums[3];
      },
      [](int a, int b) {
        int sums[4] = {b, b, b, b};
        if (b % 9 == 0) return -b;
        for (; a > 0; --a) sums[a & 3] += a;
        sums[b & 3] += 1000;
        sums[0] *= 2;
        return sums[0] + 3 * sums[1] + 5 * sums[2] + 7 * sums[3];
      },
      true, kMost);
}

TEST(Refill, ABranchWithALoopBehindTheLoop) {
  expect_same(
      [](i32 a, i32 b) {
        i32 n = b;
        spin(a, n);
        If(b % 4 == 0, [&] {
          i32 k = b / 4;
          While([&] { return k != 0; },
                [&] {
                  k = k - 1;
                  n = n + 7;
                });
        });
        return n;
      },
      [](int a, int b) {
        const auto n = static_cast<std::uint32_t>(plain_spin(a, b));
        return static_cast<int>(b % 4 == 0 ? n + 7u * static_cast<std::uint32_t>(b / 4) : n);
      },
      true, kMost);
}

/// Where lanes are still in the loop, what stands behind it would fail.
TEST(Refill, ChecksBehindTheLoopAreThoseOfLanesThatAreDone) {
  expect_same(
      [](i32 a, i32 b) -> i32 {
        ReturnIf(b == 0, i32(-1));
        i32 n = a;
        While([&] { return n > 0; }, [&] { n = n - 1; });
        Check(n == 0);
        Array<std::int32_t> places(1, b);
        i32 m = places[n];
        return m / (1 - n) + 100 % (b + n);
      },
      [](int, int b) { return b == 0 ? -1 : b + 100 % b; }, true, kMost);
}

TEST(Refill, AFailureBehindTheLoopIsThatOfItsElement) {
  for (const test::Way& way : test::every_way(true)) {
    auto f = vectorize(
        [](i32 a, i32 b) -> i32 {
          ReturnIf(b == 0, i32(-1));
          i32 n = 0;
          spin(a, n);
          return n / (b - 7);
        },
        {.schedule = way.wish});
    std::vector<std::int32_t> a = test::small_numbers(777, kMost);
    std::vector<std::int32_t> b(777, 8);
    b[500] = b[501] = b[776] = 7;
    b[400] = 0;
    a[500] = kMost;  // others are done before
    for (const int threads : {1, 2}) {
      MapOptions options = way.options;
      options.threads = threads;
      options.chunk = 100;
      try {
        f.with(options, a, b);
        ADD_FAILURE() << way.name;
      } catch (const ElementError& error) {
        EXPECT_EQ(error.element(), 500) << way.name;
      }
    }
  }
}

}  // namespace
}  // namespace lw
