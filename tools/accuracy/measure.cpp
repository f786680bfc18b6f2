#include "tools/accuracy/measure.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>
#include <random>
#include <thread>

#include "tools/accuracy/screen.h"

namespace lw::accuracy {
namespace {

template <class T>
using Bits = std::conditional_t<std::is_same_v<T, float>, std::uint32_t, std::uint64_t>;

template <class T>
using Limits = std::numeric_limits<T>;

constexpr std::int64_t kBlock = 1 << 18;

/// What implementations stumble over, of both signs, with its neighbours.
template <class T>
std::vector<T> edge_values() {
  std::vector<T> list = {Limits<T>::quiet_NaN()};
  const auto add = [&](T v) {
    for (const T w : {v, std::nextafter(v, T(0)), std::nextafter(v, Limits<T>::infinity())}) {
      list.push_back(w);
      list.push_back(-w);
    }
  };
  for (const T v : {T(0),
                    Limits<T>::infinity(),
                    Limits<T>::min(),
                    Limits<T>::max(),
                    T(0.5),
                    T(0.25),
                    T(1.5),
                    T(2.5),
                    T(10),
                    T(0.1),
                    T(0.6931471805599453094),
                    T(0.3465735902799726547),
                    T(1.41421356237309504880),
                    T(0.70710678118654752440),
                    T(1.57079632679489661923),
                    T(88.7228391116729996),
                    T(87.33654475),
                    T(103.972077083991796),
                    T(89.41598629),
                    T(709.782712893383973),
                    T(708.396418532264106),
                    T(745.133219101941108),
                    T(710.4758600739439),
                    T(128),
                    T(126),
                    T(149),
                    T(150),
                    T(1023),
                    T(1022),
                    T(1024),
                    T(1074),
                    T(1075),
                    T(9.0109133),
                    T(19.06154746539849),
                    T(17.3286795139986)}) {
    add(v);
  }
  for (int k = -60; k <= 60; ++k) add(std::ldexp(T(1), k));
  for (int k = 1; k <= 7; k += 2) add(T(k));
  return list;
}

template <class T>
T random_operand(std::mt19937_64& random, double low, double high) {
  const auto unit = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  const auto sign = [&] { return (random() & 1) != 0 ? 1.0 : -1.0; };
  switch (random() % 8) {
    case 0:
    case 1:
      return std::bit_cast<T>(static_cast<Bits<T>>(random()));
    case 2:
    case 3:
    case 4:
      return static_cast<T>(low + (high - low) * unit());
    case 5:
    case 6: {  // any magnitude up to the typical ones
      const double top = std::log2(std::max(std::fabs(low), std::fabs(high)));
      return static_cast<T>(sign() * std::exp2(top - (top + 60) * unit()));
    }
    default:
      return static_cast<T>(1 + sign() * std::exp2(-1 - 52 * unit()));
  }
}

/// The last place of T at the exact value, or at `least` if that is larger.
template <class T>
long double last_place(long double exact, double least) {
  const T nearest = static_cast<T>(std::fabs(exact));
  const T size =
      std::clamp(std::max(nearest, static_cast<T>(least)), Limits<T>::min(), Limits<T>::max());
  return std::ldexp(1.0L, std::ilogb(size) + 1 - Limits<T>::digits);
}

struct Verdict {
  double ulp = 0;
  bool mismatch = false;
};

template <class T>
Verdict judge(T got, long double exact, double least) {
  if (std::isnan(exact)) return {0, !std::isnan(got)};
  if (std::isinf(exact) || exact == 0) {
    return {0, !(got == static_cast<T>(exact)) || std::signbit(got) != std::signbit(exact)};
  }
  if (std::isnan(got)) return {0, true};
  if (std::signbit(got) != std::signbit(exact) && std::fabs(exact) >= least) return {0, true};
  if (std::isinf(got) && std::isinf(static_cast<T>(exact))) return {};
  long double value = got;
  if (std::isinf(got)) value = std::copysign(std::ldexp(1.0L, Limits<T>::max_exponent), exact);
  return {static_cast<double>(std::fabs(value - exact) / last_place<T>(exact, least)), false};
}

/// The results of a block to be judged: all, or for functions of one f32, which billions of values
/// are tried of, what a fast screen finds worst and doubtful.
template <class T>
std::vector<std::size_t> to_judge(const Function<T>& function, std::span<const T> operands,
                                  std::span<const T> got) {
  if constexpr (std::is_same_v<T, float>) {
    if (function.arity == 1) {
      Screened found = screen(function.name, operands, got, static_cast<float>(function.least));
      if (found.ulp > 0) found.doubts.push_back(found.at);
      return std::move(found.doubts);
    }
  }
  std::vector<std::size_t> all(operands.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

template <class T>
class Measurement {
 public:
  explicit Measurement(const Function<T>& function) : function_(function) {}

  /// Compares all operands of a block; called by several threads.
  void block(std::span<const T> a, std::span<const T> b) {
    std::vector<T> out(a.size());
    function_.map(out, a, b);
    Report<T> part;
    for (const std::size_t i : to_judge<T>(function_, a, out)) {
      const T y = b.empty() ? T(0) : b[i];
      const long double exact = function_.reference(a[i], y);
      const Verdict verdict = judge<T>(out[i], exact, least(a[i], exact));
      if (verdict.mismatch && part.mismatches++ == 0) part.mismatch = text(a[i], y, out[i], exact);
      if (verdict.ulp > part.ulp) {
        part.ulp = verdict.ulp;
        part.at = text(a[i], y, out[i], exact);
      }
    }
    part.points = static_cast<std::int64_t>(a.size());
    add(part);
  }

  Report<T> report() const { return report_; }

 private:
  /// In f64, the gamma functions of a negative x are differences of two terms, of which one is
  /// their value at 1 - x.
  double least(T x, long double exact) const {
    if (std::is_same_v<T, float> || function_.least == 0 || !(x < 0)) return function_.least;
    const long double terms = std::fabs(exact) + 2 * std::fabs(function_.reference(1 - x, 0));
    return std::max(function_.least, static_cast<double>(terms));
  }

  std::string text(T x, T y, T got, long double exact) const {
    const std::string operands =
        function_.arity == 1 ? fmt::format("{:a}", x) : fmt::format("{:a}, {:a}", x, y);
    return fmt::format("{}({}) = {:a}, expected {:a}", function_.name, operands, got,
                       static_cast<double>(exact));
  }

  void add(const Report<T>& part) {
    const std::lock_guard lock(mutex_);
    report_.points += part.points;
    if (report_.mismatches == 0) report_.mismatch = part.mismatch;
    report_.mismatches += part.mismatches;
    if (part.ulp > report_.ulp) {
      report_.ulp = part.ulp;
      report_.at = part.at;
    }
  }

  const Function<T>& function_;
  std::mutex mutex_;
  Report<T> report_;
};

template <class T>
void measure_edges(const Function<T>& function, Measurement<T>& measurement) {
  const std::vector<T> edges = edge_values<T>();
  if (function.arity == 1) return measurement.block(edges, {});
  std::vector<T> a;
  std::vector<T> b;
  for (const T x : edges) {
    for (const T y : edges) {
      a.push_back(x);
      b.push_back(y);
    }
  }
  measurement.block(a, b);
}

template <class T>
void fill(const Function<T>& function, Points points, std::int64_t step, std::int64_t block,
          std::vector<T>& a, std::vector<T>& b) {
  if (points == Points::All) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      const std::int64_t number = (block * kBlock + static_cast<std::int64_t>(i)) * step;
      a[i] = std::bit_cast<T>(static_cast<Bits<T>>(number));
    }
    return;
  }
  std::mt19937_64 random(static_cast<std::uint64_t>(block));
  for (T& x : a) x = random_operand<T>(random, function.low, function.high);
  for (T& y : b) y = random_operand<T>(random, function.low, function.high);
}

}  // namespace

template <class T>
Report<T> measure(const Function<T>& function, Points points, std::int64_t count, int threads) {
  constexpr std::int64_t kFloats = std::int64_t{1} << 32;
  const std::int64_t step = std::max<std::int64_t>(1, kFloats / count);
  if (points == Points::All) count = kFloats / step;
  Measurement<T> measurement(function);
  measure_edges(function, measurement);
  const std::int64_t blocks = (count + kBlock - 1) / kBlock;
  std::atomic<std::int64_t> next = 0;
  const auto work = [&] {
    for (std::int64_t block = next++; block < blocks; block = next++) {
      const auto size = static_cast<std::size_t>(std::min(kBlock, count - block * kBlock));
      std::vector<T> a(size);
      std::vector<T> b(function.arity == 2 ? size : 0);
      fill(function, points, step, block, a, b);
      measurement.block(a, b);
    }
  };
  std::vector<std::thread> workers;
  for (int i = 1; i < threads; ++i) workers.emplace_back(work);
  work();
  for (std::thread& worker : workers) worker.join();
  return measurement.report();
}

template <class T>
Report<T> measure(const Function<T>& function, std::span<const T> a, std::span<const T> b) {
  Measurement<T> measurement(function);
  measurement.block(a, b);
  return measurement.report();
}

template Report<float> measure(const Function<float>&, Points, std::int64_t, int);
template Report<double> measure(const Function<double>&, Points, std::int64_t, int);
template Report<float> measure(const Function<float>&, std::span<const float>,
                               std::span<const float>);
template Report<double> measure(const Function<double>&, std::span<const double>,
                                std::span<const double>);

}  // namespace lw::accuracy
