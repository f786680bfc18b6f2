#include "lanewise/kernel/range.h"

#include <gtest/gtest.h>

#include "lanewise/ir/parse.h"

namespace lw::kernel {
namespace {

using Bounds = std::pair<std::int64_t, std::int64_t>;

constexpr Bounds kI32 = {INT32_MIN, INT32_MAX};

/// Walks through a program as the lowering does and asks for the index of its one array_read.
class Walk {
 public:
  explicit Walk(const ir::Function& f, bool always) : f_(f), ranges_(f), always_(always) {
    block(0);
  }
  Bounds found() const { return {found_.low, found_.high}; }

 private:
  void block(ir::BlockId id) {
    const std::size_t known = ranges_.mark();
    for (const ir::ValueId value : f_.blocks[id].body) {
      const ir::Instruction& in = f_[value];
      if (in.op == ir::Op::ArrayRead) found_ = ranges_.of(in.operands[1], always_);
      if (in.op == ir::Op::Loop) block(in.block);
      if (in.op == ir::Op::BreakIf) ranges_.assume(in.operands[0], false);
    }
    ranges_.forget(known);
  }

  const ir::Function& f_;
  Ranges ranges_;
  bool always_;
  Range found_ = {1, 0};
};

/// The range of the index that these lines read array %6 with.
Bounds range_in(const std::string& body, bool always = false) {
  const ir::Function f = ir::parse(
      "function f(%0: i32, %1: i32, %2: u8, %3: i64, %4: bool, %5: f32) -> (i32) {\n"
      "  %6 = array i32 %0 100\n  %7 = constant bool true\n" +
      body + "\n  return (%0)\n}\n");
  return Walk(f, always).found();
}

/// The range of %index that these lines make.
Bounds range_of(const std::string& index, const std::string& lines) {
  return range_in(lines + "\n  %99 = array_read i32 %6, %" + index + " check");
}

TEST(KernelRange, OfParametersIsThatOfTheirType) {
  EXPECT_EQ(range_of("0", ""), kI32);
  EXPECT_EQ(range_of("3", ""), (Bounds{INT64_MIN, INT64_MAX}));
  EXPECT_EQ(range_of("10", "  %10 = convert i32 %2"), (Bounds{0, 255}));
  EXPECT_EQ(range_of("10", "  %10 = convert i32 %4"), (Bounds{0, 1}));
  EXPECT_EQ(range_of("10", "  %10 = convert i32 %5"), kI32) << "of a float nothing is known";
}

TEST(KernelRange, OfMasksRemaindersAndShifts) {
  const std::string seven = "  %10 = constant i32 7\n";
  EXPECT_EQ(range_of("10", seven), (Bounds{7, 7}));
  EXPECT_EQ(range_of("11", seven + "  %11 = and i32 %0, %10"), (Bounds{0, 7}));
  EXPECT_EQ(range_of("11", seven + "  %11 = and i32 %10, %0"), (Bounds{0, 7}));
  EXPECT_EQ(range_of("11", seven + "  %11 = rem i32 %0, %10"), (Bounds{0, 6}));
  EXPECT_EQ(range_of("11", seven + "  %11 = rem i32 %0, %1"), kI32);
  const std::string byte = seven + "  %11 = convert i32 %2\n";
  EXPECT_EQ(range_of("12", byte + "  %12 = shr i32 %11, %10"), (Bounds{0, 1}));
  EXPECT_EQ(range_of("12", seven + "  %12 = shr i32 %0, %10"), kI32) << "may be negative";
  EXPECT_EQ(range_of("12", byte + "  %12 = div i32 %11, %10"), (Bounds{0, 36}));
  EXPECT_EQ(range_of("12", byte + "  %12 = div i32 %11, %0"), kI32);
  EXPECT_EQ(range_of("11", "  %10 = constant i32 -8\n  %11 = and i32 %0, %10"), kI32);
}

TEST(KernelRange, OfSumsAndProductsUnlessTheyMayWrap) {
  const std::string lines =
      "  %10 = constant i32 10\n  %11 = convert i32 %2\n  %12 = constant u8 10\n";
  EXPECT_EQ(range_of("13", lines + "  %13 = add i32 %11, %10"), (Bounds{10, 265}));
  EXPECT_EQ(range_of("13", lines + "  %13 = sub i32 %10, %11"), (Bounds{-245, 10}));
  EXPECT_EQ(range_of("13", lines + "  %13 = mul i32 %11, %11"), (Bounds{0, 255 * 255}));
  EXPECT_EQ(range_of("13", lines + "  %13 = add i32 %0, %10"), kI32) << "wraps at the end";
  EXPECT_EQ(range_of("14", lines + "  %13 = add u8 %2, %12\n  %14 = convert i32 %13"),
            (Bounds{0, 255}))
      << "wraps at 255";
  EXPECT_EQ(range_of("14", lines + "  %13 = sub u8 %2, %12\n  %14 = convert i32 %13"),
            (Bounds{0, 255}));
  EXPECT_EQ(range_of("14", "  %10 = constant i64 3000000000\n  %14 = convert i32 %10"), kI32);
}

TEST(KernelRange, OfMinimaMaximaAndSelects) {
  const std::string lines = "  %10 = constant i32 0\n  %11 = constant i32 99\n";
  EXPECT_EQ(range_of("13", lines + "  %12 = min i32 %0, %11\n  %13 = max i32 %12, %10"),
            (Bounds{0, 99}));
  EXPECT_EQ(range_of("12", lines + "  %12 = select i32 %4, %10, %11"), (Bounds{0, 99}));
  EXPECT_EQ(range_of("12", lines + "  %12 = select i32 %4, %10, %0"), kI32);
}

/// Behind `break_if %20`, in a block that all leave at its end.
Bounds behind(const std::string& lines, const std::string& index = "0", bool always = false) {
  return range_in(lines +
                      "\n  %30 = loop () {\n    break_if %20 ()\n    %31 = array_read i32 %6, %" +
                      index + " check\n    break_if %7 ()\n    next ()\n  }",
                  always);
}

TEST(KernelRange, IsNarrowerBehindATest) {
  const std::string ten = "  %10 = constant i32 10\n  %11 = constant i32 -1\n";
  EXPECT_EQ(behind(ten + "  %20 = lt bool %0, %10"), (Bounds{10, INT32_MAX}));
  EXPECT_EQ(behind(ten + "  %20 = le bool %0, %10"), (Bounds{11, INT32_MAX}));
  EXPECT_EQ(behind(ten + "  %20 = gt bool %0, %10"), (Bounds{INT32_MIN, 10}));
  EXPECT_EQ(behind(ten + "  %20 = ge bool %0, %10"), (Bounds{INT32_MIN, 9}));
  EXPECT_EQ(behind(ten + "  %20 = lt bool %10, %0"), (Bounds{INT32_MIN, 10}));
  EXPECT_EQ(behind(ten + "  %12 = eq bool %0, %10\n  %20 = not bool %12"), (Bounds{10, 10}));
  EXPECT_EQ(behind(ten + "  %20 = eq bool %0, %10"), kI32);
  EXPECT_EQ(behind(ten + "  %20 = lt bool %1, %10"), kI32) << "of another value";
  EXPECT_EQ(behind(ten + "  %12 = lt bool %0, %10\n  %13 = gt bool %0, %11\n"
                         "  %14 = and bool %12, %13\n  %20 = not bool %14"),
            (Bounds{0, 9}));
  EXPECT_EQ(behind(ten + "  %12 = ge bool %0, %10\n  %13 = le bool %0, %11\n"
                         "  %20 = or bool %12, %13"),
            (Bounds{0, 9}));
  EXPECT_EQ(behind(ten + "  %12 = ge bool %0, %10\n  %13 = le bool %0, %11\n"
                         "  %20 = and bool %12, %13"),
            kI32)
      << "one of the two may hold";
}

TEST(KernelRange, OneTestOfUnsignedBitsBoundsBothWays) {
  EXPECT_EQ(behind("  %10 = constant u32 10\n  %11 = bitcast u32 %0\n  %20 = ge bool %11, %10"),
            (Bounds{0, 9}));
  EXPECT_EQ(behind("  %10 = constant u32 10\n  %11 = bitcast u32 %0\n  %20 = lt bool %11, %10"),
            kI32)
      << "it may be negative";
}

TEST(KernelRange, OfUnsignedBitsIsThatOfTheSignedTypeUnlessTheyFit) {
  const std::string bits = "  %10 = bitcast u32 %0\n";
  EXPECT_EQ(range_of("11", bits + "  %11 = bitcast i32 %10"), kI32);
  EXPECT_EQ(range_of("13", bits + "  %11 = constant u32 9\n  %12 = and u32 %10, %11\n"
                                  "  %13 = bitcast i32 %12"),
            (Bounds{0, 9}));
  EXPECT_EQ(range_of("12", "  %11 = bitcast i8 %2\n  %12 = convert i32 %11"),
            (Bounds{INT8_MIN, INT8_MAX}));
}

TEST(KernelRange, OfAComparisonWhoseOutcomeIsKnown) {
  const std::string made = "  %10 = constant i32 256\n  %11 = convert i32 %2\n";
  const auto compared = [&](const std::string& test) {
    return range_of("13", made + "  %12 = " + test + "\n  %13 = convert i32 %12");
  };
  EXPECT_EQ(compared("lt bool %11, %10"), (Bounds{1, 1}));
  EXPECT_EQ(compared("ge bool %11, %10"), (Bounds{0, 0}));
  EXPECT_EQ(compared("gt bool %11, %10"), (Bounds{0, 0}));
  EXPECT_EQ(compared("le bool %10, %11"), (Bounds{0, 0}));
  EXPECT_EQ(compared("lt bool %11, %11"), (Bounds{0, 1}));
}

TEST(KernelRange, OfWhatIsMadeOfATestedValueIsNarrowerToo) {
  EXPECT_EQ(behind("  %10 = constant i32 10\n  %11 = constant i32 0\n  %12 = ge bool %0, %10\n"
                   "  %13 = lt bool %0, %11\n  %20 = or bool %12, %13\n  %14 = add i32 %0, %10",
                   "14"),
            (Bounds{10, 19}));
}

TEST(KernelRange, InLanesThatOnlyRunAlongNoTestCounts) {
  const std::string test = "  %10 = constant i32 10\n  %20 = ge bool %0, %10";
  EXPECT_EQ(behind(test, "0", true), kI32);
  EXPECT_EQ(behind(test + "\n  %11 = and i32 %0, %10", "11", true), (Bounds{0, 10}));
}

TEST(KernelRange, IsForgottenWhereTheTestedBlockEnds) {
  EXPECT_EQ(range_in("  %10 = constant i32 10\n  %11 = lt bool %0, %10\n  %12 = loop () {\n"
                     "    break_if %11 ()\n    break_if %7 ()\n    next ()\n  }\n"
                     "  %13 = array_read i32 %6, %0 check"),
            kI32);
}

/// In a loop with a counter %31 from `start` by `step`, behind `test`, which makes %32.
Bounds counted(const std::string& start, const std::string& test, const std::string& step,
               const std::string& type = "i32") {
  const std::string index = type == "u8" ? "35" : "31";
  return range_in(
      "  %10 = constant " + type + " " + start + "\n  %11 = constant " + type + " " + step +
      "\n  %30 = loop (%31: " + type + " = %10) {\n" + test + "\n    break_if %32 (%31)\n" +
      (type == "u8" ? "    %35 = convert i32 %31\n" : "") + "    %36 = array_read i32 %6, %" +
      index + " check\n    %37 = add " + type + " %31, %11\n    next (%37)\n  }");
}

TEST(KernelRange, ACounterIsNotBelowItsStartAndBelowItsEnd) {
  const std::string hundred = "    %20 = constant i32 100\n    %32 = ge bool %31, %20";
  EXPECT_EQ(counted("0", hundred, "1"), (Bounds{0, 99}));
  EXPECT_EQ(counted("5", hundred, "3"), (Bounds{5, 99}));
  EXPECT_EQ(counted("-5", hundred, "3"), (Bounds{-5, 99}));
  EXPECT_EQ(counted("0", "    %32 = ge bool %31, %0", "1"), (Bounds{0, INT32_MAX - 1}));
  EXPECT_EQ(counted("0", "    %20 = lt bool %31, %0\n    %32 = not bool %20", "1"),
            (Bounds{0, INT32_MAX - 1}));
}

TEST(KernelRange, ACounterThatGoesDownIsNotAboveItsStart) {
  const std::string down = "    %20 = constant i32 0\n    %32 = le bool %31, %20";
  EXPECT_EQ(counted("99", down, "-1"), (Bounds{1, 99}));
  EXPECT_EQ(counted("99", "    %20 = constant i32 0\n    %32 = lt bool %31, %20", "-1"),
            (Bounds{0, 99}));
  EXPECT_EQ(counted("99", down, "-7"), (Bounds{1, 99}));
  EXPECT_EQ(counted("99", down, "0"), (Bounds{1, INT32_MAX})) << "does not count";
}

TEST(KernelRange, ACounterThatMayWrapIsAnything) {
  // What it passes the test with, and a step more, is beyond the end of its type.
  const std::string most = "    %20 = constant i32 2147483647\n    %32 = gt bool %31, %20";
  EXPECT_EQ(counted("0", most, "1"), kI32);
  EXPECT_EQ(counted("0", "    %20 = constant i32 2147483647\n    %32 = ge bool %31, %20", "1"),
            (Bounds{0, INT32_MAX - 1}));
  EXPECT_EQ(counted("0", "    %20 = constant i32 2147483647\n    %32 = ge bool %31, %20", "2"),
            (Bounds{INT32_MIN, INT32_MAX - 1}));
  EXPECT_EQ(counted("0", "    %20 = constant i32 100\n    %32 = eq bool %31, %20", "1"), kI32);
  EXPECT_EQ(counted("0", "    %20 = constant i32 100\n    %32 = lt bool %31, %20", "1"),
            (Bounds{100, INT32_MAX}))
      << "the test is the other way round";
  EXPECT_EQ(counted("0", "    %20 = constant i32 100\n    %32 = ge bool %0, %20", "1"), kI32)
      << "of another value";
  EXPECT_EQ(counted("9", "    %20 = constant i32 -2147483648\n    %32 = le bool %31, %20", "-1"),
            (Bounds{INT32_MIN + 1, 9}));
  EXPECT_EQ(counted("9", "    %20 = constant i32 -2147483648\n    %32 = le bool %31, %20", "-2"),
            (Bounds{INT32_MIN + 1, INT32_MAX}));
}

TEST(KernelRange, CountersOfNarrowAndWideTypes) {
  const std::string byte = "    %20 = constant u8 200\n    %32 = ge bool %31, %20";
  EXPECT_EQ(counted("50", byte, "50", "u8"), (Bounds{50, 199}));
  EXPECT_EQ(counted("50", byte, "56", "u8"), (Bounds{50, 199}));
  EXPECT_EQ(counted("50", byte, "57", "u8"), (Bounds{0, 199})) << "199 + 57 wraps";
  EXPECT_EQ(counted("50", byte, "255", "u8"), (Bounds{0, 199})) << "down, by wrapping";
  EXPECT_EQ(counted("0", "    %32 = ge bool %31, %3", "1", "i64"), (Bounds{0, INT64_MAX - 1}));
  EXPECT_EQ(counted("0", "    %32 = ge bool %31, %3", "2", "i64"),
            (Bounds{INT64_MIN, INT64_MAX - 1}));
}

TEST(KernelRange, ATestThatAStepMayGoAroundEndsNoCounter) {
  // `continue`: those who leave the inner block by %4 do not come by the test.
  const auto program = [](const std::string& first) {
    return "  %10 = constant i32 0\n  %11 = constant i32 1\n  %12 = constant i32 100\n"
           "  %30 = loop (%31: i32 = %10) {\n    %32 = ge bool %31, %12\n    %33 = loop () {\n" +
           first +
           "      break_if %32 up 1 (%31)\n      %34 = array_read i32 %6, %31 check\n"
           "      break_if %7 ()\n      next ()\n    }\n    %35 = add i32 %31, %11\n"
           "    next (%35)\n  }";
  };
  EXPECT_EQ(range_in(program("      break_if %4 ()\n")), (Bounds{INT32_MIN, 99}));
  EXPECT_EQ(range_in(program("")), (Bounds{INT32_MIN, 99})) << "nor is it told apart";
}

TEST(KernelRange, ATestBeforeABlockThatSomeSkipEndsTheCounterForAll) {
  EXPECT_EQ(range_in("  %10 = constant i32 0\n  %11 = constant i32 1\n  %12 = constant i32 100\n"
                     "  %30 = loop (%31: i32 = %10) {\n    %32 = ge bool %31, %12\n"
                     "    break_if %32 (%31)\n    %33 = loop () {\n      break_if %4 ()\n"
                     "      %34 = array_read i32 %6, %31 check\n      break_if %7 ()\n"
                     "      next ()\n    }\n    %35 = add i32 %31, %11\n    next (%35)\n  }"),
            (Bounds{0, 99}));
}

TEST(KernelRange, ACounterThatIsSetElsewhereIsAnything) {
  EXPECT_EQ(range_in("  %10 = constant i32 0\n  %11 = constant i32 1\n  %12 = constant i32 100\n"
                     "  %30 = loop (%31: i32 = %10) {\n    %32 = ge bool %31, %12\n"
                     "    break_if %32 (%31)\n    %34 = array_read i32 %6, %31 check\n"
                     "    %35 = add i32 %31, %11\n    %36 = select i32 %4, %35, %0\n"
                     "    next (%36)\n  }"),
            (Bounds{INT32_MIN, 99}));
}

TEST(KernelRange, AnInnerCounterFromAnOuterOne) {
  EXPECT_EQ(range_in("  %10 = constant i32 2\n  %11 = constant i32 1\n  %12 = constant i32 50\n"
                     "  %30 = loop (%31: i32 = %10) {\n    %32 = ge bool %31, %12\n"
                     "    break_if %32 (%31)\n    %33 = loop (%34: i32 = %31) {\n"
                     "      %35 = ge bool %34, %12\n      break_if %35 (%34)\n"
                     "      %36 = array_read i32 %6, %34 check\n      %37 = add i32 %34, %11\n"
                     "      next (%37)\n    }\n    %38 = add i32 %31, %11\n    next (%38)\n  }"),
            (Bounds{2, 49}));
}

/// %31 becomes %31 * 2 + 1 or 2 in a loop of some steps; `inside` and `behind` stand in it and
/// behind it, where it is %39.
std::string doubled(const std::string& steps, const std::string& inside,
                    const std::string& behind = "") {
  return "  %10 = constant i32 0\n  %11 = constant i32 1\n  %12 = constant i32 " + steps +
         "\n  %13 = convert i32 %4\n  %30 = loop (%31: i32 = %10, %32: i32 = %10) {\n"
         "    %33 = ge bool %32, %12\n    break_if %33 (%31, %32)\n" +
         inside +
         "    %34 = add i32 %31, %31\n    %35 = add i32 %34, %11\n    %36 = add i32 %35, %13\n"
         "    %37 = add i32 %32, %11\n    next (%36, %37)\n  }\n  %39 = result i32 %30 0\n" +
         behind;
}

TEST(KernelRange, OfWhatALoopOfFewStepsCarries) {
  const std::string read = "    %38 = array_read i32 %6, %31 check\n";
  EXPECT_EQ(range_in(doubled("3", read)), (Bounds{0, 14}));
  EXPECT_EQ(range_in(doubled("29", read)), (Bounds{0, (1 << 30) - 2}));
  EXPECT_EQ(range_in(doubled("31", read)), kI32) << "it wraps";
  EXPECT_EQ(range_in(doubled("1000", read)), kI32) << "many steps";
  EXPECT_EQ(range_in(doubled("3", read), true), kI32) << "lanes that only run along go on";
  EXPECT_EQ(range_in("  %10 = constant f32 0\n  %11 = constant f32 1\n"
                     "  %30 = loop (%31: f32 = %10, %32: i32 = %0) {\n"
                     "    %33 = ge bool %31, %11\n    break_if %33 (%31, %32)\n"
                     "    %34 = array_read i32 %6, %32 check\n    %35 = add f32 %31, %11\n"
                     "    next (%35, %32)\n  }"),
            kI32)
      << "floats do not count";
}

TEST(KernelRange, OfTheResultOfALoopThatIsLeftInOnePlace) {
  const std::string read = "  %40 = array_read i32 %6, %39 check";
  EXPECT_EQ(range_in(doubled("3", "", read)), (Bounds{0, 14}));
  EXPECT_EQ(range_in(doubled("3", "    break_if %4 (%0, %32)\n", read)), kI32);
}

TEST(KernelRange, OfTheSizeOfATable) {
  const ir::Function f = ir::parse(R"(
function f(%0: i64, %1: f32 table, %2: f32 table) -> (i64) {
  %3 = table_size i64 %1
  %4 = lt bool %0, %3
  %5 = le bool %0, %3
  return (%0)
}
)");
  const auto is_below = [&](ir::ValueId condition, bool holds, ir::ValueId table) {
    Ranges ranges(f);
    ranges.assume(condition, holds);
    return ranges.is_below_size(0, table);
  };
  EXPECT_TRUE(is_below(4, true, 1));
  EXPECT_FALSE(is_below(4, true, 2)) << "of another table";
  EXPECT_FALSE(is_below(4, false, 1));
  EXPECT_FALSE(is_below(5, true, 1)) << "may be the size itself";
  EXPECT_TRUE(Ranges(f).of(3).is_within(1, INT64_MAX));
}

}  // namespace
}  // namespace lw::kernel
