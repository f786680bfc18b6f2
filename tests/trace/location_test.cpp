// The lines that instructions carry are the user's.
#include <gtest/gtest.h>

#include <cstring>

#include "lanewise/trace/control.h"
#include "lanewise/trace/memory.h"
#include "lanewise/trace/random.h"

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

TEST(TraceLocation, AnAccessHasTheLineOfItsIndex) {
  int line = 0;
  const ir::Function f = record([&](i32 a, i32 b) {
    Array<std::int32_t> array(4);
    i32 c = b;
    c = 1;
    line = __LINE__ + 1;
    array[a] = c;
    c = array.read(a, Mode::Fill);
    c = array[b] + 1;
    array[b] += c;
  });
  EXPECT_EQ(line_of(f, ir::Op::Array), line - 4);
  std::vector<int> lines;
  ir::for_each(f, [&](ir::ValueId id, int) {
    if (f[id].op == ir::Op::ArrayRead || f[id].op == ir::Op::ArrayWrite) {
      lines.push_back(f[id].location.line - line);
    }
  });
  EXPECT_EQ(lines, (std::vector<int>{0, 1, 2, 3, 3}));
}

TEST(TraceLocation, ASwitchHasTheLineOfItsIndex) {
  int line = 0;
  const ir::Function f = record([&](i32 a, i32 b) {
    i32 c = a;
    c = c + b;
    line = __LINE__ + 1;
    Switch(a, [] {}, [] {});
  });
  EXPECT_EQ(line_of(f, ir::Op::Fail), line);
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
    Array<std::int32_t> array(5);
    Array<std::int32_t> ones(5, 1);
    For(0, 5, [&](i32 i) {
      If(array[i] == i, [&] { Continue(); }, [&] { Break(); });
      array[i] += d;
      array[1] = ones[i];
      ReturnIf(array.read(i, Mode::Fill) > 3, a);
    });
    Switch(array[2], [&] { Check(c < d); });
    Call(
        [](i32 x) {
          Return(x * 2);
          return x;
        },
        c);
    For(0, random::integer(1, 7), 2, [&](i32) { d -= cast<std::int32_t>(element()); });
  });
  ir::for_each(f, [&](ir::ValueId id, int) {
    if (f[id].location) {
      EXPECT_STREQ(f[id].location.file, __FILE__) << ops::row(f[id].op).name;
    }
  });
}

}  // namespace
}  // namespace lw::trace
