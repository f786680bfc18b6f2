// lanewise_allocations: fails the first allocation of a call, then the second, and so on until the
// call needs no more. Each time it must end with an error, lose nothing (a build with
// AddressSanitizer looks), and the same call must succeed afterwards.
//
// Calls run on the tile machine: LLVM ends the process when it finds no memory.
#include <fmt/core.h>

#include <cstdlib>
#include <functional>
#include <new>
#include <numeric>
#include <string>
#include <vector>

#include "lanewise/lanewise.h"

namespace {

thread_local long left = 0;  // allocations until one fails; 0: none does
bool has_failed = false;

void* allocate(std::size_t size, std::size_t align) {
  if (left > 0 && --left == 0) {
    has_failed = true;
    throw std::bad_alloc();
  }
  void* memory = align > alignof(std::max_align_t)
                     ? std::aligned_alloc(align, (size + align - 1) / align * align)
                     : std::malloc(size > 0 ? size : 1);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void* allocate_or_null(std::size_t size, std::size_t align) noexcept {
  try {
    return allocate(size, align);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size, 0); }
void* operator new[](std::size_t size) { return allocate(size, 0); }
void* operator new(std::size_t size, std::align_val_t align) {
  return allocate(size, static_cast<std::size_t>(align));
}
void* operator new[](std::size_t size, std::align_val_t align) {
  return allocate(size, static_cast<std::size_t>(align));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return allocate_or_null(size, 0);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return allocate_or_null(size, 0);
}
void* operator new(std::size_t size, std::align_val_t align, const std::nothrow_t&) noexcept {
  return allocate_or_null(size, static_cast<std::size_t>(align));
}
void* operator new[](std::size_t size, std::align_val_t align, const std::nothrow_t&) noexcept {
  return allocate_or_null(size, static_cast<std::size_t>(align));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace lw::load {
namespace {

constexpr std::size_t kSize = 300;

struct EntryPoint {
  std::string name;
  std::function<double()> call;  // gives a number that depends on all of its results
};

template <class T>
double total(const Tensor& tensor) {
  double sum = 0;
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    sum += static_cast<double>(tensor.at<T>(i)) * static_cast<double>(i + 1);
  }
  return sum;
}

/// Gives a function that is recorded at its first call, each time anew.
template <class F>
auto vectorize_later(F function) {
  return [function] { return vectorize(function); };
}

MapOptions never(int threads = 1) { return {.threads = threads, .compile = Compile::Never}; }

std::vector<EntryPoint> entry_points() {
  static std::vector<float> x(kSize);
  static std::vector<std::int32_t> n(kSize);
  static std::vector<int> offsets;
  std::iota(x.begin(), x.end(), 1.0f);
  std::iota(n.begin(), n.end(), 0);
  for (int i = 0; i <= 30; ++i) offsets.push_back(i * (i + 1) * 10 / 31);
  static std::vector<float> table = {1, 2, 4, 8};
  static const auto square = vectorize_later([](f32 a) { return a * a; });
  static const auto two = vectorize_later([](f32 a, i32 b) { return std::tuple(a + 1, b * 2); });
  static const auto loop = vectorize_later([](i32 a) {
    i32 steps = 0;
    While([&] { return a > 1; },
          [&] {
            a = select((a & 1) == 0, a / 2, 3 * a + 1);
            steps = steps + 1;
          });
    return steps;
  });
  static const auto look_up =
      vectorize_later([](i32 a, Table<float> t) { return t.read(a, Mode::Wrap); });
  static const auto draw = vectorize_later([](f32 a) { return a + random::normal<float>(); });
  static const auto row = vectorize_later([](Row<float> r) { return sum(r); });
  static const auto softmax = vectorize_later([](Row<float> r) { return exp(r - logsumexp(r)); });
  static const auto ragged = vectorize_later([](RaggedRow<float> r) { return sum(r * r); });
  static const auto divide = vectorize_later([](i32 a) { return 100 / (a - 200); });
  static const auto local = vectorize_later([](i32 a) {
    Array<std::int32_t> own(8);
    For(0, 8, [&](i32 i) { own[i] = a * i; });
    return i32(own[a & 7]);
  });
  return {
      {"a map", [] { return total<float>(square().with(never(), x)); }},
      {"a map on three threads", [] { return total<float>(square().with(never(3), x)); }},
      {"a map into memory",
       [] {
         std::vector<float> out(kSize);
         square().into(Output(out), never(), x);
         return static_cast<double>(std::accumulate(out.begin(), out.end(), 0.0f));
       }},
      {"two results",
       [] {
         const auto results = two().with(never(), x, n);
         return total<float>(results[0]) + total<std::int32_t>(results[1]);
       }},
      {"a loop", [] { return total<std::int32_t>(loop().with(never(), n)); }},
      {"a step limit",
       [] {
         MapOptions options = never();
         options.max_steps = 1000;
         return total<std::int32_t>(loop().with(options, n));
       }},
      {"a table", [] { return total<float>(look_up().with(never(), n, table)); }},
      {"draws", [] { return total<float>(draw().with(never(), x)); }},
      {"arrays of an element", [] { return total<std::int32_t>(local().with(never(), n)); }},
      {"rows", [] { return total<float>(row().with(never(), Input(x).in_rows(10))); }},
      {"rows as results",
       [] { return total<float>(softmax().with(never(), Input(x).in_rows(10))); }},
      {"rows of different lengths",
       [] { return total<float>(ragged().with(never(), Ragged<float>(x, offsets))); }},
      {"a mask",
       [] {
         static const auto mask = [] {
           std::array<bool, kSize> some{};
           for (std::size_t i = 0; i < kSize; i += 3) some[i] = true;
           return some;
         }();
         std::vector<float> out(kSize);
         MapOptions options = never();
         options.where = mask;
         square().into(Output(out), options, x);
         return static_cast<double>(std::accumulate(out.begin(), out.end(), 0.0f));
       }},
      {"a failing element",
       []() -> double {
         try {
           divide().with(never(), n);
         } catch (const ElementError& error) {
           return static_cast<double>(error.element());
         }
         return -1;
       }},
      {"a sum",
       [] {
         Sum<float> sum;
         vectorize([&](f32 a) { sum.add(a); }).with(never(), x);
         return static_cast<double>(sum.value());
       }},
      {"a mean and an extreme",
       [] {
         Mean<float> mean;
         ArgMax<float> most;
         vectorize([&](f32 a) {
           mean.add(a);
           most.add(a);
         }).with(never(2), x);
         return static_cast<double>(mean.value()) + static_cast<double>(most.value());
       }},
      {"sums by key",
       [] {
         KeyedSum<float> sums(5);
         vectorize([&](f32 a, i32 b) { sums.add(b % 5, a); }).with(never(), x, n);
         double all = 0;
         for (const float sum : sums.value()) all = all * 3 + static_cast<double>(sum);
         return all;
       }},
      {"a function that is made and dropped",
       [] { return total<float>(map([](f32 a) { return a - 1; }, x)); }},
      {"an explanation",
       [] { return static_cast<double>(square().explain(x, never()).str().size() > 100); }},
      {"a program as text", [] { return static_cast<double>(loop().lower(n, never()).size()); }},
      {"caches that are emptied",
       [] {
         clear_cache();
         return total<float>(square().with(never(), x));
       }},
  };
}

/// Empty, or what went wrong.
std::string check(const EntryPoint& entry, long& allocations) {
  const double expected = entry.call();
  for (long nth = 1;; ++nth) {
    clear_cache();
    has_failed = false;
    std::string error;
    left = nth;
    try {
      const double found = entry.call();
      left = 0;
      if (!has_failed) {
        allocations = nth - 1;
        return found == expected ? "" : fmt::format("{} and not {}", found, expected);
      }
    } catch (const std::exception& caught) {
      left = 0;
      error = caught.what();
    }
    left = 0;
    if (error.empty() && entry.call() == expected) continue;  // it did without
    if (error.empty()) return fmt::format("allocation {} failed and nobody said so", nth);
    if (entry.call() != expected) return fmt::format("another result after allocation {}", nth);
  }
}

}  // namespace
}  // namespace lw::load

int main() {
  setenv("LANEWISE_DISK_CACHE", "0", 1);
  int problems = 0;
  for (const auto& entry : lw::load::entry_points()) {
    long allocations = 0;
    const std::string problem = lw::load::check(entry, allocations);
    problems += !problem.empty();
    fmt::print("{}: {}\n", entry.name,
               problem.empty() ? fmt::format("{} allocations", allocations) : problem);
    std::fflush(stdout);
  }
  return problems == 0 ? 0 : 1;
}
