// Elements that fail: the lowest is named, with its line and values, whatever ran first; what an
// element does not come to does not make it fail.
#include <gtest/gtest.h>

#include "lanewise/lanewise.h"
#include "tests/support/every_way.h"
#include "tests/support/message_of.h"

namespace lw {
namespace {

using test::message_of;

std::string at(int line) { return std::string(__FILE__) + ":" + std::to_string(line); }

std::string index_words(std::int64_t element, int line, std::int64_t got, std::int64_t last) {
  return fmt::format(
      "map: element {} uses an index that is out of range ({}); got {}, expected 0 to {}. Check "
      "the index, or say with a mode what such an index means.",
      element, at(line), got, last);
}

std::string division_words(std::int64_t element, int line, std::int64_t dividend) {
  return fmt::format(
      "map: element {} divides an integer by zero ({}); got {} / 0, expected a divisor that is "
      "not 0. Replace it by a select.",
      element, at(line), dividend);
}

std::string step_words(std::int64_t element, int line, std::int64_t limit) {
  return fmt::format(
      "map: element {} took more loop steps than allowed ({}); got a limit of {} steps. Raise "
      "max_steps, or check that the loop ends.",
      element, at(line), limit);
}

/// Expects that the map fails with these words on every way, on any threads and chunks. `words` is
/// asked when the function has been traced.
template <class F, class Words, class... A>
void expect_failure(const F& function, const Words& words, bool refill, std::int64_t max_steps,
                    const A&... arrays) {
  for (const test::Way& way : test::every_way(refill)) {
    auto f = vectorize(function, {.schedule = way.wish});
    for (const int threads : {1, 2, 3}) {
      for (const std::int64_t chunk : {0, 64, 100}) {
        MapOptions options = way.options;
        options.threads = threads;
        options.chunk = chunk;
        options.max_steps = max_steps;
        const std::string got = message_of<ElementError>([&] { f.with(options, arrays...); });
        ASSERT_EQ(got, words()) << way.name << ", " << threads << " threads, chunks of " << chunk;
      }
    }
  }
}

template <class F, class... A>
void expect_no_failure(const F& function, bool refill, const A&... arrays) {
  for (const test::Way& way : test::every_way(refill)) {
    auto f = vectorize(function, {.schedule = way.wish});
    EXPECT_NO_THROW(f.with(way.options, arrays...)) << way.name;
  }
}

constexpr std::size_t kCount = 400;

/// `usual`, with other values at some elements.
std::vector<std::int32_t> numbers(
    std::int32_t usual, std::initializer_list<std::pair<std::size_t, std::int32_t>> others) {
  std::vector<std::int32_t> n(kCount, usual);
  for (const auto& [element, value] : others) n[element] = value;
  return n;
}

const std::vector<float> kValues = {1, 2, 3, 4, 5};

// --- where ---

/// All that is said, also below the message.
template <class F>
std::string whole_message(const F& function) {
  try {
    vectorize(function)(std::vector<std::int32_t>{1, 0, -1});
  } catch (const ElementError& error) {
    return error.what();
  }
  return "[nothing was thrown]";
}

TEST(ElementErrors, TheLineOfTheSourceIsShownWithACaret) {
  int line = 0;
  const std::string said = whole_message([&](i32 n) {
    line = __LINE__ + 1;
    lw::Check(n > 0, "is too small");
    return n;
  });
  EXPECT_EQ(said, fmt::format("map: element 1 failed ({}): is too small; got 0 and 0.\n"
                              "  lw::Check(n > 0, \"is too small\");\n"
                              "  ^",
                              at(line)));
}

TEST(ElementErrors, ACaretStandsAtTheOperandsOfAnOperator) {
  const std::string said = whole_message([](i32 n) { return 8 / n; });
  const std::size_t code =
      said.find("\n  const std::string said = whole_message([](i32 n) { return");
  ASSERT_NE(code, std::string::npos) << said;
  const std::string below = said.substr(said.rfind('\n') + 1);
  EXPECT_TRUE(below.ends_with("^") && below.find_first_not_of(" ^") == std::string::npos) << said;
  const std::size_t operands = said.find("8 / n", code) - (code + 1);
  EXPECT_TRUE(below.size() > operands && below.size() <= operands + 5) << said;
}

// --- indices ---

TEST(ElementErrors, AReadOutsideOfATable) {
  int line = 0;
  expect_failure(
      [&](i32 i, Table<float> t) {
        f32 x = t[0];
        line = __LINE__ + 1;
        x = x + t[i];
        return x * 2;
      },
      [&] { return index_words(123, line, -1, 4); }, false, 0,
      numbers(4, {{399, 5}, {123, -1}, {200, 5}, {256, INT32_MIN}}), kValues);
}

TEST(ElementErrors, AReadOutsideOfATableByAWideIndex) {
  int line = 0;
  expect_failure(
      [&](i32 i, Table<float> t) {
        i64 wide = cast<std::int64_t>(i) << 32;
        line = __LINE__ + 1;
        return t.read(wide);
      },
      [&] { return index_words(77, line, std::int64_t{3} << 32, 4); }, false, 0,
      numbers(0, {{77, 3}, {300, -5}}), kValues);
}

TEST(ElementErrors, AReadOutsideOfAnArray) {
  int line = 0;
  expect_failure(
      [&](i32 i) {
        Array<std::int32_t> a(7, 3);
        i32 n = i;
        line = __LINE__ + 1;
        n = a[i] + n;
        return n;
      },
      [&] { return index_words(64, line, 7, 6); }, false, 0,
      numbers(6, {{64, 7}, {65, -1}, {399, 1000}}));
}

TEST(ElementErrors, AWriteOutsideOfAnArray) {
  int line = 0;
  expect_failure(
      [&](i32 i) {
        Array<std::int32_t> a(7, 3);
        a[0] = i;
        line = __LINE__ + 1;
        a[i - 2] = 5;
        return i32(a[0]);
      },
      [&] { return index_words(8, line, -1, 6); }, false, 0, numbers(8, {{8, 1}, {201, 9}}));
}

TEST(ElementErrors, AWriteOfAnotherItem) {
  int line = 0;
  expect_failure(
      [&](i32 i) {
        Array<std::int32_t> a(7, 3);
        line = __LINE__ + 1;
        a[1] = a[i];
        return i32(a[1]);
      },
      [&] { return index_words(9, line, 70, 6); }, false, 0, numbers(6, {{9, 70}}));
}

TEST(ElementErrors, ACompoundAssignmentOutsideOfAnArray) {
  int line = 0;
  expect_failure(
      [&](i32 i) {
        Array<std::int32_t> a(7, 3);
        line = __LINE__ + 1;
        a[i] += 5;
        return i32(a[2]);
      },
      [&] { return index_words(333, line, 7, 6); }, false, 0, numbers(2, {{333, 7}}));
}

TEST(ElementErrors, AnIndexThatIsTheSameForAll) {
  int line = 0;
  const auto read = [&](i32 i, i32 place, Table<float> t) {
    f32 x = 0;
    line = __LINE__ + 1;
    If(i > 5, [&] { x = t[place]; });
    return x;
  };
  const std::vector<std::int32_t> some = numbers(0, {{150, 9}, {160, 9}});
  expect_failure(read, [&] { return index_words(150, line, 5, 4); }, false, 0, some, 5, kValues);
  expect_failure(read, [&] { return index_words(150, line, -3, 4); }, false, 0, some, -3, kValues);
  expect_no_failure(read, false, some, 4, kValues);
  expect_no_failure(read, false, numbers(5, {}), 1000000, kValues);
}

TEST(ElementErrors, AnIndexThatAllComeToInTheSameStep) {
  int line = 0;
  expect_failure(
      [&](i32 n, Table<float> t) {
        f32 sum = 0;
        For(0, n, [&](i32 i) {
          line = __LINE__ + 1;
          sum = sum + t[i];
        });
        return sum;
      },
      [&] { return index_words(31, line, 5, 4); }, true, 0, numbers(5, {{31, 6}, {50, 9}}),
      kValues);
}

TEST(ElementErrors, AnIndexInABranchInALoop) {
  int line = 0;
  const auto walk = [&](i32 n, i32 m) {
    Array<std::int32_t> a(4);
    i32 sum = 0;
    For(0, n, [&](i32 i) {
      If(i * m > 20, [&] {
        line = __LINE__ + 1;
        a[i - 5] = i;
        sum = sum + a[0];
      });
    });
    return sum;
  };
  // Beyond 20 from i = 5 on where m is 5, from i = 4 on where it is 6.
  expect_failure(
      walk, [&] { return index_words(70, line, 4, 3); }, true, 0, numbers(8, {{70, 10}, {71, 11}}),
      numbers(5, {}));
  expect_failure(
      walk, [&] { return index_words(40, line, -1, 3); }, true, 0, numbers(8, {}),
      numbers(5, {{40, 6}, {41, 20}}));
  expect_no_failure(walk, true, numbers(9, {}), numbers(5, {{4, 0}, {5, -100}}));
}

TEST(ElementErrors, AWhichCaseThatIsNotThere) {
  int line = 0;
  for (const std::int32_t wrong : {-1, 3, INT32_MAX, INT32_MIN}) {
    expect_failure(
        [&](i32 a) {
          i32 n = a;
          n = n * 2;
          line = __LINE__ + 1;
          Switch(a, [&] { n = 1; }, [&] { n = n / 2; }, [] {});
          return n;
        },
        [&] { return index_words(70, line, wrong, 2); }, false, 0,
        numbers(1, {{70, wrong}, {71, 9}}));
  }
}

TEST(ElementErrors, ModesOtherThanCheckDoNotFail) {
  expect_no_failure(
      [](i32 i, Table<float> t) {
        Array<float> a(3, t[0]);
        f32 x = 0;
        for (const Mode mode : {Mode::Clip, Mode::Wrap, Mode::Fill}) {
          a.write(i, t.read(i, mode), mode);
          x = x + a.read(i, mode);
        }
        return x;
      },
      false, numbers(0, {{1, -1}, {2, 5}, {3, INT32_MIN}, {4, INT32_MAX}}), kValues);
}

// --- divisions ---

TEST(ElementErrors, ADivisionByZeroInABranch) {
  int line = 0;
  const auto divide = [&](i32 a, i32 b) {
    i32 n = 7;
    If(a > 3, [&] {
      line = __LINE__ + 1;
      n = 100 % b;
    });
    return n;
  };
  expect_failure(
      divide, [&] { return division_words(350, line, 100); }, false, 0,
      numbers(0, {{350, 4}, {351, 5}}), numbers(0, {{352, 1}}));
  expect_no_failure(divide, false, numbers(3, {}), numbers(0, {}));
}

TEST(ElementErrors, ADivisionByZeroInALoop) {
  int line = 0;
  const auto divide = [&](i32 a, i32 b) {
    i32 n = 0;
    While([&] { return a > b; },
          [&] {
            a = a - 1;
            ContinueIf(a % 5 == 0 && a > 5);
            line = __LINE__ + 1;
            n = n + 1000 / a;
          });
    return n;
  };
  expect_failure(
      divide, [&] { return division_words(17, line, 1000); }, true, 0, numbers(20, {}),
      numbers(10, {{17, 0}, {18, -4}}));
  expect_no_failure(divide, true, numbers(20, {{0, 0}, {1, -7}}), numbers(1, {}));
}

TEST(ElementErrors, ADivisionByZeroBehindAnEarlyReturn) {
  int line = 0;
  const auto divide = [&](i32 a, i32 b) -> i32 {
    ReturnIf(b == 0 && a == 0, i32(-1));
    line = __LINE__ + 1;
    return a / b;
  };
  expect_failure(
      divide, [&] { return division_words(5, line, 3); }, false, 0, numbers(0, {{5, 3}, {6, 3}}),
      numbers(0, {{8, 1}}));
  expect_no_failure(divide, false, numbers(0, {}), numbers(0, {{8, 1}}));
}

TEST(ElementErrors, ADivisionByZeroThatIsTheSameForAll) {
  int line = 0;
  const auto divide = [&](i32 a, i32 b) {
    i32 n = 7;
    line = __LINE__ + 1;
    If(a > 3, [&] { n = 100 / b + a; });
    return n;
  };
  expect_failure(
      divide, [&] { return division_words(9, line, 100); }, false, 0, numbers(0, {{9, 4}}), 0);
  expect_no_failure(divide, false, numbers(3, {}), 0);
}

// --- checks ---

TEST(ElementErrors, ACheckThatDoesNotHold) {
  int line = 0;
  const auto checked = [&](i32 a) {
    If(a > 10, [&] {
      a = a - 10;
      line = __LINE__ + 1;
      Check(a != 7);
    });
    return a;
  };
  expect_failure(
      checked, [&] { return fmt::format("map: element 99 failed ({}); got 7 and 7.", at(line)); },
      false, 0, numbers(7, {{99, 17}, {100, 17}}));
  expect_no_failure(checked, false, numbers(7, {{1, 18}}));
}

// --- limits of steps ---

TEST(ElementErrors, AnEndlessLoopOfOneElement) {
  int line = 0;
  expect_failure(
      [&](i32 a) {
        i32 n = 0;
        line = __LINE__ + 1;
        While([&] { return a != 0; },
              [&] {
                a = a - 2;
                n = n + 1;
              });
        return n;
      },
      [&] { return step_words(222, line, 5000); }, true, 5000, numbers(8, {{222, 3}, {300, 5}}));
}

TEST(ElementErrors, ALoopOverWhatIsNotANumber) {
  int line = 0;
  const auto count = [&](f32 x) {
    i32 n = 0;
    line = __LINE__ + 1;
    While([&] { return !(x <= 1); },
          [&] {
            x = x / 2;
            n = n + 1;
          });
    return n;
  };
  std::vector<float> x(kCount, 100);
  expect_no_failure(count, true, x);
  x[250] = std::nanf("");
  x[260] = INFINITY;
  expect_failure(count, [&] { return step_words(250, line, 1000); }, true, 1000, x);
}

/// Steps of plain code, counted by hand: back edges of loops, none of branches.
int plain_steps(int a, int b) {
  int steps = 0;
  for (int i = 0; i < a; ++i, ++steps) {
    if (i % 3 == 1) continue;
    for (int k = i; k > 0; --k, ++steps) {
      if (k * i == b) break;
      if (k * i == 2 * b) return steps;
    }
  }
  return steps;
}

TEST(ElementErrors, TheLimitOfStepsIsExactWithBranchesContinueBreakAndReturn) {
  int outer = 0;
  int inner = 0;
  const auto walk = [&](i32 a, i32 b) -> i32 {
    i32 n = 0;
    outer = __LINE__ + 1;
    For(0, a, [&](i32 i) {
      If(i % 3 == 1, [&] { Continue(); });
      i32 k = i;
      inner = __LINE__ + 1;
      While([&] { return k > 0; },
            [&] {
              If(k * i == b, [&] { Break(); });
              If(k * i == 2 * b, [&] { Return(n + 1000); });
              k = k - 1;
              n = n + 1;
            });
    });
    return n;
  };
  for (const auto& [a, b] : {std::pair(9, 1000), std::pair(9, 18), std::pair(12, 30),
                             std::pair(1, 0), std::pair(12, 10)}) {
    const std::vector<std::int32_t> as = numbers(0, {{55, a}});
    const std::vector<std::int32_t> bs(kCount, b);
    const int steps = plain_steps(a, b);
    ASSERT_GT(steps, 0);
    for (const test::Way& way : test::every_way(true)) {
      auto f = vectorize(walk, {.schedule = way.wish});
      MapOptions options = way.options;
      options.max_steps = steps;
      EXPECT_NO_THROW(f.with(options, as, bs)) << way.name << ", " << steps;
      if (steps == 1) continue;  // 0 is no limit
      options.max_steps = steps - 1;
      const std::string got = message_of<ElementError>([&] { f.with(options, as, bs); });
      EXPECT_TRUE(got == step_words(55, outer, steps - 1) ||
                  got == step_words(55, inner, steps - 1))
          << way.name << ": " << got;
    }
  }
}

// --- the lowest ---

TEST(ElementErrors, TheLowestElementIsNamedWhateverItFailsOf) {
  int read = 0;
  const auto several = [&](i32 a, Table<float> t) {
    i32 n = 0;
    If(a == 1, [&] { n = 1 / (a - 1); });
    If(a == 2, [&] { Check(a != 2); });
    If(a == 3, [&] { While([&] { return a == 3; }, [&] { n = n + 1; }); });
    read = __LINE__ + 1;
    If(a == 4, [&] { n = n + cast<std::int32_t>(t[a + 3]); });
    Switch(n * 0 + a / 5, [] {});
    return n;
  };
  expect_failure(
      several, [&] { return index_words(61, read, 7, 4); }, false, 2000,
      numbers(0, {{61, 4}, {62, 3}, {130, 1}, {131, 2}, {190, 5}, {399, 4}}), kValues);
}

TEST(ElementErrors, TheNumberOfAnElementIsItsPlaceInTheArraysOfTheCall) {
  auto f = vectorize([](i32 a) { return 10 / a; });
  try {
    f.with({.first_element = 1000}, numbers(1, {{7, 0}}));
    FAIL();
  } catch (const ElementError& error) {
    EXPECT_EQ(error.element(), 7);
  }
}

// --- calls ---

TEST(ElementErrors, TablesThatAreNotThereOrStandApart) {
  auto f = vectorize([](i32 i, Table<float> t) { return t[i]; });
  const std::vector<std::int32_t> index = {0};
  EXPECT_EQ(message_of<UsageError>([&] { f(index, std::vector<float>()); }),
            "map: argument 1 is a table without values; got size 0, expected at least 1.");
  EXPECT_EQ(message_of<UsageError>([&] { f(index, Strided<const float>{kValues.data(), 2, 2}); }),
            "map: argument 1 is a table whose values stand apart; got 8 bytes from one to the "
            "next, expected 4. Copy it first.");
  std::vector<float> both = {1, 2, 3};
  EXPECT_EQ(message_of<UsageError>([&] { f.into(std::span(both).first(1), {}, index, both); }),
            "map: output 0 overlaps argument 1; got shared memory, expected separate arrays. "
            "Give another out, or none.");
}

TEST(ElementErrors, ACountThatIsWrong) {
  auto f = vectorize([](i32 a) { return a; });
  EXPECT_EQ(message_of<UsageError>([&] { f.with({.count = -1}, numbers(0, {})); }),
            "map: count is negative; got -1, expected 0 or a number of elements.");
  EXPECT_EQ(message_of<UsageError>([&] { f.with({.count = 7}, numbers(0, {})); }),
            "map: count is not the mapped size; got 7 and 400 (argument 0). Leave it away where "
            "there are arrays.");
}

TEST(ElementErrors, ArraysOfSizesThatAreNone) {
  for (const std::uint32_t size : {0u, 4097u}) {
    auto f = vectorize([size](f32 x) {
      Array<float> a(size);
      return x;
    });
    EXPECT_EQ(message_of<UsageError>([&] { f(kValues); }),
              fmt::format("Array: wrong size; got {}, expected 1 to 4096.", size));
  }
}

// Last, as lines are counted anew from here on.
TEST(ElementErrors, WithoutTheSourceThereIsTheMessageAlone) {
  const std::string said = whole_message([&](i32 n) {
#line 7 "nowhere/to/be/found.cpp"
    Check(n > 0);
    return n;
  });
  EXPECT_EQ(said, "map: element 1 failed (nowhere/to/be/found.cpp:7); got 0 and 0.");
}

}  // namespace
}  // namespace lw
