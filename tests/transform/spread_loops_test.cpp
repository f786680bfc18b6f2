// Which loops become an `each`, which stay, and that all results are the same.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "lanewise/ir/evaluate.h"
#include "lanewise/transform/passes.h"
#include "tests/support/expect_pass.h"

namespace lw::transform {
namespace {

using ir::Op;
using ir::ValueId;
using test::expect_pass;

ir::Function spread(const ir::Function& f) { return remove_dead(spread_loops(f)); }

void expect_stays(std::string_view text) {
  const ir::Function f = ir::parse(text);
  EXPECT_EQ(ir::print(spread_loops(f)), ir::print(f));
}

TEST(SpreadLoops, LoopsOverTheRowsAndColumnsOfAnArrayAreAnEach) {
  expect_pass(spread, R"(
function f(%0: f32[12]) -> (f32[12]) {
  %1 = constant f32 0
  %2 = array f32 %1 12
  %3 = constant i32 0
  %4 = constant i32 3
  %5 = constant i32 4
  %6 = constant i32 1
  %7 = loop (%8: i32 = %3) {
    %9 = ge bool %8, %4
    break_if %9 (%8)
    %10 = loop (%11: i32 = %3) {
      %12 = ge bool %11, %5
      break_if %12 (%11)
      %13 = bitcast u32 %11
      %14 = constant u32 4
      %15 = ge bool %13, %14
      fail_if %15 3 (%11)
      %16 = mul i32 %8, %5
      %17 = add i32 %16, %11
      %18 = table_read f32 %0, %17 check
      %19 = sqrt f32 %18
      array_write %2, %17, %19 unchecked
      %20 = add i32 %11, %6
      next (%20)
    }
    %21 = add i32 %8, %6
    next (%21)
  }
  return (%2)
})",
              R"(
function f(%0: f32[12]) -> (f32[12]) {
  %1 = each 12 (%2: i32) {
    %3 = table_read f32 %0, %2 unchecked
    %4 = sqrt f32 %3
    collect keep %4
  }
  %5 = result f32 %1 0
  return (%5)
}
)");
}

TEST(SpreadLoops, RowsThatAreWrittenNumberByNumberAreAnotherAxis) {
  expect_pass(spread, R"(
function f(%0: f32[12]) -> (f32[12]) {
  %1 = each 12 (%2: i32) {
    %3 = table_read f32 %0, %2 unchecked
    collect keep %3
  }
  %4 = result f32 %1 0
  %5 = array f32 %4 12
  %6 = constant i32 0
  %7 = constant i32 6
  %8 = constant i32 2
  %9 = constant i32 1
  %10 = loop (%11: i32 = %6) {
    %12 = ge bool %11, %7
    break_if %12 (%11)
    %13 = mul i32 %11, %8
    %14 = each 2 (%15: i32) {
      %16 = add i32 %13, %15
      %17 = array_read f32 %5, %16 unchecked
      %18 = neg f32 %17
      collect keep %18
    }
    %19 = result f32 %14 0
    %20 = array_read f32 %19, %6 unchecked
    array_write %5, %13, %20 unchecked
    %21 = array_read f32 %19, %9 unchecked
    %22 = add i32 %13, %9
    array_write %5, %22, %21 unchecked
    %23 = add i32 %11, %9
    next (%23)
  }
  return (%5)
})",
              R"(
function f(%0: f32[12]) -> (f32[12]) {
  %1 = each 12 (%2: i32) {
    %3 = table_read f32 %0, %2 unchecked
    collect keep %3
  }
  %4 = result f32 %1 0
  %5 = each 12 (%6: i32) {
    %7 = array_read f32 %4, %6 unchecked
    %8 = neg f32 %7
    collect keep %8
  }
  %9 = result f32 %5 0
  return (%9)
}
)");
}

TEST(SpreadLoops, CountersAreComputedFromThePositionWhereTheyAreNeeded) {
  const ir::Function f = ir::parse(R"(
function f(%0: i32) -> (i32[12]) {
  %1 = array i32 %0 12
  %2 = constant i32 0
  %3 = constant i32 4
  %4 = constant i32 3
  %5 = constant i32 1
  %6 = loop (%7: i32 = %2) {
    %8 = ge bool %7, %3
    break_if %8 (%7)
    %9 = loop (%10: i32 = %2) {
      %11 = ge bool %10, %4
      break_if %11 (%10)
      %12 = mul i32 %10, %3
      %13 = add i32 %12, %7
      %14 = array_read i32 %1, %13 unchecked
      %15 = mul i32 %14, %7
      %16 = sub i32 %15, %10
      array_write %1, %13, %16 check
      %17 = add i32 %10, %5
      next (%17)
    }
    %18 = add i32 %7, %5
    next (%18)
  }
  return (%1)
})");
  const ir::Function g = spread(f);
  EXPECT_NO_THROW(ir::verify(g));
  bool has_loops = false;
  ir::for_each(g, [&](ValueId id, int) { has_loops = has_loops || g[id].op == Op::Loop; });
  EXPECT_FALSE(has_loops) << ir::print(g);
  for (const std::int32_t x : {0, 1, -7, 1 << 30}) {
    const std::array arguments{Scalar(x)};
    EXPECT_EQ(ir::evaluate(g, arguments).results, ir::evaluate(f, arguments).results);
  }
}

TEST(SpreadLoops, ALoopInAStepBecomesOneOfAPosition) {
  const ir::Function f = ir::parse(R"(
function f(%0: i32) -> (i32[5]) {
  %1 = constant i32 0
  %2 = array i32 %1 5
  %3 = constant i32 5
  %4 = constant i32 1
  %5 = loop (%6: i32 = %1) {
    %7 = ge bool %6, %3
    break_if %7 (%6)
    %8 = add i32 %6, %0
    %9 = loop (%10: i32 = %6, %11: i32 = %8) {
      %12 = ge bool %10, %3
      break_if %12 (%10, %11)
      %13 = mul i32 %11, %8
      %14 = add i32 %10, %4
      next (%14, %13)
    }
    %15 = result i32 %9 1
    array_write %2, %6, %15 unchecked
    %16 = add i32 %6, %4
    next (%16)
  }
  return (%2)
})");
  const ir::Function g = spread(f);
  EXPECT_NO_THROW(ir::verify(g));
  int loops = 0;
  ir::for_each(g, [&](ValueId id, int) { loops += g[id].op == Op::Loop; });
  EXPECT_EQ(loops, 1) << ir::print(g);
  for (const std::int32_t x : {0, 1, -7, 12345}) {
    const std::array arguments{Scalar(x)};
    EXPECT_EQ(ir::evaluate(g, arguments).results, ir::evaluate(f, arguments).results);
  }
}

/// A loop over an array of 8, with this in its body: %5 is the counter, %1 the array, %0 a row.
std::string loop_with(std::string_view body) {
  return fmt::format(R"(function f(%0: f32[8]) -> (f32[8]) {{
  %100 = constant f32 1
  %1 = array f32 %100 8
  %2 = constant i32 0
  %3 = constant i32 8
  %4 = constant i32 1
  %6 = loop (%5: i32 = %2) {{
    %7 = ge bool %5, %3
    break_if %7 (%5)
    %8 = table_read f32 %0, %5 unchecked
    {}
    %9 = add i32 %5, %4
    next (%9)
  }}
  return (%1)
}})",
                     body);
}

TEST(SpreadLoops, WhatHasAnOrderStays) {
  // Another place of the array is read.
  expect_stays(
      loop_with("%20 = array_read f32 %1, %2 unchecked\n"
                "%21 = add f32 %20, %8\narray_write %1, %5, %21 unchecked"));
  // The array is read behind the write.
  expect_stays(
      loop_with("array_write %1, %5, %8 unchecked\n"
                "%20 = array_read f32 %1, %5 unchecked\n"
                "array_write %1, %5, %20 unchecked"));
  // A place is written twice, and another not at all.
  expect_stays(loop_with("array_write %1, %2, %8 unchecked"));
  expect_stays(loop_with("%20 = sub i32 %3, %5\narray_write %1, %20, %8 clip"));
  // An element may fail.
  expect_stays(
      loop_with("%20 = lt bool %8, %100\nfail_if %20 2\narray_write %1, %5, %8 unchecked"));
}

TEST(SpreadLoops, NotAllPlacesAreWritten) {
  expect_stays(R"(function f(%0: f32) -> (f32[8]) {
  %1 = array f32 %0 8
  %2 = constant i32 1
  %3 = constant i32 8
  %4 = loop (%5: i32 = %2) {
    %6 = ge bool %5, %3
    break_if %6 (%5)
    array_write %1, %5, %0 unchecked
    %7 = add i32 %5, %2
    next (%7)
  }
  return (%1)
})");
}

}  // namespace
}  // namespace lw::transform
