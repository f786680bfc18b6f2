#include "lanewise/types/scalar.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/edge_values.h"

namespace lw {
namespace {

TEST(TypesScalar, EdgeValuesSurviveTextBothWays) {
  for (const DType type : test::all_types()) {
    for (const Scalar& value : test::edge_values(type)) {
      const std::string text = types::to_string(value);
      const auto parsed = types::parse_scalar(type, text);
      ASSERT_TRUE(parsed) << text;
      EXPECT_EQ(*parsed, value) << text;
      EXPECT_EQ(types::to_string(*parsed), text);
    }
  }
}

TEST(TypesScalar, TextIsTheShortestThatParsesBack) {
  EXPECT_EQ(types::to_string(Scalar(0.1f)), "0.1");
  EXPECT_EQ(types::to_string(Scalar(0.1)), "0.1");
  EXPECT_EQ(types::to_string(Scalar(-0.0)), "-0");
  EXPECT_EQ(types::to_string(Scalar(std::int32_t{-7})), "-7");
  EXPECT_EQ(types::to_string(Scalar(true)), "true");
  EXPECT_EQ(types::to_string(Scalar(-std::numeric_limits<float>::quiet_NaN())), "nan");
  EXPECT_EQ(types::to_string(Scalar(-std::numeric_limits<double>::infinity())), "-inf");
}

TEST(TypesScalar, TextOfAnotherTypeOrRangeIsRefused) {
  EXPECT_FALSE(types::parse_scalar(DType::Bool, "1"));
  EXPECT_FALSE(types::parse_scalar(DType::I32, "2147483648"));
  EXPECT_FALSE(types::parse_scalar(DType::I32, "1.5"));
  EXPECT_FALSE(types::parse_scalar(DType::I64, "9223372036854775808"));
  EXPECT_FALSE(types::parse_scalar(DType::F32, "1e39"));
  EXPECT_FALSE(types::parse_scalar(DType::F64, "one"));
  EXPECT_FALSE(types::parse_scalar(DType::F64, "1 "));
  EXPECT_FALSE(types::parse_scalar(DType::F64, ""));
}

TEST(TypesScalar, AllNansAreOneValue) {
  const float quiet = std::numeric_limits<float>::quiet_NaN();
  const float other = std::bit_cast<float>(0xffc12345u);
  ASSERT_TRUE(std::isnan(other));
  EXPECT_EQ(Scalar(quiet), Scalar(other));
  EXPECT_NE(Scalar(quiet).bits(), Scalar(other).bits());
  EXPECT_EQ(Scalar(quiet).bits(), Scalar(other).canonical().bits());
  EXPECT_EQ(Scalar(std::nan("1")), Scalar(-std::nan("2")));
}

TEST(TypesScalar, MinusZeroIsNotZeroAndTypesDiffer) {
  EXPECT_NE(Scalar(-0.0f), Scalar(0.0f));
  EXPECT_NE(Scalar(-0.0), Scalar(0.0));
  EXPECT_NE(Scalar(std::int32_t{1}), Scalar(std::int64_t{1}));
  EXPECT_NE(Scalar(false), Scalar(std::int32_t{0}));
}

TEST(TypesScalar, StoresAndLoadsExactlyTheBytesOfItsType) {
  for (const DType type : test::all_types()) {
    for (const Scalar& value : test::edge_values(type)) {
      unsigned char bytes[16];
      std::fill(std::begin(bytes), std::end(bytes), 0xab);
      value.store(bytes);
      EXPECT_EQ(bytes[types::size_of(type)], 0xab);
      EXPECT_EQ(Scalar::load(type, bytes).bits(), value.bits());
    }
  }
}

TEST(TypesScalar, NumbersAreConvertedAsCppConvertsThem) {
  EXPECT_EQ(types::scalar_of(DType::F32, 0.1), Scalar(0.1f));
  EXPECT_EQ(types::scalar_of(DType::I64, -3), Scalar(std::int64_t{-3}));
  EXPECT_EQ(types::scalar_of(DType::Bool, 1), Scalar(true));
}

}  // namespace
}  // namespace lw
