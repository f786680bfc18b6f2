#include "lanewise/types/dtype.h"

#include <gtest/gtest.h>

#include "tests/support/edge_values.h"

namespace lw::types {
namespace {

TEST(TypesDtype, NamesAreReadBack) {
  EXPECT_EQ(static_cast<int>(test::all_types().size()), kDTypeCount);
  for (const DType type : test::all_types()) EXPECT_EQ(dtype_named(name_of(type)), type);
  EXPECT_FALSE(dtype_named("f8"));
  EXPECT_FALSE(dtype_named(""));
}

TEST(TypesDtype, EveryTypeHasTheSizeAndKindOfItsCppType) {
  for (const DType type : test::all_types()) {
    with_type(type, [&]<class T>() {
      EXPECT_EQ(dtype_of<T>, type);
      EXPECT_EQ(size_of(type), sizeof(T));
      EXPECT_EQ(is_float(type), is_float_type<T>);
      EXPECT_EQ(is_integer(type), (std::is_integral_v<T> && !std::is_same_v<T, bool>));
    });
  }
}

TEST(TypesPromote, IsThatOfNumPy) {
  const auto p = [](const char* a, const char* b) {
    const DType x = *dtype_named(a);
    const DType y = *dtype_named(b);
    EXPECT_EQ(promote(x, y), promote(y, x)) << a << " " << b;
    return std::string(name_of(promote(x, y)));
  };
  EXPECT_EQ(p("bool", "i8"), "i8");
  EXPECT_EQ(p("i8", "u8"), "i16");
  EXPECT_EQ(p("i16", "u8"), "i16");
  EXPECT_EQ(p("i8", "u32"), "i64");
  EXPECT_EQ(p("i64", "u64"), "f64");
  EXPECT_EQ(p("u8", "u64"), "u64");
  EXPECT_EQ(p("i8", "f16"), "f16");
  EXPECT_EQ(p("u16", "f16"), "f32");
  EXPECT_EQ(p("i32", "f16"), "f64");
  EXPECT_EQ(p("i16", "f32"), "f32");
  EXPECT_EQ(p("u32", "f32"), "f64");
  EXPECT_EQ(p("f16", "f64"), "f64");
  EXPECT_EQ(p("f16", "bf16"), "f32");
  EXPECT_EQ(p("bf16", "u8"), "bf16");
  for (const DType a : test::all_types()) {
    for (const DType b : test::all_types()) {
      const DType both = promote(a, b);
      EXPECT_EQ(promote(both, a), both);
      EXPECT_EQ(promote(both, b), both);
    }
  }
}

}  // namespace
}  // namespace lw::types
