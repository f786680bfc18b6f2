#include "lanewise/ir/print.h"

#include <gtest/gtest.h>

#include "lanewise/ir/builder.h"
#include "lanewise/ir/parse.h"
#include "tests/support/edge_values.h"
#include "tests/support/programs.h"

namespace lw::ir {
namespace {

/// One of everything: types, shared parameters, nested loops, exits, failures, several results.
constexpr const char* kEverything =
    R"(function all(%0: f32, %1: i64 shared, %2: bool) -> (i64, f32) {
  %3 = constant i64 0
  %4 = constant f64 -0
  %5 = loop (%6: i64 = %3, %7: f32 = %0) {
    %8 = gt bool %6, %1
    break_if %8 (%6, %7)
    fail_if %2 2
    %9 = loop (%10: i64 = %6) {
      %11 = eq bool %10, %1
      break_if %11 (%10)
      %12 = constant i64 1
      %13 = add i64 %10, %12
      next (%13)
    }
    %14 = result i64 %9 0
    %15 = div i64 %14, %1
    %16 = convert f32 %15
    %17 = select f32 %2, %16, %7
    next (%14, %17)
  }
  %18 = result i64 %5 0
  %19 = result f32 %5 1
  return (%18, %19)
}
)";

/// One of everything that reads and writes by index, leaves several loops, or depends on the call.
constexpr const char* kPlaces =
    R"(function places(%0: i32, %1: f32 table, %2: f32 shared, %3: i64 seed, %4: i32 step_limit) -> (f32, u32) {
  %5 = table_size i64 %1
  %6 = element u32 0
  %7 = element u32 1
  %8 = array f32 %2 16
  %9 = table_read f32 %1, %0 check
  %10 = table_read f32 %1, %3 clip
  %11 = table_read f32 %1, %5 wrap
  %12 = table_read f32 %1, %0, %2 fill
  %13 = table_read f32 %1, %0 unchecked
  array_write %8, %0, %9 check
  array_write %8, %3, %10 fill
  %14 = array_read f32 %8, %0 wrap
  %15 = array_read f32 %8, %5, %11 fill
  %16 = loop (%17: f32 = %15) {
    %18 = loop rare () {
      %19 = lt bool %0, %4
      fail_if %19 3 (%0, %5)
      fail_if %19 2
      %20 = loop () {
        break_if %19 up 2 (%14)
        break_if %19 up 1 ()
        break_if %19 ()
        next ()
      }
      next ()
    }
    %21 = array i32 %0 1
    array_write %21, %0, %4 unchecked
    next (%13)
  }
  %22 = result f32 %16 0
  return (%22, %7)
}
)";

TEST(IrPrint, TextThatIsParsedPrintsTheSame) {
  EXPECT_EQ(print(parse(kEverything)), kEverything);
  EXPECT_EQ(print(parse(kPlaces)), kPlaces);
}

TEST(IrPrint, KindsOfParametersAreReadBack) {
  const Function f = parse(kPlaces);
  std::vector<ParamKind> kinds;
  for (const Param& param : f.params) kinds.push_back(param.kind);
  EXPECT_EQ(kinds, (std::vector{ParamKind::Mapped, ParamKind::Table, ParamKind::Shared,
                                ParamKind::Seed, ParamKind::StepLimit}));
}

TEST(IrPrint, TracedProgramsWithSlotsSurviveTextToo) {
  const std::string text =
      "function f(%0: f32) -> (f32) {\n"
      "  %1 = slot f32\n"
      "  slot_write %1 (%0)\n"
      "  %2 = slot_read f32 %1\n"
      "  return (%2)\n"
      "}\n";
  EXPECT_EQ(print(parse(text)), text);
}

TEST(IrPrint, RealProgramsSurviveText) {
  for (const Function& f : {test::mandelbrot_program(), test::kepler_program()}) {
    const std::string text = print(f);
    EXPECT_EQ(print(parse(text)), text);
  }
}

TEST(IrPrint, EveryEdgeValueSurvivesAsALiteral) {
  for (const DType type : test::all_types()) {
    for (const Scalar& value : test::edge_values(type)) {
      Builder build("f");
      build.ret(std::vector{build.constant(value)});
      const Function back = parse(print(build.take()));
      EXPECT_EQ(back[back.body().body[0]].constant, value) << types::to_string(value);
    }
  }
}

TEST(IrPrint, LocationsArePrintedOnRequestAndReadBack) {
  const std::string text =
      "function f(%0: f32) -> (f32) {\n"
      "  %1 = neg f32 %0  # a/b.cpp:12\n"
      "  %2 = loop () {  # c.cpp:3\n"
      "    %3 = constant bool true\n"
      "    break_if %3 ()  # d.cpp:4\n"
      "    next ()\n"
      "  }\n"
      "  return (%1)\n"
      "}\n";
  const Function f = parse(text);
  EXPECT_EQ(print(f, {.locations = true}), text);
  EXPECT_EQ(print(f).find('#'), std::string::npos);
  EXPECT_EQ(base::to_string(f[1].location), "a/b.cpp:12");
}

TEST(IrPrint, NumbersFollowTheOrderOfAppearanceNotTheNamesInTheText) {
  const char* renumbered =
      "function f(%7: f32) -> (f32) {\n"
      "  # a comment\n"
      "\n"
      "  %3 = neg f32 %7\n"
      "  return (%3)\n"
      "}\n";
  EXPECT_EQ(print(parse(renumbered)),
            "function f(%0: f32) -> (f32) {\n  %1 = neg f32 %0\n  return (%1)\n}\n");
}

TEST(IrFingerprint, EqualTextsGiveEqualFingerprints) {
  EXPECT_EQ(fingerprint(parse(kEverything)), fingerprint(parse(kEverything)));
}

TEST(IrFingerprint, SourceLinesCanBeLeftOut) {
  const auto of = [](const std::string& line, PrintOptions options) {
    return fingerprint(parse("function f(%0: f32) -> (f32) {\n  %1 = neg f32 %0  # a.cpp:" + line +
                             "\n  return (%1)\n}\n"),
                       options);
  };
  EXPECT_NE(of("1", {.locations = true}), of("2", {.locations = true}));
  EXPECT_EQ(of("1", {.locations = false}), of("2", {.locations = false}));
}

TEST(IrFingerprint, EveryDifferenceShows) {
  const auto of = [](const std::string& op, const std::string& literal, const std::string& shared,
                     const std::string& line) {
    return fingerprint(parse("function f(%0: f32" + shared + ") -> (f32) {\n  %1 = constant f32 " +
                             literal + "\n  %2 = " + op + " f32 %0, %1  # a.cpp:" + line +
                             "\n  return (%2)\n}\n"));
  };
  const std::string present = of("add", "1", "", "7");
  EXPECT_EQ(present, of("add", "1", "", "7"));
  EXPECT_NE(present, of("sub", "1", "", "7"));
  EXPECT_NE(present, of("add", "2", "", "7"));
  EXPECT_NE(present, of("add", "1", " shared", "7"));
  EXPECT_NE(present, of("add", "1", "", "8"));
  EXPECT_NE(of("add", "0", "", "7"), of("add", "-0", "", "7"));
}

TEST(IrFingerprint, ModesSizesExitsAndKindsShow) {
  const std::string text = kPlaces;
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string other = text;
    const auto at = other.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return fingerprint(parse(other.replace(at, from.size(), to)));
  };
  const std::string present = fingerprint(parse(text));
  EXPECT_NE(present, changed("%0 check", "%0 wrap"));
  EXPECT_NE(present, changed("%2 16", "%2 17"));
  EXPECT_NE(present, changed("up 1", "up 0"));
  EXPECT_NE(present, changed("loop rare", "loop"));
  EXPECT_NE(present, changed("element u32 1", "element u32 0"));
  EXPECT_NE(present, changed("fail_if %19 2", "fail_if %19 1"));
  EXPECT_NE(present, changed("i64 seed", "i64 shared"));
  EXPECT_NE(present, changed("i32 step_limit", "i32 shared"));
}

}  // namespace
}  // namespace lw::ir
