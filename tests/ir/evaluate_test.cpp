#include "lanewise/ir/evaluate.h"

#include <gtest/gtest.h>

#include "lanewise/base/error.h"
#include "lanewise/ir/parse.h"
#include "tests/support/message_of.h"

namespace lw::ir {
namespace {

using I = std::int32_t;

Evaluation run(const char* text, std::vector<Scalar> arguments, EvaluateOptions options = {}) {
  return evaluate(parse(text), arguments, options);
}

/// Counts from 0 to n; the sum of 0 ... n - 1 beside it.
constexpr const char* kCount = R"(function count(%0: i32) -> (i32, i32) {
  %1 = constant i32 0
  %2 = constant i32 1
  %3 = loop (%4: i32 = %1, %5: i32 = %1) {
    %6 = ge bool %4, %0
    break_if %6 (%4, %5)
    %7 = add i32 %5, %4
    %8 = add i32 %4, %2
    next (%8, %7)
  }
  %9 = result i32 %3 0
  %10 = result i32 %3 1
  return (%9, %10)
}
)";

/// For i in 0 ... n - 1, for j in 0 ... i - 1: adds 1.
constexpr const char* kTriangle = R"(function triangle(%0: i32) -> (i32) {
  %1 = constant i32 0
  %2 = constant i32 1
  %3 = loop (%4: i32 = %1, %5: i32 = %1) {
    %6 = ge bool %4, %0
    break_if %6 (%4, %5)
    %7 = loop (%8: i32 = %1, %9: i32 = %5) {
      %10 = ge bool %8, %4
      break_if %10 (%8, %9)
      %11 = add i32 %8, %2
      %12 = add i32 %9, %2
      next (%11, %12)
    }
    %13 = result i32 %7 1
    %14 = add i32 %4, %2
    next (%14, %13)
  }
  %15 = result i32 %3 1
  return (%15)
}
)";

TEST(IrEvaluate, ALoopCarriesAllItsValuesAtOnce) {
  const Evaluation e = run(kCount, {I{5}});
  EXPECT_EQ(e.results, (std::vector<Scalar>{I{5}, I{10}}));
  EXPECT_EQ(e.steps, 5);
  EXPECT_FALSE(e.failure);
}

TEST(IrEvaluate, ALoopThatIsLeftAtOnceTakesNoStep) {
  const Evaluation e = run(kCount, {I{-3}});
  EXPECT_EQ(e.results, (std::vector<Scalar>{I{0}, I{0}}));
  EXPECT_EQ(e.steps, 0);
}

TEST(IrEvaluate, NestedLoopsCountTheirStepsTogether) {
  const Evaluation e = run(kTriangle, {I{4}});
  EXPECT_EQ(e.results, (std::vector<Scalar>{I{0 + 1 + 2 + 3}}));
  EXPECT_EQ(e.steps, 4 + 6);
}

TEST(IrEvaluate, AnExitHandsOverItsOwnValues) {
  const Evaluation e = run(R"(function f(%0: i32) -> (i32) {
  %1 = constant i32 2
  %2 = loop (%3: i32 = %0) {
    %4 = mul i32 %3, %1
    %5 = constant i32 100
    %6 = gt bool %4, %5
    break_if %6 (%4)
    %7 = lt bool %3, %1
    break_if %7 (%5)
    next (%4)
  }
  %8 = result i32 %2 0
  return (%8)
}
)",
                           {I{3}});
  EXPECT_EQ(e.results, (std::vector<Scalar>{I{192}}));
  EXPECT_EQ(e.steps, 5);
}

TEST(IrEvaluate, CarriedValuesMaySwap) {
  const Evaluation e = run(R"(function f(%0: i32, %1: i32) -> (i32, i32) {
  %2 = constant i32 0
  %3 = loop (%4: i32 = %0, %5: i32 = %1, %6: i32 = %2) {
    %7 = constant i32 3
    %8 = eq bool %6, %7
    break_if %8 (%4, %5, %6)
    %9 = constant i32 1
    %10 = add i32 %6, %9
    next (%5, %4, %10)
  }
  %11 = result i32 %3 0
  %12 = result i32 %3 1
  return (%11, %12)
}
)",
                           {I{1}, I{2}});
  EXPECT_EQ(e.results, (std::vector<Scalar>{I{2}, I{1}}));
}

TEST(IrEvaluate, ADivisionByZeroNamesItsLineAndValues) {
  const char* text = R"(function f(%0: i64, %1: i64) -> (i64) {
  %2 = rem i64 %0, %1  # user.cpp:34
  return (%2)
}
)";
  const Evaluation e = run(text, {std::int64_t{7}, std::int64_t{0}});
  ASSERT_TRUE(e.failure);
  EXPECT_EQ(e.failure->kind, FailKind::DivisionByZero);
  EXPECT_EQ(base::to_string(e.failure->location), "user.cpp:34");
  EXPECT_EQ(e.failure->values, (std::vector<Scalar>{std::int64_t{7}, std::int64_t{0}}));
  EXPECT_TRUE(e.results.empty());
  EXPECT_EQ(run(text, {std::int64_t{7}, std::int64_t{4}}).results,
            (std::vector<Scalar>{std::int64_t{3}}));
}

TEST(IrEvaluate, AFailureInALoopStopsTheElementThere) {
  const Evaluation e = run(R"(function f(%0: i32) -> (i32) {
  %1 = constant i32 1
  %2 = loop (%3: i32 = %0) {
    %4 = constant i32 100
    %5 = div i32 %4, %3
    %6 = eq bool %5, %4
    fail_if %6 2  # user.cpp:8
    %7 = sub i32 %3, %1
    next (%7)
  }
  %8 = result i32 %2 0
  return (%8)
}
)",
                           {I{3}});
  ASSERT_TRUE(e.failure);
  EXPECT_EQ(e.failure->kind, FailKind::Check);
  EXPECT_EQ(e.failure->location.line, 8);
  EXPECT_EQ(e.failure->values, (std::vector<Scalar>{I{100}, I{100}}));
  EXPECT_EQ(e.steps, 2);
}

TEST(IrEvaluate, TheStepLimitIsExact) {
  EXPECT_FALSE(run(kCount, {I{5}}, {.max_steps = 5}).failure);
  const Evaluation e = run(kCount, {I{5}}, {.max_steps = 4});
  ASSERT_TRUE(e.failure);
  EXPECT_EQ(e.failure->kind, FailKind::StepLimit);
  EXPECT_FALSE(run(kTriangle, {I{4}}, {.max_steps = 10}).failure);
  EXPECT_TRUE(run(kTriangle, {I{4}}, {.max_steps = 9}).failure);
}

// --- exits out of several loops ---

/// For i in 0 ..., for k in 0 ... i - 1: leaves both where i + k is n.
constexpr const char* kLeaveBoth = R"(function leave(%0: i32) -> (i32, i32) {
  %1 = constant i32 0
  %2 = constant i32 1
  %3 = loop (%4: i32 = %1, %5: i32 = %1) {
    %6 = loop (%7: i32 = %1) {
      %8 = ge bool %7, %4
      break_if %8 (%7)
      %9 = add i32 %4, %7
      %10 = eq bool %9, %0
      break_if %10 up 1 (%4, %7)
      %11 = add i32 %7, %2
      next (%11)
    }
    %12 = add i32 %4, %2
    next (%12, %5)
  }
  %13 = result i32 %3 0
  %14 = result i32 %3 1
  return (%13, %14)
}
)";

TEST(IrEvaluate, AnExitLeavesTheLoopItNamesAndThoseInside) {
  const Evaluation e = run(kLeaveBoth, {I{7}});
  EXPECT_EQ(e.results, (std::vector<Scalar>{I{4}, I{3}}));
  EXPECT_EQ(e.steps, 4 + (1 + 2 + 3) + 3) << "an exit is no step";
}

TEST(IrEvaluate, AnExitOutOfThreeLoops) {
  const Evaluation e = run(R"(function f(%0: i32) -> (i32, i32) {
  %1 = constant i32 0
  %2 = constant i32 1
  %3 = loop (%4: i32 = %0) {
    %5 = loop () {
      %6 = loop (%7: i32 = %4) {
        %8 = constant i32 10
        %9 = gt bool %7, %8
        break_if %9 up 2 (%7)
        %10 = eq bool %7, %8
        break_if %10 up 1 ()
        %11 = add i32 %7, %2
        next (%11)
      }
      next ()
    }
    %12 = add i32 %4, %0
    next (%12)
  }
  %13 = result i32 %3 0
  %14 = add i32 %13, %13
  return (%13, %14)
}
)",
                           {I{6}});
  EXPECT_EQ(e.results, (std::vector<Scalar>{I{12}, I{24}}));
  EXPECT_EQ(e.steps, 4 + 1);
}

TEST(IrEvaluate, WhatNeverGoesRoundTakesNoStep) {
  const char* text = R"(function f(%0: i32) -> (i32) {
  %1 = constant bool true
  %2 = constant i32 5
  %3 = loop (%4: i32 = %0) {
    %5 = lt bool %4, %2
    break_if %5 (%2)
    %6 = mul i32 %4, %4
    %7 = gt bool %6, %2
    break_if %7 (%6)
    break_if %1 (%4)
    next (%4)
  }
  %8 = result i32 %3 0
  return (%8)
}
)";
  for (const auto& [n, expected] : {std::pair(3, 5), std::pair(5, 25), std::pair(65536, 65536)}) {
    const Evaluation e = run(text, {I{n}}, {.max_steps = 1});
    EXPECT_EQ(e.results, (std::vector<Scalar>{I{expected}})) << n;
    EXPECT_EQ(e.steps, 0);
  }
}

// --- arrays and tables ---

/// Reads 10, 11, 12, 13 at %0 in this mode; outside, 99 where the mode is fill.
Evaluation read_four(const std::string& mode, Scalar index, bool of_table) {
  const std::string type(types::name_of(index.type()));
  const std::string fill = mode == "fill" ? ", %2" : "";
  std::string text = "function f(%0: " + type + ", %1: i32 table) -> (i32) {\n" +
                     "  %2 = constant i32 99\n  %3 = constant i32 10\n  %4 = array i32 %3 4\n";
  for (int i = 1; i < 4; ++i) {
    const std::string at = std::to_string(10 * i);
    const std::string value = std::to_string(10 * i + 1);
    text += "  %" + at + " = constant i32 " + std::to_string(i) + "\n  %" + value +
            " = constant i32 " + std::to_string(10 + i) + "\n  array_write %4, %" + at + ", %" +
            value + " check\n";
  }
  text += std::string("  %5 = ") + (of_table ? "table_read i32 %1" : "array_read i32 %4") + ", %0" +
          fill + " " + mode + "  # user.cpp:8\n  return (%5)\n}\n";
  const std::vector<std::int32_t> values = {10, 11, 12, 13};
  const types::Table tables[] = {{values.data(), 4}};
  return evaluate(parse(text), std::array{index}, {.tables = tables});
}

TEST(IrEvaluate, AModeSaysWhatAnIndexOutsideMeans) {
  for (const bool of_table : {false, true}) {
    const auto read = [&](const std::string& mode, Scalar index) {
      const Evaluation e = read_four(mode, index, of_table);
      return e.failure ? -1 : e.results[0].as<std::int32_t>();
    };
    for (const char* mode : {"check", "clip", "wrap", "fill", "unchecked"}) {
      for (const I i : {0, 1, 3}) EXPECT_EQ(read(mode, i), 10 + i) << mode;
      EXPECT_EQ(read(mode, std::int64_t{2}), 12) << mode;
    }
    EXPECT_EQ(read("check", I{4}), -1);
    EXPECT_EQ(read("check", I{-1}), -1);
    EXPECT_EQ(read("clip", I{4}), 13);
    EXPECT_EQ(read("clip", I{-1}), 10);
    EXPECT_EQ(read("clip", INT64_MAX), 13);
    EXPECT_EQ(read("clip", INT64_MIN), 10);
    EXPECT_EQ(read("wrap", I{4}), 10);
    EXPECT_EQ(read("wrap", I{-1}), 13);
    EXPECT_EQ(read("wrap", I{-9}), 13);
    EXPECT_EQ(read("wrap", INT64_MAX), 13);
    EXPECT_EQ(read("wrap", INT64_MIN), 10);
    EXPECT_EQ(read("fill", I{4}), 99);
    EXPECT_EQ(read("fill", I{-1}), 99);
    EXPECT_EQ(read("fill", INT64_MIN), 99);
  }
}

TEST(IrEvaluate, AnIndexOutsideNamesItsLineItselfAndTheSize) {
  for (const bool of_table : {false, true}) {
    const Evaluation e = read_four("check", I{-7}, of_table);
    ASSERT_TRUE(e.failure);
    EXPECT_EQ(e.failure->kind, FailKind::Index);
    EXPECT_EQ(base::to_string(e.failure->location), "user.cpp:8");
    EXPECT_EQ(e.failure->values, (std::vector<Scalar>{I{-7}, std::int64_t{4}}));
  }
}

TEST(IrEvaluate, WritesOutsideFailOrAreElsewhereOrDoNothing) {
  const auto write = [](const std::string& mode, I index) {
    std::string text = "function f(%0: i32) -> (i32, i32, i32) {\n  %1 = constant i32 7\n" +
                       std::string("  %2 = constant i32 0\n  %3 = constant i32 1\n") +
                       "  %4 = constant i32 2\n  %5 = array i32 %2 3\n  array_write %5, %0, %1 " +
                       mode + "\n";
    for (int i = 0; i < 3; ++i) {
      const std::string to = std::to_string(6 + i);
      const std::string at = std::to_string(2 + i);
      text += "  %" + to + " = array_read i32 %5, %" + at + " check\n";
    }
    const Evaluation e = run((text + "  return (%6, %7, %8)\n}\n").c_str(), {index});
    std::string found;
    for (const Scalar& value : e.results) found += types::to_string(value);
    return e.failure ? "failed" : found;
  };
  for (const char* mode : {"check", "clip", "wrap", "fill", "unchecked"}) {
    EXPECT_EQ(write(mode, 1), "070") << mode;
  }
  EXPECT_EQ(write("check", 3), "failed");
  EXPECT_EQ(write("check", -1), "failed");
  EXPECT_EQ(write("clip", 30), "007");
  EXPECT_EQ(write("clip", -30), "700");
  EXPECT_EQ(write("wrap", 4), "070");
  EXPECT_EQ(write("wrap", -1), "007");
  EXPECT_EQ(write("fill", 3), "000");
  EXPECT_EQ(write("fill", -1), "000");
}

TEST(IrEvaluate, AnArrayIsMadeAnewInEveryStep) {
  const Evaluation e = run(R"(function f(%0: i32) -> (i32, i32) {
  %1 = constant i32 0
  %2 = constant i32 1
  %3 = array i32 %1 1
  %4 = loop (%5: i32 = %1, %6: i32 = %1) {
    %7 = ge bool %5, %0
    break_if %7 (%5, %6)
    %8 = array i32 %5 1
    %9 = array_read i32 %8, %1 check
    array_write %8, %1, %0 check
    %10 = array_read i32 %3, %1 check
    %11 = add i32 %10, %2
    array_write %3, %1, %11 check
    %12 = add i32 %6, %9
    %13 = add i32 %5, %2
    next (%13, %12)
  }
  %14 = result i32 %4 1
  %15 = array_read i32 %3, %1 check
  return (%14, %15)
}
)",
                           {I{5}});
  EXPECT_EQ(e.results, (std::vector<Scalar>{I{0 + 1 + 2 + 3 + 4}, I{5}}));
}

TEST(IrEvaluate, ATableHasASizeAndAnElementTwoWords) {
  const std::vector<double> first = {0.5, 1.5};
  const std::vector<std::int8_t> second = {1, 2, 3};
  const types::Table tables[] = {{first.data(), 2}, {second.data(), 3}};
  const Function f =
      parse(R"(function f(%0: f64 table, %1: i32, %2: i8 table) -> (i64, i64, f64, i8, u32, u32) {
  %3 = table_size i64 %0
  %4 = table_size i64 %2
  %5 = table_read f64 %0, %1 check
  %6 = table_read i8 %2, %1 check
  %7 = element u32 0
  %8 = element u32 1
  return (%3, %4, %5, %6, %7, %8)
}
)");
  const Evaluation e = evaluate(f, std::array{Scalar(I{1})},
                                {.tables = tables, .element = (std::int64_t{5} << 32) + 7});
  EXPECT_EQ(e.results, (std::vector<Scalar>{std::int64_t{2}, std::int64_t{3}, 1.5, std::int8_t{2},
                                            std::uint32_t{7}, std::uint32_t{5}}));
}

TEST(IrEvaluate, AFailureTellsItsValues) {
  const Evaluation e = run(R"(function f(%0: i32, %1: bool) -> (i32) {
  %2 = constant i64 3
  fail_if %1 3 (%0, %2)  # user.cpp:5
  return (%0)
}
)",
                           {I{7}, true});
  ASSERT_TRUE(e.failure);
  EXPECT_EQ(e.failure->kind, FailKind::Index);
  EXPECT_EQ(e.failure->values, (std::vector<Scalar>{I{7}, std::int64_t{3}}));
}

TEST(IrEvaluate, ACancelledEvaluationThrows) {
  const std::atomic<int> cancel = 1;
  EXPECT_EQ(test::message_of<Cancelled>([&] { run(kCount, {I{5}}, {.cancel = &cancel}); }),
            "evaluate: cancelled.");
}

}  // namespace
}  // namespace lw::ir
