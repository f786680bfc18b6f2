// Lowering of straight code.
#include "tests/kernel/expect_lowering.h"

namespace lw::kernel {
namespace {

TEST(KernelLower, StraightCodeNeedsNoMask) {
  expect_lowering(R"(
function f(%0: f32, %1: f32 shared) -> (f32) {
  %2 = constant f32 2
  %3 = mul f32 %1, %2
  %4 = add f32 %0, %3
  return (%4)
}
)",
                  R"(
kernel f(f32; f32) -> (f32) {
  u2: f32 = constant 2
  v0: f32 = load 0
  u1: f32 = shared 0
  u3: f32 = mul u1, u2
  v4: f32 = add v0, u3
  store 0 v4
}
)");
}

TEST(KernelLower, ADivisionByZeroFailsInLiveLanesAndDeadOnesDivideByOne) {
  expect_lowering(R"(
function f(%0: i32, %1: i32) -> (i32) {
  %2 = div i32 %0, %1  # user.cpp:3
  return (%2)
}
)",
                  R"(
kernel f(i32, i32; ) -> (i32) {
  site 0 0  # user.cpp:3
  u3: i32 = constant 0
  u7: i32 = constant 1
  v0: bool = active
  v1: i32 = load 0
  v2: i32 = load 1
  v4: bool = eq v2, u3
  v5: bool = copy v0
  v6: bool = not v4
  v0: bool = and v0, v6
  v8: i32 = select v4, u7, v2
  v9: i32 = div v1, v8
  v10: bool = not v0
  v11: bool = and v5, v10
  fail 0 v11, v0
  store 0 v9
}
)");
}

TEST(KernelLower, ADivisionByALiteralNeedsNoGuard) {
  expect_lowering(R"(
function f(%0: i32) -> (i32) {
  %1 = constant i32 7
  %2 = rem i32 %0, %1
  return (%2)
}
)",
                  R"(
kernel f(i32; ) -> (i32) {
  u2: i32 = constant 7
  v1: i32 = load 0
  v3: i32 = rem v1, u2
  store 0 v3
}
)");
}

}  // namespace
}  // namespace lw::kernel
