#include "lanewise/kernel/uniformity.h"

#include <gtest/gtest.h>

#include "lanewise/ir/parse.h"
#include "lanewise/kernel/lower.h"

namespace lw::kernel {
namespace {

/// Counts to n while x is positive. Ids in the arena: 0 x, 1 n, 2 zero, 3 loop, 4 counter, 5 value.
ir::Function counting(const char* limit, const char* condition) {
  return ir::parse(std::string("function f(%0: f32, %1: i32") + limit + R"() -> (i32, f32) {
  %2 = constant i32 0
  %3 = loop (%4: i32 = %2, %5: f32 = %0) {
    %6 = ge bool %4, %1
    break_if )" + condition +
                   R"( (%4, %5)
    %7 = constant i32 1
    %8 = add i32 %4, %7
    %9 = neg f32 %5
    next (%8, %9)
  }
  %10 = result i32 %3 0
  %11 = result f32 %3 1
  return (%10, %11)
}
)");
}

struct Facts {
  bool counter, value, diverges, counter_after, value_after;
  bool operator==(const Facts&) const = default;
};

Facts analyse(const ir::Function& f, bool refill = false) {
  ir::ValueId loop = 0;
  std::vector<ir::ValueId> results;
  ir::for_each(f, [&](ir::ValueId id, int) {
    if (f[id].op == ir::Op::Loop) loop = id;
    if (f[id].op == ir::Op::Result) results.push_back(id);
  });
  const Uniformity facts = analyse_uniformity(f, refill ? loop : ir::kNone);
  const auto& arguments = f.blocks[f[loop].block].arguments;
  return {facts.uniform[arguments[0]], facts.uniform[arguments[1]], facts.diverges[loop],
          facts.uniform[results[0]], facts.uniform[results[1]]};
}

TEST(KernelUniformity, WithASharedLimitAllLanesLeaveTogetherAndTheCounterStaysUniform) {
  EXPECT_EQ(analyse(counting(" shared", "%6")), (Facts{.counter = true,
                                                       .value = false,
                                                       .diverges = false,
                                                       .counter_after = true,
                                                       .value_after = false}));
}

TEST(KernelUniformity, WithALimitPerElementTheCounterIsUniformInsideAndVariesAfter) {
  EXPECT_EQ(analyse(counting("", "%6")), (Facts{.counter = true,
                                                .value = false,
                                                .diverges = true,
                                                .counter_after = false,
                                                .value_after = false}));
}

TEST(KernelUniformity, InARefilledLoopEverythingCarriedVaries) {
  EXPECT_EQ(analyse(counting("", "%6"), true), (Facts{.counter = false,
                                                      .value = false,
                                                      .diverges = true,
                                                      .counter_after = false,
                                                      .value_after = false}));
}

TEST(KernelUniformity, LanesLeaveWhatIsAroundARefilledLoopOneByOne) {
  const ir::Function f = ir::parse(R"(function f(%0: i32, %1: bool, %2: bool shared) -> (i32) {
  %3 = constant bool true
  %4 = loop (%5: i32 = %0) {
    break_if %2 (%0)
    %6 = loop () {
      break_if %1 ()
      next ()
    }
    break_if %3 (%5)
    next (%5)
  }
  %7 = result i32 %4 0
  return (%7)
}
)");
  std::vector<ir::ValueId> loops;
  ir::for_each(f, [&](ir::ValueId id, int) {
    if (f[id].op == ir::Op::Loop) loops.push_back(id);
  });
  EXPECT_FALSE(analyse_uniformity(f).diverges[loops[0]]);
  EXPECT_TRUE(analyse_uniformity(f, loops[1]).diverges[loops[0]]);
  EXPECT_NO_THROW(verify(lower(f, {.refill = true})));
}

TEST(KernelUniformity, AVaryingExitValueMakesTheCarriedValueVary) {
  const ir::Function f = ir::parse(R"(
function f(%0: i32, %1: i32 shared, %2: bool shared) -> (i32) {
  %3 = loop (%4: i32 = %1) {
    break_if %2 (%0)
    next (%4)
  }
  %5 = result i32 %3 0
  return (%5)
}
)");
  const Uniformity facts = analyse_uniformity(f);
  ir::for_each(f, [&](ir::ValueId id, int) {
    if (f[id].op == ir::Op::Result) {
      EXPECT_FALSE(facts.uniform[id]);
    }
    if (f[id].op == ir::Op::Loop) {
      EXPECT_FALSE(facts.diverges[id]);
    }
  });
}

TEST(KernelUniformity, WhatComesOfSharedValuesAndLiteralsIsUniform) {
  const ir::Function f = ir::parse(R"(
function f(%0: f32, %1: f32 shared) -> (f32, f32) {
  %2 = constant f32 2
  %3 = mul f32 %1, %2
  %4 = mul f32 %3, %0
  return (%3, %4)
}
)");
  const Uniformity facts = analyse_uniformity(f);
  EXPECT_FALSE(facts.uniform[0]);
  EXPECT_TRUE(facts.uniform[1]);
  EXPECT_TRUE(facts.uniform[2]);
  EXPECT_TRUE(facts.uniform[3]);
  EXPECT_FALSE(facts.uniform[4]);
}

}  // namespace
}  // namespace lw::kernel
