// What checks cost where nothing fails: indices that are checked against those the caller vouches
// for, and a call whose failures are collected against one that would throw.
#include <fmt/core.h>

#include <random>

#include "../harness.h"
#include "lanewise/lanewise.h"

namespace lw::bench {
namespace {

constexpr int kTrees = 500;
constexpr int kFeatures = 28;

std::vector<std::int32_t> random_indices(std::size_t size, std::int32_t below) {
  std::mt19937 random(1);
  std::vector<std::int32_t> values(size);
  for (std::int32_t& value : values) {
    value = static_cast<std::int32_t>(random() % static_cast<unsigned>(below));
  }
  return values;
}

std::vector<float> random_numbers(std::size_t size) {
  std::mt19937 random(2);
  std::vector<float> values(size);
  for (float& value : values) value = static_cast<float>(random()) * 0x1p-32f;
  return values;
}

/// 500 trees of depth 8 over rows of 28 features, as in bench/compare.
template <Mode mode>
f32 tree_ensemble(Table<float> rows, Table<std::int32_t> feature, Table<float> threshold,
                  Table<float> leaf) {
  const i32 row = element<std::int32_t>() * kFeatures;
  f32 total = 0;
  For(0, kTrees, [&](i32 tree) {
    i32 node = 0;
    For(0, 8, [&](i32) {
      const i32 at = tree * 255 + node;
      const f32 value = rows.read(row + feature.read(at, mode), mode);
      node = 2 * node + 1 + cast<std::int32_t>(value > threshold.read(at, mode));
    });
    total = total + leaf.read(tree * 256 + node - 255, mode);
  });
  return total;
}

/// Goes 32 times from a place to the one that stands there.
template <Mode mode>
i32 chase(i32 place, Table<std::int32_t> next) {
  For(0, 32, [&](i32) { place = next.read(place, mode); });
  return place;
}

void compare(const std::string& name, std::vector<Candidate> candidates, int repeats,
             std::vector<Figure>& figures) {
  measure(candidates, repeats);
  print_times(name, candidates);
  const double unchecked = seconds_of(candidates, "unchecked");
  for (const Candidate& one : candidates) {
    if (one.name == "unchecked") continue;
    figures.push_back({fmt::format("{}: {} against unchecked", name, one.name),
                       one.seconds / unchecked, 1.03, false});
  }
}

}  // namespace

void run_checks(const Options& options, std::vector<Figure>& figures) {
  Failures failures;
  MapOptions with{.threads = 1, .compile = Compile::Now};
  MapOptions collecting = with;
  collecting.on_error = OnError::Collect;
  collecting.failures = &failures;

  const std::int64_t elements = 4000;
  const std::vector<float> rows = random_numbers(static_cast<std::size_t>(elements * kFeatures));
  const std::vector<std::int32_t> feature = random_indices(kTrees * 255, kFeatures);
  const std::vector<float> threshold = random_numbers(kTrees * 255);
  const std::vector<float> leaf = random_numbers(kTrees * 256);
  std::vector<float> out(static_cast<std::size_t>(elements));
  auto checked = vectorize(&tree_ensemble<Mode::Check>);
  auto unchecked = vectorize(&tree_ensemble<Mode::Unchecked>);
  with.count = collecting.count = elements;
  const auto run = [&](auto& f, const MapOptions& how) {
    return [&] { f.into(out, how, rows, feature, threshold, leaf); };
  };
  compare("tree_ensemble",
          {{"unchecked", run(unchecked, with)},
           {"checked", run(checked, with)},
           {"collected", run(checked, collecting)}},
          options.repeats, figures);

  with.count = collecting.count = std::nullopt;
  for (const int size : {1 << 10, 1 << 20}) {
    const std::vector<std::int32_t> next = random_indices(static_cast<std::size_t>(size), size);
    const std::vector<std::int32_t> from = random_indices(1 << 17, size);
    std::vector<std::int32_t> to(from.size());
    auto safe = vectorize(&chase<Mode::Check>);
    auto bold = vectorize(&chase<Mode::Unchecked>);
    const auto go = [&](auto& f, const MapOptions& how) {
      return [&] { f.into(to, how, from, next); };
    };
    compare(fmt::format("gathers from {} KB", size / 256),
            {{"unchecked", go(bold, with)},
             {"checked", go(safe, with)},
             {"collected", go(safe, collecting)}},
            options.repeats, figures);
  }
}

}  // namespace lw::bench
