// lanewise_evictions [N]: N functions (10000), each compiled once, in a cache that holds few of
// them.
//
// Exit code 1 if a result was wrong, or machine code or the process grew after the first fifth.
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "lanewise/lanewise.h"
#include "tests/support/code_bytes.h"
#include "tests/support/resident.h"

namespace lw::load {
namespace {

constexpr std::size_t kCacheBytes = 1 << 20;
constexpr std::size_t kMostCodeGrowth = 64 << 10;  // of pages that are not full
constexpr std::int64_t kMostGrowth = 32 << 20;     // of noise

struct Most {
  std::size_t code = 0;
  std::int64_t resident = 0;

  void look() {
    code = std::max(code, test::anonymous_code_bytes());
    resident = std::max(resident, test::field_bytes("/proc/self/status", "VmRSS"));
  }
};

/// Compiles a function that no other number gives, with a loop or without; false: it is wrong.
bool is_right(int number) {
  const auto factor = static_cast<float>(number);
  const bool loops = number % 3 == 0;
  auto f = vectorize([&](f32 x) {
    f32 y = x * factor;
    if (loops) For(0, 4, [&](i32 i) { y = y + cast<float>(i); });
    return y + 1;
  });
  const std::vector<float> x = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  const Tensor found = f.with({.threads = 1, .compile = Compile::Now}, x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float expected = loops ? x[i] * factor + 6 + 1 : x[i] * factor + 1;
    if (found.at<float>(static_cast<std::int64_t>(i)) != expected) return false;
  }
  return true;
}

std::string run(int count) {
  Most early, late;
  for (int i = 0; i < count; ++i) {
    if (!is_right(i)) return fmt::format("function {} is wrong", i);
    if (cache_info().bytes > kCacheBytes) return fmt::format("{} fill the cache", i);
    Most& most = i < count / 5 ? early : late;
    most.look();
    if ((i + 1) % std::max(1, count / 10) == 0) {
      fmt::print("{} functions: {} evictions, at most {} kB of code, {:.1f} MB in all\n", i + 1,
                 cache_info().evictions, most.code >> 10, static_cast<double>(most.resident) / 1e6);
      std::fflush(stdout);
    }
  }
  if (early.code == 0 || cache_info().evictions == 0) return "nothing was compiled or evicted";
  if (late.code > early.code + kMostCodeGrowth) return "machine code grows";
  if (!test::kIsSanitized && late.resident > early.resident + kMostGrowth) return "memory grows";
  return "";
}

}  // namespace
}  // namespace lw::load

int main(int count, char** words) {
  setenv("LANEWISE_DISK_CACHE", "0", 1);
  lw::set_cache_bytes(lw::load::kCacheBytes);
  const std::string problem = lw::load::run(count > 1 ? std::atoi(words[1]) : 10000);
  if (!problem.empty()) fmt::print(stderr, "lanewise_evictions: {}\n", problem);
  return problem.empty() ? 0 : 1;
}
