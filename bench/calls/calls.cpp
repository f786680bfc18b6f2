// What a call costs: the first result of a new function, a warm call on eight floats, and
// compiling.
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <numeric>

#include "../harness.h"
#include "../programs.h"
#include "lanewise/backend/cpu/compiler.h"
#include "lanewise/kernel/lower.h"
#include "lanewise/runtime/compile_queue.h"
#include "lanewise/runtime/disk_store.h"
#include "lanewise/runtime/program_cache.h"

namespace lw::bench {
namespace {

/// The least time of `repeats` first calls of functions that were never seen before, in us.
template <class F>
double first_call_us(F function, int repeats) {
  std::vector<double> x(1000);
  std::iota(x.begin(), x.end(), 0.0);
  std::vector<double> out(1000);
  double least = 1e9;
  for (int i = 0; i < repeats; ++i) {
    runtime::wait_for_compiles();
    runtime::clear_cache();
    const double start = now_seconds();
    auto f = vectorize(function);
    f.into(out, {}, x);
    least = std::min(least, now_seconds() - start);
  }
  return least * 1e6;
}

void first_calls(const Options& options, std::vector<Figure>& figures) {
  const auto square = [](f64 x) { return x * x; };
  const auto wave = [](f64 x) { return sin(x) + cos(x) * x; };
  const auto root = [](f64 x) {  // Newton's square root
    f64 r = max(x, 1);
    i32 n = 0;
    While([&] { return abs(r * r - x) > 1e-9 * x && n < 50; },
          [&] {
            r = (r + x / r) * 0.5;
            n = n + 1;
          });
    return r;
  };
  const int repeats = options.repeats * 2;
  figures.push_back(
      {"first result, n = 1000: x * x", first_call_us(square, repeats), 100, false, "us"});
  figures.push_back({"first result, n = 1000: sin(x) + cos(x) * x", first_call_us(wave, repeats),
                     100, false, "us"});
  figures.push_back({"first result, n = 1000: Newton's square root", first_call_us(root, repeats),
                     100, false, "us"});
}

/// With the disk cache on, in a directory of its own: what finding nothing adds to a first result,
/// and how long it takes to find code. main.cpp has it off for all else.
void disk_calls(const Options& options, std::vector<Figure>& figures) {
  std::string directory = (std::filesystem::temp_directory_path() / "lanewise-XXXXXX").string();
  if (mkdtemp(directory.data()) == nullptr) fail("disk cache: no temporary directory");
  setenv("LANEWISE_CACHE_DIR", directory.c_str(), 1);
  setenv("LANEWISE_DISK_CACHE", "1", 1);
  runtime::reopen_disk_store();
  int factor = 0;  // makes each function new
  const auto wave = [&](f64 x) { return sin(x) + cos(x) * x * ++factor; };
  figures.push_back({"first result, n = 1000, nothing on disk: sin(x) + cos(x) * x",
                     first_call_us(wave, options.repeats * 2), 100, false, "us"});
  const std::vector<float> x = {0};
  std::vector<std::int32_t> out(1);
  for (const bool refill : {false, true}) {
    double least = 1e9;
    for (int i = 0; i < options.repeats * 2; ++i) {
      runtime::wait_for_compiles();
      runtime::clear_cache();
      auto f = scheduled(&mandelbrot, "mandelbrot", plan::host_isa(), refill);
      MapOptions now;
      now.compile = Compile::Now;
      const runtime::RunStats stats = f.into(out, now, x, x);
      if (i == 0) continue;
      if (stats.code != runtime::CodeSource::Disk) fail("disk cache: code was not found");
      least = std::min(least, stats.load_ms);
    }
    figures.push_back(
        {fmt::format("code of mandelbrot from disk, {}", refill ? "refill" : "packets"), least, 1,
         false, "ms"});
  }
  setenv("LANEWISE_DISK_CACHE", "0", 1);
  runtime::reopen_disk_store();
  std::filesystem::remove_all(directory);
}

void warm_calls(const Options& options, std::vector<Figure>& figures) {
  std::vector<float> x = {1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<float> out(8);
  const auto square = [](f32 v) { return v * v; };
  auto f = vectorize(square);
  MapOptions now;
  now.compile = Compile::Now;
  f.into(out, now, x);
  if (out[7] != 64) fail("warm call: wrong result");
  constexpr int kCalls = 20000;
  std::vector<Candidate> candidates;
  candidates.push_back({"warm call, 8 floats, out given", [&] {
                          for (int i = 0; i < kCalls; ++i) f.into(out, {}, x);
                        }});
  candidates.push_back({"warm call, 8 floats, new tensor", [&] {
                          for (int i = 0; i < kCalls; ++i) f(x);
                        }});
  measure(candidates, options.repeats);
  for (const Candidate& c : candidates) {
    figures.push_back({c.name, c.seconds / kCalls * 1e9, 100, false, "ns"});
  }
}

void compiles(const Options& options, std::vector<Figure>& figures) {
  const std::vector<float> x = {0};
  for (const bool refill : {false, true}) {
    double least = 1e9;
    for (int i = 0; i < options.repeats; ++i) {
      runtime::clear_cache();
      auto f = scheduled(&mandelbrot, "mandelbrot", plan::host_isa(), refill);
      const Input inputs[] = {x, x};
      least = std::min(least, f.element_function().compile(inputs, {}).times.total_ms());
    }
    figures.push_back({fmt::format("compile of mandelbrot, {}", refill ? "refill" : "packets"),
                       least, refill ? 30.0 : 12.0, false, "ms"});
  }
}

}  // namespace

void run_calls(const Options& options, std::vector<Figure>& figures) {
  first_calls(options, figures);
  disk_calls(options, figures);
  warm_calls(options, figures);
  compiles(options, figures);
}

}  // namespace lw::bench
