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

/// Memory of which only the pages that are touched are there.
class LargeTable {
 public:
  explicit LargeTable(std::size_t size) : size_(size) {
    void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory != MAP_FAILED) data_ = static_cast<std::uint8_t*>(memory);
  }
  ~LargeTable() {
    if (data_ != nullptr) munmap(data_, size_);
  }
  LargeTable(const LargeTable&) = delete;
  LargeTable& operator=(const LargeTable&) = delete;
  std::span<std::uint8_t> values() const { return {data_, data_ != nullptr ? size_ : 0}; }

 private:
  std::size_t size_;
  std::uint8_t* data_ = nullptr;
};

TEST(Tables, MayHaveMoreValuesThanAnI32Counts) {
  for (const std::size_t more : {std::size_t{1}, std::size_t{5}, (std::size_t{1} << 31) + 1}) {
    const LargeTable table((std::size_t{1} << 31) + more);
    const std::span<std::uint8_t> values = table.values();
    if (values.empty()) GTEST_SKIP() << "no room for addresses";
    values.front() = 11;
    values[INT32_MAX] = 22;
    values.back() = 33;
    const std::vector<std::int32_t> index = {0, INT32_MAX, INT32_MIN, -1};
    for (const test::Way& way : test::every_way(false)) {
      auto f = vectorize(
          [](i32 i, Table<std::uint8_t> t) {
            return std::tuple<u8, u8, u8>{t.read(i, Mode::Clip), t.read(i, Mode::Fill, 99),
                                          t.read(cast<std::int64_t>(i) + t.size(), Mode::Clip)};
          },
          {.schedule = way.wish});
      const auto [clip, fill, last] =
          f.with(way.options, index, std::span<const std::uint8_t>(values));
      const std::uint8_t clipped[] = {11, 22, 11, 11};
      const std::uint8_t filled[] = {11, 22, 99, 99};
      for (std::int64_t i = 0; i < 4; ++i) {
        EXPECT_EQ(clip.at<std::uint8_t>(i), clipped[i]) << way.name << ", " << i;
        EXPECT_EQ(fill.at<std::uint8_t>(i), filled[i]) << way.name << ", " << i;
      }
      EXPECT_EQ(last.at<std::uint8_t>(1), 33) << way.name;
      EXPECT_EQ(last.at<std::uint8_t>(3), 33) << way.name;
      auto checked =
          vectorize([](i32 i, Table<std::uint8_t> t) { return t[i]; }, {.schedule = way.wish});
      for (std::int32_t i : {-1, INT32_MIN}) {
        EXPECT_THROW(
            checked.with(way.options, std::vector{0, i}, std::span<const std::uint8_t>(values)),
            ElementError)
            << way.name;
      }
      EXPECT_EQ(
          checked
              .with(way.options, std::vector{0, INT32_MAX}, std::span<const std::uint8_t>(values))
              .at<std::uint8_t>(1),
          22);
    }
  }
}

TEST(Tables, AnIndexOfTheHostKeepsAllItsBits) {
  const LargeTable table((std::size_t{1} << 32) + 8);
  const std::span<std::uint8_t> values = table.values();
  if (values.empty()) GTEST_SKIP() << "no room for addresses";
  values[3] = 1;
  values[(std::size_t{1} << 32) + 3] = 2;
  constexpr std::int64_t kPlace = (std::int64_t{1} << 32) + 3;
  auto f = vectorize([](u8 x, Table<std::uint8_t> t) { return t[kPlace] * 10 + t[3] + x; });
  EXPECT_EQ(
      f(std::vector<std::uint8_t>{100}, std::span<const std::uint8_t>(values)).at<std::uint8_t>(0),
      121);
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
