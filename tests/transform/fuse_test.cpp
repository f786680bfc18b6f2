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

TEST(Fuse, OnesWithTheSameCountBecomeOne) {
  const std::string each = R"( (%4: i32) {
    %5 = table_read f32 %0, %4 unchecked
    collect sum %5
  }
  %6 = result f32 %3 0
  %7 = each 100 of )";
  const std::string rest = R"( (%8: i32) {
    %9 = table_read f32 %0, %8 unchecked
    collect max %9
  }
  %10 = result f32 %7 0
  return (%6, %10)
}
)";
  const std::string head = "function f(%0: f32[100], %1: i32, %2: i32) -> (f32, f32) {\n";
  const std::string apart = head + "  %3 = each 100 of %1" + each + "%2" + rest;
  EXPECT_EQ(fused(apart), apart);
  const std::string known = head + "  %3 = each 100" + each + "%1" + rest;
  EXPECT_EQ(fused(known), known);
  EXPECT_EQ(fused(head + "  %3 = each 100 of %1" + each + "%1" + rest),
            head +
                R"(  %3 = each 100 of %1 (%4: i32) {
    %5 = table_read f32 %0, %4 unchecked
    collect sum %5
    collect max %5
  }
  %6 = result f32 %3 0
  %7 = result f32 %3 1
  return (%6, %7)
}
)");
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

TEST(Fuse, WhatIsKeptOneInAnotherIsComputedWhereItIsRead) {
  EXPECT_EQ(fused(R"(function f(%0: f32[8], %1: f32 table) -> (f32[64]) {
    %2 = constant i32 8
    %3 = each 64 (%4: i32) {
      %5 = each 8 (%6: i32) {
        %7 = mul i32 %4, %2
        %8 = add i32 %7, %6
        %9 = table_read f32 %1, %8 unchecked
        %10 = table_read f32 %0, %6 unchecked
        %11 = sub f32 %9, %10
        collect keep %11
      }
      %12 = result f32 %5 0
      collect keep %12
    }
    %13 = result f32 %3 0
    %14 = each 512 (%15: i32) {
      %16 = array_read f32 %13, %15 unchecked
      %17 = mul f32 %16, %16
      collect keep %17
    }
    %18 = result f32 %14 0
    %19 = each 64 (%20: i32) {
      %21 = each 8 (%22: i32) {
        %23 = mul i32 %20, %2
        %24 = add i32 %23, %22
        %25 = array_read f32 %18, %24 unchecked
        collect sum %25
      }
      %26 = result f32 %21 0
      collect keep %26
    }
    %27 = result f32 %19 0
    return (%27)
  })"),
            R"(function f(%0: f32[8], %1: f32 table) -> (f32[64]) {
  %2 = constant i32 8
  %3 = each 64 (%4: i32) {
    %5 = each 8 (%6: i32) {
      %7 = mul i32 %4, %2
      %8 = add i32 %7, %6
      %9 = table_read f32 %1, %8 unchecked
      %10 = table_read f32 %0, %6 unchecked
      %11 = sub f32 %9, %10
      %12 = mul f32 %11, %11
      collect sum %12
    }
    %13 = result f32 %5 0
    collect keep %13
  }
  %14 = result f32 %3 0
  return (%14)
}
)");
}

TEST(Fuse, WhatIsDearIsNotComputedInALoopThroughSomethingCheap) {
  const std::string text = fused(R"(function f(%0: f32[100], %1: f32 table) -> (f32[10]) {
    %2 = constant i32 0
    %3 = constant i32 1
    %4 = constant i32 100
    %5 = constant f32 0
    %6 = each 100 (%7: i32) {
      %8 = table_read f32 %0, %7 unchecked
      %9 = sqrt f32 %8
      collect keep %9
    }
    %10 = result f32 %6 0
    %11 = each 100 (%12: i32) {
      %13 = array_read f32 %10, %12 unchecked
      %14 = max f32 %13, %5
      collect keep %14
    }
    %15 = result f32 %11 0
    %16 = each 10 (%17: i32) {
      %18 = loop (%19: f32 = %5, %20: i32 = %2) {
        %21 = ge bool %20, %4
        break_if %21 (%19, %20)
        %22 = array_read f32 %15, %20 unchecked
        %23 = add f32 %19, %22
        %24 = add i32 %20, %3
        next (%23, %24)
      }
      %25 = result f32 %18 0
      collect keep %25
    }
    %26 = result f32 %16 0
    return (%26)
  })");
  const std::size_t loop = text.find("loop");
  EXPECT_LT(text.find("sqrt"), loop) << text;
  EXPECT_LT(text.find("max"), loop) << text;
}

TEST(Fuse, PlacesAreGoneThroughAsTheyWereKept) {
  EXPECT_EQ(fused(R"(function f(%0: f32[1024], %1: f32[32]) -> (f32[1024]) {
    %2 = constant i32 32
    %3 = each 32 (%4: i32) {
      %5 = each 32 (%6: i32) {
        %7 = mul i32 %4, %2
        %8 = add i32 %7, %6
        %9 = table_read f32 %0, %8 unchecked
        %10 = table_read f32 %1, %6 unchecked
        %11 = mul f32 %9, %10
        collect keep %11
      }
      %12 = result f32 %5 0
      collect keep %12
    }
    %13 = result f32 %3 0
    %14 = each 1024 (%15: i32) {
      %16 = array_read f32 %13, %15 unchecked
      %17 = neg f32 %16
      collect keep %17
    }
    %18 = result f32 %14 0
    return (%18)
  })"),
            R"(function f(%0: f32[1024], %1: f32[32]) -> (f32[1024]) {
  %2 = constant i32 32
  %3 = each 32 (%4: i32) {
    %5 = each 32 (%6: i32) {
      %7 = mul i32 %4, %2
      %8 = add i32 %7, %6
      %9 = table_read f32 %0, %8 unchecked
      %10 = table_read f32 %1, %6 unchecked
      %11 = mul f32 %9, %10
      %12 = neg f32 %11
      collect keep %12
    }
    %13 = result f32 %5 0
    collect keep %13
  }
  %14 = result f32 %3 0
  return (%14)
}
)");
}

TEST(Fuse, WhatIsSummedTwiceIsSummedOnce) {
  EXPECT_EQ(fused(R"(function f(%0: f32[100]) -> (f32) {
    %1 = each 100 (%2: i32) {
      %3 = table_read f32 %0, %2 unchecked
      collect sum %3
    }
    %4 = result f32 %1 0
    %5 = each 100 (%6: i32) {
      %7 = table_read f32 %0, %6 unchecked
      collect sum %7
    }
    %8 = result f32 %5 0
    %9 = mul f32 %4, %8
    return (%9)
  })"),
            R"(function f(%0: f32[100]) -> (f32) {
  %1 = each 100 (%2: i32) {
    %3 = table_read f32 %0, %2 unchecked
    collect sum %3
  }
  %4 = result f32 %1 0
  %5 = mul f32 %4, %4
  return (%5)
}
)");
}

}  // namespace
}  // namespace lw::transform
