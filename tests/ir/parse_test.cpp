// Text that is not a program: each mistake has its line and its words.
#include "lanewise/ir/parse.h"

#include <gtest/gtest.h>

#include "lanewise/base/error.h"
#include "lanewise/ir/print.h"
#include "tests/support/message_of.h"

namespace lw::ir {
namespace {

std::string refusal(const std::string& text) {
  return test::message_of<UsageError>([&] { parse(text); });
}

/// What is wrong with this body of a function of %0: f32, %1: i32; its first line is line 2.
std::string refusal_of_body(const std::string& body) {
  return refusal("function f(%0: f32, %1: i32) -> (f32) {\n" + body + "\n  return (%0)\n}\n");
}

TEST(IrParse, TheHeadIsChecked) {
  EXPECT_EQ(refusal(""), "parse: line 1: expected 'function'; got ''.");
  EXPECT_EQ(refusal("kernel f() {"), "parse: line 1: expected 'function'; got 'kernel f() {'.");
  EXPECT_EQ(refusal("function f(%0 f32) -> (f32) {"),
            "parse: line 1: expected ':'; got 'f32) -> (f32) {'.");
  EXPECT_EQ(refusal("function f(%0: f8) -> () {"),
            "parse: line 1: expected a type (bool, i8 to i64, "
            "u8 to u64, f16, bf16, f32, f64); got ') -> () {'.");
  EXPECT_EQ(refusal("\n\nfunction f(%0: f32, %0: f32) -> (f32) {"),
            "parse: line 3: %0 is defined twice; got ') -> (f32) {'.");
}

TEST(IrParse, TheEndIsChecked) {
  EXPECT_EQ(refusal("function f(%0: f32) -> (f32) {\n  return (%0)\n"),
            "parse: line 3: expected '}'; got ''.");
  EXPECT_EQ(refusal("function f(%0: f32) -> (f32) {\n  return (%0)\n}\nmore"),
            "parse: line 4: expected the end of the text; got 'more'.");
  EXPECT_EQ(refusal("function f(%0: f32) -> (i32) {\n  return (%0)\n}\n"),
            "parse: line 4: the returned types are not the declared ones; got ''.");
  EXPECT_EQ(refusal("function f(%0: f32) -> (f32, f32) {\n  return (%0)\n}\n"),
            "parse: line 4: the returned types are not the declared ones; got ''.");
}

TEST(IrParse, WordsThatAreNoInstructionAreRefused) {
  EXPECT_EQ(refusal_of_body("  %2 = sine f32 %0"),
            "parse: line 2: 'sine' is not an op; got ' f32 %0'.");
  EXPECT_EQ(refusal_of_body("  %2 = neg f32 %0\n  jump (%0)"),
            "parse: line 3: expected a statement; got 'jump (%0)'.");
  EXPECT_EQ(refusal_of_body("  %2 = param f32"),
            "parse: line 2: 'param' cannot stand here; got ''.");
  EXPECT_EQ(refusal_of_body("  %2 = neg f32 %0 here"),
            "parse: line 2: expected the end of the line; got 'here'.");
}

TEST(IrParse, ValuesAreDefinedOnceAndBeforeUse) {
  EXPECT_EQ(refusal_of_body("  %2 = neg f32 %9"),
            "parse: line 2: this value is not defined; got ''.");
  EXPECT_EQ(refusal_of_body("  %0 = neg f32 %0"), "parse: line 2: %0 is defined twice; got ''.");
  EXPECT_EQ(refusal_of_body("  break_if %5 ()"),
            "parse: line 2: this value is not defined; got ' ()'.");
}

TEST(IrParse, LiteralsHaveTheStatedType) {
  EXPECT_EQ(refusal_of_body("  %2 = constant i32 1.5"),
            "parse: line 2: expected a literal of this type; got ''.");
  EXPECT_EQ(refusal_of_body("  %2 = constant bool 1"),
            "parse: line 2: expected a literal of this type; got ''.");
  EXPECT_EQ(refusal_of_body("  %2 = constant i32 2147483648"),
            "parse: line 2: expected a literal of this type; got ''.");
}

TEST(IrParse, OperandsFitTheirRow) {
  EXPECT_EQ(refusal_of_body("  %2 = add f32 %0, %1"),
            "add: operands do not fit; got (f32, i32), expected 2 of one accepted type. Convert "
            "them first.");
  EXPECT_EQ(refusal_of_body("  %2 = neg f32 %0, %0"),
            "neg: operands do not fit; got (f32, f32), expected 1 of one accepted type. Convert "
            "them first.");
  EXPECT_EQ(refusal_of_body("  %2 = add f32 %0, %0, %0, %0"),
            "add: operands do not fit; got (f32, f32, f32, f32), expected 2 of one accepted type. "
            "Convert them first.");
  EXPECT_EQ(refusal_of_body("  %2 = add i32 %0, %0"),
            "parse: line 2: the op does not give this type; got ''.");
}

TEST(IrParse, ResultsNameALoopAndAPosition) {
  EXPECT_EQ(refusal_of_body("  %2 = result f32 %0 0"),
            "parse: line 2: expected a loop or each; got '0'.");
  EXPECT_EQ(refusal_of_body("  %2 = loop (%3: f32 = %0) {\n"
                            "    %4 = constant bool true\n"
                            "    break_if %4 (%3)\n"
                            "    next (%3)\n"
                            "  }\n"
                            "  %5 = result f32 %2 1"),
            "parse: line 7: it has fewer results; got ''.");
  EXPECT_EQ(refusal_of_body("  %2 = loop (%3: i64 = %1) {"),
            "parse: line 2: the carried value has another type; got ') {'.");
}

TEST(IrParse, AccessesNameTheirMode) {
  const std::string array = "  %2 = array f32 %0 4\n";
  EXPECT_EQ(refusal_of_body(array + "  %3 = array_read f32 %2, %1"),
            "parse: line 3: expected check, clip, wrap, fill or unchecked; got ''.");
  EXPECT_EQ(refusal_of_body(array + "  array_write %2, %1, %0 maybe"),
            "parse: line 3: expected check, clip, wrap, fill or unchecked; got 'maybe'.");
  EXPECT_EQ(refusal_of_body(array + "  array_write %2, %1 check"),
            "parse: line 3: expected an array, an index and a value; got 'check'.");
  EXPECT_EQ(refusal_of_body("  %2 = array f32 %0"),
            "parse: line 2: expected a whole number; got ''.");
}

TEST(IrParse, LoopsThatStandOneInAnotherAreBounded) {
  const auto nested = [](int count) {
    std::string body;
    for (int i = 0; i < count; ++i) body += "%" + std::to_string(i + 2) + " = loop () {\n";
    for (int i = 0; i < count; ++i) body += "next ()\n}\n";
    return refusal_of_body(body);
  };
  EXPECT_EQ(nested(999), "[nothing was thrown]");
  EXPECT_EQ(nested(100'000),
            "parse: line 1002: too many loops one in another; got '%1002 = loop () {'.");
}

TEST(IrParse, AZeroByteEndsTheNameOfAFile) {
  std::string text =
      "function f(%0: f32) -> (f32) {\n  %1 = neg f32 %0  # a|b.py:3\n  return (%1)\n}\n";
  text[text.find('|')] = '\0';
  const Function f = parse(text);
  EXPECT_EQ(base::to_string(f[1].location), "a:3");
  EXPECT_EQ(parse(print(f, {.locations = true}))[1].location, f[1].location);
}

}  // namespace
}  // namespace lw::ir
