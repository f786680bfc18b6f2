// What a profile costs maps of a millisecond or a few: each call in a profile of its own, against
// the same call without one.
#include <fmt/core.h>

#include <utility>

#include "../harness.h"
#include "../programs.h"

namespace lw::bench {
namespace {

template <class T>
void compare(const std::string& name, const std::function<void()>& run, std::vector<T>& out,
             int repeats, std::vector<Figure>& figures) {
  run();
  const std::vector<T> expected = std::exchange(out, std::vector<T>(out.size()));
  const auto profiled = [&] {
    const Profile profile;
    run();
    return profile.summary().rows;
  };
  if (profiled().at(0).calls != 1 || out != expected) fail("profiles: " + name);
  figures.push_back({name + ", in a profile", median_ratio(profiled, run, repeats), 1.05, false});
}

}  // namespace

void run_profiles(const Options& options, std::vector<Figure>& figures) {
  auto wave = vectorize([](f32 x) { return sin(x) + cos(x) * exp(x); });
  auto escape = vectorize(&mandelbrot);
  for (const int threads : {1, 2}) {
    const MapOptions with{.threads = threads, .compile = Compile::Now};
    for (const std::size_t thousands : {2, 10}) {
      const std::size_t size = thousands * 1000 * static_cast<std::size_t>(threads);
      const auto name = [&](const char* kind, std::size_t elements) {
        return fmt::format("{}, {} elements, {} thread{}", kind, elements, threads,
                           threads == 1 ? "" : "s");
      };
      std::vector<float> x(3000 * size);
      for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = static_cast<float>(i % 1001) * 0.0025f - 1.75f;
      }
      std::vector<float> y(1000 * size);
      const std::span whole = std::span(x).first(y.size());
      compare(
          name("wave", y.size()), [&] { wave.into(y, with, whole); }, y, options.repeats, figures);
      const Strided<const float> apart{x.data(), std::ssize(y), 3};
      compare(
          name("wave, apart", y.size()), [&] { wave.into(y, with, apart); }, y, options.repeats,
          figures);
      std::vector<std::int32_t> steps(10 * size);
      const std::span points = std::span(x).first(steps.size());
      compare(
          name("mandelbrot", steps.size()), [&] { escape.into(steps, with, points, points); },
          steps, options.repeats, figures);
    }
  }
}

}  // namespace lw::bench
