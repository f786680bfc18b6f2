// One function on every tier and schedule against a plain C++ function.
#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <random>

#include "lanewise/api/vectorize.h"

namespace lw::test {

struct Way {
  std::string name;
  plan::Wish wish;
  MapOptions options;
};

/// The tile machine; packets and refill of each instruction set, one and several registers wide.
inline std::vector<Way> every_way(bool refill) {
  std::vector<Way> ways = {{"tile machine", {}, {.compile = Compile::Never}}};
  for (const plan::Isa isa : {plan::Isa::V2, plan::Isa::V3, plan::Isa::V4}) {
    if (isa > plan::host_isa()) continue;
    for (const int interleave : {1, 3}) {
      plan::Wish wish;
      wish.isa = isa;
      wish.interleave = interleave;
      wish.refill = false;
      ways.push_back({fmt::format("packets x{} {}", interleave, plan::name_of(isa)),
                      wish,
                      {.compile = Compile::Now}});
      if (!refill) continue;
      wish.refill = true;
      ways.push_back({fmt::format("refill x{} {}", interleave, plan::name_of(isa)),
                      wish,
                      {.compile = Compile::Now}});
    }
  }
  return ways;
}

/// Whole numbers, most of them small.
inline std::vector<std::int32_t> small_numbers(std::size_t count, int most, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::vector<std::int32_t> numbers;
  for (std::size_t i = 0; i < count; ++i) {
    numbers.push_back(static_cast<std::int32_t>(random() % static_cast<unsigned>(most)));
  }
  return numbers;
}

/// Expects that `traced` gives for each element what `plain` does.
template <class Traced, class Plain>
void expect_same(const Traced& traced, const Plain& plain, bool refill = false, int most = 50) {
  constexpr std::size_t kCount = 777;
  const std::vector<std::int32_t> a = small_numbers(kCount, most);
  const std::vector<std::int32_t> b = small_numbers(kCount, most, 2);
  for (const Way& way : every_way(refill)) {
    auto f = vectorize(traced, {.schedule = way.wish});
    const Tensor got = f.with(way.options, a, b);
    for (std::size_t i = 0; i < kCount; ++i) {
      ASSERT_EQ(got.at<std::int32_t>(static_cast<std::int64_t>(i)), plain(a[i], b[i]))
          << way.name << ", element " << i << ": " << a[i] << ", " << b[i];
    }
  }
}

}  // namespace lw::test
