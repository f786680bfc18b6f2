// Tables and arrays inside an element.
#include "lanewise/trace/memory.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>

#include "tests/support/every_way.h"

namespace lw {
namespace {

using test::expect_same;

TEST(Arrays, AreTheElementsOwn) {
  expect_same(
      [](i32 a, i32 b) {
        Array<std::int32_t> histogram(8);
        For(0, 20, [&](i32 i) { histogram[(a * i + b) & 7] += 1; });
        i32 most = 0;
        For(0, 8, [&](i32 i) { most = max(most, histogram[i] * 10 + i); });
        return most;
      },
      [](int a, int b) {
        int histogram[8] = {};
        for (int i = 0; i < 20; ++i) ++histogram[(a * i + b) & 7];
        int most = 0;
        for (int i = 0; i < 8; ++i) most = std::max(most, histogram[i] * 10 + i);
        return most;
      });
}

TEST(Arrays, AStackThatElementsFillAndEmptyAtDifferentTimes) {
  expect_same(
      [](i32 a, i32 b) {
        Array<std::int32_t> stack(16, -1);
        i32 top = 0;
        i32 sum = 0;
        stack[top] = a;
        top = top + 1;
        While([&] { return top > 0; },
              [&] {
                top = top - 1;
                i32 n = stack[top];
                sum = sum * 3 + n;
                If(n > b, [&] {
                  stack[top] = n / 2;
                  stack[top + 1] = n / 3;
                  top = top + 2;
                });
              });
        return sum;
      },
      [](int a, int b) {
        std::vector<int> stack = {a};
        std::uint32_t sum = 0;
        while (!stack.empty()) {
          const int n = stack.back();
          stack.pop_back();
          sum = sum * 3 + static_cast<std::uint32_t>(n);
          if (n > b) {
            stack.push_back(n / 2);
            stack.push_back(n / 3);
          }
        }
        return static_cast<int>(sum);
      },
      true);
}

TEST(Arrays, ChangeOnceBehindALoopThatElementsLeaveAtDifferentTimes) {
  expect_same(
      [](i32 a, i32 b) {
        Array<std::int32_t> sum(1, b);
        i32 i = 0;
        While([&] { return i < a; }, [&] { i = i + 1; });
        sum[0] += i + 1;
        return i32(sum[0]);
      },
      [](int a, int b) { return a + b + 1; }, true);
}

TEST(Arrays, BeginAnewInEveryStepTheyAreMadeIn) {
  expect_same(
      [](i32 a, i32 b) {
        i32 sum = 0;
        For(0, b, [&](i32 i) {
          Array<std::int32_t> seen(5, i);
          seen[a % 5] = 100;
          sum = sum + seen[i % 5];
        });
        return sum;
      },
      [](int a, int b) {
        int sum = 0;
        for (int i = 0; i < b; ++i) sum += i % 5 == a % 5 ? 100 : i;
        return sum;
      },
      true);
}

TEST(Arrays, ModesSayWhatAnIndexOutsideMeans) {
  expect_same(
      [](i32 a, i32 b) {
        Array<std::int32_t> squares(10);
        For(0, 10, [&](i32 i) { squares[i] = i * i; });
        const i32 index = a - b;
        squares.write(index, i32(-5), Mode::Fill);
        squares.write(index + 2, i32(-6), Mode::Clip);
        squares.write(index * 3, i32(-7), Mode::Wrap);
        return squares.read(index, Mode::Clip) + 1000 * squares.read(index, Mode::Wrap) +
               1000000 * squares.read(index, Mode::Fill, 77);
      },
      [](int a, int b) {
        int squares[10];
        for (int i = 0; i < 10; ++i) squares[i] = i * i;
        const int index = a - b;
        const auto wrap = [](int i) { return (i % 10 + 10) % 10; };
        if (index >= 0 && index < 10) squares[index] = -5;
        squares[std::clamp(index + 2, 0, 9)] = -6;
        squares[wrap(index * 3)] = -7;
        return squares[std::clamp(index, 0, 9)] + 1000 * squares[wrap(index)] +
               1000000 * (index >= 0 && index < 10 ? squares[index] : 77);
      });
}

TEST(Tables, AreReadByIndexInEveryMode) {
  const std::vector<std::int32_t> values = {3, 1, 4, 1, 5, 9, 2, 6};
  for (const test::Way& way : test::every_way(false)) {
    auto f = vectorize(
        [](i32 a, Table<std::int32_t> t) {
          i32 sum = 0;
          For<std::int64_t>(0, t.size(), [&](i64 i) { sum = sum * 2 + t[i]; });
          return sum + 1000 * t.read(a, Mode::Clip) + 10000 * t.read(a, Mode::Wrap) +
                 100000 * t.read(a, Mode::Fill, -1);
        },
        {.schedule = way.wish});
    std::vector<std::int32_t> a;
    for (int i = -50; i < 50; ++i) a.push_back(i);
    const Tensor got = f.with(way.options, a, values);
    int whole = 0;
    for (const int v : values) whole = whole * 2 + v;
    for (std::size_t k = 0; k < a.size(); ++k) {
      const int i = a[k];
      const auto at = [&](int place) { return values[static_cast<std::size_t>(place)]; };
      EXPECT_EQ(got.at<std::int32_t>(static_cast<std::int64_t>(k)),
                whole + 1000 * at(std::clamp(i, 0, 7)) + 10000 * at((i % 8 + 8) % 8) +
                    100000 * (i >= 0 && i < 8 ? at(i) : -1))
          << way.name << ", " << i;
    }
  }
}

TEST(Tables, OfEveryType) {
  const auto check = [](auto zero) {
    using T = decltype(zero);
    const std::vector<T> values = {T(1), T(0), T(5), T(7)};
    for (const test::Way& way : test::every_way(false)) {
      auto f = vectorize([](i64 i, Table<T> t) { return t[i]; }, {.schedule = way.wish});
      std::vector<std::int64_t> index;
      for (int i = 0; i < 70; ++i) index.push_back(i % 4);
      const Tensor got = f.with(way.options, index, values);
      for (int i = 0; i < 70; ++i) {
        EXPECT_EQ(got.at<T>(i), values[static_cast<std::size_t>(i % 4)]) << way.name;
      }
    }
  };
  check(std::int8_t{});
  check(std::uint16_t{});
  check(float{});
  check(double{});
  check(std::uint64_t{});
}

template <class F>
void expect_index_failure(const F& function, std::int64_t element, std::string_view what) {
  for (const test::Way& way : test::every_way(false)) {
    std::vector<std::int32_t> index(200, 2);
    index[150] = -1;
    index[static_cast<std::size_t>(element)] = 4;
    const std::vector<float> values = {1, 2, 3, 4};
    auto f = vectorize(function, {.schedule = way.wish});
    for (const int threads : {1, 2}) {
      MapOptions options = way.options;
      options.threads = threads;
      options.chunk = 64;
      try {
        f.with(options, index, values);
        FAIL() << way.name;
      } catch (const ElementError& error) {
        EXPECT_EQ(error.element(), element) << way.name;
        EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
      }
    }
  }
}

TEST(Tables, AnIndexOutOfRangeIsAFailureOfTheElement) {
  expect_index_failure([](i32 i, Table<float> t) { return t[i]; }, 77, "got 4, expected 0 to 3");
}

TEST(Arrays, AnIndexOutOfRangeIsAFailureOfTheElement) {
  expect_index_failure(
      [](i32 i, Table<float> t) {
        Array<float> a(4);
        If(i != 2, [&] { a[i] = t[0]; });
        return a[2] + t.read(i, Mode::Clip);
      },
      90, "got 4, expected 0 to 3");
}

TEST(Tables, ABranchThatIsNotTakenReadsNothing) {
  expect_same(
      [](i32 a, i32 b) {
        Array<std::int32_t> t(3, 5);
        i32 n = 0;
        If(a < 3, [&] { n = t[a]; });
        While([&] { return b < 3; },
              [&] {
                n = n + t[b];
                b = b + 1;
              });
        return n;
      },
      [](int a, int b) { return (a < 3 ? 5 : 0) + std::max(0, 3 - b) * 5; }, true);
}

/// So many zeros, for which no memory is needed as long as they are only read.
class ManyZeros {
 public:
  explicit ManyZeros(std::size_t size) : size_(size) {
    data_ = mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  }
  ~ManyZeros() {
    if (is_there()) munmap(data_, size_);
  }
  ManyZeros(const ManyZeros&) = delete;
  ManyZeros& operator=(const ManyZeros&) = delete;
  bool is_there() const { return data_ != MAP_FAILED; }
  std::span<const std::uint8_t> span() const {
    return {static_cast<const std::uint8_t*>(data_), size_};
  }

 private:
  void* data_;
  std::size_t size_;
};

TEST(Tables, OfMoreValuesThanTheIndexCanSay) {
  const ManyZeros zeros((std::size_t{1} << 31) + 4096);
  if (!zeros.is_there()) GTEST_SKIP() << "no room for 2 GB of addresses";
  const std::vector<std::int32_t> places = {INT32_MIN, -1, 0, 5, INT32_MAX};
  for (const test::Way& way : test::every_way(false)) {
    auto f = vectorize(
        [](i32 i, Table<std::uint8_t> t) {
          return t.read(i, Mode::Fill, 7) + t.read(i, Mode::Clip) + t.read(i, Mode::Wrap);
        },
        {.schedule = way.wish});
    const Tensor got = f.with(way.options, places, zeros.span());
    for (std::size_t i = 0; i < places.size(); ++i) {
      EXPECT_EQ(got.at<std::uint8_t>(static_cast<std::int64_t>(i)), places[i] < 0 ? 7 : 0)
          << way.name << ", index " << places[i];
    }
  }
}

TEST(Tables, WithoutValuesAreRefused) {
  auto f = vectorize([](i32 i, Table<float> t) { return t[i]; });
  EXPECT_THROW(f(std::vector<std::int32_t>{0}, std::vector<float>()), UsageError);
}

TEST(Arrays, SizesOutsideAreRefused) {
  for (const std::uint32_t size : {0u, 4097u}) {
    auto f = vectorize([size](f32 x) {
      Array<float> a(size);
      return x;
    });
    EXPECT_THROW(f(std::vector<float>{0}), UsageError);
  }
}

TEST(Elements, KnowTheirNumber) {
  for (const test::Way& way : test::every_way(false)) {
    auto f = vectorize([](f32) { return std::tuple<i64, i32>(element(), element<std::int32_t>()); },
                       {.schedule = way.wish});
    for (const std::int64_t first : {std::int64_t{0}, (std::int64_t{1} << 32) - 300}) {
      MapOptions options = way.options;
      options.first_element = first;
      options.chunk = 100;
      const auto [wide, narrow] = f.with(options, std::vector<float>(1000));
      for (std::int64_t i = 0; i < 1000; ++i) {
        ASSERT_EQ(wide.at<std::int64_t>(i), first + i) << way.name;
        ASSERT_EQ(narrow.at<std::int32_t>(i), static_cast<std::int32_t>(first + i)) << way.name;
      }
    }
  }
}

TEST(Elements, MayBeCountedInsteadOfMapped) {
  auto f = vectorize([](Table<float> t) { return t[element()] * 2; });
  const std::vector<float> values = {1, 2, 3};
  const Tensor got = f.with({.count = 3}, values);
  ASSERT_EQ(got.size(), 3);
  EXPECT_EQ(got.at<float>(2), 6);
  EXPECT_THROW(f(values), UsageError);
}

}  // namespace
}  // namespace lw
