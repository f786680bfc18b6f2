// Random draws: those of Philox, counted for each element by itself, the same on every way.
#include "lanewise/trace/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "lanewise/ir/evaluate.h"
#include "tests/support/every_way.h"

namespace lw {
namespace {

using Word = std::uint32_t;
using Block = std::array<Word, 4>;

/// Philox 4x32-10 as published.
Block philox(std::array<Word, 2> key, Block c) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xd2511f53} * c[0];
    const std::uint64_t b = std::uint64_t{0xcd9e8d57} * c[2];
    c = {static_cast<Word>(b >> 32) ^ c[1] ^ key[0], static_cast<Word>(b),
         static_cast<Word>(a >> 32) ^ c[3] ^ key[1], static_cast<Word>(a)};
    key = {key[0] + 0x9e3779b9, key[1] + 0xbb67ae85};
  }
  return c;
}

/// The words of a draw.
Block drawn(std::uint64_t seed, Word site, std::int64_t element, Word number) {
  const auto n = static_cast<std::uint64_t>(element);
  return philox({static_cast<Word>(seed), static_cast<Word>(seed >> 32)},
                {number, site, static_cast<Word>(n), static_cast<Word>(n >> 32)});
}

struct Vector {
  std::array<Word, 2> key;
  Block counter;
  Block words;
};

/// Of the file kat_vectors of Random123.
constexpr Vector kVectors[] = {
    {{0, 0}, {0, 0, 0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {{~0u, ~0u}, {~0u, ~0u, ~0u, ~0u}, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {{0xa4093822, 0x299f31d0},
     {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}};

TEST(RandomPhilox, ThePlainOneOfThisTestGivesThePublishedWords) {
  for (const Vector& v : kVectors) EXPECT_EQ(philox(v.key, v.counter), v.words);
}

TEST(RandomPhilox, TheEvaluatorGivesThePublishedWords) {
  ir::Builder build("philox");
  ir::ValueId p[6];
  for (ir::ValueId& value : p) value = build.param("word", DType::U32);
  const random::Words words = random::philox(build, {p[0], p[1]}, {p[2], p[3], p[4], p[5]});
  build.ret(words.word);
  const ir::Function f = build.take();
  for (const Vector& v : kVectors) {
    std::vector<Scalar> arguments(v.key.begin(), v.key.end());
    arguments.insert(arguments.end(), v.counter.begin(), v.counter.end());
    EXPECT_EQ(ir::evaluate(f, arguments).results,
              std::vector<Scalar>(v.words.begin(), v.words.end()));
  }
}

TEST(RandomPhilox, EveryWayGivesThePublishedWords) {
  for (const test::Way& way : test::every_way(false)) {
    auto f = vectorize(
        [](u32 k0, u32 k1, u32 c0, u32 c1, u32 c2, u32 c3) {
          const random::Words w =
              random::philox(trace::Trace::current().builder(), {k0.read(), k1.read()},
                             {c0.read(), c1.read(), c2.read(), c3.read()});
          return std::tuple<u32, u32, u32, u32>(u32::of(w.word[0]), u32::of(w.word[1]),
                                                u32::of(w.word[2]), u32::of(w.word[3]));
        },
        {.schedule = way.wish});
    std::array<std::vector<Word>, 6> columns;
    for (int i = 0; i < 100; ++i) {
      const Vector& v = kVectors[i % 3];
      for (std::size_t k = 0; k < 2; ++k) columns[k].push_back(v.key[k]);
      for (std::size_t k = 0; k < 4; ++k) columns[2 + k].push_back(v.counter[k]);
    }
    const auto got =
        f.with(way.options, columns[0], columns[1], columns[2], columns[3], columns[4], columns[5]);
    for (int i = 0; i < 100; ++i) {
      for (std::size_t k = 0; k < 4; ++k) {
        ASSERT_EQ(got[k].at<Word>(i), kVectors[i % 3].words[k]) << way.name << ", element " << i;
      }
    }
  }
}

u32 draw_word() { return u32::of(random::draw().word[0]); }

/// Draws before, in and behind a loop, and in branches of it.
u32 walk(i32 a, i32 b) {
  u32 sum = draw_word();
  For(0, a, [&](i32 i) {
    sum = sum * 3 + draw_word();
    If(i % 3 == b % 3, [&] { sum = sum ^ draw_word(); });
    ContinueIf(i % 2 == 1);
    If(i > b, [&] { Break(); });
    sum = sum * 5 + draw_word();
  });
  return sum + draw_word();
}

Word plain_walk(int a, int b, std::uint64_t seed, std::int64_t element) {
  Word counts[5] = {};
  const auto draw = [&](Word site) { return drawn(seed, site, element, counts[site]++)[0]; };
  Word sum = draw(0);
  for (int i = 0; i < a; ++i) {
    sum = sum * 3 + draw(1);
    if (i % 3 == b % 3) sum ^= draw(2);
    if (i % 2 == 1) continue;
    if (i > b) break;
    sum = sum * 5 + draw(3);
  }
  return sum + draw(4);
}

class RandomWalk : public testing::Test {
 protected:
  static constexpr std::int64_t kCount = 1000;
  static constexpr std::uint64_t kSeed = 0x123456789abcdef0;
  const std::vector<std::int32_t> a_ = test::small_numbers(kCount, 30);
  const std::vector<std::int32_t> b_ = test::small_numbers(kCount, 30, 2);

  std::vector<Word> expected(std::uint64_t seed, std::int64_t first = 0) const {
    std::vector<Word> words;
    for (std::size_t i = 0; i < a_.size(); ++i) {
      words.push_back(plain_walk(a_[i], b_[i], seed, first + static_cast<std::int64_t>(i)));
    }
    return words;
  }
  static std::vector<Word> words_of(const Tensor& tensor) {
    return {tensor.span<Word>().begin(), tensor.span<Word>().end()};
  }
};

TEST_F(RandomWalk, AnElementCountsTheDrawsOfEachPlaceByItselfOnEveryWay) {
  const std::vector<Word> words = expected(kSeed);
  for (const test::Way& way : test::every_way(true)) {
    auto f = vectorize(&walk, {.schedule = way.wish});
    for (const int threads : {1, 2, 3}) {
      for (const std::int64_t chunk : {0, 64, 300}) {
        MapOptions options = way.options;
        options.seed = kSeed;
        options.threads = threads;
        options.chunk = chunk;
        ASSERT_EQ(words_of(f.with(options, a_, b_)), words)
            << way.name << ", " << threads << " threads, chunks of " << chunk;
      }
    }
  }
}

TEST_F(RandomWalk, TwoHalvesWithTheNumberOfTheirFirstElementGiveTheWhole) {
  for (const std::int64_t first : {std::int64_t{0}, (std::int64_t{1} << 32) - 500}) {
    const std::vector<Word> words = expected(kSeed, first);
    for (const test::Way& way : test::every_way(true)) {
      auto f = vectorize(&walk, {.schedule = way.wish});
      std::vector<Word> halves;
      for (const std::int64_t begin : {std::int64_t{0}, std::int64_t{421}}) {
        const auto size = static_cast<std::size_t>(begin == 0 ? 421 : kCount - 421);
        const auto part = [&](const std::vector<std::int32_t>& all) {
          return std::span(all).subspan(static_cast<std::size_t>(begin), size);
        };
        MapOptions options = way.options;
        options.seed = kSeed;
        options.first_element = first + begin;
        const std::vector<Word> half = words_of(f.with(options, part(a_), part(b_)));
        halves.insert(halves.end(), half.begin(), half.end());
      }
      ASSERT_EQ(halves, words) << way.name;
    }
  }
}

TEST_F(RandomWalk, EverySeedGivesOtherNumbersAndTheSameSeedTheSame) {
  auto f = vectorize(&walk);
  const auto of = [&](std::uint64_t seed) { return words_of(f.with({.seed = seed}, a_, b_)); };
  std::set<std::vector<Word>> seen;
  for (const std::uint64_t seed :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 32, UINT64_MAX}) {
    EXPECT_EQ(of(seed), expected(seed)) << seed;
    EXPECT_TRUE(seen.insert(of(seed)).second) << seed;
  }
  EXPECT_EQ(words_of(f(a_, b_)), expected(0)) << "0 where none is given";
}

TEST_F(RandomWalk, ALimitOfStepsChangesNoNumber) {
  for (const test::Way& way : test::every_way(true)) {
    auto f = vectorize(&walk, {.schedule = way.wish});
    MapOptions options = way.options;
    options.seed = kSeed;
    options.max_steps = 1000;
    ASSERT_EQ(words_of(f.with(options, a_, b_)), expected(kSeed)) << way.name;
  }
}

TEST(RandomSites, EveryPlaceDrawsNumbersOfItsOwn) {
  auto f = vectorize([](i32) {
    return std::tuple<u32, u32, u32>{draw_word(), draw_word(), draw_word()};  // in this order
  });
  const auto got = f.with({.seed = 7}, std::vector<std::int32_t>(100));
  std::set<Word> seen;
  for (std::int64_t i = 0; i < 100; ++i) {
    for (std::size_t site = 0; site < 3; ++site) {
      const Word word = got[site].at<Word>(i);
      EXPECT_EQ(word, drawn(7, static_cast<Word>(site), i, 0)[0]);
      EXPECT_TRUE(seen.insert(word).second);
    }
  }
}

u32 draw_or_leave(i32 a) {
  ReturnIf(a == 0, u32(1));
  u32 word = draw_word();
  ReturnIf(a == 1, word);
  return word ^ draw_word();
}

TEST(RandomSites, DrawsInCalledFunctionsAndBehindEarlyReturns) {
  // Every call is a place of its own.
  const auto traced = [](i32 a, i32 b) {
    u32 sum = Call(draw_or_leave, a % 3);
    For(0, b, [&](i32 i) { sum = sum * 7 + Call(draw_or_leave, (a + i) % 3); });
    ReturnIf(a > 20, sum);
    return sum + draw_word();
  };
  const auto plain = [](int a, int b, std::int64_t element) {
    Word counts[5] = {};
    const auto draw = [&](Word site) { return drawn(3, site, element, counts[site]++)[0]; };
    const auto call = [&](int n, Word site) {
      if (n == 0) return Word{1};
      const Word word = draw(site);
      return n == 1 ? word : word ^ draw(site + 1);
    };
    Word sum = call(a % 3, 0);
    for (int i = 0; i < b; ++i) sum = sum * 7 + call((a + i) % 3, 2);
    return a > 20 ? sum : sum + draw(4);
  };
  const std::vector<std::int32_t> a = test::small_numbers(500, 30);
  const std::vector<std::int32_t> b = test::small_numbers(500, 9, 2);
  for (const test::Way& way : test::every_way(true)) {
    auto f = vectorize(traced, {.schedule = way.wish});
    MapOptions options = way.options;
    options.seed = 3;
    const Tensor got = f.with(options, a, b);
    for (std::size_t i = 0; i < a.size(); ++i) {
      const auto element = static_cast<std::int64_t>(i);
      ASSERT_EQ(got.at<Word>(element), plain(a[i], b[i], element)) << way.name << ", " << i;
    }
  }
}

// --- distributions ---

constexpr std::int64_t kDraws = 200000;

template <class T, class F>
std::vector<T> sample(const F& function, std::uint64_t seed = 11) {
  const Tensor got = vectorize(function).with({.count = kDraws, .seed = seed});
  return {got.span<T>().begin(), got.span<T>().end()};
}

struct Moments {
  double mean = 0;
  double variance = 0;
  double least = INFINITY;
  double most = -INFINITY;
};

template <class T>
Moments moments(const std::vector<T>& values) {
  Moments m;
  const auto count = static_cast<double>(values.size());
  for (const T value : values) {
    const auto x = static_cast<double>(value);
    m.mean += x / count;
    m.least = std::min(m.least, x);
    m.most = std::max(m.most, x);
  }
  for (const T value : values) {
    const double off = static_cast<double>(value) - m.mean;
    m.variance += off * off / count;
  }
  return m;
}

/// The share of values below a bound.
template <class T>
double share_below(const std::vector<T>& values, double bound) {
  const auto below = std::count_if(values.begin(), values.end(),
                                   [&](T x) { return static_cast<double>(x) < bound; });
  return static_cast<double>(below) / static_cast<double>(values.size());
}

template <class T>
class RandomFloats : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(RandomFloats, Floats);

// Bounds are six deviations of what is estimated from so many draws; the seed is fixed.

TYPED_TEST(RandomFloats, UniformNumbersFillZeroToBelowOne) {
  const auto x = sample<TypeParam>([] { return random::uniform<TypeParam>(); });
  const Moments m = moments(x);
  EXPECT_NEAR(m.mean, 0.5, 0.004);
  EXPECT_NEAR(m.variance, 1.0 / 12, 0.001);
  EXPECT_GE(m.least, 0);
  EXPECT_LT(m.least, 0.0001);
  EXPECT_LT(m.most, 1);
  EXPECT_GT(m.most, 0.9999);
  EXPECT_NEAR(share_below(x, 0.1), 0.1, 0.0041);
  for (std::size_t i = 0; i < 100; ++i) {
    const Block words = drawn(11, 0, static_cast<std::int64_t>(i), 0);
    const double expected = std::is_same_v<TypeParam, float>
                                ? (words[0] >> 8) * 0x1p-24
                                : (words[0] >> 5) * 0x1p-27 + (words[1] >> 6) * 0x1p-53;
    EXPECT_EQ(static_cast<double>(x[i]), expected) << i;
  }
}

TYPED_TEST(RandomFloats, NormalNumbers) {
  const auto x = sample<TypeParam>([] { return random::normal<TypeParam>(); });
  const Moments m = moments(x);
  EXPECT_NEAR(m.mean, 0, 0.0135);
  EXPECT_NEAR(m.variance, 1, 0.019);
  EXPECT_TRUE(std::isfinite(m.least) && std::isfinite(m.most));
  EXPECT_LT(m.least, -3.5);
  EXPECT_GT(m.most, 3.5);
  EXPECT_NEAR(share_below(x, -1), 0.158655, 0.005);
  EXPECT_NEAR(share_below(x, 0), 0.5, 0.0068);
  EXPECT_NEAR(share_below(x, 2), 0.977250, 0.002);
}

TYPED_TEST(RandomFloats, ExponentialNumbers) {
  const auto x = sample<TypeParam>([] { return random::exponential<TypeParam>(); });
  const Moments m = moments(x);
  EXPECT_NEAR(m.mean, 1, 0.0135);
  EXPECT_NEAR(m.variance, 1, 0.038);
  EXPECT_GE(m.least, 0);
  EXPECT_TRUE(std::isfinite(m.most));
  EXPECT_NEAR(share_below(x, 0.5), 1 - std::exp(-0.5), 0.0066);
  EXPECT_NEAR(share_below(x, 3), 1 - std::exp(-3.0), 0.003);
}

TEST(RandomIntegers, AreEvenFromTheFirstToBelowTheLast) {
  const auto x = sample<std::int32_t>([] { return random::integer(-3, 7); });
  std::array<int, 10> counts{};
  for (const std::int32_t value : x) {
    ASSERT_GE(value, -3);
    ASSERT_LT(value, 7);
    ++counts[static_cast<std::size_t>(value + 3)];
  }
  for (const int count : counts) EXPECT_NEAR(count, kDraws / 10.0, 805);
}

TEST(RandomIntegers, OfNarrowTypesReachAllOfTheirRange) {
  const auto x = sample<std::int8_t>([] { return random::integer<std::int8_t>(-128, 127); });
  EXPECT_EQ(std::set<std::int8_t>(x.begin(), x.end()).size(), 255u);
  EXPECT_EQ(*std::min_element(x.begin(), x.end()), -128);
  EXPECT_EQ(*std::max_element(x.begin(), x.end()), 126);
  EXPECT_NEAR(moments(x).mean, -1, 0.99);
  const auto y = sample<std::uint8_t>([] { return random::integer<std::uint8_t>(0, 255); });
  EXPECT_EQ(std::set<std::uint8_t>(y.begin(), y.end()).size(), 255u);
  EXPECT_EQ(*std::max_element(y.begin(), y.end()), 254);
  const auto z = sample<std::int16_t>([] { return random::integer<std::int16_t>(-32768, 32767); });
  EXPECT_LT(moments(z).least, -32700);
  EXPECT_GT(moments(z).most, 32700);
  EXPECT_NEAR(moments(z).mean, -1, 254);
}

/// Mean and deviation of all of a type, of even numbers.
template <class T>
void expect_whole_range() {
  const auto x = sample<T>([] {
    return random::integer<T>(std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
  });
  const double width = std::ldexp(1.0, sizeof(T) * 8);
  const double middle = std::is_signed_v<T> ? 0 : width / 2;
  const Moments m = moments(x);
  EXPECT_NEAR(m.mean, middle, 0.004 * width);
  EXPECT_NEAR(m.variance, width * width / 12, 0.001 * width * width);
  EXPECT_LT(m.least, middle - 0.4999 * width);
  EXPECT_GT(m.most, middle + 0.4999 * width);
}

TEST(RandomIntegers, OfWideTypesReachAllOfTheirRange) {
  expect_whole_range<std::int32_t>();
  expect_whole_range<std::uint32_t>();
  expect_whole_range<std::int64_t>();
  expect_whole_range<std::uint64_t>();
}

TEST(RandomIntegers, OfARangeWithOneNumberOrNoneAreTheFirst) {
  const std::vector<std::int64_t> low = {5, 5, 5, -7, INT64_MAX, INT64_MIN};
  const std::vector<std::int64_t> high = {6, 5, 4, -100, INT64_MIN, INT64_MIN};
  for (const test::Way& way : test::every_way(false)) {
    auto f = vectorize([](i64 a, i64 b) { return random::integer<std::int64_t>(a, b); },
                       {.schedule = way.wish});
    auto narrow = vectorize(
        [](i64 a, i64 b) {
          return random::integer<std::int8_t>(cast<std::int8_t>(a), cast<std::int8_t>(b));
        },
        {.schedule = way.wish});
    const Tensor got = f.with(way.options, low, high);
    for (std::size_t i = 0; i < low.size(); ++i) {
      EXPECT_EQ(got.at<std::int64_t>(static_cast<std::int64_t>(i)), low[i]) << way.name;
    }
    const Tensor narrow_got = narrow.with(way.options, low, high);
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(narrow_got.at<std::int8_t>(static_cast<std::int64_t>(i)), low[i]) << way.name;
    }
  }
}

TEST(RandomIntegers, HaveBoundsOfTheElement) {
  const std::vector<std::int32_t> a = test::small_numbers(2000, 50);
  auto f = vectorize([](i32 n) { return random::integer(-n, n + 1); });
  std::int32_t widest = 0;
  const Tensor got = f.with({.seed = 5}, a);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::int32_t x = got.at<std::int32_t>(static_cast<std::int64_t>(i));
    ASSERT_LE(std::abs(x), a[i]);
    widest = std::max(widest, std::abs(x));
  }
  EXPECT_GT(widest, 40);
}

TEST(RandomPositions, DrawOneAfterTheOther) {
  const std::vector<std::int32_t> a = test::small_numbers(200, 50);
  const auto u32s = [](Block words) { return static_cast<float>(words[0] >> 8) * 0x1p-24f; };
  for (const test::Way& way : test::every_way(false)) {
    auto f = vectorize(
        [](i32 n) {
          const f32 before = random::uniform<float>();
          const auto rows = each(3, [&](i32 i) {
            const auto inner = each(5, [&](i32) { return random::uniform<float>(); });
            return std::tuple(inner, before + cast<float>(i + n));
          });
          const auto again = each(2, [&](i32) { return random::uniform<float>(); });
          return std::tuple(std::get<0>(rows), std::get<1>(rows), again);
        },
        {.schedule = way.wish});
    MapOptions options = way.options;
    options.seed = 42;
    const auto got = f.with(options, a);
    ASSERT_EQ(got[0].shape(), types::Shape({3, 5}));
    for (std::int64_t e = 0; e < 200; ++e) {
      for (Word j = 0; j < 15; ++j) {
        ASSERT_EQ(got[0].at<float>(e * 15 + j), u32s(drawn(42, 1, e, j))) << way.name;
      }
      for (Word j = 0; j < 3; ++j) {
        const auto by = static_cast<float>(static_cast<std::int32_t>(j) + a[std::size_t(e)]);
        ASSERT_EQ(got[1].at<float>(e * 3 + j), u32s(drawn(42, 0, e, 0)) + by) << way.name;
      }
      for (Word j = 0; j < 2; ++j) {
        ASSERT_EQ(got[2].at<float>(e * 2 + j), u32s(drawn(42, 2, e, j))) << way.name;
      }
    }
  }
}

TEST(RandomPositions, DrawAsOftenAsEachOfThemDoes) {
  const std::vector<std::int32_t> a = test::small_numbers(100, 6);
  auto f = vectorize([](i32 n) {
    return each(4, [&](i32 i) {
      f32 last = -1;
      For(0, n * i, [&](i32) { last = random::uniform<float>(); });
      return f32(last);
    });
  });
  const Tensor got = f.with({.seed = 7}, a);
  for (std::int64_t e = 0; e < 100; ++e) {
    Word number = 0;
    for (std::int32_t i = 0; i < 4; ++i) {
      number += static_cast<Word>(a[std::size_t(e)] * i);
      const float expected =
          a[std::size_t(e)] * i == 0
              ? -1
              : static_cast<float>(drawn(7, 0, e, number - 1)[0] >> 8) * 0x1p-24f;
      ASSERT_EQ(got.at<float>(e * 4 + i), expected);
    }
  }
}

TEST(RandomDistributions, AreTheSameOnEveryWay) {
  const auto traced = [](i32 a) {
    f64 sum = 0;
    For(0, a, [&](i32 i) {
      sum = sum + cast<double>(random::uniform<float>()) + random::normal<double>() +
            cast<double>(random::normal<float>()) * random::exponential<double>() +
            cast<double>(random::integer(-i, i + 1)) +
            cast<double>(random::integer<std::uint64_t>(3, 1000));
    });
    return sum;
  };
  const std::vector<std::int32_t> a = test::small_numbers(300, 12);
  std::vector<double> first;
  for (const test::Way& way : test::every_way(true)) {
    auto f = vectorize(traced, {.schedule = way.wish});
    MapOptions options = way.options;
    options.seed = 99;
    const Tensor got = f.with(options, a);
    const std::vector<double> now(got.span<double>().begin(), got.span<double>().end());
    if (first.empty()) first = now;
    ASSERT_EQ(now, first) << way.name;
  }
}

}  // namespace
}  // namespace lw
