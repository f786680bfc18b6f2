#include "lanewise/api/tensor.h"

#include <gtest/gtest.h>

#include <cmath>

#include "lanewise/base/error.h"
#include "lanewise/lanewise.h"
#include "tests/support/message_of.h"

namespace lw {
namespace {

TEST(Tensor, HoldsACopyOfTheValuesAndItsType) {
  std::vector<double> values = {1, -0.0, 3};
  const Tensor tensor{std::span<const double>(values)};
  values[0] = 9;
  EXPECT_EQ(tensor.type(), DType::F64);
  EXPECT_EQ(tensor.size(), 3);
  EXPECT_EQ(tensor.at<double>(0), 1);
  EXPECT_TRUE(std::signbit(tensor.at<double>(1)));
}

TEST(Tensor, CopiesShareTheMemory) {
  const Tensor a(DType::I32, 4);
  const Tensor b = a;
  a.span<std::int32_t>()[2] = 7;
  EXPECT_EQ(b.at<std::int32_t>(2), 7);
  EXPECT_EQ(a.data(), b.data());
}

TEST(Tensor, AnEmptyOneHasNoElements) {
  EXPECT_EQ(Tensor().size(), 0);
  const Tensor none(DType::Bool, 0);
  EXPECT_EQ(none.span<bool>().size(), 0u);
}

TEST(Tensor, ResultsCanBeArgumentsOfTheNextMap) {
  auto f = vectorize([](f32 x) { return x * 2; });
  const Tensor once = f(std::vector<float>{1, 2, 3});
  const Tensor twice = f(once);
  EXPECT_EQ(twice.at<float>(2), 12);
}

TEST(TensorErrors, AnotherElementTypeIsRefused) {
  const Tensor tensor(DType::F32, 1);
  EXPECT_EQ(test::message_of<UsageError>([&] { tensor.span<double>(); }),
            "Tensor: another element type; got f64, expected f32.");
  EXPECT_EQ(test::message_of<UsageError>([&] { tensor.at<bool>(0); }),
            "Tensor: another element type; got bool, expected f32.");
}

TEST(TensorErrors, SizesThatCannotBeAreRefused) {
  EXPECT_EQ(test::message_of<UsageError>([] { Tensor(DType::F32, -1); }),
            "Tensor: a negative size; got -1, expected 0 or more elements.");
  EXPECT_EQ(test::message_of<ResourceError>([] { Tensor(DType::F64, std::int64_t{1} << 62); }),
            "Tensor: no memory; got a wish for 4611686018427387904 elements of 8 bytes each.");
}

}  // namespace
}  // namespace lw
