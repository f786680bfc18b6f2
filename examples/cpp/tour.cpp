// A tour of lanewise in C++: functions for one element, mapped over many, and what happened.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "lanewise/lanewise.h"

namespace {

double milliseconds(const auto& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

double least_of_five(const auto& work) {
  double least = milliseconds(work);
  for (int i = 0; i < 4; ++i) least = std::min(least, milliseconds(work));
  return least;
}

// --- the functions, each for one element ---

lw::f64 wave(lw::f64 x) { return sin(x) + cos(x) * x; }

lw::i32 escape_time(lw::f32 a, lw::f32 b) {
  lw::f32 x = 0;
  lw::f32 y = 0;
  lw::i32 n = 0;
  lw::While([&] { return x * x + y * y <= 4 && n < 1000; },
            [&] {
              lw::f32 t = x * x - y * y + a;
              y = 2 * x * y + b;
              x = t;
              n = n + 1;
            });
  return n;
}

lw::f64 kepler(lw::f64 m, lw::f64 e) {  // x - e sin x = m
  lw::f64 x = m;
  lw::i32 n = 0;
  lw::While([&] { return n < 50; },
            [&] {
              lw::f64 d = (x - e * sin(x) - m) / (1 - e * cos(x));
              x = x - d;
              lw::BreakIf(abs(d) < 1e-12);
              n = n + 1;
            });
  return x;
}

// --- the same as plain loops, for comparison ---

int plain_escape_time(float a, float b) {
  float x = 0;
  float y = 0;
  int n = 0;
  while (x * x + y * y <= 4 && n < 1000) {
    const float t = x * x - y * y + a;
    y = 2 * x * y + b;
    x = t;
    ++n;
  }
  return n;
}

double plain_kepler(double m, double e) {
  double x = m;
  for (int n = 0; n < 50; ++n) {
    const double d = (x - e * std::sin(x) - m) / (1 - e * std::cos(x));
    x -= d;
    if (std::fabs(d) < 1e-12) break;
  }
  return x;
}

void report(const char* what, double plain_ms, double first_ms, double warm_ms) {
  std::printf("  %-22s plain loop %7.1f ms   first call %7.1f ms   warm %6.1f ms   %5.1f x\n", what,
              plain_ms, first_ms, warm_ms, plain_ms / warm_ms);
}

// --- the stops of the tour ---

void straight_code() {
  std::printf("1. A formula. f(x) = sin(x) + cos(x) * x for a million numbers.\n");
  std::vector<double> x(1000000);
  std::vector<double> plain(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1e-3 * static_cast<double>(i);
  const double plain_ms = least_of_five([&] {
    for (std::size_t i = 0; i < x.size(); ++i) plain[i] = std::sin(x[i]) + std::cos(x[i]) * x[i];
  });
  auto f = lw::vectorize(wave, {.name = "wave"});
  lw::Tensor y;
  const double first_ms = milliseconds([&] { y = f(x); });
  f.with({.compile = lw::Compile::Now}, x);
  const double warm_ms = least_of_five([&] { y = f(x); });
  report("wave", plain_ms, first_ms, warm_ms);
  double difference = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    difference = std::max(difference, std::fabs(y.span<double>()[i] - plain[i]));
  }
  std::printf("  f(1) = %.15g; largest difference from libm's: %.1e\n\n%s\n", y.at<double>(1000),
              difference, f.explain(x).str().c_str());
}

struct Image {
  int side = 1024;
  std::vector<float> a, b;
  Image() {
    for (int i = 0; i < side; ++i) {
      for (int j = 0; j < side; ++j) {
        a.push_back(-2.0f + 2.6f * static_cast<float>(j) / static_cast<float>(side));
        b.push_back(-1.3f + 2.6f * static_cast<float>(i) / static_cast<float>(side));
      }
    }
  }
};

void uneven_loops() {
  std::printf(
      "2. A loop that every element leaves when it likes: escape times of 1024 x 1024 points.\n");
  const Image image;
  std::vector<int> plain(image.a.size());
  const double plain_ms = milliseconds([&] {
    for (std::size_t i = 0; i < plain.size(); ++i) {
      plain[i] = plain_escape_time(image.a[i], image.b[i]);
    }
  });
  auto f = lw::vectorize(escape_time, {.name = "escape_time"});
  lw::Tensor n;
  const double first_ms = milliseconds([&] { n = f(image.a, image.b); });
  const std::string after_first = f.explain(image.a, image.b).str();
  const double warm_ms = least_of_five([&] { n = f(image.a, image.b); });
  report("escape_time", plain_ms, first_ms, warm_ms);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < plain.size(); ++i) wrong += n.span<int>()[i] != plain[i];
  std::printf("  %zu of %zu counts differ from the plain loop's\n", wrong, plain.size());
  std::printf("  What the first call did:\n%s\n", after_first.c_str());
  for (int row = 0; row < 1024; row += 51) {
    std::printf("    ");
    for (int column = 0; column < 1024; column += 18) {
      const int count = n.at<int>(row * 1024 + column);
      std::putchar(count >= 1000 ? '#' : count > 20 ? '+' : count > 6 ? '.' : ' ');
    }
    std::putchar('\n');
  }
  std::putchar('\n');
}

void newton() {
  std::printf("3. Newton's method per element: Kepler's equation for a million orbits.\n");
  std::vector<double> m(1000000);
  std::vector<double> e(m.size());
  for (std::size_t i = 0; i < m.size(); ++i) {
    m[i] = 6.283 * static_cast<double>(i) / static_cast<double>(m.size());
    e[i] = 0.9 * static_cast<double>((i * 7919) % m.size()) / static_cast<double>(m.size());
  }
  std::vector<double> plain(m.size());
  const double plain_ms = milliseconds([&] {
    for (std::size_t i = 0; i < m.size(); ++i) plain[i] = plain_kepler(m[i], e[i]);
  });
  auto f = lw::vectorize(kepler, {.name = "kepler"});
  lw::Tensor x;
  const double first_ms = milliseconds([&] { x = f(m, e); });
  const double warm_ms = least_of_five([&] { x = f(m, e); });
  report("kepler", plain_ms, first_ms, warm_ms);
  double difference = 0;
  for (std::size_t i = 0; i < m.size(); ++i) {
    difference = std::max(difference, std::fabs(x.span<double>()[i] - plain[i]));
  }
  std::printf("  largest difference from the plain loop's: %.1e\n\n", difference);
}

void same_bits() {
  std::printf("4. The same bits, however it is run:\n");
  const Image image;
  const auto digest = [](const lw::Tensor& t) {
    std::uint64_t hash = 0;
    for (const int v : t.span<int>()) hash = (hash ^ static_cast<std::uint64_t>(v)) * 0x100000001b3;
    return hash;
  };
  const auto show = [&](const char* how, const lw::VectorizeOptions& options,
                        const lw::MapOptions& map) {
    auto f = lw::vectorize(escape_time, options);
    std::printf("  %-44s %016llx\n", how,
                static_cast<unsigned long long>(digest(f.with(map, image.a, image.b))));
  };
  lw::VectorizeOptions packets;
  packets.schedule.refill = false;
  lw::VectorizeOptions refill;
  refill.schedule.refill = true;
  lw::VectorizeOptions narrow = packets;
  narrow.schedule.lanes = 4;
  const lw::Compile now = lw::Compile::Now;
  show("tile machine, one thread", {}, {.threads = 1, .compile = lw::Compile::Never});
  show("machine code, packets, one thread", packets, {.threads = 1, .compile = now});
  show("machine code, 4 lanes", narrow, {.threads = 2, .compile = now});
  show("machine code, refill, 3 threads", refill, {.threads = 3, .compile = now});
  show("machine code, refill, chunks of 1000", refill,
       {.threads = 2, .compile = now, .chunk = 1000});
  show("tile machine, swapped for machine code", {}, {.threads = 2});
  std::putchar('\n');
}

void failures() {
  std::printf("5. Failures belong to elements:\n");
  const std::vector<int> a = {7, 8, 9, 10};
  const std::vector<int> b = {2, 4, 0, 5};
  auto divide = lw::vectorize([](lw::i32 x, lw::i32 y) { return x / y; });
  try {
    divide(a, b);
  } catch (const lw::ElementError& error) {
    std::printf("  %s\n", error.what());
  }
  auto endless = lw::vectorize([](lw::i32 x) {
    lw::While([&] { return x != 0; }, [&] { x = x + 2; });
    return x;
  });
  try {
    endless.with({.max_steps = 1000}, std::vector<int>{-4, -10, -3});
  } catch (const lw::ElementError& error) {
    std::printf("  %s\n", error.what());
  }
}

}  // namespace

int main() {
  std::printf("lanewise: a function for one element, run over all of them.\n\n");
  straight_code();
  uneven_loops();
  newton();
  same_bits();
  failures();
  return 0;
}
