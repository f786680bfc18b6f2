// The lines that instructions carry are the user's.
#include <gtest/gtest.h>

#include <cstring>

#include "lanewise/trace/control.h"

namespace lw::trace {
namespace {

/// The line of the last instruction with this op; -1 if it is not of this file.
int line_of(const ir::Function& f, ir::Op op) {
  int line = 0;
  ir::for_each(f, [&](ir::ValueId id, int) {
    if (f[id].op != op) return;
    const base::Location at = f[id].location;
    line = at && std::strcmp(at.file, __FILE__) == 0 ? at.line : -1;
  });
  return line;
}

template <class F>
ir::Function record(const F& function) {
  Trace trace("f");
  const ir::ValueId a = trace.builder().param("a", DType::I32);
  const ir::ValueId b = trace.builder().param("b", DType::I32);
  function(i32::of(a), i32::of(b));
  return trace.finish(std::vector{a});
}

TEST(TraceLocation, AnOperatorHasTheLineItStandsOn) {
  int line = 0;
  const ir::Function f = record([&](i32 a, i32 b) {
    i32 c = a;

    c = a / b;
    line = __LINE__ - 1;
    c = 5;
  });
  EXPECT_EQ(line_of(f, ir::Op::Div), line);
}

TEST(TraceLocation, ACompoundAssignmentHasTheLineItStandsOn) {
  int line = 0;
  const ir::Function f = record([&](i32 a, i32 b) {
    a = b;
    a %= b;
    line = __LINE__ - 1;
  });
  EXPECT_EQ(line_of(f, ir::Op::Rem), line);
}

TEST(TraceLocation, ALiteralOperandHasTheLineItStandsOn) {
  int line = 0;
  const ir::Function f = record([&](i32 a, i32) {
    a = a / 0;
    line = __LINE__ - 1;
  });
  EXPECT_EQ(line_of(f, ir::Op::Div), line);
  EXPECT_EQ(line_of(f, ir::Op::Constant), line);
}

TEST(TraceLocation, ALoopHasTheLineOfItsWhile) {
  int line = 0;
  const ir::Function f = record([&](i32 a, i32 b) {
    i32 n = a;
    line = __LINE__ + 1;
    While([&] { return n < b; }, [&] { n = n + 1; });
  });
  EXPECT_EQ(line_of(f, ir::Op::Loop), line);
}

TEST(TraceLocation, SelectAndCastHaveTheirLinesAfterAnAssignment) {
  int line = 0;
  const ir::Function f = record([&](i32 a, i32 b) {
    boolean less = a < b;
    i32 c;
    c = b;
    i32 d = select(less, a, c);
    cast<double>(d);
    line = __LINE__ - 2;
  });
  EXPECT_EQ(line_of(f, ir::Op::Select), line);
  EXPECT_EQ(line_of(f, ir::Op::Convert), line + 1);
}

TEST(TraceLocation, NoInstructionPointsIntoLanewise) {
  const ir::Function f = record([](i32 a, i32 b) {
    i32 c;
    i32 d = a;
    c = b;
    d += c * 2;
    While([&] { return c < 10 && !(d == 3); },
          [&] {
            d = -d;
            c += 1;
            BreakIf(d > c);
          });
  });
  ir::for_each(f, [&](ir::ValueId id, int) {
    if (f[id].location) {
      EXPECT_STREQ(f[id].location.file, __FILE__) << ops::row(f[id].op).name;
    }
  });
}

}  // namespace
}  // namespace lw::trace
