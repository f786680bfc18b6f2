// Programs that parse but are wrong, and programs made wrong by hand.
#include "lanewise/ir/verify.h"

#include <gtest/gtest.h>

#include "lanewise/base/error.h"
#include "lanewise/ir/builder.h"
#include "lanewise/ir/parse.h"
#include "tests/support/message_of.h"
#include "tests/support/programs.h"

namespace lw::ir {
namespace {

/// What the verifier says of this body of a function of %0: f32, %1: i32, %2: bool.
std::string refusal(const std::string& body) {
  return test::message_of<UsageError>(
      [&] { parse("function f(%0: f32, %1: i32, %2: bool) -> (f32) {\n" + body + "\n}\n"); });
}

std::string refusal(const Function& f) {
  return test::message_of<UsageError>([&] { verify(f); });
}

TEST(IrVerify, RealProgramsPass) {
  EXPECT_NO_THROW(verify(test::mandelbrot_program()));
  EXPECT_NO_THROW(verify(test::kepler_program()));
}

TEST(IrVerify, AFunctionHasABody) {
  EXPECT_EQ(refusal(Function{}), "verify: f: the function has no body.");
}

TEST(IrVerify, ABlockEndsOnceWithNextOrReturn) {
  Builder build("f");
  build.param("x", DType::F32);
  EXPECT_EQ(refusal(build.take()),
            "verify: f: instruction 0 (param): next or return ends a block, once.");
  EXPECT_EQ(refusal("  %3 = loop () {\n    break_if %2 ()\n  }\n  return (%0)"),
            "verify: f: instruction 4 (break_if): next or return ends a block, once.");
  EXPECT_EQ(refusal("  %3 = loop () {\n  }\n  return (%0)"),
            "verify: f: instruction 3 (loop): a block may not be empty.");
}

TEST(IrVerify, WhatALoopBodyDefinesIsNotSeenOutside) {
  EXPECT_EQ(refusal("  %3 = loop () {\n"
                    "    %4 = neg f32 %0\n"
                    "    break_if %2 ()\n"
                    "    next ()\n"
                    "  }\n"
                    "  %5 = neg f32 %4\n"
                    "  return (%0)"),
            "verify: f: instruction 7 (neg): operands come before uses.");
  EXPECT_EQ(refusal("  %3 = loop (%4: f32 = %0) {\n"
                    "    break_if %2 (%4)\n"
                    "    next (%4)\n"
                    "  }\n"
                    "  return (%4)"),
            "verify: f: instruction 7 (return): operands come before uses.");
}

TEST(IrVerify, ALoopItselfHasNoValue) {
  EXPECT_EQ(refusal("  %3 = loop () {\n    break_if %2 ()\n    next ()\n  }\n"
                    "  %4 = not bool %3\n  return (%0)"),
            "verify: f: instruction 6 (not): operands have values.");
}

TEST(IrVerify, ExitsStandInLoops) {
  EXPECT_EQ(refusal("  break_if %2 ()\n  return (%0)"),
            "verify: f: instruction 3 (break_if): stands outside of any loop.");
}

TEST(IrVerify, AReturnStandsOutsideOfLoops) {
  Builder build("f");
  const ValueId x = build.param("x", DType::F32);
  build.begin_loop({});
  build.ret(std::vector{x});
  build.close_loop();
  build.ret({});
  EXPECT_EQ(refusal(build.take()), "verify: f: instruction 2 (return): return ends the function.");
}

TEST(IrVerify, ConditionsAreBools) {
  EXPECT_EQ(refusal("  %3 = loop () {\n    break_if %1 ()\n    next ()\n  }\n  return (%0)"),
            "verify: f: instruction 4 (break_if): the condition is a bool.");
  EXPECT_EQ(refusal("  fail_if %0 2\n  return (%0)"),
            "verify: f: instruction 3 (fail_if): the condition is a bool.");
}

TEST(IrVerify, ExitsAndNextCarryWhatTheLoopCarries) {
  EXPECT_EQ(refusal("  %3 = loop (%4: f32 = %0) {\n"
                    "    break_if %2 ()\n    next (%4)\n  }\n  return (%0)"),
            "verify: f: instruction 5 (break_if): as many values as the loop carries.");
  EXPECT_EQ(refusal("  %3 = loop (%4: f32 = %0) {\n"
                    "    break_if %2 (%4)\n    next (%1)\n  }\n  return (%0)"),
            "verify: f: instruction 6 (next): types of the carried values.");
}

TEST(IrVerify, SlotsAreReadAndWrittenAsTheirType) {
  EXPECT_EQ(refusal("  %3 = slot i32\n  slot_write %3 (%0)\n  return (%0)"),
            "verify: f: instruction 4 (slot_write): one value of the slot's type.");
  EXPECT_EQ(refusal("  %3 = slot i32\n  slot_write %3 ()\n  return (%0)"),
            "verify: f: instruction 4 (slot_write): one value of the slot's type.");
  EXPECT_EQ(refusal("  %3 = slot_read f32 %0\n  return (%0)"),
            "verify: f: instruction 3 (slot_read): names a slot of its type.");
}

TEST(IrVerify, ASlotHasAValueBeforeItIsReadOrALoopWritesIt) {
  EXPECT_EQ(refusal("  %3 = slot f32\n  %4 = slot_read f32 %3\n  return (%4)"),
            "verify: f: instruction 4 (slot_read): the slot has a value.");
  EXPECT_EQ(refusal("  %3 = slot f32\n  %4 = loop () {\n    slot_write %3 (%0)\n"
                    "    break_if %2 ()\n    next ()\n  }\n  return (%0)"),
            "verify: f: instruction 5 (slot_write): the slot has a value before a loop writes it.");
  EXPECT_EQ(refusal("  %3 = loop () {\n    %4 = slot f32\n    slot_write %4 (%0)\n"
                    "    %5 = slot_read f32 %4\n    break_if %2 ()\n    next ()\n  }\n"
                    "  return (%0)"),
            "[nothing was thrown]");
}

TEST(IrVerify, SlotsAndElementNumbersHaveNoOperands) {
  EXPECT_EQ(refusal("  %3 = slot f32 %0\n  return (%0)"),
            "verify: f: instruction 3 (slot): number of operands.");
  EXPECT_EQ(refusal("  %3 = element u32 %0 0\n  return (%0)"),
            "verify: f: instruction 3 (element): word 0 or 1, a u32.");
}

TEST(IrVerify, AFailureHasAKind) {
  EXPECT_EQ(refusal("  fail_if %2 9\n  return (%0)"), "[nothing was thrown]");
  EXPECT_EQ(refusal("  fail_if %2 10\n  return (%0)"),
            "verify: f: instruction 3 (fail_if): a kind.");
}

TEST(IrVerify, WhatIsKeptOfRowsFitsAnArray) {
  const auto keep = [](const std::string& positions) {
    return refusal("  %3 = array f32 %0 32768\n  %4 = each " + positions +
                   " (%5: i32) {\n    collect keep %3\n  }\n  return (%0)");
  };
  EXPECT_EQ(keep("32768"), "[nothing was thrown]");
  EXPECT_EQ(keep("32769"),
            "verify: f: instruction 6 (collect): as many values as an array can have.");
}

TEST(IrVerify, AnExitNamesALoopAroundIt) {
  const auto exit = [](const std::string& up) {
    return refusal(
        "  %3 = loop (%4: f32 = %0) {\n"
        "    %5 = loop () {\n"
        "      break_if %2 " +
        up + "\n      next ()\n    }\n    break_if %2 (%4)\n    next (%4)\n  }\n  return (%0)");
  };
  EXPECT_EQ(exit("up 1 (%4)"), "[nothing was thrown]");
  EXPECT_EQ(exit("up 2 (%4)"), "verify: f: instruction 6 (break_if): names a loop around it.");
  EXPECT_EQ(exit("up 1 ()"),
            "verify: f: instruction 6 (break_if): as many values as the loop carries.");
  EXPECT_EQ(exit("up 1 (%1)"), "verify: f: instruction 6 (break_if): types of the carried values.");
  EXPECT_EQ(exit("(%4)"),
            "verify: f: instruction 6 (break_if): as many values as the loop carries.");
}

TEST(IrVerify, ArraysHaveASizeAndAValueOfTheirType) {
  const std::string rule = "verify: f: instruction 3 (array): ";
  EXPECT_EQ(refusal("  %3 = array f32 %0 4096\n  return (%0)"), "[nothing was thrown]");
  EXPECT_EQ(refusal("  %3 = array f32 4\n  return (%0)"), "[nothing was thrown]");
  EXPECT_EQ(refusal("  %3 = array f32 %0 0\n  return (%0)"),
            rule + "a size, and one value at most.");
  EXPECT_EQ(refusal("  %3 = array f32 %0 2000000000\n  return (%0)"),
            rule + "a size, and one value at most.");
  EXPECT_EQ(refusal("  %3 = array i32 %0 4\n  return (%0)"), rule + "a value of its type.");
}

TEST(IrVerify, AnEachCollectsWhatCanBeCombined) {
  const auto each = [](const std::string& body, const std::string& behind = "") {
    return refusal("  %3 = each 5 (%4: i32) {\n" + body + "\n  }\n" + behind + "  return (%0)");
  };
  EXPECT_EQ(each("collect sum %4", "%5 = result i32 %3 0\n"), "[nothing was thrown]");
  EXPECT_EQ(each("collect keep %2"), "[nothing was thrown]");
  EXPECT_EQ(each("collect sum %2"),
            "verify: f: instruction 5 (collect): a type that can be combined.");
  EXPECT_EQ(each("%5 = array f32 %0 4\ncollect sum %5"),
            "verify: f: instruction 6 (collect): only numbers are combined.");
  EXPECT_EQ(each("break_if %2 ()"), "verify: f: instruction 5 (break_if): leaves no each.");
  EXPECT_EQ(refusal("  collect keep %0\n  return (%0)"),
            "verify: f: instruction 3 (collect): stands in an each.");
  EXPECT_EQ(each("collect keep %4", "%5 = result i32 %3 0\narray_write %5, %1, %1 check\n"),
            "verify: f: instruction 7 (array_write): names an array or target.");
}

TEST(IrVerify, WhatAPositionKeepsIsNotWrittenAfterwards) {
  const auto each = [](const std::string& lines) {
    return refusal("  %3 = each 2 (%4: i32) {\n    %5 = array f32 %0 3\n" + lines +
                   "  }\n  return (%0)");
  };
  const std::string keep = "    collect keep %5\n";
  const std::string write = "    array_write %5, %1, %0 clip\n";
  EXPECT_EQ(each(write + keep), "[nothing was thrown]");
  EXPECT_EQ(each(keep + write),
            "verify: f: instruction 7 (array_write): what a position keeps is "
            "not written afterwards.");
  EXPECT_EQ(each(keep + "    %6 = loop () {\n  " + write +
                 "      break_if %2 ()\n      next ()\n    }\n"),
            "verify: f: instruction 8 (array_write): what a position keeps is not written "
            "afterwards.");
}

TEST(IrVerify, AnEachWithACountCombinesWhatItHas) {
  const auto each = [](const std::string& of, const std::string& body) {
    return refusal("  %3 = each " + of + " (%4: i32) {\n" + body + "\n  }\n  return (%0)");
  };
  const std::string rule = "verify: f: instruction 3 (each): ";
  EXPECT_EQ(each("5 of %1", "collect sum %4"), "[nothing was thrown]");
  EXPECT_EQ(each("2147418112 of %1", "collect sum %4"), "[nothing was thrown]");
  EXPECT_EQ(each("2147418113 of %1", "collect sum %4"), rule + "a size.");
  EXPECT_EQ(each("5 of %0", "collect sum %4"), rule + "one count at most, an i32.");
  EXPECT_EQ(each("5 of %1", "collect keep %4"),
            "verify: f: instruction 5 (collect): it is kept in a target where elements differ in "
            "their positions, and only there.");
}

TEST(IrVerify, ATargetIsWrittenWhereElementsDifferInTheirPositions) {
  const auto each = [](const std::string& of, const std::string& kept) {
    return test::message_of<UsageError>([&] {
      parse(
          "function f(%0: i32, %1: i32, %2: i32 target, %3: f32 table) -> (i32) {\n"
          "  %4 = each 5 " +
          of + "(%5: i32) {\n    collect keep " + kept + "\n  }\n  return (%0)\n}\n");
    });
  };
  const std::string rule = "verify: f: instruction 6 (collect): ";
  EXPECT_EQ(each("of %1 ", "%5, %2, %0"), "[nothing was thrown]");
  EXPECT_EQ(each("", "%5, %2, %0"),
            rule +
                "it is kept in a target where elements differ in their positions, and only "
                "there.");
  EXPECT_EQ(each("of %1 ", "%5, %3, %0"), rule + "operands have values.");
}

TEST(IrVerify, AccessesHaveAnIndexAndValuesThatFit) {
  const auto access = [](const std::string& line) {
    return refusal("  %3 = array f32 %0 4\n  " + line + "\n  return (%0)");
  };
  EXPECT_EQ(access("%4 = array_read f32 %3, %1 check"), "[nothing was thrown]");
  EXPECT_EQ(access("%4 = array_read f32 %3, %0 check"),
            "verify: f: instruction 4 (array_read): the index is an i32 or i64.");
  EXPECT_EQ(access("%4 = array_read i32 %3, %1 check"),
            "verify: f: instruction 4 (array_read): the type of what is read.");
  EXPECT_EQ(access("%4 = array_read f32 %0, %1 check"),
            "verify: f: instruction 4 (array_read): names an array.");
  EXPECT_EQ(access("%4 = array_read f32 %3, %1 fill"),
            "verify: f: instruction 4 (array_read): number of operands.");
  EXPECT_EQ(access("%4 = array_read f32 %3, %1, %0 clip"),
            "verify: f: instruction 4 (array_read): number of operands.");
  EXPECT_EQ(access("%4 = array_read f32 %3, %1, %1 fill"),
            "verify: f: instruction 4 (array_read): the type of the value.");
  EXPECT_EQ(access("array_write %3, %1, %1 check"),
            "verify: f: instruction 4 (array_write): the type of the value.");
  EXPECT_EQ(access("array_write %0, %1, %0 check"),
            "verify: f: instruction 4 (array_write): names an array or target.");
  EXPECT_EQ(access("%4 = table_read f32 %3, %1 check"),
            "verify: f: instruction 4 (table_read): names a table or row.");
  EXPECT_EQ(access("%4 = table_size i64 %3"),
            "verify: f: instruction 4 (table_size): names a table or row, an i64.");
}

TEST(IrVerify, ArraysAndTablesAreNoNumbers) {
  EXPECT_EQ(refusal("  %3 = array f32 %0 4\n  %4 = neg f32 %3\n  return (%0)"),
            "verify: f: instruction 4 (neg): operands have values.");
  EXPECT_EQ(refusal("  %3 = array f32 %0 4\n  return (%3)"),
            "parse: line 5: the returned types are not the declared ones; got ''.");
  EXPECT_EQ(refusal("  %3 = array f32 %0 4\n  array_write %3, %1, %3 check\n  return (%0)"),
            "verify: f: instruction 4 (array_write): operands have values.");
  const auto with_table = [](const std::string& body) {
    return test::message_of<UsageError>(
        [&] { parse("function f(%0: f32, %1: f32 table) -> (f32) {\n" + body + "\n}\n"); });
  };
  EXPECT_EQ(with_table("  return (%1)"),
            "verify: f: instruction 2 (return): operands have values.");
  EXPECT_EQ(with_table("  %2 = add f32 %0, %1\n  return (%0)"),
            "verify: f: instruction 2 (add): operands have values.");
  EXPECT_EQ(with_table("  %2 = loop (%3: f32 = %1) {\n    next (%3)\n  }\n  return (%0)"),
            "verify: f: instruction 2 (loop): operands have values.");
  EXPECT_EQ(with_table("  %2 = table_size i32 %1\n  return (%0)"),
            "verify: f: instruction 2 (table_size): names a table or row, an i64.");
}

TEST(IrVerify, AnElementHasTwoWords) {
  EXPECT_EQ(refusal("  %3 = element u32 1\n  return (%0)"), "[nothing was thrown]");
  EXPECT_EQ(refusal("  %3 = element u32 2\n  return (%0)"),
            "verify: f: instruction 3 (element): word 0 or 1, a u32.");
  EXPECT_EQ(refusal("  %3 = element i32 0\n  return (%0)"),
            "verify: f: instruction 3 (element): word 0 or 1, a u32.");
}

TEST(IrVerify, AnArrayOfALoopBodyIsNotSeenOutside) {
  EXPECT_EQ(refusal("  %3 = loop () {\n"
                    "    %4 = array f32 %0 4\n"
                    "    break_if %2 ()\n"
                    "    next ()\n"
                    "  }\n"
                    "  %5 = array_read f32 %4, %1 check\n"
                    "  return (%0)"),
            "verify: f: instruction 7 (array_read): operands come before uses.");
}

TEST(IrVerify, TypesOfAHandMadeInstructionAreChecked) {
  const auto make = [](Instruction wrong) {
    Builder build("f");
    const ValueId x = build.param("x", DType::F32);
    wrong.operands = {x, x};
    build.append(std::move(wrong));
    build.ret(std::vector{x});
    return build.take();
  };
  EXPECT_EQ(refusal(make({.op = Op::Add, .type = DType::F32})), "[nothing was thrown]");
  EXPECT_EQ(refusal(make({.op = Op::Add, .type = DType::I32})),
            "verify: f: instruction 1 (add): types of operands and result.");
  EXPECT_EQ(refusal(make({.op = Op::And, .type = DType::F32})),
            "verify: f: instruction 1 (and): types of operands and result.");
  EXPECT_EQ(refusal(make({.op = Op::Neg, .type = DType::F32})),
            "verify: f: instruction 1 (neg): types of operands and result.");
  EXPECT_EQ(refusal(make({.op = Op::Constant, .type = DType::F32, .constant = Scalar(1.0)})),
            "verify: f: instruction 1 (constant): the literal has the stated type.");
}

TEST(IrVerify, DeclaredResultsAreReturned) {
  Function f = parse("function f(%0: f32) -> (f32) {\n  return (%0)\n}\n");
  f.results = {types::Item{DType::I32}};
  EXPECT_EQ(refusal(f), "verify: f: instruction 1 (return): types of the results.");
  f.results = {};
  EXPECT_EQ(refusal(f), "verify: f: instruction 1 (return): as many values as declared.");
}

TEST(IrBuilder, OperandsThatDoNotFitAreRefusedWithTheUsersLine) {
  Builder build("f");
  build.set_location({base::intern("user.cpp"), 12});
  const ValueId x = build.param("x", DType::F32);
  EXPECT_EQ(test::message_of<UsageError>([&] { build.op(Op::And, {x, x}); }),
            "user.cpp:12: and: operands do not fit; got (f32, f32), expected 2 of one accepted "
            "type. Convert them first.");
}

}  // namespace
}  // namespace lw::ir
