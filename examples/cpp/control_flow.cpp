// Each element goes its own way: branches, loops that end early, tables, arrays, random numbers.
#include <lanewise/lanewise.h>

#include <cstdio>

namespace {

/// The day on which a random walk first passes a barrier; 1000 if it never does.
lw::i32 first_passage(lw::f32 barrier, lw::Table<float> drift) {
  lw::f32 x = 0;
  lw::i32 day = 0;
  lw::For(0, 1000, [&](lw::i32 i) {
    x += drift.read(i, lw::Mode::Wrap) + 0.1f * lw::random::normal<float>();
    lw::If(x > barrier, [&] { lw::Break(); });
    day = i + 1;
  });
  return day;
}

/// How many steps of the Collatz sequence; 0, from which it never ends, is left at once.
lw::i32 collatz_steps(lw::i64 n) {
  lw::ReturnIf(n <= 0, lw::i32(-1));
  lw::i32 steps = 0;
  lw::While([&] { return n != 1; },
            [&] {
              lw::If(n % 2 == 0, [&] { n = n / 2; }, [&] { n = 3 * n + 1; });
              steps += 1;
            });
  return steps;
}

/// The digit that a number has most often.
lw::i32 commonest_digit(lw::i32 n) {
  lw::Array<std::int32_t> counts(10);
  lw::While([&] { return n > 0; },
            [&] {
              counts[n % 10] += 1;
              n = n / 10;
            });
  lw::i32 best = 0;
  lw::For(1, 10,
          [&](lw::i32 digit) { lw::If(counts[digit] > counts[best], [&] { best = digit; }); });
  return best;
}

template <class T>
void print(const char* name, const lw::Tensor& values) {
  std::printf("%s:", name);
  for (const T value : values.span<T>()) std::printf(" %d", static_cast<int>(value));
  std::printf("\n");
}

}  // namespace

int main() {
  auto passage = lw::vectorize(&first_passage, {.name = "first_passage"});
  const std::vector<float> barriers = {0.5f, 1, 2, 4, 1000};
  const std::vector<float> drift = {0.01f, -0.005f, 0.02f, 0, -0.01f};  // repeated every five days
  print<std::int32_t>("first passage", passage.with({.seed = 7}, barriers, drift));

  // The second half of a larger map draws the numbers it would have drawn there.
  const auto half = std::span(barriers).subspan(2);
  print<std::int32_t>("last three", passage.with({.seed = 7, .first_element = 2}, half, drift));

  auto steps = lw::vectorize(&collatz_steps, {.name = "collatz_steps"});
  print<std::int32_t>("collatz", steps(std::vector<std::int64_t>{1, 7, 0, 27, 97}));

  auto digit = lw::vectorize(&commonest_digit, {.name = "commonest_digit"});
  print<std::int32_t>("digits", digit(std::vector<std::int32_t>{7, 1221, 550, 98989, 0}));

  try {  // an index that is out of range is a failure of its element
    lw::map([](lw::i32 i, lw::Table<float> t) { return t[i]; }, std::vector<int>{0, 4, 5, 9},
            drift);
  } catch (const lw::ElementError& error) {
    std::printf("element %d has an index that is out of range\n",
                static_cast<int>(error.element()));
  }
}
