// Programs that end for each element by itself, and would not where an element runs along in code
// that it does not enter: a loop in a branch that is not taken, run for all and then chosen from,
// never ends. Here each element leaves where the plain function does, on every way, with a limit of
// steps and without.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

#include "lanewise/kernel/lower.h"
#include "lanewise/lanewise.h"
#include "lanewise/transform/passes.h"
#include "tests/support/every_way.h"

namespace lw {
namespace {

using test::small_numbers;

constexpr std::size_t kCount = 333;
constexpr std::int64_t kManySteps = 100000;

/// Stops a map that hangs, which is a failure then.
std::function<bool()> watchdog() {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  return [deadline] { return std::chrono::steady_clock::now() > deadline; };
}

template <class F, class... A>
bool can_refill(const F& function, const transform::Options& passes, const A&... arguments) {
  const std::array<Input, sizeof...(A)> inputs = {Input(arguments)...};
  return kernel::is_refillable(
      transform::run(api::trace_function(function, "f", inputs).function, passes));
}

/// Expects that `traced` ends on every way and gives for each element what `plain` does.
template <class Traced, class Plain, class T, class... Shared>
void expect_ends(const Traced& traced, const Plain& plain, const std::vector<T>& a,
                 const std::vector<T>& b, const Shared&... shared) {
  for (const bool is_limited : {true, false}) {
    transform::Options passes;
    if (is_limited) passes.step_counter = DType::I32;
    for (const test::Way& way : test::every_way(can_refill(traced, passes, a, b, shared...))) {
      auto f = vectorize(traced, {.schedule = way.wish});
      MapOptions options = way.options;
      options.max_steps = is_limited ? kManySteps : 0;
      options.interrupt = watchdog();
      Tensor got;
      ASSERT_NO_THROW(got = f.with(options, a, b, shared...)) << way.name;
      for (std::size_t i = 0; i < a.size(); ++i) {
        const auto expected = plain(a[i], b[i], shared...);
        using R = std::remove_const_t<decltype(expected)>;
        ASSERT_EQ(got.at<R>(static_cast<std::int64_t>(i)), expected)
            << way.name << (is_limited ? ", limited" : "") << ", element " << i << ": " << a[i]
            << ", " << b[i];
      }
    }
  }
}

template <class Traced, class Plain>
void expect_ends(const Traced& traced, const Plain& plain, int most = 40) {
  expect_ends(traced, plain, small_numbers(kCount, most), small_numbers(kCount, most, 2));
}

/// Steps of the Collatz sequence down to 1; endless from 0.
void collatz(i32& x, i32& n) {
  While([&] { return x != 1; },
        [&] {
          x = select(x % 2 == 0, x / 2, 3 * x + 1);
          n = n + 1;
        });
}
int plain_collatz(int x) {
  int n = 0;
  for (; x != 1; ++n) x = x % 2 == 0 ? x / 2 : 3 * x + 1;
  return n;
}

TEST(Termination, ALoopInABranchIsEndlessForThoseWhoDoNotTakeIt) {
  expect_ends(
      [](i32 a, i32 b) {
        i32 n = b;
        If(a > 0, [&] { collatz(a, n); });
        return n;
      },
      [](int a, int b) { return a > 0 ? b + plain_collatz(a) : b; });
}

TEST(Termination, ALoopInAnElse) {
  expect_ends(
      [](i32 a, i32 b) {
        i32 n = 0;
        If(a == 0, [&] { n = -b; }, [&] { collatz(a, n); });
        return n;
      },
      [](int a, int b) { return a == 0 ? -b : plain_collatz(a); });
}

TEST(Termination, LoopsInBothBranchesEachEndlessForTheOther) {
  expect_ends(
      [](i32 a, i32 b) {
        i32 n = 0;
        If(
            a % 2 == 0,
            [&] {
              While([&] { return a != 0; },
                    [&] {
                      a = a - 2;
                      n = n + 1;
                    });
            },
            [&] {
              While([&] { return a != 1; },
                    [&] {
                      a = a - 2;
                      n = n + b;
                    });
            });
        return n;
      },
      [](int a, int b) { return a % 2 == 0 ? a / 2 : a / 2 * b; });
}

TEST(Termination, ALoopInABranchInALoop) {
  expect_ends(
      [](i32 a, i32 b) {
        i32 n = 0;
        For(0, b, [&](i32 i) {
          If((a + i) % 2 == 0, [&] {
            i32 k = a + i;
            While([&] { return k != 0; },  // never where it is odd
                  [&] {
                    k = k - 2;
                    n = n + 1;
                  });
          });
          n = n * 3;
        });
        return n;
      },
      [](int a, int b) {
        std::uint32_t n = 0;
        for (int i = 0; i < b; ++i) {
          if ((a + i) % 2 == 0) n += static_cast<std::uint32_t>((a + i) / 2);
          n *= 3;
        }
        return static_cast<int>(n);
      });
}

TEST(Termination, AnEarlyReturnBeforeAnEndlessLoop) {
  expect_ends(
      [](i32 a, i32 b) -> i32 {
        ReturnIf(a == 0, -b);
        i32 n = 0;
        collatz(a, n);
        return n;
      },
      [](int a, int b) { return a == 0 ? -b : plain_collatz(a); });
}

TEST(Termination, AnEarlyReturnOutOfTwoEndlessLoops) {
  expect_ends(
      [](i32 a, i32 b) -> i32 {
        i32 n = 0;
        While([] { return boolean(true); },
              [&] {
                While([] { return boolean(true); },
                      [&] {
                        n = n + 1;
                        ReturnIf(n > a, n * 100 + b);
                        BreakIf(n % 7 == 0);
                      });
                b = b + 1;
              });
        return n;
      },
      [](int a, int b) {
        for (int n = 1;; ++n) {
          if (n > a) return n * 100 + b;
          if (n % 7 == 0) ++b;
        }
      });
}

TEST(Termination, ABreakOutOfWhileTrue) {
  expect_ends(
      [](i32 a, i32 b) {
        i32 n = 0;
        While([] { return boolean(true); },
              [&] {
                n = n + 1;
                If(
                    a > b, [&] { a = a - b - 1; },
                    [&] { If(n > 2, [&] { Break(); }, [&] { n = n + 1; }); });
              });
        return n * 1000 + a;
      },
      [](int a, int b) {
        for (int n = 1;; ++n) {
          if (a > b) {
            a = a - b - 1;
          } else if (n > 2) {
            return n * 1000 + a;
          } else {
            ++n;
          }
        }
      });
}

TEST(Termination, WhileTrueInABranchThatOnlyThoseWhoBreakEnter) {
  expect_ends(
      [](i32 a, i32 b) {
        i32 n = 0;
        If(a < b, [&] {
          While([] { return boolean(true); },
                [&] {
                  BreakIf(a == b);  // never from above
                  a = a + 1;
                  n = n + a;
                });
        });
        return n;
      },
      [](int a, int b) {
        int n = 0;
        while (a < b) n += ++a;
        return n;
      });
}

TEST(Termination, AContinueThatOnlyLanesThatAreDoneWouldTake) {
  expect_ends(
      [](i32 a, i32 b) {
        i32 n = 0;
        While([&] { return a > 0; },
              [&] {
                If(a <= 0, [&] { Continue(); });  // would skip what ends the loop
                n = n + b;
                ContinueIf(a < 0);
                a = a - 1;
              });
        return n;
      },
      [](int a, int b) { return a * b; });
}

TEST(Termination, AContinueThatSkipsTheDecrementSomeTimes) {
  expect_ends(
      [](i32 a, i32 b) {
        i32 n = 0;
        While([&] { return a > 0; },
              [&] {
                n = n + 1;
                If((n & 3) != (b & 3), [&] { Continue(); });
                a = a - 1;
              });
        return n;
      },
      [](int a, int b) {
        int n = 0;
        while (a > 0) {
          ++n;
          if ((n & 3) == (b & 3)) --a;
        }
        return n;
      });
}

std::vector<float> with_specials(unsigned seed) {
  std::vector<float> x;
  for (const int n : small_numbers(kCount, 40, seed)) {
    x.push_back(n == 7   ? std::nanf("")
                : n == 8 ? INFINITY
                : n == 9 ? -INFINITY
                         : static_cast<float>(n));
  }
  return x;
}

TEST(Termination, ABoundThatIsNotANumberForThoseWhoDoNotEnter) {
  expect_ends(
      [](f32 x, f32 y) {
        i32 n = 0;
        If(x == x && x < 100, [&] {
          f32 k = 0;
          While([&] { return !(k >= x); },  // never for NaN
                [&] {
                  k = k + 1;
                  n = n + 1;
                });
        });
        return n + select(y == y, i32(1000), i32(2000));
      },
      [](float x, float y) {
        const int n = x == x && x < 100 ? static_cast<int>(std::max(x, 0.0f)) : 0;
        return n + (y == y ? 1000 : 2000);
      },
      with_specials(1), with_specials(2));
}

TEST(Termination, ABoundThatIsInfiniteForThoseWhoDoNotEnter) {
  expect_ends(
      [](f32 x, f32 y) {
        i32 n = 0;
        If(x < 100, [&] {
          f32 k = -1;
          While([&] { return k < x; },
                [&] {
                  k = k + 1;  // which has an end, below infinity
                  n = n + 1;
                });
        });
        If(y > -100 && y < INFINITY, [&] {
          While([&] { return y > 0; },
                [&] {
                  y = y - 1;
                  n = n + 100;
                });
        });
        return n;
      },
      [](float x, float y) {
        int n = x < 100 && x > -1 ? static_cast<int>(x) + 1 : 0;
        if (y > 0 && y < INFINITY) n += 100 * static_cast<int>(y);
        return n;
      },
      with_specials(3), with_specials(4));
}

TEST(Termination, CasesOfASwitchThatAreEndlessForOtherIndices) {
  expect_ends(
      [](i32 a, i32 b) {
        i32 n = 0;
        const auto down_to = [&](int last) {
          return [&a, &n, last] {
            While([&] { return a != last; },
                  [&] {
                    a = a - 3;
                    n = n + 1;
                  });
          };
        };
        Switch(a % 3, down_to(0), down_to(1), down_to(2));
        return n + b;
      },
      [](int a, int b) { return a / 3 + b; });
}

TEST(Termination, AUniformConditionKeepsAllOutOfAnEndlessLoop) {
  for (const int shared : {0, 1, 3}) {
    expect_ends(
        [](i32 a, i32 b, i32 step) {
          i32 n = 0;
          If(step > 0, [&] { While([&] { return n < a; }, [&] { n = n + step; }); });
          If(step == 0, [&] { n = b; }, [&] { While([&] { return b > 0; }, [&] { b -= step; }); });
          return n * 100 + b;
        },
        [](int a, int b, int step) {
          int n = step > 0 ? (a + step - 1) / step * step : b;
          while (step > 0 && b > 0) b -= step;
          return n * 100 + b;
        },
        small_numbers(kCount, 40), small_numbers(kCount, 40, 2), shared);
  }
}

TEST(Termination, AUniformLoopAroundOneThatSomeDoNotEnter) {
  for (const int shared : {0, 1, 5}) {
    expect_ends(
        [](i32 a, i32 b, i32 rounds) {
          i32 n = 0;
          For(0, rounds, [&](i32 i) {
            If(a > i, [&] {
              i32 k = b;
              While([&] { return k != b + a - i; },  // never where a < i
                    [&] {
                      k = k + 1;
                      n = n + 1;
                    });
            });
          });
          return n;
        },
        [](int a, int, int rounds) {
          int n = 0;
          for (int i = 0; i < rounds; ++i) n += std::max(0, a - i);
          return n;
        },
        small_numbers(kCount, 9), small_numbers(kCount, 40, 2), shared);
  }
}

TEST(Termination, LoopsOfNoSteps) {
  expect_ends(
      [](i32 a, i32 b) {
        i32 n = 0;
        While([&] { return a < 0; }, [] {});
        While([&] { return b < 0; }, [&] { n = n + 1; });
        For(a, 0, [&](i32) { n = n + 100; });
        If(a > b, [&] { While([&] { return a < b; }, [] {}); });
        return n + a;
      },
      [](int a, int) { return a; });
}

TEST(Termination, AnInnerLoopThatIsEndlessForLanesThatLeftTheOuterOne) {
  expect_ends(
      [](i32 a, i32 b) {
        i32 n = 0;
        a = a - 10;
        While([&] { return a > 0; },
              [&] {
                i32 k = a;
                While([&] { return k != 0; },  // four thousand million steps from below
                      [&] {
                        k = k - 1;
                        n = n + 1;
                      });
                a = a - 1 - (b & 1);
              });
        return n;
      },
      [](int a, int b) {
        int n = 0;
        for (a -= 10; a > 0; a -= 1 + (b & 1)) n += a;
        return n;
      });
}

TEST(Termination, NewtonsMethodWhereItDoesNotConverge) {
  expect_ends(
      [](f32 x, f32 y) {
        f32 r = y + 1;
        i32 n = 0;
        If(x > 0 && x < 1000 && y < 1000, [&] {
          While([&] { return abs(r * r - x) > 0.001f * x; },  // never below 0, nor for NaN
                [&] {
                  r = (r + x / r) * 0.5f;
                  n = n + 1;
                });
        });
        return n;
      },
      [](float x, float y) {
        float r = y + 1;
        int n = 0;
        while (x > 0 && x < 1000 && y < 1000 && std::fabs(r * r - x) > 0.001f * x) {
          r = (r + x / r) * 0.5f;
          ++n;
        }
        return n;
      },
      with_specials(5), std::vector<float>(kCount, 3));
}

i32 digits(i32 a) {
  ReturnIf(a < 0, i32(-1));
  i32 n = 0;
  While([&] { return a != 0; },  // never from below: division floors
        [&] {
          a = a / 10;
          n = n + 1;
        });
  return n;
}

TEST(Termination, ACalledFunctionThatReturnsBeforeItsEndlessLoop) {
  expect_ends(
      [](i32 a, i32 b) { return Call(digits, (a - 20) * b) * 10 + Call(digits, a * b - 100); },
      [](int a, int b) {
        const auto plain = [](int n) {
          if (n < 0) return -1;
          int count = 0;
          for (; n != 0; n /= 10) ++count;
          return count;
        };
        return plain((a - 20) * b) * 10 + plain(a * b - 100);
      });
}

TEST(Termination, ASearchThatIsEndlessForWhatIsNotThere) {
  expect_ends(
      [](i32 a, i32 b) {
        Array<std::int32_t> slots(8, -1);
        For(0, 5, [&](i32 i) { slots[(a + i * 3) & 7] = i; });
        i32 place = b & 7;
        i32 key = b % 9;
        i32 n = 0;
        If(key < 5, [&] {
          While([&] { return slots[place] != key; },  // none has 5 to 8
                [&] {
                  place = (place + 1) & 7;
                  n = n + 1;
                });
        });
        return n;
      },
      [](int a, int b) {
        int slots[8];
        std::fill(slots, slots + 8, -1);
        for (int i = 0; i < 5; ++i) slots[(a + i * 3) & 7] = i;
        int n = 0;
        while (b % 9 < 5 && slots[(b + n) & 7] != b % 9) ++n;
        return n;
      });
}

TEST(Termination, ABreakOutOfBranchesBesideAnEndlessLoop) {
  expect_ends(
      [](i32 a, i32 b) {
        i32 n = 0;
        For(0, 20, [&](i32 i) {
          If(i >= a, [&] {
            If(i > b, [&] { Break(); });
            i32 k = i - a;
            While([&] { return k != b - a; },  // never above b
                  [&] {
                    k = k + 1;
                    n = n + 1;
                  });
            ContinueIf(i % 2 == 0);
            n = n + 1000;
          });
        });
        return n;
      },
      [](int a, int b) {
        int n = 0;
        for (int i = 0; i < 20; ++i) {
          if (i < a) continue;
          if (i > b) break;
          n += b - i;
          if (i % 2 == 1) n += 1000;
        }
        return n;
      },
      25);
}

TEST(Termination, ASecondLoopThatEndsOnlyWithWhatTheFirstLeft) {
  expect_ends(
      [](i32 a, i32 b) {
        i32 n = 0;
        While([&] { return a % 4 != 0; },
              [&] {
                a = a + 1;
                n = n + 1;
              });
        While([&] { return a != 0; },  // only from a multiple of four
              [&] {
                a = a - 4;
                n = n + 10;
                If(n > 80 && b > 30, [&] { Break(); });
              });
        return n;
      },
      [](int a, int b) {
        int n = 0;
        for (; a % 4 != 0; ++a) ++n;
        while (a != 0) {
          a -= 4;
          n += 10;
          if (n > 80 && b > 30) break;
        }
        return n;
      });
}

TEST(Termination, ThreeLevelsOfBranchesAndLoops) {
  expect_ends(
      [](i32 a, i32 b) {
        i32 n = 0;
        While([&] { return a > 0; },
              [&] {
                If(a % 2 == 1, [&] {
                  i32 k = b;
                  While([&] { return k > 0; },
                        [&] {
                          If(k % 3 == 0, [&] {
                            i32 m = k;
                            While([&] { return m != 0; },  // only from a multiple of three
                                  [&] {
                                    m = m - 3;
                                    n = n + 1;
                                    If(n % 50 == 49, [&] { k = 0; });
                                  });
                          });
                          k = k - 1;
                        });
                });
                a = a - 1;
              });
        return n;
      },
      [](int a, int b) {
        int n = 0;
        for (; a > 0; --a) {
          if (a % 2 != 1) continue;
          for (int k = b; k > 0; --k) {
            if (k % 3 != 0) continue;
            for (int m = k; m != 0;) {
              m -= 3;
              if (++n % 50 == 49) k = 0;
            }
          }
        }
        return n;
      });
}

}  // namespace
}  // namespace lw
