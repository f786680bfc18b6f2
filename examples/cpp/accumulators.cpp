// What all elements add to: pi from random points, and how far they are from the origin.
#include <lanewise/lanewise.h>

#include <cstdio>

int main() {
  lw::Count inside;
  lw::Mean<double> distance;
  lw::ArgMax<double> farthest;
  lw::Histogram rings(5);

  constexpr std::int64_t kPoints = 1'000'000;
  lw::vectorize([&] {
    const lw::f64 x = lw::random::uniform<double>();
    const lw::f64 y = lw::random::uniform<double>();
    const lw::f64 r = lw::sqrt(x * x + y * y);
    lw::If(r < 1, [&] {
      inside.add();
      rings.add(lw::cast<std::int32_t>(r * 5));
    });
    distance.add(r);
    farthest.add(r);
  }).with({.count = kPoints, .seed = 1});

  std::printf("pi is about %.4f\n", 4.0 * static_cast<double>(inside.value()) / kPoints);
  std::printf("mean distance %.6f\n", distance.value());
  std::printf("farthest: point %lld at %.6f\n", static_cast<long long>(farthest.place()),
              farthest.value());
  for (const std::int64_t count : rings.value())
    std::printf("%lld ", static_cast<long long>(count));
  std::printf("\n");
}
