// What the rows compute where it is easy to get wrong, against values worked out by hand. That the
// tiers compute the same is tests/conformance.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "lanewise/ir/evaluate.h"

namespace lw::ir {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr std::int32_t kMin = std::numeric_limits<std::int32_t>::min();
constexpr std::int32_t kMax = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kMin64 = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax64 = std::numeric_limits<std::int64_t>::max();

/// The op on operands of one C++ type, giving R.
template <class R, class... T>
R compute(Op op, T... operands) {
  const std::array<Scalar, sizeof...(T)> values = {Scalar(operands)...};
  const Scalar result = evaluate_op(op, types::dtype_of<R>, values);
  EXPECT_EQ(result.type(), types::dtype_of<R>);
  return result.as<R>();
}

std::int32_t i32(Op op, std::int32_t a, std::int32_t b) { return compute<std::int32_t>(op, a, b); }
double f64(Op op, double a, double b) { return compute<double>(op, a, b); }

TEST(OpsMeaning, IntegersWrap) {
  EXPECT_EQ(i32(Op::Add, kMax, 1), kMin);
  EXPECT_EQ(i32(Op::Sub, kMin, 1), kMax);
  EXPECT_EQ(i32(Op::Mul, 65536, 65536), 0);
  EXPECT_EQ(i32(Op::Mul, kMin, -1), kMin);
  EXPECT_EQ(compute<std::int32_t>(Op::Neg, kMin), kMin);
  EXPECT_EQ(compute<std::int32_t>(Op::Abs, kMin), kMin);
  EXPECT_EQ(compute<std::int64_t>(Op::Add, kMax64, std::int64_t{1}), kMin64);
}

TEST(OpsMeaning, IntegerDivisionFloorsAndMinByMinusOneWraps) {
  EXPECT_EQ(i32(Op::Div, 7, 2), 3);
  EXPECT_EQ(i32(Op::Div, -7, 2), -4);
  EXPECT_EQ(i32(Op::Div, 7, -2), -4);
  EXPECT_EQ(i32(Op::Div, -7, -2), 3);
  EXPECT_EQ(i32(Op::Div, -8, 2), -4);
  EXPECT_EQ(i32(Op::Div, kMin, -1), kMin);
  EXPECT_EQ(i32(Op::Div, kMin, 1), kMin);
  EXPECT_EQ(i32(Op::Div, kMax, -1), -kMax);
  EXPECT_EQ(compute<std::int64_t>(Op::Div, kMin64, std::int64_t{-1}), kMin64);
}

TEST(OpsMeaning, ARemainderHasTheSignOfTheDivisor) {
  EXPECT_EQ(i32(Op::Rem, 7, 3), 1);
  EXPECT_EQ(i32(Op::Rem, -7, 3), 2);
  EXPECT_EQ(i32(Op::Rem, 7, -3), -2);
  EXPECT_EQ(i32(Op::Rem, -7, -3), -1);
  EXPECT_EQ(i32(Op::Rem, -6, 3), 0);
  EXPECT_EQ(i32(Op::Rem, kMin, -1), 0);
  EXPECT_EQ(i32(Op::Rem, kMax, kMin), -1);
}

TEST(OpsMeaning, DivisionAndRemainderAgree) {
  for (int a = -9; a <= 9; ++a) {
    for (int b = -4; b <= 4; ++b) {
      if (b == 0) continue;
      EXPECT_EQ(i32(Op::Div, a, b) * b + i32(Op::Rem, a, b), a) << a << ' ' << b;
      EXPECT_EQ(i32(Op::Div, a, b), static_cast<int>(std::floor(double(a) / b))) << a << ' ' << b;
    }
  }
}

TEST(OpsMeaning, ShiftsBeyondTheWidthGiveZeroOrTheSign) {
  EXPECT_EQ(i32(Op::Shl, 3, 2), 12);
  EXPECT_EQ(i32(Op::Shl, 1, 31), kMin);
  EXPECT_EQ(i32(Op::Shl, 1, 32), 0);
  EXPECT_EQ(i32(Op::Shl, 1, -1), 0);
  EXPECT_EQ(i32(Op::Shr, -8, 1), -4);
  EXPECT_EQ(i32(Op::Shr, -8, 32), -1);
  EXPECT_EQ(i32(Op::Shr, 8, 32), 0);
  EXPECT_EQ(i32(Op::Shr, -8, -1), -1);
  EXPECT_EQ(i32(Op::Shr, kMax, kMin), 0);
  EXPECT_EQ(compute<std::int64_t>(Op::Shl, std::int64_t{1}, std::int64_t{63}), kMin64);
  EXPECT_EQ(compute<std::int64_t>(Op::Shl, std::int64_t{1}, std::int64_t{64}), 0);
  EXPECT_EQ(compute<std::int64_t>(Op::Shr, kMin64, std::int64_t{64}), -1);
}

TEST(OpsMeaning, FloatToIntegerSaturatesTruncatesAndNanGivesZero) {
  const auto to_i32 = [](double v) { return compute<std::int32_t>(Op::Convert, v); };
  EXPECT_EQ(to_i32(1.9), 1);
  EXPECT_EQ(to_i32(-1.9), -1);
  EXPECT_EQ(to_i32(kNan), 0);
  EXPECT_EQ(to_i32(kInf), kMax);
  EXPECT_EQ(to_i32(-kInf), kMin);
  EXPECT_EQ(to_i32(0x1p31), kMax);
  EXPECT_EQ(to_i32(0x1p31 - 0.5), kMax);
  EXPECT_EQ(to_i32(-0x1p31), kMin);
  EXPECT_EQ(to_i32(-0x1p31 - 0.5), kMin);
  EXPECT_EQ(to_i32(-0x1p31 - 1), kMin);
  EXPECT_EQ(compute<std::int64_t>(Op::Convert, 0x1p63), kMax64);
  EXPECT_EQ(compute<std::int64_t>(Op::Convert, -0x1p63), kMin64);
  EXPECT_EQ(compute<std::int64_t>(Op::Convert, 0x1p63f), kMax64);
  EXPECT_EQ(compute<std::int32_t>(Op::Convert, 2147483520.0f), 2147483520);
}

TEST(OpsMeaning, OtherConversionsRoundWrapOrTest) {
  EXPECT_EQ(compute<float>(Op::Convert, 16777217), 16777216.0f);
  EXPECT_EQ(compute<float>(Op::Convert, 1e300), std::numeric_limits<float>::infinity());
  EXPECT_EQ(compute<std::int32_t>(Op::Convert, std::int64_t{0x100000001}), 1);
  EXPECT_EQ(compute<std::int64_t>(Op::Convert, kMin), kMin);
  EXPECT_EQ(compute<double>(Op::Convert, true), 1.0);
  EXPECT_TRUE(compute<bool>(Op::Convert, kNan));
  EXPECT_TRUE(compute<bool>(Op::Convert, std::numeric_limits<double>::denorm_min()));
  EXPECT_FALSE(compute<bool>(Op::Convert, -0.0));
}

TEST(OpsMeaning, MinAndMaxAreNotSymmetric) {
  // min(a, b) is a < b or isnan(a) ? a : b.
  EXPECT_EQ(f64(Op::Min, 1, 2), 1);
  EXPECT_TRUE(std::isnan(f64(Op::Min, kNan, 1)));
  EXPECT_TRUE(std::isnan(f64(Op::Min, 1, kNan)));
  EXPECT_FALSE(std::signbit(f64(Op::Min, -0.0, 0.0)));
  EXPECT_TRUE(std::signbit(f64(Op::Min, 0.0, -0.0)));
  EXPECT_EQ(f64(Op::Max, 1, 2), 2);
  EXPECT_TRUE(std::isnan(f64(Op::Max, kNan, 1)));
  EXPECT_TRUE(std::isnan(f64(Op::Max, 1, kNan)));
  EXPECT_TRUE(std::signbit(f64(Op::Max, 0.0, -0.0)));
  EXPECT_FALSE(std::signbit(f64(Op::Max, -0.0, 0.0)));
  EXPECT_EQ(i32(Op::Min, kMin, kMax), kMin);
  EXPECT_EQ(i32(Op::Max, kMin, kMax), kMax);
}

TEST(OpsMeaning, TheSignOfANanIsPlus) {
  EXPECT_EQ(f64(Op::Copysign, 3, -0.0), -3);
  EXPECT_EQ(f64(Op::Copysign, -3, 1), 3);
  EXPECT_EQ(f64(Op::Copysign, -3, kNan), 3);
  EXPECT_EQ(f64(Op::Copysign, -3, -kNan), 3);
  EXPECT_TRUE(std::isnan(f64(Op::Copysign, kNan, -1)));
}

TEST(OpsMeaning, ABitcastOfANanGivesTheCanonicalOne) {
  EXPECT_EQ(compute<std::int64_t>(Op::Bitcast, -kNan), 0x7ff8000000000000);
  EXPECT_EQ(compute<std::int32_t>(Op::Bitcast, std::bit_cast<float>(0xffc12345u)), 0x7fc00000);
  EXPECT_EQ(compute<std::int32_t>(Op::Bitcast, -0.0f), kMin);
  EXPECT_EQ(compute<double>(Op::Bitcast, std::int64_t{0x3ff0000000000000}), 1.0);
}

TEST(OpsMeaning, RoundingTiesGoToEvenAndZerosKeepTheirSign) {
  const auto one = [](Op op, double a) { return compute<double>(op, a); };
  EXPECT_EQ(one(Op::Round, 0.5), 0);
  EXPECT_EQ(one(Op::Round, 1.5), 2);
  EXPECT_EQ(one(Op::Round, 2.5), 2);
  EXPECT_EQ(one(Op::Round, -2.5), -2);
  EXPECT_EQ(one(Op::Round, 0.49999999999999994), 0);
  EXPECT_TRUE(std::signbit(one(Op::Round, -0.2)));
  EXPECT_TRUE(std::signbit(one(Op::Ceil, -0.2)));
  EXPECT_EQ(one(Op::Floor, -0.2), -1);
  EXPECT_TRUE(std::signbit(one(Op::Trunc, -0.9)));
  EXPECT_EQ(one(Op::Floor, -kInf), -kInf);
}

TEST(OpsMeaning, ArithmeticIsIeeeWithSubnormals) {
  EXPECT_EQ(f64(Op::Div, 1, 0), kInf);
  EXPECT_EQ(f64(Op::Div, -1, 0), -kInf);
  EXPECT_TRUE(std::isnan(f64(Op::Div, 0, 0)));
  EXPECT_TRUE(std::isnan(f64(Op::Sub, kInf, kInf)));
  EXPECT_EQ(f64(Op::Mul, 0x1p-1022, 0.5), 0x1p-1023);
  EXPECT_TRUE(std::isnan(compute<double>(Op::Sqrt, -1.0)));
  EXPECT_TRUE(std::signbit(compute<double>(Op::Sqrt, -0.0)));
  EXPECT_EQ(compute<float>(Op::Sqrt, 2.0f), 1.41421354f);
}

TEST(OpsMeaning, FmaRoundsOnce) {
  const float a = 1 + 0x1p-12f;
  EXPECT_EQ(compute<float>(Op::Fma, a, a, -1.0f), 0x1.0008p-11f);
  EXPECT_EQ(compute<float>(Op::Mul, a, a) - 1.0f, 0x1p-11f);
}

TEST(OpsMeaning, ComparisonsWithNanAreFalseButForNotEqual) {
  for (const Op op : {Op::Eq, Op::Lt, Op::Le, Op::Gt, Op::Ge}) {
    EXPECT_FALSE(compute<bool>(op, kNan, kNan)) << ops::row(op).name;
    EXPECT_FALSE(compute<bool>(op, 1.0, kNan)) << ops::row(op).name;
  }
  EXPECT_TRUE(compute<bool>(Op::Ne, kNan, kNan));
  EXPECT_TRUE(compute<bool>(Op::Eq, -0.0, 0.0));
}

TEST(OpsMeaning, LogicIsBitwiseOnIntegersAndLogicalOnBools) {
  EXPECT_EQ(i32(Op::And, 12, 10), 8);
  EXPECT_EQ(i32(Op::Or, 12, 10), 14);
  EXPECT_EQ(i32(Op::Xor, 12, 10), 6);
  EXPECT_EQ(compute<std::int32_t>(Op::Not, 0), -1);
  EXPECT_FALSE(compute<bool>(Op::Not, true));
  EXPECT_TRUE(compute<bool>(Op::Not, false));
  EXPECT_TRUE(compute<bool>(Op::Xor, true, false));
}

TEST(OpsMeaning, SelectHandsItsOperandOnUntouched) {
  const std::array<Scalar, 3> values = {Scalar(true), Scalar(-0.0), Scalar(1.0)};
  EXPECT_EQ(evaluate_op(Op::Select, DType::F64, values), Scalar(-0.0));
}

}  // namespace
}  // namespace lw::ir
