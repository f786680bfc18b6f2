// Accumulators: the order of runtime/fold.h, on both tiers, with any threads, chunks and budget.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <thread>

#include "lanewise/lanewise.h"
#include "tests/support/fold_order.h"
#include "tests/support/message_of.h"

namespace lw {
namespace {

template <class T>
std::vector<T> numbers(std::size_t size) {
  std::vector<T> values(size);
  std::uint64_t state = 7;
  for (T& value : values) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const auto r = static_cast<double>(state >> 40);
    value = static_cast<T>((r - (1 << 23)) * std::pow(10.0, static_cast<double>(state >> 33 & 7)));
  }
  return values;
}

/// The sum in the documented order; `first` is the number of the first one.
template <class T>
T summed(const std::vector<T>& values, std::int64_t first = 0) {
  const auto total = test::folded_in_order(
      std::ssize(values), first,
      [&](std::int64_t i) { return std::optional<T>(values[static_cast<std::size_t>(i)]); },
      [](T a, T b) { return a + b; });
  return total.value_or(T{0}) + T{0};
}

std::vector<MapOptions> every_way() {
  std::vector<MapOptions> ways;
  for (const int threads : {1, 2, 3}) {
    for (const Compile compile : {Compile::Now, Compile::Never}) {
      for (const std::int64_t chunk : {0, 100, 5000}) {
        for (const std::int64_t memory : {0, 500'000}) {
          ways.push_back(
              {.threads = threads, .memory = memory, .compile = compile, .chunk = chunk});
        }
      }
    }
  }
  return ways;
}

template <class T>
void expect_sums() {
  Sum<T> total;
  auto add = vectorize([&](Variable<T> x) { total.add(x * x - x); });
  for (const std::size_t size : {0, 1, 7, 1023, 1024, 1025, 16384, 16385, 50'000}) {
    const std::vector<T> x = numbers<T>(size);
    std::vector<T> squares(size);
    for (std::size_t i = 0; i < size; ++i) squares[i] = x[i] * x[i] - x[i];
    const T expected = summed(squares);
    for (const MapOptions& way : every_way()) {
      total.reset();
      add.with(way, x);
      EXPECT_EQ(Scalar(total.value()), Scalar(expected)) << size << ' ' << way.threads;
    }
  }
}

TEST(Accumulators, SumsHaveTheOrderOfTheElementNumbers) {
  expect_sums<float>();
  expect_sums<double>();
}

TEST(Accumulators, BlocksAreThoseOfTheNumbersOfTheElements) {
  const std::vector<float> x = numbers<float>(40'000);
  Sum<float> total;
  for (const std::int64_t first : {1, 1000, 1024, 5137, -7000, -100'000}) {
    for (MapOptions way : every_way()) {
      way.first_element = first;
      total.reset();
      map([&](f32 v) { total.add(v); }, x, way);
      EXPECT_EQ(Scalar(total.value()), Scalar(summed(x, first)));
    }
  }
}

TEST(Accumulators, StridedInputsAndResultsBeside) {
  const std::vector<double> x = numbers<double>(60'000);
  std::vector<double> every_third;
  for (std::size_t i = 0; i < x.size(); i += 3) every_third.push_back(x[i]);
  const Strided<const double> view{x.data(), std::ssize(every_third), 3};
  Sum<double> total;
  for (const MapOptions& way : every_way()) {
    total.reset();
    const Tensor y = map(
        [&](f64 v) {
          total.add(v);
          return v * 2;
        },
        view, way);
    EXPECT_EQ(Scalar(total.value()), Scalar(summed(every_third)));
    EXPECT_EQ(y.at<double>(17), every_third[17] * 2);
  }
}

TEST(Accumulators, ElementsAddWhenTheyComeThere) {
  Sum<std::int64_t> total;
  Count steps, large;
  auto walk = vectorize([&](i32 n) {
    While([&] { return n > 0; },
          [&] {
            If(n % 3 == 0, [&] { total.add(cast<std::int64_t>(n)); });
            steps.add();
            n -= 1;
          });
    large.add(n > 3);
  });
  std::vector<std::int32_t> n;
  std::int64_t sum = 0, count = 0;
  for (std::int32_t i = 0; i < 20'000; ++i) {
    n.push_back(i % 17);
    for (std::int32_t k = i % 17; k > 0; --k, ++count) sum += k % 3 == 0 ? k : 0;
  }
  for (const MapOptions& way : every_way()) {
    total.reset();
    steps.reset();
    walk.with(way, n);
    EXPECT_EQ(total.value(), sum);
    EXPECT_EQ(steps.value(), count);
    EXPECT_EQ(large.value(), 0);
  }
}

TEST(Accumulators, MeansExtremesAndPlaces) {
  std::vector<float> x = numbers<float>(50'000);
  x[30'000] = -1e30f;
  x[40'000] = -1e30f;
  x[123] = 1e30f;
  Mean<float> mean;
  Min<float> low;
  Max<float> high;
  ArgMin<float> where_low;
  ArgMax<float> where_high;
  auto look = vectorize([&](f32 v) {
    mean.add(v);
    low.add(v);
    high.add(v);
    where_low.add(v);
    where_high.add(v);
  });
  EXPECT_EQ(where_low.place(), -1);
  for (const MapOptions& way : every_way()) {
    mean.reset();
    look.with(way, x);
    EXPECT_EQ(mean.value(), summed(x) / 50'000.0f);
    EXPECT_EQ(mean.count(), 50'000);
    EXPECT_EQ(low.value(), -1e30f);
    EXPECT_EQ(high.value(), 1e30f);
    EXPECT_EQ(where_low.place(), 30'000);
    EXPECT_EQ(where_high.place(), 123);
    EXPECT_EQ(where_high.value(), 1e30f);
  }
  x[7] = NAN;
  where_low.reset();
  look(x);
  EXPECT_EQ(where_low.place(), 7);
  EXPECT_TRUE(std::isnan(low.value()));
}

TEST(Accumulators, HistogramsAndKeyedSums) {
  std::vector<std::int32_t> keys;
  const std::vector<float> x = numbers<float>(50'000);
  std::vector<std::int64_t> counts(10);
  std::vector<float> sums(10);
  for (std::size_t i = 0; i < x.size(); ++i) {
    keys.push_back(static_cast<std::int32_t>(i * i % 10));
    counts[static_cast<std::size_t>(keys[i])] += 1 + (keys[i] > 4 ? 2 : 0);
    sums[static_cast<std::size_t>(keys[i])] += x[i];
  }
  Histogram h(10);
  KeyedSum<float> k(10);
  auto add = vectorize([&](i32 key, f32 v) {
    h.add(key);
    k.add(key, v);
    For(0, 2, [&](i32) { If(key > 4, [&] { h.add(key); }); });
  });
  for (MapOptions way : every_way()) {
    way.memory = way.memory * 20;
    h.reset();
    k.reset();
    add.with(way, keys, x);
    EXPECT_EQ(h.value(), counts);
    EXPECT_EQ(k.value(), sums);
  }
}

TEST(Accumulators, ManyElementsOnSeveralThreads) {
  const std::vector<float> x = numbers<float>(700'001);
  std::vector<std::int32_t> keys;
  std::vector<std::int64_t> counts(1000);
  std::vector<float> sums(1000);
  for (std::size_t i = 0; i < x.size(); ++i) {
    keys.push_back(static_cast<std::int32_t>(i * 7919 % 1000));
    counts[static_cast<std::size_t>(keys[i])] += 1;
    sums[static_cast<std::size_t>(keys[i])] += x[i];
  }
  const float total = summed(x, 77);
  const std::int64_t least = std::min_element(x.begin(), x.end()) - x.begin();
  Sum<float> sum;
  ArgMin<float> where;
  Histogram h(1000);
  KeyedSum<float> k(1000);
  auto add = vectorize([&](i32 key, f32 v) {
    sum.add(v);
    where.add(v);
    h.add(key);
    k.add(key, v);
  });
  for (const int threads : {2, 3, 4}) {
    for (const Compile compile : {Compile::Now, Compile::Never}) {
      for (const std::int64_t chunk : {0, 3000}) {
        sum.reset();
        where.reset();
        h.reset();
        k.reset();
        const runtime::RunStats run = add.into(
            std::initializer_list<Output>{},
            {.threads = threads, .compile = compile, .chunk = chunk, .first_element = 77}, keys, x);
        EXPECT_EQ(run.workers, threads);
        EXPECT_EQ(Scalar(sum.value()), Scalar(total));
        EXPECT_EQ(where.place(), least + 77);
        EXPECT_EQ(h.value(), counts);
        EXPECT_EQ(k.value(), sums);
      }
    }
  }
}

TEST(Accumulators, AFailureOnSeveralThreadsAddsNothing) {
  Sum<float> sum;
  KeyedSum<float> k(10);
  std::vector<float> x(700'000, 1.0f);
  auto add = vectorize([&](f32 v) {
    Check(v > 0);
    sum.add(v);
    k.add(cast<std::int32_t>(v), v);
  });
  for (const std::size_t wrong : {std::size_t{3}, std::size_t{350'000}, x.size() - 1}) {
    x[wrong] = -1;
    try {
      add.with({.threads = 3}, x);
      ADD_FAILURE();
    } catch (const ElementError& error) {
      EXPECT_EQ(error.element(), static_cast<std::int64_t>(wrong));
    }
    EXPECT_EQ(sum.value(), 0.0f);
    EXPECT_EQ(k.value(), std::vector<float>(10));
    x[wrong] = 1;
  }
}

TEST(Accumulators, AFailingCallAddsNothing) {
  Sum<double> total;
  Histogram h(4);
  auto add = vectorize([&](f64 x, i32 key) {
    total.add(x);
    h.add(key);
  });
  add(std::vector<double>{1, 2}, std::vector<std::int32_t>{0, 3});
  std::vector<double> x(50'000, 1.0);
  std::vector<std::int32_t> keys(50'000, 2);
  keys[40'000] = 4;
  for (const MapOptions& way : every_way()) {
    EXPECT_THROW(add.with(way, x, keys), ElementError);
    EXPECT_EQ(total.value(), 3.0);
    EXPECT_EQ(h.value(), (std::vector<std::int64_t>{1, 0, 0, 1}));
  }
  const std::string said = test::message_of<Error>([&] { add(x, keys); });
  EXPECT_NE(said.find("element 40000 uses an index that is out of range"), std::string::npos);
  EXPECT_NE(said.find("accumulators_test.cpp"), std::string::npos);
}

TEST(Accumulators, AnElementAddsOnceToAKeyedSumAtAPlace) {
  KeyedSum<double> k(4);
  auto add = vectorize([&](i32 n) {
    While([&] { return n > 0; },
          [&] {
            k.add(n, 1.0);
            n -= 1;
          });
  });
  add(std::vector<std::int32_t>{0, 1});
  EXPECT_THROW(add(std::vector<std::int32_t>{0, 1, 2}), ElementError);
  EXPECT_EQ(k.value(), (std::vector<double>{0, 1, 0, 0}));
}

/// As `summed`, with a function for which the order matters.
std::optional<double> folded(const std::vector<double>& values) {
  return test::folded_in_order(
      std::ssize(values), 0,
      [&](std::int64_t i) {
        const double value = values[static_cast<std::size_t>(i)];
        return value > 0 ? std::optional(value) : std::nullopt;
      },
      [](double a, double b) { return a - b / 2; });
}

TEST(Accumulators, AFunctionOfTheUsersHasTheSameOrder) {
  Fold<double> fold([](f64 a, f64 b) { return a - b / 2; });
  auto add = vectorize([&](f64 x) { If(x > 0, [&] { fold.add(x); }); });
  EXPECT_EQ(fold.value(), std::nullopt);
  for (const std::size_t size : {0, 1, 7, 1025, 20'000, 600'000}) {
    const std::vector<double> x = numbers<double>(size);
    for (const int threads : {1, 3}) {
      for (const Compile compile : {Compile::Now, Compile::Never}) {
        fold.reset();
        add.with({.threads = threads, .compile = compile}, x);
        EXPECT_EQ(fold.value(), folded(x)) << size;
      }
    }
  }
  Fold<std::int32_t> digits([](i32 a, i32 b) { return a * 10 + b; }, 7);
  auto write = vectorize([&](i32 n) {
    While([&] { return n > 0; },
          [&] {
            digits.add(n);
            n -= 1;
          });
  });
  write(std::vector<std::int32_t>{3});
  write(std::vector<std::int32_t>{2});
  EXPECT_EQ(digits.value(), (7 * 10 + 321) * 10 + 21);
}

TEST(Accumulators, MeansOfRows) {
  const std::vector<float> x = numbers<float>(3 * 3000);
  for (const MapOptions& way : every_way()) {
    if (way.memory > 0) continue;
    RowMean<float> mean(3);
    Sum<float> sums[3];
    map(
        [&](Row<float> r) {
          mean.add(r);
          for (int i = 0; i < 3; ++i) sums[i].add(r[i]);
        },
        Input(x).in_rows(3), way);
    EXPECT_EQ(mean.count(), 3000);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(mean.value()[i], sums[i].value() / 3000.0f);
  }
  RowMean<double> none(2);
  EXPECT_TRUE(std::isnan(none.value()[1]));
}

TEST(Accumulators, AFunctionOfTheUsersCombinesRows) {
  using Point = std::vector<double>;
  constexpr std::size_t kSize = 5;
  const std::vector<double> x = numbers<double>(kSize * 5000);
  const auto expected = [&](std::int64_t count, std::int64_t first) {
    return test::folded_in_order(
        count, first,
        [&](std::int64_t i) {
          const double* const begin = x.data() + i * static_cast<std::int64_t>(kSize);
          return *begin > 0 ? std::optional(Point(begin, begin + kSize)) : std::nullopt;
        },
        [](const Point& a, const Point& b) {
          Point both(a.size());
          for (std::size_t i = 0; i < a.size(); ++i) both[i] = a[a.size() - 1 - i] - b[i] / 2;
          return both;
        });
  };
  Fold<Row<double>> fold([](Row<double> a, Row<double> b) { return flip(a) - b / 2.0; });
  auto add = vectorize([&](Row<double> r) { If(r[0] > 0, [&] { fold.add(r); }); });
  EXPECT_EQ(fold.value(), std::nullopt);
  for (const std::int64_t count : {0, 1, 70, 5000}) {
    for (MapOptions way : every_way()) {
      if (way.memory > 0) continue;
      way.first_element = count == 70 ? -20 : 3;
      fold.reset();
      const std::span<const double> some(x.data(), static_cast<std::size_t>(count) * kSize);
      add.with(way, Input(some).in_rows(kSize));
      EXPECT_EQ(fold.value(), expected(count, way.first_element)) << count;
    }
  }
}

/// Numbers and rows together, updates in loops, a start, an early return, values that change
/// places.
TEST(Accumulators, AFunctionOfTheUsersCombinesSeveralValues) {
  Fold<std::int64_t, Row<float>, Row<float>> fold(
      [](std::tuple<i64, Row<float>, Row<float>> a, std::tuple<i64, Row<float>, Row<float>> b) {
        const i64 n = std::get<0>(a) + std::get<0>(b);
        ReturnIf(n % 3 == 0, n, std::get<1>(a), std::get<2>(b));
        return std::tuple(n, std::get<2>(a), std::get<1>(a) + std::get<1>(b));
      },
      std::tuple(std::int64_t{1}, std::vector<float>{1, 2}, std::vector<float>{3, 4}));
  struct Plain {
    std::int64_t n;
    std::vector<float> u, v;
  };
  const auto combine = [](const Plain& a, const Plain& b) {
    const std::int64_t n = a.n + b.n;
    if (n % 3 == 0) return Plain{n, a.u, b.v};
    return Plain{n, a.v, {a.u[0] + b.u[0], a.u[1] + b.u[1]}};
  };
  const std::vector<float> x = numbers<float>(2 * 2500);
  const auto value = [&](std::int64_t i) -> std::optional<Plain> {
    const auto at = static_cast<std::size_t>(2 * i);
    std::optional<Plain> total;
    for (std::int64_t k = 0; k < i % 3; ++k) {
      const Plain next{k + 1, {x[at], x[at + 1]}, {x[at + 1], x[at]}};
      total = total ? combine(*total, next) : next;
    }
    return total;
  };
  auto add = vectorize([&](Row<float> r) {
    const i64 times = element() % 3;
    i64 k = 0;
    While([&] { return k < times; },
          [&] {
            fold.add(k + 1, r, flip(r));
            k += 1;
          });
  });
  const auto total = test::folded_in_order(2500, 0, value, combine);
  const Plain expected = combine({1, {1, 2}, {3, 4}}, *total);
  for (const MapOptions& way : every_way()) {
    if (way.memory > 0) continue;
    fold.reset();
    add.with(way, Input(x).in_rows(2));
    EXPECT_EQ(fold.value(), std::optional(std::tuple(expected.n, expected.u, expected.v)));
  }
}

TEST(Accumulators, FoldsOfOtherShapesAreRefused) {
  const std::vector<float> x(12);
  Fold<Row<float>> fold([](Row<float> a, Row<float> b) { return a + b; });
  auto add = vectorize([&](Row<float> r) { fold.add(r); });
  add(Input(x).in_rows(3));
  EXPECT_NE(test::message_of<UsageError>([&] {
              add(Input(x).in_rows(4));
            }).find("Fold: another shape than before; got (4), expected (3)."),
            std::string::npos);
  Fold<Row<float>> shorter([](Row<float> a, Row<float>) { return a(Slice(1)); });
  EXPECT_NE(test::message_of<UsageError>([&] {
              map([&](Row<float> r) { shorter.add(r); }, Input(x).in_rows(3));
            }).find("Fold: the function gives another shape than it takes; got (2), expected (3)."),
            std::string::npos);
  Fold<Row<float>> begun([](Row<float> a, Row<float> b) { return a + b; }, std::vector<float>{1});
  EXPECT_NE(test::message_of<UsageError>(
                [&] { map([&](Row<float> r) { begun.add(r); }, Input(x).in_rows(3)); })
                .find("Fold: another number of values than the start has; got the shape (3), "
                      "expected 1 values."),
            std::string::npos);
}

TEST(Accumulators, OneCallAtATime) {
  Sum<double> total;
  std::string said;
  MapOptions options{.threads = 1};
  options.progress = [&](const Progress&) {
    if (!said.empty()) return;
    said =
        test::message_of<Error>([&] { map([&](f64 v) { total.add(v); }, std::vector<double>(3)); });
  };
  auto slow = vectorize([&](f64 x) {
    For(0, 200'000, [&](i32) { x = x * 0.999 + 0.001; });
    total.add(x);
  });
  slow.with(options, std::vector<double>(2000, 1.0));
  EXPECT_NE(said.find("an accumulator is in use"), std::string::npos) << said;
  EXPECT_EQ(total.value(), 2000.0);
}

TEST(Accumulators, WrongNumbersOfKeysAreRefused) {
  EXPECT_THROW(Histogram(0), UsageError);
  EXPECT_THROW(KeyedSum<float>(std::int64_t{1} << 40), UsageError);
  Histogram many(1000);
  EXPECT_THROW(
      map([&](i32 n) { For(0, 3, [&](i32) { many.add(n); }); }, std::vector<std::int32_t>{1}),
      UsageError);
}

TEST(Accumulators, TheBudgetHolds) {
  Sum<double> total;
  auto add = vectorize([&](f64 x) { total.add(x); });
  const std::vector<double> x(200'000, 1.0);
  add.with({.threads = 1, .memory = 10'000, .compile = Compile::Now}, x);
  EXPECT_EQ(total.value(), 200'000.0);
  const std::string said = test::message_of<Error>(
      [&] { add.with({.threads = 1, .memory = 5'000, .compile = Compile::Now}, x); });
  EXPECT_NE(said.find("what 1024 elements add to accumulators"), std::string::npos) << said;
}

}  // namespace
}  // namespace lw
