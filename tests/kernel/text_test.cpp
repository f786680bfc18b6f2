// Lane-form text: what is read back, what is refused and with which words.
#include <gtest/gtest.h>

#include "lanewise/base/error.h"
#include "lanewise/kernel/lane.h"
#include "lanewise/kernel/lower.h"
#include "tests/support/message_of.h"
#include "tests/support/programs.h"

namespace lw::kernel {
namespace {

std::string refusal(const std::string& text) {
  return test::message_of<UsageError>([&] { parse(text); });
}

/// What is wrong with these lines of a kernel (f32, i32; i32) -> (f32); the first is line 3.
std::string refusal_of(const std::string& lines) {
  return refusal("kernel f(f32, i32; i32) -> (f32) {\n  v0: f32 = load 0\n" + lines +
                 "\n  store 0 v0\n}\n");
}

TEST(KernelText, TextThatIsParsedPrintsTheSame) {
  for (const char* file : {"mandelbrot_packets.lane", "mandelbrot_refill.lane",
                           "kepler_packets.lane", "kepler_refill.lane"}) {
    const std::string text = test::program_text(file);
    EXPECT_EQ(print(parse(text)), text) << file;
  }
}

TEST(KernelText, SitesAndNestedLoopsAreReadBack) {
  const std::string text =
      "kernel f(i32; ) -> (i32) {\n"
      "  site 0 1  # a.cpp:7\n"
      "  site 1 0\n"
      "  v0: bool = active\n"
      "  v1: i32 = load 0\n"
      "  loop v0 {\n"
      "    loop v0 {\n"
      "      fail 0 v0, v0\n"
      "    }\n"
      "    fail 1 v0, v0\n"
      "    v0: bool = and v0, v0 every 9 last\n"
      "  }\n"
      "  store 0 v1\n"
      "}\n";
  const Kernel kernel = parse(text);
  EXPECT_EQ(print(kernel), text);
  EXPECT_EQ(kernel.sites[0].kind, ir::FailKind::StepLimit);
  EXPECT_EQ(base::to_string(kernel.sites[0].location), "a.cpp:7");
}

TEST(KernelText, WhatIsNearIsReadBack) {
  const std::string text =
      "kernel f(f32; ) -> (f32) {\n"
      "  v0: f32 = load 0\n"
      "  v1: f32 = sqrt v0 near\n"
      "  v2: f32 = div v0, v1 near\n"
      "  store 0 v2\n"
      "}\n";
  EXPECT_EQ(print(parse(text)), text);
  EXPECT_EQ(refusal_of("  v1: f32 = load 0 near"),
            "lane form: line 3: expected the end of the line; got 'near'.");
}

TEST(KernelText, ExitsOutOfSeveralLoopsAreReadBack) {
  const std::string text =
      "kernel f(i32; bool) -> (i32) {\n"
      "  v0: i32 = load 0\n"
      "  u1: bool = shared 0\n"
      "  loop {\n"
      "    loop {\n"
      "      exit_if u1 up 1\n"
      "    }\n"
      "  }\n"
      "  store 0 v0\n"
      "}\n";
  EXPECT_EQ(print(parse(text)), text);
}

TEST(KernelText, WhatIsPrintedOfALoweringIsReadBack) {
  for (const bool refill : {false, true}) {
    for (const ir::Function& f : {test::mandelbrot_program(), test::kepler_program()}) {
      const std::string text = print(lower(f, {.refill = refill}));
      EXPECT_EQ(print(parse(text)), text);
    }
  }
}

TEST(KernelText, MistakesHaveTheirLineAndWords) {
  EXPECT_EQ(refusal("function f"), "lane form: line 1: expected 'kernel'; got 'function f'.");
  EXPECT_EQ(refusal("kernel f(f32; ) -> (f8) {"),
            "lane form: line 1: expected a type (bool, i8 to i64, "
            "u8 to u64, f16, bf16, f32, f64); got ') {'.");
  EXPECT_EQ(refusal("kernel f(; ) -> () {\n"), "lane form: line 2: expected '}'; got ''.");
  EXPECT_EQ(refusal("kernel f(; ) -> () {\n}\nmore"),
            "lane form: line 3: expected the end of the text; got 'more'.");
  EXPECT_EQ(refusal("kernel f(; ) -> () {\n  site 1 0\n}\n"),
            "lane form: line 2: sites are numbered from 0; got ' 0'.");
  EXPECT_EQ(refusal_of("  v1: f32 = sine v0"),
            "lane form: line 3: 'sine' is not an op; got ' v0'.");
  EXPECT_EQ(refusal_of("  v1: f32 = neg v9"),
            "lane form: line 3: this register has no value yet; got ''.");
  EXPECT_EQ(refusal_of("  v1: f32 = neg u0"),
            "lane form: line 3: a register is either u or v; got ''.");
  EXPECT_EQ(refusal_of("  v0: i32 = load 1"),
            "lane form: line 3: a register has one type; got ' = load 1'.");
  EXPECT_EQ(refusal_of("  u1: i32 = constant x"),
            "lane form: line 3: expected a literal of this type; got ''.");
  EXPECT_EQ(refusal_of("  jump"), "lane form: line 3: expected an instruction; got 'jump'.");
  EXPECT_EQ(refusal_of("  v9999999: f32 = load 0"),
            "lane form: line 3: register number out of range; got ': f32 = load 0'.");
  EXPECT_EQ(refusal_of("  v1: f32 = neg v0 every 3 steps"),
            "lane form: line 3: expected 'first'; got 'steps'.");
  EXPECT_EQ(refusal_of("  v1: f32 = neg v0 )"),
            "lane form: line 3: expected the end of the line; got ')'.");
}

TEST(KernelVerify, TypesAndUniformityOfComputedValuesAreChecked) {
  EXPECT_EQ(refusal_of("  v1: f32 = add v0"),
            "verify: f: add into register 1: types of operands and result.");
  EXPECT_EQ(refusal_of("  v1: i32 = neg v0"),
            "verify: f: neg into register 1: types of operands and result.");
  EXPECT_EQ(refusal_of("  u1: f32 = neg v0"),
            "verify: f: neg into register 1: a varying operand gives a varying result.");
  EXPECT_EQ(refusal_of("  v1: f32 = sin v0"), "verify: f: sin into register 1: only native ops.");
  EXPECT_EQ(refusal_of("  v1: f32 = fma v0, v0, v0, v0"),
            "verify: f: fma into register 1: number of operands.");
  EXPECT_EQ(refusal_of("  u1: f32 = copy v0"),
            "verify: f: copy into register 1: one source of this type, uniform into uniform.");
}

TEST(KernelVerify, ParametersLiteralsAndOutputsAreChecked) {
  EXPECT_EQ(refusal_of("  v1: i32 = load 0"),
            "verify: f: load into register 1: names a mapped input of this type.");
  EXPECT_EQ(refusal_of("  v1: i32 = load 2"),
            "verify: f: load into register 1: names a mapped input of this type.");
  EXPECT_EQ(refusal_of("  u1: i32 = load 1"),
            "verify: f: load into register 1: names a mapped input of this type.");
  EXPECT_EQ(refusal_of("  u1: f32 = shared 0"),
            "verify: f: shared into register 1: names a shared parameter of this type.");
  EXPECT_EQ(refusal_of("  v1: f32 = constant 1"),
            "verify: f: constant into register 1: a constant is uniform and of its register's "
            "type.");
  EXPECT_EQ(refusal_of("  v1: i32 = load 1\n  store 0 v1"),
            "verify: f: store: a value of an output's type, outside of loops.");
  EXPECT_EQ(refusal_of("  store 1 v0"),
            "verify: f: store: a value of an output's type, outside of loops.");
  EXPECT_EQ(refusal_of("  u1: bool = active"), "verify: f: active into register 1: gives a mask.");
}

TEST(KernelVerify, LoopsExitsAndFailuresAreChecked) {
  EXPECT_EQ(refusal_of("  loop v0 {\n  }"),
            "verify: f: loop: looks at a mask; a branch at a bool.");
  EXPECT_EQ(refusal_of("  v1: bool = active\n  exit_if v1"),
            "verify: f: exit_if: a uniform bool, inside a loop.");
  EXPECT_EQ(refusal_of("  u1: bool = constant true\n  exit_if u1"),
            "verify: f: exit_if: a uniform bool, inside a loop.");
  EXPECT_EQ(refusal_of("  v1: bool = active\n  fail 0 v1"),
            "verify: f: fail: names a site and a mask.");
  EXPECT_EQ(refusal("kernel f(f32; ) -> () {\n  site 0 0\n  v0: f32 = load 0\n  fail 0 v0\n}\n"),
            "verify: f: fail: sources are masks.");
  EXPECT_EQ(refusal_of("  v1: bool = active\n  loop v1 {\n    store 0 v0\n  }"),
            "verify: f: store: a value of an output's type, outside of loops.");
}

TEST(KernelVerify, WhatAPartAssignsHasAValueBehindIt) {
  const std::string text =
      "kernel f(f32; ) -> (f32) {\n"
      "  v0: f32 = load 0\n"
      "  part {\n"
      "    v1: f32 = neg v0\n"
      "  }\n"
      "  store 0 v1\n"
      "}\n";
  EXPECT_EQ(print(parse(text)), text);
  EXPECT_EQ(print(without_parts(parse(text))),
            "kernel f(f32; ) -> (f32) {\n"
            "  v0: f32 = load 0\n"
            "  v1: f32 = neg v0\n"
            "  store 0 v1\n"
            "}\n");
  EXPECT_EQ(refusal_of("  v1: bool = active\n  loop v1 {\n    part {\n      v2: f32 = neg v0\n    "
                       "}\n  }\n  v3: f32 = neg v2"),
            "verify: f: neg into register 3: sources are assigned before.");
}

TEST(KernelVerify, WhatOnlyALoopBodyAssignsHasNoValueBehindIt) {
  EXPECT_EQ(refusal_of("  v1: bool = active\n  loop v1 {\n    v2: f32 = neg v0\n  }\n"
                       "  v3: f32 = neg v2"),
            "verify: f: neg into register 3: sources are assigned before.");
}

TEST(KernelVerify, AKernelForRefillHasOneMaskedTopLevelLoop) {
  const std::string head = "kernel f(f32; ) -> (f32) refill {\n  v0: f32 = load 0\n";
  EXPECT_EQ(refusal(head + "  store 0 v0\n}\n"),
            "verify: a kernel for refill has one top-level loop.");
  EXPECT_EQ(refusal(head + "  loop {\n  }\n  store 0 v0\n}\n"),
            "verify: f: loop: a refilled loop has a mask.");
}

TEST(KernelText, ArraysTablesElementsAndBranchesAreReadBack) {
  const std::string text =
      "kernel f(i32, f32; i64, bool; tables f32, i8; arrays f32 16, i8 1) -> (f32) {\n"
      "  site 0 3  # a.cpp:7\n"
      "  u0: i64 = table_size 1\n"
      "  v1: bool = active\n"
      "  v2: i32 = load 0\n"
      "  u3: i64 = shared 0\n"
      "  u4: bool = shared 1\n"
      "  v5: u32 = element 0\n"
      "  v6: u32 = element 1\n"
      "  v7: f32 = table_read 0 v2, v1\n"
      "  u8: i8 = table_read 1 u3\n"
      "  v11: i8 = table_read 1 v2, v1 below 9\n"
      "  array 0 v7\n"
      "  array 1 u8\n"
      "  branch u4 {\n"
      "    v9: f32 = array_read 0 v2, v1\n"
      "    array_write 0 u3, v9, v1\n"
      "    rare v1 {\n"
      "      v10: i8 = array_read 1 u3\n"
      "      exit_if u4 up 1\n"
      "    }\n"
      "    exit_if u4\n"
      "    array_write 1 v2, u8, v1\n"
      "  }\n"
      "  fail 0 v1, v1\n"
      "  store 0 v7\n"
      "}\n";
  const Kernel kernel = parse(text);
  EXPECT_EQ(print(kernel), text);
  EXPECT_EQ(kernel.tables, (std::vector{DType::F32, DType::I8}));
  ASSERT_EQ(kernel.arrays.size(), 2u);
  EXPECT_EQ(kernel.arrays[0].size, 16u);
  EXPECT_EQ(kernel.arrays[1].type, DType::I8);
}

/// What is wrong with these lines of a kernel (i32, f32; i32; tables f32; arrays f32 4).
std::string refusal_of_access(const std::string& lines) {
  return refusal(
      "kernel f(i32, f32; i32; tables f32; arrays f32 4) -> (f32) {\n  v0: bool = active\n"
      "  v1: i32 = load 0\n  v2: f32 = load 1\n  u3: i32 = shared 0\n  u4: f32 = constant 1\n" +
      lines + "\n  store 0 v2\n}\n");
}

TEST(KernelVerify, AccessesToTablesAreChecked) {
  EXPECT_EQ(refusal_of_access("  v5: f32 = table_read 0 v1, v0"), "[nothing was thrown]");
  EXPECT_EQ(refusal_of_access("  u5: f32 = table_read 0 u3"), "[nothing was thrown]");
  EXPECT_EQ(refusal_of_access("  v5: f32 = table_read 1 v1, v0"),
            "verify: f: table_read into register 5: names a table of this type.");
  EXPECT_EQ(refusal_of_access("  v5: i32 = table_read 0 v1, v0"),
            "verify: f: table_read into register 5: names a table of this type.");
  EXPECT_EQ(refusal_of_access("  v5: f32 = table_read 0 u3"),
            "verify: f: table_read into register 5: varies with its index.");
  EXPECT_EQ(refusal_of_access("  v5: f32 = table_read 0 v1"),
            "verify: f: table_read into register 5: number of sources.");
  EXPECT_EQ(refusal_of_access("  v5: f32 = table_read 0 v2, v0"),
            "verify: f: table_read into register 5: the index is an i32 or i64.");
  EXPECT_EQ(refusal_of_access("  v5: f32 = table_read 0 v1, v2"),
            "verify: f: table_read into register 5: lanes by a mask.");
  EXPECT_EQ(refusal_of_access("  v5: f32 = table_read 0 v1, v0 below 256"), "[nothing was thrown]");
  EXPECT_EQ(refusal_of_access("  v5: f32 = table_read 0 v1, v0 below 257"),
            "verify: f: table_read into register 5: few places, or it is not known how many.");
  EXPECT_EQ(refusal_of_access("  u5: f32 = table_read 0 u3 below 4"),
            "verify: f: table_read into register 5: few places of a table, where they vary.");
  EXPECT_EQ(refusal_of_access("  u5: i32 = table_size 0"),
            "verify: f: table_size into register 5: names a table, a uniform i64.");
  EXPECT_EQ(refusal_of_access("  u5: i64 = table_size 1"),
            "verify: f: table_size into register 5: names a table, a uniform i64.");
}

TEST(KernelVerify, AccessesToArraysAreChecked) {
  EXPECT_EQ(refusal_of_access("  v5: f32 = array_read 0 u3\n  array_write 0 u3, u4, v0"),
            "[nothing was thrown]");
  EXPECT_EQ(refusal_of_access("  v5: f32 = array_read 1 v1, v0"),
            "verify: f: array_read into register 5: names an array of this type.");
  EXPECT_EQ(refusal_of_access("  u5: f32 = array_read 0 u3"),
            "verify: f: array_read into register 5: names an array of this type.");
  EXPECT_EQ(refusal_of_access("  v5: f32 = array_read 0 v1"),
            "verify: f: array_read into register 5: number of sources.");
  EXPECT_EQ(refusal_of_access("  array_write 0 u3, u4"),
            "verify: f: array_write: number of sources.");
  EXPECT_EQ(refusal_of_access("  array_write 0 u3, v1, v0"),
            "verify: f: array_write: names an array of this type.");
  EXPECT_EQ(refusal_of_access("  array_write 0 v2, v2, v0"),
            "verify: f: array_write: the index is an i32 or i64.");
  EXPECT_EQ(refusal_of_access("  array_write 0 v1, v2, v2"),
            "verify: f: array_write: lanes by a mask.");
  EXPECT_EQ(refusal_of_access("  array 0 v1"), "verify: f: array: names an array of this type.");
  EXPECT_EQ(refusal_of_access("  array 1 v2"), "verify: f: array: names an array of this type.");
}

TEST(KernelText, KernelsForPositionsReadBackAsTheyWere) {
  const std::string text =
      R"(kernel f(f32[40], f32; ; arrays f32 40 flat, f32 40 output 0 flat) -> (f32[40]) inner {
  u0: i32 = constant 0
  u1: f32 = load 1
  each 40 {
    v2: bool = active
    v3: i32 = position
    v4: f32 = row_read 0 u0, v2 step 1
    v5: f32 = mul v4, u1
    array_write 0 u0, v5, v2 step 1
    u6: f32 = collect 1 v5
  }
  each 40 {
    v7: bool = active
    v8: f32 = array_read 0 u0, v7 step minus 2
    v9: f32 = div v8, u6
    array_write 1 u0, v9, v7 step 1
  }
  each 1000 u0 {
    v10: i32 = position
    u11: i32 = collect 3 v10
  }
}
)";
  EXPECT_EQ(print(parse(text)), text);
}

TEST(KernelVerify, PositionsAreOnlyInAnEach) {
  const auto refusal = [](const std::string& body) {
    return test::message_of<UsageError>([&] {
      parse("kernel f(f32[40]; ; arrays f32 40 flat) -> (f32) inner {\n  u0: i32 = constant 0\n" +
            body + "\n  u9: f32 = row_read 0 u0\n  store 0 u9\n}\n");
    });
  };
  EXPECT_EQ(refusal("  each 40 {\n    v1: i32 = position\n  }"), "[nothing was thrown]");
  EXPECT_EQ(refusal("  v1: i32 = position"),
            "verify: f: position into register 1: a varying i32, in an each.");
  EXPECT_EQ(refusal("  u1: f32 = row_read 0 u0 step 1"),
            "verify: f: row_read into register 1: varies with its index.");
  EXPECT_EQ(refusal("  each 40 {\n    each 40 {\n    }\n  }"),
            "verify: f: each: a size, in a kernel for positions, and not in another.");
  EXPECT_EQ(refusal("  each 40 u0 {\n  }"), "[nothing was thrown]");
  EXPECT_EQ(refusal("  u1: f32 = row_read 0 u0\n  each 40 u1 {\n  }"),
            "verify: f: each: as many positions as a uniform i32 says.");
}

TEST(KernelVerify, ElementsAndExitsOutOfSeveralBlocksAreChecked) {
  EXPECT_EQ(refusal_of_access("  v5: u32 = element 2"),
            "verify: f: element into register 5: a varying u32, word 0 or 1.");
  EXPECT_EQ(refusal_of_access("  u5: u32 = element 0"),
            "verify: f: element into register 5: a varying u32, word 0 or 1.");
  const auto exit = [](const std::string& line) {
    return refusal_of_access("  u5: bool = constant true\n  loop v0 {\n    branch u5 {\n      " +
                             line + "\n    }\n  }");
  };
  EXPECT_EQ(exit("exit_if u5"), "[nothing was thrown]");
  EXPECT_EQ(exit("exit_if u5 up 1"), "[nothing was thrown]");
  EXPECT_EQ(exit("exit_if u5 up 2"), "verify: f: exit_if: a uniform bool, inside a loop.");
  EXPECT_EQ(refusal_of_access("  branch {\n  }"),
            "lane form: line 7: a branch has a mask; got '{'.");
}

}  // namespace
}  // namespace lw::kernel
