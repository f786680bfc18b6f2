#include "lanewise/types/dtype.h"

#include <gtest/gtest.h>

#include "tests/support/edge_values.h"

namespace lw::types {
namespace {

TEST(TypesDtype, NamesAreReadBack) {
  EXPECT_EQ(static_cast<int>(test::all_types().size()), kDTypeCount);
  for (const DType type : test::all_types()) EXPECT_EQ(dtype_named(name_of(type)), type);
  EXPECT_FALSE(dtype_named("f16"));
  EXPECT_FALSE(dtype_named(""));
}

TEST(TypesDtype, EveryTypeHasTheSizeAndKindOfItsCppType) {
  for (const DType type : test::all_types()) {
    with_type(type, [&]<class T>() {
      EXPECT_EQ(dtype_of<T>, type);
      EXPECT_EQ(size_of(type), sizeof(T));
      EXPECT_EQ(is_float(type), std::is_floating_point_v<T>);
      EXPECT_EQ(is_integer(type), (std::is_integral_v<T> && !std::is_same_v<T, bool>));
    });
  }
}

}  // namespace
}  // namespace lw::types
