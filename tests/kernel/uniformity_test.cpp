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

/// Which loops diverge, in order.
std::vector<bool> diverging(const ir::Function& f, int refill = -1) {
  std::vector<ir::ValueId> loops;
  ir::for_each(f, [&](ir::ValueId id, int) {
    if (f[id].op == ir::Op::Loop) loops.push_back(id);
  });
  const Uniformity facts =
      analyse_uniformity(f, refill < 0 ? ir::kNone : loops[static_cast<std::size_t>(refill)]);
  std::vector<bool> result;
  for (const ir::ValueId loop : loops) result.push_back(facts.diverges[loop]);
  return result;
}

/// Three loops, one in the other; `exit` stands in the innermost. %0 varies, %1 does not.
ir::Function nested(const std::string& exit) {
  return ir::parse(
      "function f(%0: bool, %1: bool shared) -> (bool) {\n  %2 = loop () {\n"
      "    break_if %1 ()\n    %3 = loop () {\n      break_if %1 ()\n"
      "      %4 = loop () {\n        break_if %1 ()\n        " +
      exit +
      "\n        next ()\n      }\n      next ()\n    }\n    next ()\n  }\n"
      "  return (%0)\n}\n");
}

TEST(KernelUniformity, AnExitPartsTheLanesOfEveryLoopItLeaves) {
  using Loops = std::vector<bool>;
  EXPECT_EQ(diverging(nested("break_if %0 ()")), (Loops{false, false, true}));
  EXPECT_EQ(diverging(nested("break_if %0 up 1 ()")), (Loops{false, true, true}));
  EXPECT_EQ(diverging(nested("break_if %0 up 2 ()")), (Loops{true, true, true}));
  EXPECT_EQ(diverging(nested("break_if %1 up 2 ()")), (Loops{false, false, false}));
}

TEST(KernelUniformity, AUniformExitPartsLanesWhereNotAllComeToIt) {
  using Loops = std::vector<bool>;
  // Some lanes leave the innermost loop, the others all.
  EXPECT_EQ(diverging(nested("break_if %0 ()\n        break_if %1 up 2 ()")),
            (Loops{true, true, true}));
  EXPECT_EQ(diverging(nested("break_if %0 ()\n        break_if %1 up 1 ()")),
            (Loops{false, true, true}));
}

/// %5: what can be left early by %0 or `second`, with values that are uniform.
ir::Function once(const std::string& second) {
  return ir::parse(R"(
function f(%0: bool, %1: bool shared, %2: i32 shared) -> (i32) {
  %3 = constant bool true
  %4 = constant i32 7
  %5 = loop (%6: i32 = %2) {
    break_if )" + second +
                   R"( (%4)
    %7 = add i32 %6, %4
    break_if %1 (%7)
    break_if %3 (%6)
    next (%6)
  }
  %8 = result i32 %5 0
  return (%8)
}
)");
}

bool is_result_uniform(const ir::Function& f) {
  const Uniformity facts = analyse_uniformity(f);
  bool uniform = false;
  ir::for_each(f, [&](ir::ValueId id, int) {
    if (f[id].op == ir::Op::Result) uniform = facts.uniform[id];
  });
  return uniform;
}

TEST(KernelUniformity, WhatIsLeftOnceVariesBehindItWhereLanesLeaveApart) {
  EXPECT_EQ(diverging(once("%1")), std::vector<bool>{false});
  EXPECT_TRUE(is_result_uniform(once("%1")));
  EXPECT_EQ(diverging(once("%0")), std::vector<bool>{true});
  EXPECT_FALSE(is_result_uniform(once("%0")));
}

TEST(KernelUniformity, WhatStandsAroundARefilledLoopIsLeftByLanesApart) {
  const ir::Function f = ir::parse(R"(
function f(%0: bool, %1: bool shared) -> (bool) {
  %2 = constant bool true
  %3 = loop () {
    break_if %1 ()
    %4 = loop () {
      break_if %0 ()
      next ()
    }
    break_if %2 ()
    next ()
  }
  return (%0)
}
)");
  EXPECT_EQ(diverging(f), (std::vector<bool>{false, true}));
  EXPECT_EQ(diverging(f, 1), (std::vector<bool>{true, true}));
}

TEST(KernelUniformity, TablesAreReadUniformlyAtUniformPlacesAndArraysNever) {
  const ir::Function f = ir::parse(R"(
function f(%0: i32, %1: i32 shared, %2: f32 table, %3: u64 seed) -> (f32) {
  %4 = table_read f32 %2, %1 check
  %5 = table_read f32 %2, %0 check
  %6 = table_read f32 %2, %1, %5 fill
  %7 = table_size i64 %2
  %8 = element u32 0
  %9 = array f32 %4 3
  %10 = array_read f32 %9, %1 check
  return (%4)
}
)");
  const Uniformity facts = analyse_uniformity(f);
  const std::vector<bool> expected = {false, true, true,  true,  true, false,
                                      false, true, false, false, false};
  for (ir::ValueId id = 0; id < expected.size(); ++id) {
    if (f[id].op == ir::Op::Array) continue;
    EXPECT_EQ(facts.uniform[id], expected[id]) << id;
  }
}

}  // namespace
}  // namespace lw::kernel
