// Quotients and roots that come from estimates: those without `near` have every bit of the
// hardware.
#include <gtest/gtest.h>
#include <immintrin.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <set>

#include "lanewise/backend/cpu/compiler.h"
#include "tests/backend/cpu/assembly.h"
#include "tests/support/run_kernel.h"

namespace lw::backend::cpu {
namespace {

using plan::Isa;

/// A kernel of one operand v1 that stores v9; u0 is 1.
kernel::Kernel kernel_of(const std::string& type, const std::string& lines) {
  std::string text = "kernel f(T; ) -> (T) {\n  u0: T = constant 1\n  v1: T = load 0\n" + lines +
                     "  store 0 v9\n}\n";
  for (std::size_t at = text.find('T'); at != std::string::npos; at = text.find('T', at)) {
    text.replace(at, 1, type);
  }
  return kernel::parse(text);
}

const std::string kInverseRoot = "  v2: T = sqrt v1\n  v9: T = div u0, v2\n";
const std::string kNearInverseRoot = "  v2: T = sqrt v1 near\n  v9: T = div u0, v2 near\n";
const std::string kNearRoot = "  v9: T = sqrt v1 near\n";
const std::string kNearReciprocal = "  v9: T = div u0, v1 near\n";

template <class T>
plan::Schedule schedule_of(Isa isa, int interleave) {
  return {.isa = isa,
          .lanes = plan::register_bytes(isa) / static_cast<int>(sizeof(T)),
          .interleave = interleave};
}

template <class T>
std::vector<T> run(const kernel::Kernel& kernel, const plan::Schedule& schedule,
                   const std::vector<T>& x) {
  std::vector<T> y(x.size());
  const auto code = compile(kernel, schedule);
  lw::test::run_code(*code, {{x.data()}, {y.data()}}, std::ssize(x));
  return y;
}

template <class T>
bool is_same(T a, T b) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  return std::bit_cast<Bits>(a) == std::bit_cast<Bits>(b) || (std::isnan(a) && std::isnan(b));
}

template <class T>
void expect_inverse_roots(const plan::Schedule& schedule, const std::vector<T>& x) {
  const std::vector<T> y =
      run(kernel_of(sizeof(T) == 4 ? "f32" : "f64", kInverseRoot), schedule, x);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const T right = T(1) / std::sqrt(x[i]);
    if (is_same(y[i], right) || ++wrong > 5) continue;
    ADD_FAILURE() << to_string(schedule) << ": " << x[i] << " gives " << y[i] << ", not " << right;
  }
  EXPECT_EQ(wrong, 0u);
}

template <class T>
const std::vector<T> kSpecial = {0,
                                 T(-0.0),
                                 1,
                                 -1,
                                 std::numeric_limits<T>::infinity(),
                                 -std::numeric_limits<T>::infinity(),
                                 std::numeric_limits<T>::quiet_NaN(),
                                 std::numeric_limits<T>::denorm_min(),
                                 std::numeric_limits<T>::min(),
                                 std::numeric_limits<T>::max(),
                                 -std::numeric_limits<T>::denorm_min(),
                                 -std::numeric_limits<T>::max()};

/// Floats with these bits, one in `step`.
std::vector<float> floats(std::uint64_t first, std::uint64_t end, std::uint64_t step) {
  std::vector<float> x = kSpecial<float>;
  for (; first < end; first += step) {
    x.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(first)));
  }
  return x;
}

TEST(CpuEstimates, InverseRootsOfAllMantissasAreCorrectlyRounded) {
  const std::vector<float> x = floats(0x3f800000, 0x40800000, 1);  // 1 to 4
  for (const Isa isa : lw::test::fast_isas()) expect_inverse_roots(schedule_of<float>(isa, 4), x);
}

TEST(CpuEstimates, InverseRootsAreCorrectlyRoundedFromTheLeastNumberToNan) {
  const std::vector<float> x = floats(0, std::uint64_t{1} << 32, 1021);
  for (const int interleave : {1, 2, 3, 4}) {
    for (const Isa isa : lw::test::fast_isas()) {
      expect_inverse_roots(schedule_of<float>(isa, interleave), x);
    }
  }
  expect_inverse_roots(schedule_of<float>(Isa::V2, 2), floats(0, std::uint64_t{1} << 32, 65521));
}

TEST(CpuEstimates, InverseRootsOfDoublesAreCorrectlyRounded) {
  std::vector<double> x = kSpecial<double>;
  std::mt19937_64 random(1);
  for (int i = 0; i < 2'000'000; ++i) x.push_back(std::bit_cast<double>(random() >> 1));
  // Roots beside a power of two: all bits of their mantissa are set, or few.
  for (int exponent = -1074; exponent < 1024; ++exponent) {
    double up = std::ldexp(1.0, exponent);
    double down = up;
    for (int i = 0; i < 40; ++i) {
      x.push_back(up);
      x.push_back(down);
      up = std::nextafter(up, std::numeric_limits<double>::infinity());
      down = std::nextafter(down, 0.0);
    }
  }
  for (const Isa isa : lw::test::fast_isas()) expect_inverse_roots(schedule_of<double>(isa, 2), x);
}

/// How many reciprocals of floats 1 <= s < 2 are not the nearest, of all estimates within 2^-14.
__attribute__((target("avx512f"))) std::uint64_t count_wrong() {
  const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const __m512 one = _mm512_set1_ps(1);
  constexpr int kUp = _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC;
  std::uint64_t wrong = 0;
  for (std::uint32_t bits = 0x3f800000; bits < 0x40000000; ++bits) {
    const auto s = std::bit_cast<float>(bits);
    const double inverse = 1.0 / s;
    const auto last = std::bit_cast<std::uint32_t>(static_cast<float>(inverse * (1 + 0x1.01p-14)));
    auto next = std::bit_cast<std::uint32_t>(static_cast<float>(inverse * (1 - 0x1.01p-14)));
    const __m512 divisor = _mm512_set1_ps(s);
    const __m512 right = _mm512_set1_ps(1 / s);
    for (; next <= last; next += 16) {
      __m512 y = _mm512_castsi512_ps(
          _mm512_add_epi32(_mm512_set1_epi32(static_cast<std::int32_t>(next)), lanes));
      y = _mm512_fmadd_round_ps(y, _mm512_fnmadd_ps(divisor, y, one), y, kUp);
      y = _mm512_fmadd_ps(y, _mm512_fnmadd_ps(divisor, y, one), y);
      wrong += static_cast<unsigned>(
          std::popcount(static_cast<unsigned>(_mm512_cmp_ps_mask(y, right, _CMP_NEQ_UQ))));
    }
  }
  return wrong;
}

// Processors have other estimates; the result does not depend on theirs.
TEST(CpuEstimates, AnyEstimateWithin14BitsGivesTheNearestReciprocal) {
  if (plan::host_isa() != Isa::V4) GTEST_SKIP() << "needs AVX-512";
  EXPECT_EQ(count_wrong(), 0u);
}

std::set<std::string> names_in(const kernel::Kernel& kernel, Isa isa) {
  std::set<std::string> names;
  for (const auto& in : test::instructions(assembly(kernel, schedule_of<float>(isa, 4)))) {
    names.insert(in.name);
  }
  return names;
}

TEST(CpuEstimates, OnlyAKernelThatWaitsForTheDividerHasThem) {
  if (plan::host_isa() != Isa::V4) GTEST_SKIP() << "needs AVX-512";
  const auto few = names_in(kernel_of("f32", kInverseRoot), Isa::V4);
  EXPECT_TRUE(few.contains("vrcp14ps") && few.contains("vsqrtps"));
  EXPECT_FALSE(few.contains("vdivps"));
  std::string lines = "  v2: T = sqrt v1\n  v3: T = div u0, v2\n";
  for (int i = 3; i < 50; ++i) {
    lines += "  v" + std::to_string(i < 49 ? 10 + i : 9) + ": T = add v" +
             std::to_string(i == 3 ? 3 : 9 + i) + ", v1\n";
  }
  const auto many = names_in(kernel_of("f32", lines), Isa::V4);
  EXPECT_TRUE(many.contains("vdivps"));
  EXPECT_FALSE(many.contains("vrcp14ps"));
  const auto narrow = names_in(kernel_of("f32", kInverseRoot), Isa::V3);
  EXPECT_TRUE(narrow.contains("vdivps"));
  EXPECT_FALSE(narrow.contains("vrcpps"));
}

TEST(CpuEstimates, AQuotientThatIsNotNearIsADivision) {
  const auto names = names_in(kernel_of("f32", "  v9: T = div u0, v1\n"), Isa::V4);
  EXPECT_TRUE(names.contains("vdivps"));
  EXPECT_FALSE(names.contains("vrcp14ps"));
}

// --- near ---

/// The largest error in units of the last place; results that are not ordinary must be right.
template <class T>
double largest_error(const std::string& lines, const std::vector<T>& x, long double (*right)(T)) {
  const std::vector<T> y =
      run(kernel_of(sizeof(T) == 4 ? "f32" : "f64", lines), schedule_of<T>(Isa::V4, 2), x);
  long double most = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const long double exact = right(x[i]);
    const T nearest = static_cast<T>(exact);
    if (!std::isnormal(nearest)) {
      EXPECT_TRUE(is_same(y[i], nearest) || std::fabs(nearest) < std::numeric_limits<T>::min())
          << lines << x[i] << " gives " << y[i];
      continue;
    }
    const long double unit =
        std::ldexp(1.0L, std::ilogb(nearest) + 1 - std::numeric_limits<T>::digits);
    most = std::max(most, std::fabs(y[i] - exact) / unit);
  }
  return static_cast<double>(most);
}

template <class T>
void expect_near(const std::vector<T>& x) {
  const auto root = [](T v) { return std::sqrt(static_cast<long double>(v)); };
  const auto inverse = [](T v) { return 1 / static_cast<long double>(v); };
  const auto inverse_root = [](T v) {
    return v == 0 ? 1 / static_cast<long double>(v) : 1 / std::sqrt(static_cast<long double>(v));
  };
  EXPECT_LT(largest_error<T>(kNearInverseRoot, x, inverse_root), 1.5);
  EXPECT_LT(largest_error<T>(kNearRoot, x, root), 1.5);
  EXPECT_LT(largest_error<T>(kNearReciprocal, x, inverse), 1.5);
}

TEST(CpuEstimates, NearResultsAreWithinTwoUnitsAndSpecialOnesRight) {
  if (plan::host_isa() != Isa::V4) GTEST_SKIP() << "needs AVX-512";
  expect_near(floats(0, std::uint64_t{1} << 32, 8191));
  std::vector<double> x = kSpecial<double>;
  std::mt19937_64 random(2);
  for (int i = 0; i < 300'000; ++i) x.push_back(std::bit_cast<double>(random()));
  expect_near(x);
}

template <class T>
std::vector<T> quotients(const std::vector<T>& x, const std::vector<T>& y) {
  const std::string type = sizeof(T) == 4 ? "f32" : "f64";
  const auto kernel =
      kernel::parse("kernel f(" + type + ", " + type + "; ) -> (" + type + ") {\n  v0: " + type +
                    " = load 0\n  v1: " + type + " = load 1\n  v2: " + type +
                    " = div v0, v1 near\n  store 0 v2\n}\n");
  std::vector<T> q(x.size());
  const auto code = compile(kernel, schedule_of<T>(Isa::V4, 2));
  lw::test::run_code(*code, {{x.data(), y.data()}, {q.data()}}, std::ssize(x));
  return q;
}

/// Two units in the last place, four where the divisor is huge.
template <class T>
void expect_near_quotients() {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  using Limits = std::numeric_limits<T>;
  std::vector<T> x, y;
  for (const T a : kSpecial<T>) {
    for (const T b : kSpecial<T>) {
      x.push_back(a);
      y.push_back(b);
    }
  }
  std::mt19937_64 random(3);
  for (int i = 0; i < 500'000; ++i) {
    x.push_back(std::bit_cast<T>(static_cast<Bits>(random())));
    y.push_back(std::bit_cast<T>(static_cast<Bits>(random())));
  }
  const std::vector<T> q = quotients(x, y);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const T right = x[i] / y[i];
    const bool is_special = x[i] == 0 || y[i] == 0 || !std::isfinite(x[i]) || !std::isfinite(y[i]);
    if (is_special) {
      ASSERT_TRUE(is_same(q[i], right)) << x[i] << " / " << y[i] << " gives " << q[i];
    } else if (std::isinf(right) || std::isinf(q[i])) {
      ASSERT_GE(std::min(std::fabs(q[i]), std::fabs(right)), Limits::max() * (1 - 0x1p-20));
    } else {
      const T unit = std::ldexp(
          T(1), std::max(std::ilogb(right), Limits::min_exponent - 1) + 1 - Limits::digits);
      const bool is_huge = std::fabs(y[i]) > Limits::max() / 4;
      ASSERT_LE(std::fabs(q[i] - right), unit * (is_huge ? 4 : 2)) << x[i] << " / " << y[i];
    }
  }
}

TEST(CpuEstimates, NearQuotientsAreWithinTwoUnitsAndSpecialOnesRight) {
  if (plan::host_isa() != Isa::V4) GTEST_SKIP() << "needs AVX-512";
  expect_near_quotients<float>();
  expect_near_quotients<double>();
}

/// Rows of 64, each divided by a number, with positions in lanes.
template <class T>
std::vector<T> rows_by_numbers(const std::vector<T>& x, const std::vector<T>& y) {
  const std::string type = sizeof(T) == 4 ? "f32" : "f64";
  const auto kernel = kernel::parse(
      "kernel f(" + type + "[64], " + type + "; ; arrays " + type + " 64 output 0 flat) -> (" +
      type + "[64]) inner {\n  u0: i32 = constant 0\n  u1: " + type +
      " = load 1\n  each 64 {\n    v2: bool = active\n    v3: " + type +
      " = row_read 0 u0, v2 step 1\n    v4: " + type +
      " = div v3, u1\n    array_write 0 u0, v4, v2 step 1\n  }\n}\n");
  plan::Schedule schedule = schedule_of<T>(Isa::V4, 4);
  schedule.inner = true;
  std::vector<T> q(x.size());
  const auto code = compile(kernel, schedule);
  lw::test::run_code(*code, {{x.data(), y.data()}, {q.data()}}, std::ssize(y));
  return q;
}

template <class T>
void expect_quotients_by_one() {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  std::mt19937_64 random(4);
  const auto any = [&] { return std::bit_cast<T>(static_cast<Bits>(random())); };
  const auto usual = [&] {  // between 2^-20 and 2^20
    const int exponent = static_cast<int>(random() % 40) - 20;
    return std::ldexp(1 + static_cast<T>(random() >> 12) * T(0x1p-52), exponent);
  };
  std::vector<T> x, y;
  for (int i = 0; i < 20'000; ++i) {
    y.push_back(i < 2000     ? kSpecial<T>[random() % kSpecial<T>.size()]
                : i % 4 == 0 ? any()
                             : usual());
    const bool has_special = i % 5 == 0;
    for (int k = 0; k < 64; ++k) {
      const bool is_special = has_special && random() % 16 == 0;
      const T number = i % 3 == 0 ? any() : random() % 2 == 0 ? usual() : -usual();
      x.push_back(is_special ? kSpecial<T>[random() % kSpecial<T>.size()] : number);
      if (random() % 32 == 0) x.back() = random() % 2 == 0 ? T(0) : T(-0.0);
    }
  }
  const std::vector<T> q = rows_by_numbers(x, y);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const T right = x[i] / y[i / 64];
    ASSERT_TRUE(is_same(q[i], right)) << x[i] << " / " << y[i / 64] << " gives " << q[i];
  }
}

TEST(CpuEstimates, QuotientsByANumberThatAllLanesShareAreCorrectlyRounded) {
  if (plan::host_isa() != Isa::V4) GTEST_SKIP() << "needs AVX-512";
  expect_quotients_by_one<float>();
  expect_quotients_by_one<double>();
}

/// The nearest number with so many bits.
double rounded(double x, int bits) {
  int exponent = 0;
  const double mantissa = std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(mantissa, bits)), exponent - bits);
}

TEST(CpuEstimates, AProductWithTheReciprocalAndOneStepIsTheQuotientOfAllShortNumbers) {
  for (int bits = 2; bits <= 10; ++bits) {
    const int first = 1 << (bits - 1);
    for (int y = first; y < 2 * first; ++y) {
      const double reciprocal = rounded(1.0 / y, bits);
      for (int x = first; x < 2 * first; ++x) {
        const double product = rounded(x * reciprocal, bits);
        const double excess = rounded(product * y - x, bits);
        const double quotient = rounded(product - excess * reciprocal, bits);
        ASSERT_EQ(quotient, rounded(static_cast<double>(x) / y, bits)) << x << " / " << y;
      }
    }
  }
}

TEST(CpuEstimates, AProductWithTheReciprocalAndOneStepIsTheQuotientBesideTies) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 300'000; ++i) {
    const std::uint64_t y = 1 << 23 | (random() & 0x7fffff) | 1;
    for (const int shift : {24, 25}) {  // x * 2^shift is `rest` more than a multiple of y
      std::uint64_t inverse = 1;
      for (int k = 0; k < shift; ++k) inverse = inverse * ((y + 1) / 2) % y;
      for (const int rest : {-3, -2, -1, 1, 2, 3}) {
        const std::uint64_t x = (y + static_cast<std::uint64_t>(rest)) * inverse % y;
        for (const std::uint64_t number : {x, x + y}) {
          if (number < 1 << 23 || number >= 1 << 24) continue;
          const auto a = static_cast<float>(number);
          const auto b = static_cast<float>(y);
          const float reciprocal = 1 / b;
          const float product = a * reciprocal;
          const float excess = std::fma(product, b, -a);
          ASSERT_EQ(std::fma(-excess, reciprocal, product), a / b) << a << " / " << b;
        }
      }
    }
  }
}

TEST(CpuEstimates, NearKernelsHaveNoDivision) {
  if (plan::host_isa() != Isa::V4) GTEST_SKIP() << "needs AVX-512";
  for (const auto& lines : {kNearInverseRoot, kNearRoot, kNearReciprocal}) {
    const auto names = names_in(kernel_of("f32", lines), Isa::V4);
    EXPECT_FALSE(names.contains("vdivps") || names.contains("vsqrtps")) << lines;
  }
}

}  // namespace
}  // namespace lw::backend::cpu
