// Lowering of arrays, tables and their checks.
#include "tests/kernel/expect_lowering.h"

namespace lw::kernel {
namespace {

TEST(KernelLowerMemory, ACheckedReadFailsOutsideAndReadsForTheOthers) {
  expect_lowering(R"(
function f(%0: i32, %1: f32 table) -> (f32) {
  %2 = table_read f32 %1, %0 check  # user.cpp:3
  return (%2)
}
)",
                  R"(
kernel f(i32; ; tables f32) -> (f32) {
  site 0 3  # user.cpp:3
  u4: i64 = table_size 0
  u5: i64 = constant 2147483648
  u6: i64 = min u4, u5
  u7: u32 = convert u6
  v0: bool = active
  v1: i32 = load 0
  v3: u32 = bitcast v1
  v8: bool = ge v3, u7
  v9: bool = copy v0
  v10: bool = not v8
  v0: bool = and v0, v10
  v11: f32 = table_read 0 v1, v0
  v12: bool = not v0
  v13: bool = and v9, v12
  fail 0 v13, v0
  store 0 v11
}
)");
}

TEST(KernelLowerMemory, AnUncheckedReadIsJustARead) {
  expect_lowering(R"(
function f(%0: i32, %1: f32 table) -> (f32) {
  %2 = table_read f32 %1, %0 unchecked
  return (%2)
}
)",
                  R"(
kernel f(i32; ; tables f32) -> (f32) {
  v0: bool = active
  v1: i32 = load 0
  v3: f32 = table_read 0 v1, v0
  store 0 v3
}
)");
}

TEST(KernelLowerMemory, ItIsToldHowFewPlacesARangeReaches) {
  expect_lowering(R"(
function f(%0: i32, %1: f32 table) -> (f32) {
  %2 = constant i32 255
  %3 = and i32 %0, %2
  %4 = table_read f32 %1, %3 unchecked
  return (%4)
}
)",
                  R"(
kernel f(i32; ; tables f32) -> (f32) {
  u2: i32 = constant 255
  v0: bool = active
  v1: i32 = load 0
  v3: i32 = and v1, u2
  v5: f32 = table_read 0 v3, v0 below 256
  store 0 v5
}
)");
}

TEST(KernelLowerMemory, AClippedIndexIsNearestInside) {
  expect_lowering(R"(
function f(%0: i32, %1: f32 table) -> (f32) {
  %2 = table_read f32 %1, %0 clip
  return (%2)
}
)",
                  R"(
kernel f(i32; ; tables f32) -> (f32) {
  u2: i32 = constant 0
  u3: i64 = constant 1
  u4: i64 = table_size 0
  u5: i64 = sub u4, u3
  u6: i64 = constant 2147483647
  u7: i64 = min u5, u6
  u8: i32 = convert u7
  v0: bool = active
  v1: i32 = load 0
  v9: i32 = min v1, u8
  v10: i32 = max v9, u2
  v11: f32 = table_read 0 v10, v0
  store 0 v11
}
)");
}

TEST(KernelLowerMemory, AWrappedIndexIsARemainder) {
  expect_lowering(R"(
function f(%0: i64, %1: f32 table) -> (f32) {
  %2 = table_read f32 %1, %0 wrap
  return (%2)
}
)",
                  R"(
kernel f(i64; ; tables f32) -> (f32) {
  u3: i64 = table_size 0
  v0: bool = active
  v1: i64 = load 0
  v4: i64 = rem v1, u3
  v5: f32 = table_read 0 v4, v0
  store 0 v5
}
)");
}

TEST(KernelLowerMemory, AFilledReadReadsNothingOutside) {
  expect_lowering(R"(
function f(%0: i64, %1: f32 table) -> (f32) {
  %2 = constant f32 9
  %3 = table_read f32 %1, %0, %2 fill
  return (%3)
}
)",
                  R"(
kernel f(i64; ; tables f32) -> (f32) {
  u2: f32 = constant 9
  u4: i64 = constant 1
  u5: i64 = table_size 0
  u6: i64 = sub u5, u4
  v0: bool = active
  v1: i64 = load 0
  u7: u64 = bitcast u6
  v8: u64 = bitcast v1
  v9: bool = gt v8, u7
  v10: bool = not v9
  v11: bool = and v0, v10
  v12: f32 = table_read 0 v1, v11
  v13: f32 = select v9, u2, v12
  store 0 v13
}
)");
}

TEST(KernelLowerMemory, AUniformIndexIsCheckedForAllAtOnceAndClamped) {
  expect_lowering(R"(
function f(%0: f32, %1: i32 shared, %2: f32 table) -> (f32) {
  %3 = table_read f32 %2, %1 check
  %4 = add f32 %0, %3
  return (%4)
}
)",
                  R"(
kernel f(f32; i32; tables f32) -> (f32) {
  site 0 3
  u3: i32 = constant 0
  u4: i64 = constant 1
  u5: i64 = table_size 0
  u6: i64 = sub u5, u4
  u7: i64 = constant 2147483647
  u8: i64 = min u6, u7
  u9: i32 = convert u8
  v0: bool = active
  v1: f32 = load 0
  u2: i32 = shared 0
  u10: u32 = bitcast u9
  u11: u32 = bitcast u2
  u12: bool = gt u11, u10
  v13: bool = copy v0
  u14: bool = not u12
  v0: bool = and v0, u14
  u15: i32 = select u12, u3, u2
  u16: f32 = table_read 0 u15
  v17: f32 = add v1, u16
  v18: bool = not v0
  v19: bool = and v13, v18
  fail 0 v19, v0
  store 0 v17
}
)");
}

TEST(KernelLowerMemory, AnUncheckedUniformIndexIsTakenAsItIsWhereNoLaneRunsAlong) {
  expect_lowering(R"(
function f(%0: f32, %1: i64 shared, %2: f32 table) -> (f32) {
  %3 = table_read f32 %2, %1 unchecked
  %4 = add f32 %0, %3
  return (%4)
}
)",
                  R"(
kernel f(f32; i64; tables f32) -> (f32) {
  v1: f32 = load 0
  u2: i64 = shared 0
  u4: f32 = table_read 0 u2
  v5: f32 = add v1, u4
  store 0 v5
}
)");
}

TEST(KernelLowerMemory, AnUncheckedUniformIndexIsInsideForLanesThatRunAlongToo) {
  const ir::Function f = ir::parse(R"(
function f(%0: f32, %1: i64 shared, %2: f32 table) -> (f32) {
  %3 = table_size i64 %2
  %4 = ge bool %1, %3
  fail_if %4 2 (%1)
  %5 = table_read f32 %2, %1 unchecked
  %6 = add f32 %0, %5
  return (%6)
}
)");
  const std::string text = print(lower(f));
  EXPECT_NE(text.find("select"), std::string::npos) << text;
}

TEST(KernelLowerMemory, ACounterBelowTheSizeOfItsTableNeedsNoCheck) {
  expect_lowering(R"(
function f(%0: f32, %1: f32 table) -> (f32) {
  %2 = constant i64 0
  %3 = constant i64 1
  %4 = table_size i64 %1
  %5 = loop (%6: i64 = %2, %7: f32 = %0) {
    %8 = ge bool %6, %4
    break_if %8 (%6, %7)
    %9 = table_read f32 %1, %6 check
    %10 = add f32 %7, %9
    %11 = add i64 %6, %3
    next (%11, %10)
  }
  %12 = result f32 %5 1
  return (%12)
}
)",
                  R"(
kernel f(f32; ; tables f32) -> (f32) {
  u2: i64 = constant 0
  u3: i64 = constant 1
  u4: i64 = table_size 0
  u9: i64 = sub u4, u3
  v0: bool = active
  v1: f32 = load 0
  u5: i64 = copy u2
  v6: f32 = copy v1
  v7: bool = copy v0
  loop v7 {
    u8: bool = ge u5, u4
    exit_if u8
    u10: u64 = bitcast u9
    u11: u64 = bitcast u5
    u12: bool = gt u11, u10
    u13: i64 = select u12, u2, u5
    u14: f32 = table_read 0 u13
    v15: f32 = add v6, u14
    u16: i64 = add u5, u3
    u5: i64 = copy u16
    v6: f32 = copy v15
  }
  store 0 v6
}
)");
}

TEST(KernelLowerMemory, AnIndexThatIsKnownToBeInsideNeedsNoCheck) {
  expect_lowering(R"(
function f(%0: i32, %1: f32) -> (f32) {
  %2 = constant i32 7
  %3 = array f32 %1 8
  %4 = and i32 %0, %2
  %5 = array_read f32 %3, %4 check
  array_write %3, %4, %1 check
  return (%5)
}
)",
                  R"(
kernel f(i32, f32; ; arrays f32 8) -> (f32) {
  u3: i32 = constant 7
  v0: bool = active
  v1: i32 = load 0
  v2: f32 = load 1
  array 0 v2
  v4: i32 = and v1, u3
  v6: f32 = array_read 0 v4, v0
  array_write 0 v4, v2, v0
  store 0 v6
}
)");
}

TEST(KernelLowerMemory, AFailureThatCannotBeIsNotLookedFor) {
  expect_lowering(R"(
function f(%0: i32, %1: f32) -> (f32) {
  %2 = constant i32 7
  %3 = array f32 %1 8
  %4 = and i32 %0, %2
  %5 = bitcast u32 %4
  %6 = constant u32 8
  %7 = ge bool %5, %6
  fail_if %7 3 (%4)
  %8 = array_read f32 %3, %4 unchecked
  return (%8)
}
)",
                  R"(
kernel f(i32, f32; ; arrays f32 8) -> (f32) {
  u3: i32 = constant 7
  v0: bool = active
  v1: i32 = load 0
  v2: f32 = load 1
  array 0 v2
  v4: i32 = and v1, u3
  v9: f32 = array_read 0 v4, v0
  store 0 v9
}
)");
}

TEST(KernelLowerMemory, AnIndexThatMayBeTheSizeIsChecked) {
  expect_lowering(R"(
function f(%0: i32, %1: f32) -> (f32) {
  %2 = constant i32 7
  %3 = array f32 %1 7
  %4 = and i32 %0, %2
  %5 = array_read f32 %3, %4 check
  array_write %3, %0, %1 fill
  return (%5)
}
)",
                  R"(
kernel f(i32, f32; ; arrays f32 7) -> (f32) {
  site 0 3
  u3: i32 = constant 7
  u7: u32 = constant 7
  u12: i32 = constant 6
  v0: bool = active
  v1: i32 = load 0
  v2: f32 = load 1
  array 0 v2
  v4: i32 = and v1, u3
  v6: u32 = bitcast v4
  v8: bool = ge v6, u7
  v9: bool = copy v0
  v10: bool = not v8
  v0: bool = and v0, v10
  v11: f32 = array_read 0 v4, v0
  u13: u32 = bitcast u12
  v14: u32 = bitcast v1
  v15: bool = gt v14, u13
  v16: bool = not v15
  v17: bool = and v0, v16
  array_write 0 v1, v2, v17
  v18: bool = not v0
  v19: bool = and v9, v18
  fail 0 v19, v0
  store 0 v11
}
)");
}

TEST(KernelLowerMemory, BehindATestAnIndexNeedsNoCheck) {
  expect_lowering(R"(
function f(%0: i32, %1: i32) -> (i32) {
  %2 = constant bool true
  %3 = constant i32 0
  %4 = constant i32 4
  %5 = array i32 %3 4
  %6 = ge bool %0, %3
  %7 = lt bool %0, %4
  %8 = and bool %6, %7
  %9 = loop (%10: i32 = %1) {
    %11 = not bool %8
    break_if %11 (%10)
    %12 = array_read i32 %5, %0 check
    break_if %2 (%12)
    next (%10)
  }
  %13 = result i32 %9 0
  return (%13)
}
)",
                  R"(
kernel f(i32, i32; ; arrays i32 4) -> (i32) {
  u4: i32 = constant 0
  u5: i32 = constant 4
  v0: bool = active
  v1: i32 = load 0
  v2: i32 = load 1
  array 0 u4
  v6: bool = ge v1, u4
  v7: bool = lt v1, u5
  v8: bool = and v6, v7
  v9: i32 = copy v2
  v11: bool = and v0, v8
  branch v11 {
    v12: i32 = array_read 0 v1, v11
    v9: i32 = select v11, v12, v9
  }
  store 0 v9
}
)");
}

TEST(KernelLowerMemory, ChecksOfAPartAreLookedAtInIt) {
  // Those behind it are others, though the indices have one root.
  const ir::Function f = ir::parse(R"(function f(%0: i32, %1: f32 table) -> (f32) {
  %2 = constant bool true
  %3 = constant f32 0
  %4 = constant i32 1
  %5 = loop (%6: f32 = %3) {
    %7 = table_read f32 %1, %0 check
    break_if %2 (%7)
    next (%6)
  }
  %8 = result f32 %5 0
  %9 = add i32 %0, %4
  %10 = table_read f32 %1, %9 check
  %11 = add f32 %8, %10
  return (%11)
}
)");
  const Kernel kernel = lower(f);
  EXPECT_NO_THROW(verify(kernel));
  int failures = 0;
  for_each(kernel, [&](const Instruction& in, int) { failures += in.kind == Kind::Fail; });
  EXPECT_EQ(failures, 2);
}
TEST(KernelLowerMemory, IndicesThatDifferByLiteralsHaveOneCheck) {
  const Kernel kernel = lower(ir::parse(R"(function f(%0: i32, %1: f32 table) -> (f32) {
  %2 = constant i32 3
  %3 = constant i32 1
  %4 = add i32 %0, %2
  %5 = add i32 %4, %3
  %6 = sub i32 %5, %2
  %7 = table_read f32 %1, %0 check
  %8 = table_read f32 %1, %5 check
  %9 = table_read f32 %1, %6 check
  %10 = add f32 %7, %8
  %11 = add f32 %10, %9
  return (%11)
}
)"));
  EXPECT_NO_THROW(verify(kernel));
  EXPECT_EQ(kernel.sites.size(), 1u);
}

}  // namespace
}  // namespace lw::kernel
