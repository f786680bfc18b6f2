#include "tests/load/work.h"

#include <fmt/core.h>

#include <cmath>
#include <numeric>
#include <thread>

#include "lanewise/lanewise.h"

namespace lw::load {
namespace {

constexpr std::size_t kSize = 5000;

std::vector<float> numbers(int turn, std::size_t size = kSize) {
  std::vector<float> x(size);
  for (std::size_t i = 0; i < size; ++i) {
    x[i] = static_cast<float>((i * 37 + static_cast<std::size_t>(turn) * 11) % 1000) / 100;
  }
  return x;
}

MapOptions options_of(int turn) {
  return {.threads = 1 + turn % 3,
          .compile = turn % 5 == 0   ? Compile::Never
                     : turn % 7 == 0 ? Compile::Now
                                     : Compile::Auto,
          .chunk = turn % 4 == 0 ? 512 : 0};
}

/// `expected(x)` for each number, or which result is another.
template <class Expected>
std::string compare(const Tensor& found, const std::vector<float>& x, const Expected& expected) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float got = found.at<float>(static_cast<std::int64_t>(i));
    if (got != expected(x[i])) {
      return fmt::format("element {} of {}: expected {}, got {}", i, x[i], expected(x[i]), got);
    }
  }
  return "";
}

std::string straight(int turn) {
  static auto f = vectorize([](f32 a) { return a * a + 1; });
  const auto x = numbers(turn);
  return compare(f.with(options_of(turn), x), x, [](float a) { return a * a + 1; });
}

std::string loop(int turn) {
  static auto f = vectorize([](f32 a) {
    f32 sum = 0;
    While([&] { return sum < a; }, [&] { sum = sum + 0.5f; });
    return sum;
  });
  const auto x = numbers(turn);
  return compare(f.with(options_of(turn), x), x, [](float a) { return std::ceil(a * 2) / 2; });
}

std::string table(int turn) {
  static auto f = vectorize(
      [](f32 a, Table<float> t) { return t.read(cast<std::int32_t>(a), Mode::Check) * 2; });
  const auto x = numbers(turn);
  std::vector<float> values(10);
  std::iota(values.begin(), values.end(), 3.0f);
  return compare(f.with(options_of(turn), x, values), x,
                 [](float a) { return (std::floor(a) + 3) * 2; });
}

std::string sum(int turn) {
  Sum<std::int64_t> total;
  auto add = vectorize([&](i64 a) { total.add(a * a); });
  std::vector<std::int64_t> x(kSize);
  std::iota(x.begin(), x.end(), turn);
  add.with(options_of(turn), x);
  std::int64_t expected = 0;
  for (const std::int64_t a : x) expected += a * a;
  return total.value() == expected ? ""
                                   : fmt::format("sum: {} and not {}", total.value(), expected);
}

std::string draws(int turn) {
  static auto f = vectorize([](f32 a) { return a + random::uniform<float>(); });
  const auto x = numbers(turn);
  MapOptions options = options_of(turn);
  options.seed = static_cast<std::uint64_t>(turn);
  const Tensor one = f.with(options, x);
  options.threads = 1;
  options.compile = Compile::Never;
  const Tensor other = f.with(options, x);
  for (std::int64_t i = 0; i < one.size(); ++i) {
    if (one.at<float>(i) != other.at<float>(i)) return fmt::format("draw {} differs", i);
  }
  return "";
}

std::string failure(int turn) {
  static auto f = vectorize([](i32 a) { return 100 / a; });
  std::vector<std::int32_t> x(kSize, 7);
  const std::int64_t lowest = turn % 4000;
  x[static_cast<std::size_t>(lowest)] = 0;
  x[4500] = 0;
  try {
    f.with(options_of(turn), x);
  } catch (const ElementError& error) {
    return error.element() == lowest ? ""
                                     : fmt::format("{} and not {} fails", error.element(), lowest);
  }
  return "nothing fails";
}

std::string cancelled(int turn) {
  static auto f = vectorize([](f32 a) {
    While([&] { return a > 0; }, [&] { a = a * 0.5f + 1; });
    return a;
  });
  MapOptions options = options_of(turn);
  options.cancel.emplace();
  std::thread other([token = *options.cancel]() mutable { token.cancel(); });
  std::string problem = "an endless map ends";
  try {
    f.with(options, std::vector<float>(100, 1.0f));
  } catch (const Cancelled&) {
    problem.clear();
  }
  other.join();
  return problem;
}

std::string anew(int turn) {
  const auto factor = static_cast<float>(turn);
  auto f = vectorize([factor](f32 a) { return max(a * factor, a - factor) + factor; });
  const auto x = numbers(turn, 100);
  return compare(f.with(options_of(turn), x), x,
                 [&](float a) { return std::max(a * factor, a - factor) + factor; });
}

std::string explained(int turn) {
  static auto f = vectorize([](f32 a) { return exp(-a * a); });
  const auto x = numbers(turn, 2000);
  f.with(options_of(turn), x);
  const std::string text = f.explain(x).str();
  return text.empty() ? "nothing is explained" : "";
}

using Call = std::string (*)(int);
constexpr Call kCalls[] = {straight, loop,     table,     sum,  draws,
                           failure,  straight, cancelled, anew, explained};

}  // namespace

int kinds() { return static_cast<int>(std::size(kCalls)); }

std::string make_call(int turn) { return kCalls[static_cast<std::size_t>(turn % kinds())](turn); }

}  // namespace lw::load
