#include "lanewise/trace/control.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "lanewise/trace/memory.h"
#include "tests/support/every_way.h"

namespace lw {
namespace {

using test::expect_same;

TEST(Control, IfRunsForTheElementsWhoseConditionHolds) {
  expect_same(
      [](i32 a, i32 b) {
        i32 n = 0;
        If(a > b, [&] { n = a - b; });
        return n;
      },
      [](int a, int b) { return a > b ? a - b : 0; });
}

TEST(Control, ElseRunsForTheOthersEvenIfThenChangesTheCondition) {
  expect_same(
      [](i32 a, i32 b) {
        If(a > b, [&] { a = b - 100; }, [&] { a = a * 2; });
        return a;
      },
      [](int a, int b) { return a > b ? b - 100 : a * 2; });
}

TEST(Control, NestedBranches) {
  expect_same(
      [](i32 a, i32 b) {
        i32 n = 1;
        If(
            a > 10,
            [&] {
              If(b > 20, [&] { n = 2; }, [&] { If(a == b, [&] { n = 3; }, [&] { n = n + a; }); });
              n = n * 7;
            },
            [&] { n = -b; });
        return n;
      },
      [](int a, int b) {
        int n = 1;
        if (a > 10) {
          n = b > 20 ? 2 : a == b ? 3 : n + a;
          n *= 7;
        } else {
          n = -b;
        }
        return n;
      });
}

TEST(Control, LongBranchesAreNotComputedForOthers) {
  // Forty steps that would divide by zero elsewhere.
  expect_same(
      [](i32 a, i32 b) {
        i32 n = 0;
        If(b != 0, [&] {
          for (int i = 0; i < 40; ++i) n = n + (a + i) / b;
        });
        return n;
      },
      [](int a, int b) {
        int n = 0;
        for (int i = 0; i < 40 && b != 0; ++i) n += (a + i) / b;
        return n;
      });
}

TEST(Control, WhileInsideIfInsideWhile) {
  expect_same(
      [](i32 a, i32 b) {
        i32 n = 0;
        While([&] { return a > 0; },
              [&] {
                If(a % 3 == 0, [&] {
                  i32 c = b;
                  While([&] { return c > 0; },
                        [&] {
                          c = c / 2;
                          n = n + 1;
                        });
                });
                a = a - 1;
              });
        return n;
      },
      [](int a, int b) {
        int n = 0;
        for (; a > 0; --a) {
          if (a % 3 == 0) {
            for (int c = b; c > 0; c /= 2) ++n;
          }
        }
        return n;
      },
      true);
}

TEST(Control, ForCountsUpAndDownByAnyStep) {
  expect_same(
      [](i32 a, i32 b) {
        i32 n = 0;
        For(0, a, [&](i32 i) { n = n * 3 + i; });
        For(a, b, 4, [&](i32 i) { n = n ^ i; });
        For(a, -1, -3, [&](i32 i) {
          n = n + i * b;
          i = 1000;  // its own copy
        });
        return n;
      },
      [](int a, int b) {
        std::uint32_t n = 0;
        for (int i = 0; i < a; ++i) n = n * 3 + static_cast<std::uint32_t>(i);
        for (int i = a; i < b; i += 4) n = n ^ static_cast<std::uint32_t>(i);
        for (int i = a; i > -1; i -= 3) n = n + static_cast<std::uint32_t>(i * b);
        return static_cast<int>(n);
      });
}

TEST(Control, BoundsOfForAreEvaluatedOnce) {
  expect_same(
      [](i32 a, i32 b) {
        i32 n = 0;
        For(0, a, [&](i32) {
          a = a + 10;
          n = n + 1;
        });
        return n + b;
      },
      [](int a, int b) { return a + b; });
}

TEST(Control, BreakAndContinueInNestedBranches) {
  expect_same(
      [](i32 a, i32 b) {
        i32 n = 0;
        For(0, 30, [&](i32 i) {
          If(i > a, [&] { Break(); });
          If(i % 4 == 1, [&] {
            n = n + 1000;
            If(b > i, [&] { Continue(); });
            n = n + 7;
          });
          ContinueIf((i & 8) != 0);
          n = n + i;
        });
        return n;
      },
      [](int a, int b) {
        int n = 0;
        for (int i = 0; i < 30; ++i) {
          if (i > a) break;
          if (i % 4 == 1) {
            n += 1000;
            if (b > i) continue;
            n += 7;
          }
          if ((i & 8) != 0) continue;
          n += i;
        }
        return n;
      },
      true);
}

TEST(Control, BreakOfAnInnerLoopLeavesTheOuterOneAlone) {
  expect_same(
      [](i32 a, i32 b) {
        i32 n = 0;
        For(0, a, [&](i32 i) {
          For(0, 10, [&](i32 j) {
            BreakIf(j * i > b);
            If(j == 5, [&] { Continue(); });
            n = n + j;
          });
          n = n * 3;
        });
        return n;
      },
      [](int a, int b) {
        std::uint32_t n = 0;
        for (int i = 0; i < a; ++i) {
          for (int j = 0; j < 10; ++j) {
            if (j * i > b) break;
            if (j == 5) continue;
            n += static_cast<std::uint32_t>(j);
          }
          n *= 3;
        }
        return static_cast<int>(n);
      },
      true);
}

TEST(Control, EarlyReturnFromAnywhere) {
  expect_same(
      [](i32 a, i32 b) -> i32 {
        ReturnIf(a == 7, b * 100);
        i32 n = 0;
        For(0, 20, [&](i32 i) {
          If(i * a > b, [&] {
            n = n + 1;
            For(0, 5, [&](i32 j) { If(n + j == 6, [&] { Return(n * 1000 + j); }); });
          });
        });
        return n;
      },
      [](int a, int b) {
        if (a == 7) return b * 100;
        int n = 0;
        for (int i = 0; i < 20; ++i) {
          if (i * a <= b) continue;
          ++n;
          for (int j = 0; j < 5; ++j) {
            if (n + j == 6) return n * 1000 + j;
          }
        }
        return n;
      },
      true);
}

TEST(Control, BehindALoopThatElementsLeaveAtDifferentTimesOthersAreNotTouched) {
  expect_same(
      [](i32 a, i32 b) -> i32 {
        ReturnIf(b == 1, a);
        Array<std::int32_t> sum(1, b);
        i32 i = 0;
        While([&] { return i < a; }, [&] { i = i + 1; });
        Check(i >= a);
        sum[0] += i + 1;
        ReturnIf(i > b, -sum[0]);
        sum[0] += i;
        return i32(sum[0]);
      },
      [](int a, int b) {
        if (b == 1) return a;
        return a > b ? -(a + b + 1) : 2 * a + b + 1;
      },
      true);
}

i32 digits(i32 a) {
  ReturnIf(a == 0, i32(1));
  i32 n = 0;
  While([&] { return a > 0; },
        [&] {
          a = a / 10;
          n = n + 1;
        });
  return n;
}

TEST(Control, ACalledFunctionReturnsToWhereItWasCalled) {
  expect_same(
      [](i32 a, i32 b) {
        i32 sum = 0;
        For(0, 3, [&](i32 i) { sum = sum * 10 + Call(digits, a * i); });
        return sum * 100 + Call(digits, b);
      },
      [](int a, int b) {
        const auto length = [](int n) { return static_cast<int>(std::to_string(n).size()); };
        int sum = 0;
        for (int i = 0; i < 3; ++i) sum = sum * 10 + length(a * i);
        return sum * 100 + length(b);
      });
}

TEST(Control, AVectorizedFunctionMayBeCalledInAnother) {
  auto inner = vectorize(&digits);
  auto outer = vectorize([&](i32 a) { return inner(a) + inner(a * 100); });
  EXPECT_EQ(outer(std::vector<std::int32_t>{5}).at<std::int32_t>(0), 4);
  EXPECT_EQ(inner(std::vector<std::int32_t>{12345}).at<std::int32_t>(0), 5);
}

TEST(Control, SwitchRunsTheOneThatIsChosen) {
  expect_same(
      [](i32 a, i32 b) {
        i32 n = 0;
        Switch(
            a % 3, [&] { n = b; }, [&] { For(0, b, [&](i32 i) { n = n + i; }); },
            [&] { n = n - b; });
        return n;
      },
      [](int a, int b) { return a % 3 == 0   ? b
                                : a % 3 == 1 ? b * (b - 1) / 2
                                             : -b; });
}

TEST(Control, ASwitchWithoutACaseIsAFailureOfTheElement) {
  for (const test::Way& way : test::every_way(false)) {
    auto f = vectorize(
        [](i32 a) {
          i32 n = 0;
          Switch(a, [&] { n = 1; }, [&] { n = 2; });
          return n;
        },
        {.schedule = way.wish});
    for (const int wrong : {-1, 2, INT32_MAX, INT32_MIN}) {
      std::vector<std::int32_t> a(100, 1);
      a[70] = wrong;
      try {
        f.with(way.options, a);
        FAIL() << way.name;
      } catch (const ElementError& error) {
        EXPECT_EQ(error.element(), 70);
        EXPECT_NE(std::string(error.what()).find(fmt::format("got {}, expected 0 to 1", wrong)),
                  std::string::npos)
            << error.what();
      }
    }
  }
}

TEST(Control, ConditionsOfTheHostChooseWhatIsRecorded) {
  for (const bool doubled : {false, true}) {
    auto f = vectorize([doubled](i32 a) {
      If(doubled, [&] { a = a * 2; }, [&] { a = a - 1; });
      return a;
    });
    EXPECT_EQ(f(std::vector<std::int32_t>{5}).at<std::int32_t>(0), doubled ? 10 : 4);
  }
}

TEST(Control, UniformBranchesAndLoopsAreTakenByAllOrNone) {
  for (const test::Way& way : test::every_way(false)) {
    auto f = vectorize(
        [](i32 a, i32 limit) {
          i32 n = 0;
          For(0, limit, [&](i32 i) {
            If(i == 3, [&] { Continue(); });
            If(i > 5, [&] {
              n = n + 100;
              If(limit == 9, [&] { Break(); });
            });
            n = n + a;
          });
          return n;
        },
        {.schedule = way.wish});
    const std::vector<std::int32_t> a = {1, 2, 3, 4, 5};
    for (const int limit : {0, 2, 5, 9, 12}) {
      const Tensor got = f.with(way.options, a, limit);
      for (int k = 0; k < 5; ++k) {
        int n = 0;
        for (int i = 0; i < limit; ++i) {
          if (i == 3) continue;
          if (i > 5) {
            n += 100;
            if (limit == 9) break;
          }
          n += a[static_cast<std::size_t>(k)];
        }
        EXPECT_EQ(got.at<std::int32_t>(k), n) << way.name << ", limit " << limit;
      }
    }
  }
}

TEST(Control, NotANumberEndsALoopWhoseConditionItFails) {
  for (const test::Way& way : test::every_way(true)) {
    auto f = vectorize(
        [](f32 x) {
          i32 n = 0;
          While([&] { return x < 100; },
                [&] {
                  x = x * 2;
                  n = n + 1;
                });
          return n;
        },
        {.schedule = way.wish});
    const Tensor n =
        f.with(way.options, std::vector<float>{1, std::nanf(""), 50, std::nanf(""), 200});
    const int expected[] = {7, 0, 1, 0, 0};
    for (int i = 0; i < 5; ++i) EXPECT_EQ(n.at<std::int32_t>(i), expected[i]) << way.name;
  }
}

TEST(Control, AComparisonFromBeforeTheLoopCountsInsideAndBehindIt) {
  expect_same(
      [](i32 a, i32 b) {
        const i32 more = cast<std::int32_t>(a > b);
        i32 n = 0;
        i32 i = 0;
        While([&] { return i < a; },
              [&] {
                n = n + more;
                i = i + 1;
              });
        return n + more;
      },
      [](int a, int b) { return a > b ? a + 1 : 0; }, true);
}

TEST(Control, MisplacedExitsAreRefused) {
  const auto refusal = [](auto function) {
    try {
      vectorize(function)(std::vector<std::int32_t>{1});
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(refusal([](i32 a) {
              Break();
              return a;
            }),
            "Break: stands outside of any loop. Use it in the body of lw::While or lw::For.");
  EXPECT_EQ(refusal([](i32 a) {
              If(a > 0, [&] { Continue(); });
              return a;
            }),
            "Continue: stands outside of any loop. Use it in the body of lw::While or lw::For.");
  EXPECT_EQ(refusal([](i32 a) {
              For(0, 3, 0, [&](i32 i) { a = a + i; });
              return a;
            }),
            "For: the step is 0; expected a step that leads to the end.");
  EXPECT_NE(refusal([](i32 a) {
              ReturnIf(a > 0, cast<float>(a));
              return a;
            }).find("Return: gives other types"),
            std::string::npos);
}

}  // namespace
}  // namespace lw
