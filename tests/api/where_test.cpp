// Maps in which a mask says which elements run.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <numeric>

#include "lanewise/lanewise.h"
#include "tests/support/fold_order.h"
#include "tests/support/message_of.h"

namespace lw {
namespace {

/// A mask as C++ has none that stands together.
class Mask {
 public:
  template <class Holds>
  Mask(std::size_t size, const Holds& holds)
      : size_(size), values_(std::make_unique<bool[]>(size)) {
    for (std::size_t i = 0; i < size; ++i) values_[i] = holds(i);
  }
  std::span<const bool> all() const { return {values_.get(), size_}; }
  bool operator[](std::size_t i) const { return values_[i]; }

 private:
  std::size_t size_;
  std::unique_ptr<bool[]> values_;
};

Mask mixed(std::size_t size) {
  return {size, [](std::size_t i) { return i * i % 7 < 3; }};
}

std::vector<MapOptions> every_way(const Mask& mask) {
  std::vector<MapOptions> ways;
  for (const int threads : {1, 3}) {
    for (const Compile compile : {Compile::Never, Compile::Now}) {
      for (const std::int64_t chunk : {0, 5}) {
        ways.push_back(
            {.threads = threads, .compile = compile, .chunk = chunk, .where = mask.all()});
      }
    }
  }
  return ways;
}

std::vector<float> ramp(std::size_t size) {
  std::vector<float> values(size);
  for (std::size_t i = 0; i < size; ++i) values[i] = static_cast<float>(i * 37 % 101) * 0.25f - 12;
  return values;
}

class WhereOfRows : public testing::TestWithParam<std::uint32_t> {};

TEST_P(WhereOfRows, KeepsRowsThatAreLeftOut) {
  const std::uint32_t row = GetParam();
  constexpr std::size_t kElements = 300;
  const std::vector<float> x = ramp(kElements * row);
  const Mask mask = mixed(kElements);
  auto softmax = vectorize([](Row<float> v) {
    const Row<float> powers = exp(v - max(v));
    const f32 total = sum(powers);
    return std::tuple(powers / total, total);
  });
  const auto all = softmax(Input(x).in_rows(row));
  for (const MapOptions& way : every_way(mask)) {
    std::vector<float> rows(x.size(), -1), totals(kElements, -2);
    softmax.into({Output(rows).in_rows(row), Output(totals)}, way, Input(x).in_rows(row));
    for (std::size_t i = 0; i < kElements; ++i) {
      ASSERT_EQ(totals[i], mask[i] ? all[1].span<float>()[i] : -2) << i;
      for (std::size_t p = i * row; p < (i + 1) * row; ++p) {
        ASSERT_EQ(rows[p], mask[i] ? all[0].span<float>()[p] : -1) << i << ' ' << p;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, WhereOfRows, testing::Values(1, 3, 17, 40, 200));

TEST(Where, ElementsThatAreLeftOutNeitherFailNorRun) {
  std::vector<std::int64_t> x(1000);
  std::iota(x.begin(), x.end(), 0);
  const Mask mask(x.size(), [](std::size_t i) { return i % 10 != 3; });
  auto f = vectorize([](i64 v) {
    Check(v % 10 != 3);
    While([&] { return v % 10 == 3; }, [&] { v = v * 1; });  // for ever
    ReturnIf(v > 500, v - 500);
    return v * 2;
  });
  for (MapOptions way : every_way(mask)) {
    way.timeout = 60;
    std::vector<std::int64_t> out(x.size(), -1);
    f.into(out, way, x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(out[i], !mask[i] ? -1 : x[i] > 500 ? x[i] - 500 : x[i] * 2) << i;
    }
  }
  std::vector<std::int64_t> out(x.size(), -1);
  const Mask wrong(x.size(), [](std::size_t i) { return i > 700; });
  EXPECT_NE(test::message_of<ElementError>([&] {
              f.into(out, {.where = wrong.all()}, x);
            }).find("element 703"),
            std::string::npos);
}

TEST(Where, OutputsMayStandApartAndTheMaskSaysHowManyThereAre) {
  const Mask mask = mixed(50);
  std::vector<std::int64_t> out(150, -1);
  vectorize([] {
    return element() * 3;
  }).into(Strided<std::int64_t>{out.data(), 50, 3}, {.where = mask.all()});
  for (std::size_t i = 0; i < out.size(); ++i) {
    const bool is_written = i % 3 == 0 && mask[i / 3];
    EXPECT_EQ(out[i], is_written ? static_cast<std::int64_t>(i) : -1);
  }
}

TEST(Where, AccumulatorsGetNothingOfElementsThatAreLeftOut) {
  const std::vector<float> x = ramp(3000);
  const Mask mask = mixed(1000);
  Sum<float> total;
  Count count;
  Min<float> least;
  ArgMax<float> highest;
  Histogram h(4);
  KeyedSum<float> keyed(4);
  RowSum<float> rows(3);
  RowMean<float> means(3);
  Fold<float> last([](f32, f32 b) { return b; });
  auto add = vectorize([&](Row<float> v) {
    const i32 key = cast<std::int32_t>(abs(v[0])) % 4;
    total.add(v[0]);
    count.add();
    least.add(v[1]);
    highest.add(v[2]);
    h.add(key);
    keyed.add(key, v[1]);
    rows.add(v);
    means.add(v);
    last.add(v[2]);
  });
  // The same with what is left out as elements that do not add.
  Sum<float> plain_total;
  auto plain =
      vectorize([&](Row<float> v, boolean here) { If(here, [&] { plain_total.add(v[0]); }); });
  plain(Input(x).in_rows(3), mask.all());

  std::vector<std::int64_t> counts(4);
  std::vector<float> sums(4);
  std::int64_t selected = 0, best = -1;
  float low = INFINITY;
  for (std::size_t i = 0; i < 1000; ++i) {
    if (!mask[i]) continue;
    ++selected;
    const auto key = static_cast<std::size_t>(std::abs(x[3 * i])) % 4;
    ++counts[key];
    sums[key] += x[3 * i + 1];
    low = std::min(low, x[3 * i + 1]);
    if (best < 0 || x[3 * i + 2] > x[static_cast<std::size_t>(3 * best + 2)]) {
      best = static_cast<std::int64_t>(i);
    }
  }
  const auto last_value = test::folded_in_order(
      1000, 0,
      [&](std::int64_t i) {
        const auto at = static_cast<std::size_t>(i);
        return mask[at] ? std::optional(x[3 * at + 2]) : std::nullopt;
      },
      [](float, float b) { return b; });
  for (const MapOptions& way : every_way(mask)) {
    total.reset();
    count.reset();
    least.reset();
    highest.reset();
    h.reset();
    keyed.reset();
    rows.reset();
    means.reset();
    last.reset();
    add.with(way, Input(x).in_rows(3));
    EXPECT_EQ(Scalar(total.value()), Scalar(plain_total.value()));
    EXPECT_EQ(count.value(), selected);
    EXPECT_EQ(least.value(), low);
    EXPECT_EQ(highest.place(), best);
    EXPECT_EQ(h.value(), counts);
    EXPECT_EQ(keyed.value(), sums);
    EXPECT_EQ(rows.value()[0], total.value());
    EXPECT_EQ(means.count(), selected);
    EXPECT_EQ(last.value(), last_value);
  }
}

TEST(Where, WhatDoesNotFitIsRefused) {
  const std::vector<double> x(6, 1.0);
  std::vector<double> out(6);
  auto f = vectorize([](f64 v) { return v + 1; });
  const Mask five = mixed(5), six = mixed(6);
  EXPECT_EQ(test::message_of<UsageError>([&] { f.into(out, {.where = five.all()}, x); }),
            "map: where has another size than the arrays; got 5 bools for 6 elements, expected one "
            "for each.");
  EXPECT_EQ(test::message_of<UsageError>([&] { f.with({.where = six.all()}, x); }),
            "map: where without memory for the results; got a mask and new arrays, expected ones "
            "that keep their values where the mask is false. Give them: f.into(out, ...).");
}

TEST(Where, ACallExplainsTheProgramWithTheMask) {
  const std::vector<double> x(6, 1.0);
  auto f = vectorize([](f64 v) { return v + 1; }, {.name = "plus"});
  const Mask six = mixed(6);
  EXPECT_NE(f.lower(x, MapOptions{.where = six.all()}).find("plus(%0: f64, %1: bool)"),
            std::string::npos);
  EXPECT_EQ(f.explain(x, MapOptions{.where = six.all()}).bytes_in, 9);
  EXPECT_EQ(f.explain(x).bytes_in, 8);
}

}  // namespace
}  // namespace lw
