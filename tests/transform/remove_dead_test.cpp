#include <gtest/gtest.h>

#include "lanewise/transform/passes.h"
#include "tests/support/expect_pass.h"

namespace lw::transform {
namespace {

using test::expect_pass;

TEST(TransformRemoveDead, ValuesNothingNeedsAreDroppedParametersStay) {
  expect_pass(remove_dead, R"(
function f(%0: f32, %1: f32) -> (f32) {
  %2 = neg f32 %1
  %3 = add f32 %2, %0
  %4 = abs f32 %0
  return (%4)
}
)",
              R"(
function f(%0: f32, %1: f32) -> (f32) {
  %2 = abs f32 %0
  return (%2)
}
)");
}

TEST(TransformRemoveDead, ACarriedValueThatOnlyFeedsItselfIsDropped) {
  expect_pass(remove_dead, R"(
function f(%0: i32, %1: i32) -> (i32) {
  %2 = constant i32 1
  %3 = loop (%4: i32 = %0, %5: i32 = %1) {
    %6 = gt bool %4, %2
    break_if %6 (%4, %5)
    %7 = mul i32 %5, %2
    %8 = add i32 %4, %2
    next (%8, %7)
  }
  %9 = result i32 %3 0
  return (%9)
}
)",
              R"(
function f(%0: i32, %1: i32) -> (i32) {
  %2 = constant i32 1
  %3 = loop (%4: i32 = %0) {
    %5 = gt bool %4, %2
    break_if %5 (%4)
    %6 = add i32 %4, %2
    next (%6)
  }
  %7 = result i32 %3 0
  return (%7)
}
)");
}

TEST(TransformRemoveDead, ACarriedValueThatDecidesAnExitStaysAndItsUnreadExitValueGoes) {
  expect_pass(remove_dead, R"(
function f(%0: i32, %1: i32) -> (i32) {
  %2 = constant i32 1
  %3 = loop (%4: i32 = %0, %5: i32 = %1) {
    %6 = gt bool %4, %2
    %7 = mul i32 %4, %4
    break_if %6 (%7, %5)
    %8 = add i32 %4, %2
    %9 = sub i32 %5, %4
    next (%8, %9)
  }
  %10 = result i32 %3 1
  return (%10)
}
)",
              R"(
function f(%0: i32, %1: i32) -> (i32) {
  %2 = constant i32 1
  %3 = loop (%4: i32 = %0, %5: i32 = %1) {
    %6 = gt bool %4, %2
    break_if %6 (%4, %5)
    %7 = add i32 %4, %2
    %8 = sub i32 %5, %4
    next (%7, %8)
  }
  %9 = result i32 %3 1
  return (%9)
}
)");
}

TEST(TransformRemoveDead, DivisionsThatCanFailStayOthersGo) {
  expect_pass(remove_dead, R"(
function f(%0: i32, %1: i32, %2: f32) -> (i32) {
  %3 = div i32 %0, %1
  %4 = constant i32 3
  %5 = div i32 %0, %4
  %6 = constant i32 0
  %7 = rem i32 %0, %6
  %8 = div f32 %2, %2
  return (%0)
}
)",
              R"(
function f(%0: i32, %1: i32, %2: f32) -> (i32) {
  %3 = div i32 %0, %1
  %4 = constant i32 0
  %5 = rem i32 %0, %4
  return (%0)
}
)");
}

TEST(TransformRemoveDead, ChecksAndLoopsStay) {
  const char* text = R"(
function f(%0: bool, %1: i32) -> (i32) {
  fail_if %0 2
  %2 = loop () {
    break_if %0 ()
    next ()
  }
  return (%1)
}
)";
  expect_pass(remove_dead, text, text);
}

TEST(TransformRemoveDead, ArraysThatAreOnlyWrittenGoUnlessAWriteCanFailAndSoDoReadsOfTables) {
  expect_pass(remove_dead, R"(
function f(%0: i32, %1: i32 table) -> (i32) {
  %2 = array i32 %0 4
  %3 = array i32 %0 4
  %4 = array i32 %0 4
  array_write %2, %0, %0 clip
  array_write %3, %0, %0 check
  array_write %4, %0, %0 clip
  %5 = array_read i32 %4, %0 clip
  %6 = array_read i32 %2, %0 clip
  %7 = table_read i32 %1, %0 clip
  %8 = table_read i32 %1, %0 check
  %9 = table_size i64 %1
  %10 = element u32 0
  return (%5)
}
)",
              R"(
function f(%0: i32, %1: i32 table) -> (i32) {
  %2 = array i32 %0 4
  %3 = array i32 %0 4
  array_write %2, %0, %0 check
  array_write %3, %0, %0 clip
  %4 = array_read i32 %3, %0 clip
  %5 = table_read i32 %1, %0 check
  return (%4)
}
)");
}

TEST(TransformRemoveDead, AWriteInALoopStaysWhereTheArrayIsReadBehindIt) {
  expect_pass(remove_dead, R"(
function f(%0: i32, %1: bool) -> (i32) {
  %2 = constant i32 1
  %3 = array i32 %0 4
  %4 = loop (%5: i32 = %0) {
    break_if %1 (%5)
    %6 = array_read i32 %3, %5 clip
    array_write %3, %6, %5 clip
    %7 = add i32 %5, %2
    next (%7)
  }
  %8 = array_read i32 %3, %2 clip
  return (%8)
}
)",
              R"(
function f(%0: i32, %1: bool) -> (i32) {
  %2 = constant i32 1
  %3 = array i32 %0 4
  %4 = loop (%5: i32 = %0) {
    break_if %1 (%5)
    %6 = array_read i32 %3, %5 clip
    array_write %3, %6, %5 clip
    %7 = add i32 %5, %2
    next (%7)
  }
  %8 = array_read i32 %3, %2 clip
  return (%8)
}
)");
}

TEST(TransformRemoveDead, AnExitOutOfTwoLoopsKeepsWhatIsReadOfTheOneItLeaves) {
  expect_pass(remove_dead, R"(
function f(%0: i32, %1: bool) -> (i32) {
  %2 = constant i32 1
  %3 = loop (%4: i32 = %0, %5: i32 = %0) {
    %6 = loop (%7: i32 = %4) {
      %8 = mul i32 %7, %2
      break_if %1 up 1 (%8, %7)
      next (%7)
    }
    next (%4, %5)
  }
  %9 = result i32 %3 1
  return (%9)
}
)",
              R"(
function f(%0: i32, %1: bool) -> (i32) {
  %2 = loop (%3: i32 = %0, %4: i32 = %0) {
    %5 = loop (%6: i32 = %3) {
      break_if %1 up 1 (%3, %6)
      next (%6)
    }
    next (%3, %4)
  }
  %7 = result i32 %2 1
  return (%7)
}
)");
}

}  // namespace
}  // namespace lw::transform
