#include <gtest/gtest.h>

#include "lanewise/ir/parse.h"
#include "lanewise/ir/print.h"
#include "lanewise/transform/passes.h"

namespace lw::transform {
namespace {

std::string fused(const std::string& text) { return ir::print(fuse(ir::parse(text))); }

TEST(Fuse, WhatIsReadOnceIsComputedThere) {
  EXPECT_EQ(fused(R"(function f(%0: f32[100]) -> (f32) {
    %1 = each 100 (%2: i32) {
      %3 = table_read f32 %0, %2 check
      %4 = sqrt f32 %3
      %5 = mul f32 %4, %3
      collect keep %5
    }
    %6 = result f32 %1 0
    %7 = each 100 (%8: i32) {
      %9 = array_read f32 %6, %8 unchecked
      collect sum %9
    }
    %10 = result f32 %7 0
    return (%10)
  })"),
            R"(function f(%0: f32[100]) -> (f32) {
  %1 = each 100 (%2: i32) {
    %3 = table_read f32 %0, %2 unchecked
    %4 = sqrt f32 %3
    %5 = mul f32 %4, %3
    collect sum %5
  }
  %6 = result f32 %1 0
  return (%6)
}
)");
}

TEST(Fuse, WhatIsDearAndReadTwiceIsKeptAndSummedAtOnce) {
  EXPECT_EQ(fused(R"(function f(%0: f32[100]) -> (f32[100]) {
    %1 = each 100 (%2: i32) {
      %3 = table_read f32 %0, %2 check
      %4 = sqrt f32 %3
      collect keep %4
    }
    %5 = result f32 %1 0
    %6 = each 100 (%7: i32) {
      %8 = array_read f32 %5, %7 unchecked
      collect sum %8
    }
    %9 = result f32 %6 0
    %10 = each 100 (%11: i32) {
      %12 = array_read f32 %5, %11 unchecked
      %13 = div f32 %12, %9
      collect keep %13
    }
    %14 = result f32 %10 0
    return (%14)
  })"),
            R"(function f(%0: f32[100]) -> (f32[100]) {
  %1 = each 100 (%2: i32) {
    %3 = table_read f32 %0, %2 unchecked
    %4 = sqrt f32 %3
    collect keep %4
    collect sum %4
  }
  %5 = result f32 %1 0
  %6 = result f32 %1 1
  %7 = each 100 (%8: i32) {
    %9 = array_read f32 %5, %8 unchecked
    %10 = div f32 %9, %6
    collect keep %10
  }
  %11 = result f32 %7 0
  return (%11)
}
)");
}

TEST(Fuse, WhatNeedsASumWaitsForIt) {
  const std::string text = R"(function f(%0: f32[100]) -> (f32, f32) {
  %1 = each 100 (%2: i32) {
    %3 = table_read f32 %0, %2 unchecked
    collect sum %3
  }
  %4 = result f32 %1 0
  %5 = each 100 (%6: i32) {
    %7 = table_read f32 %0, %6 unchecked
    %8 = sub f32 %7, %4
    collect max %8
  }
  %9 = result f32 %5 0
  return (%4, %9)
}
)";
  EXPECT_EQ(fused(text), text);
}

TEST(Fuse, ReadsElsewhereKeepWhatTheyReadApart) {
  const std::string text = R"(function f(%0: f32[100]) -> (f32[100], f32[100]) {
  %1 = each 100 (%2: i32) {
    %3 = table_read f32 %0, %2 unchecked
    %4 = sqrt f32 %3
    collect keep %4
  }
  %5 = result f32 %1 0
  %6 = each 100 (%7: i32) {
    %8 = constant i32 99
    %9 = sub i32 %8, %7
    %10 = array_read f32 %5, %9 unchecked
    collect keep %10
  }
  %11 = result f32 %6 0
  return (%5, %11)
}
)";
  EXPECT_EQ(fused(text), text);
}

TEST(Fuse, WhatCanFailStaysWhereItIs) {
  const std::string text = R"(function f(%0: i32[100], %1: i32) -> (i32) {
  %2 = each 100 (%3: i32) {
    %4 = table_read i32 %0, %3 unchecked
    %5 = div i32 %1, %4
    collect keep %5
  }
  %6 = result i32 %2 0
  %7 = each 100 (%8: i32) {
    %9 = array_read i32 %6, %8 unchecked
    collect sum %9
  }
  %10 = result i32 %7 0
  return (%10)
}
)";
  EXPECT_EQ(fused(text), text);
}

}  // namespace
}  // namespace lw::transform
