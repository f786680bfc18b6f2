// Maps of no element, of one, and of more than 32 bits can count.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>
#include <utility>

#include "lanewise/base/error.h"
#include "lanewise/lanewise.h"
#include "tests/support/resident.h"

namespace lw {
namespace {

constexpr std::int64_t k31 = std::int64_t{1} << 31;

class Sizes : public testing::TestWithParam<std::tuple<Compile, int>> {
 protected:
  MapOptions options() const {
    return {.threads = std::get<1>(GetParam()), .compile = std::get<0>(GetParam())};
  }
};

TEST_P(Sizes, NoElementIsDoneAtOnce) {
  auto f = vectorize([](f32 x, f32 y) { return x + y; });
  const Tensor y = f.with(options(), std::vector<float>{}, 1.0f);
  EXPECT_EQ(y.size(), 0);
  std::vector<float> out;
  const runtime::RunStats stats = f.into(out, options(), Strided<const float>{nullptr, 0, 3}, 1.0f);
  EXPECT_EQ(stats.tier0_elements + stats.tier1_elements, 0);
}

TEST_P(Sizes, OneElementLeavesItsNeighboursAlone) {
  auto f = vectorize([](i8 x) { return x + 1; });
  std::vector<std::int8_t> out(3, 9);
  f.into(Output(DType::I8, out.data() + 1, 1), options(), std::vector<std::int8_t>{4});
  EXPECT_EQ(out, (std::vector<std::int8_t>{9, 5, 9}));
  const std::int8_t value = 7;
  for (const std::int64_t stride : {0, 5, -5}) {
    f.into(Output(DType::I8, out.data() + 1, 1, stride), options(),
           Strided<const std::int8_t>{&value, 1, stride});
    EXPECT_EQ(out, (std::vector<std::int8_t>{9, 8, 9}));
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, Sizes,
                         testing::Combine(testing::Values(Compile::Never, Compile::Now),
                                          testing::Values(1, 2)));

/// 2^31 + 17 bytes that take few: pages of a file, again and again. Their number is odd, so
/// elements 2^31 or 2^32 apart differ; none is 0. What is written stays in this mapping.
class LongInput {
 public:
  static constexpr std::int64_t kPeriod = 4097 * 4096;
  static constexpr std::int64_t kRounds = k31 / kPeriod + 1;

  LongInput() : values_(kPeriod) {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      values_[i] = static_cast<std::uint8_t>(1 + (i * 7 + (i >> 8) * 13 + (i >> 16) * 29) % 255);
    }
    const int file = memfd_create("lanewise", 0);
    if (write(file, values_.data(), values_.size()) != kPeriod) throw std::runtime_error("write");
    constexpr int kProtection = PROT_READ | PROT_WRITE;
    void* const begin = mmap(nullptr, kRounds * kPeriod, kProtection,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    data_ = static_cast<std::uint8_t*>(begin);
    for (std::int64_t i = 0; i < kRounds; ++i) {
      if (mmap(data_ + i * kPeriod, kPeriod, kProtection, MAP_PRIVATE | MAP_FIXED, file, 0) ==
          MAP_FAILED) {
        throw std::runtime_error("mmap");
      }
    }
    close(file);
  }
  ~LongInput() { munmap(data_, kRounds * kPeriod); }
  LongInput(const LongInput&) = delete;
  LongInput& operator=(const LongInput&) = delete;

  std::uint8_t* data() const { return data_; }
  const std::vector<std::uint8_t>& period() const { return values_; }

 private:
  std::vector<std::uint8_t> values_;
  std::uint8_t* data_ = nullptr;
};

/// The ways use one output of 2 GB one after the other.
class BeyondSizes : public Sizes {
 protected:
  static constexpr std::int64_t kCount = k31 + 17;

  static void SetUpTestSuite() {
    constexpr std::int64_t kNeeded = kCount + (std::int64_t{1} << 30);
    if (test::kIsSanitized || test::available_bytes() < kNeeded) return;
    output_ = new Tensor(DType::U8, kCount);
  }
  static void TearDownTestSuite() {
    delete std::exchange(output_, nullptr);
    trim_output_pool();
  }
  void SetUp() override {
    if (output_ == nullptr) GTEST_SKIP() << "needs 3 GB that are available, and no sanitizer";
  }
  Input input() const { return {DType::U8, input_.data(), kCount}; }

  static inline Tensor* output_ = nullptr;
  LongInput input_;
};

TEST_P(BeyondSizes, EveryElementIsComputedFromItsOwn) {
  auto f = vectorize([](u8 v, u8 c) { return (v ^ c) + std::uint8_t{3}; });
  static std::uint8_t c = 0x51;
  ++c;  // what another way left would be wrong
  const Input inputs[] = {input(), Strided<const std::uint8_t>{&c, kCount, 0}};
  const Output output(*output_);
  const runtime::RunStats stats = f.element_function().call_into({&output, 1}, inputs, options());
  EXPECT_EQ(stats.tier0_elements + stats.tier1_elements, kCount);
  EXPECT_EQ(stats.tier1_elements > 0, options().compile == Compile::Now);
  std::vector<std::uint8_t> expected = input_.period();
  for (std::uint8_t& v : expected) v = static_cast<std::uint8_t>((v ^ c) + 3);
  const auto* results = static_cast<const std::uint8_t*>(output_->data());
  for (std::int64_t first = 0; first < kCount; first += LongInput::kPeriod) {
    const std::int64_t size = std::min(LongInput::kPeriod, kCount - first);
    EXPECT_EQ(std::memcmp(results + first, expected.data(), static_cast<std::size_t>(size)), 0)
        << first;
  }
}

TEST_P(BeyondSizes, AFailingElementBeyondIsNamed) {
  if (options().threads == 1) GTEST_SKIP() << "two threads see it as well";
  auto f = vectorize([](u8 v) { return std::uint8_t{100} / v; });
  input_.data()[k31 + 5] = 0;
  const Input in = input();
  const Output output(*output_);
  try {
    f.element_function().call_into({&output, 1}, {&in, 1}, options());
    ADD_FAILURE() << "nothing was thrown";
  } catch (const ElementError& error) {
    EXPECT_EQ(error.element(), k31 + 5);
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, BeyondSizes,
                         testing::Combine(testing::Values(Compile::Never, Compile::Now),
                                          testing::Values(1, 2)));

}  // namespace
}  // namespace lw
