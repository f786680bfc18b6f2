#include "lanewise/trace/trace.h"

#include <gtest/gtest.h>

#include "lanewise/ir/print.h"
#include "lanewise/trace/control.h"
#include "lanewise/transform/passes.h"

namespace lw::trace {
namespace {

static_assert(!std::is_constructible_v<bool, boolean>, "an element has no value while traced");
static_assert(!std::is_convertible_v<f32, float>);

template <class V>
struct ElementOf;
template <class T>
struct ElementOf<Variable<T>> {
  using type = T;
};

/// What `function` records on parameters of type V, without slots and dead code.
template <class V, class F>
std::string record(int parameters, const F& function) {
  Trace trace("f");
  std::vector<V> variables;
  variables.reserve(static_cast<std::size_t>(parameters));
  std::vector<ir::ValueId> params;
  for (int i = 0; i < parameters; ++i) {
    params.push_back(trace.builder().param("x", types::dtype_of<typename ElementOf<V>::type>));
  }
  for (const ir::ValueId id : params) variables.push_back(V::of(id));
  const auto result = function(variables);
  return ir::print(
      transform::remove_dead(transform::slots_to_ssa(trace.finish(std::vector{result.read()}))));
}

TEST(Trace, AnAssignmentChangesTheVariableFromThereOn) {
  EXPECT_EQ(record<f32>(2,
                        [](std::vector<f32>& p) {
                          f32 x = p[0];
                          f32 before = x;
                          x = p[1];
                          return before - x;
                        }),
            "function f(%0: f32, %1: f32) -> (f32) {\n"
            "  %2 = sub f32 %0, %1\n"
            "  return (%2)\n"
            "}\n");
}

TEST(Trace, ALiteralMayBeAssigned) {
  EXPECT_EQ(record<f32>(1,
                        [](std::vector<f32>& p) {
                          p[0] = 5;
                          return p[0];
                        }),
            "function f(%0: f32) -> (f32) {\n  %1 = constant f32 5\n  return (%1)\n}\n");
}

TEST(Trace, AutoMakesAVariableOfItsOwn) {
  EXPECT_EQ(record<f32>(1,
                        [](std::vector<f32>& p) {
                          auto w = p[0];
                          p[0] = -p[0];
                          return w;
                        }),
            "function f(%0: f32) -> (f32) {\n  return (%0)\n}\n");
}

TEST(Trace, AWhileLoopCarriesWhatItsBodyAssigns) {
  EXPECT_EQ(record<i32>(2,
                        [](std::vector<i32>& p) {
                          i32 n = p[0];
                          While([&] { return n < p[1]; }, [&] { n = n + p[1]; });
                          return n;
                        }),
            "function f(%0: i32, %1: i32) -> (i32) {\n"
            "  %2 = loop (%3: i32 = %0) {\n"
            "    %4 = lt bool %3, %1\n"
            "    %5 = not bool %4\n"
            "    break_if %5 (%3)\n"
            "    %6 = add i32 %3, %1\n"
            "    next (%6)\n"
            "  }\n"
            "  %7 = result i32 %2 0\n"
            "  return (%7)\n"
            "}\n");
}

TEST(Trace, ABreakHandsOverWhatWasAssignedBeforeIt) {
  EXPECT_EQ(record<i32>(1,
                        [](std::vector<i32>& p) {
                          i32 n = p[0];
                          While([&] { return n != p[0]; },
                                [&] {
                                  n = -n;
                                  BreakIf(n == p[0]);
                                  n = ~n;
                                });
                          return n;
                        }),
            "function f(%0: i32) -> (i32) {\n"
            "  %1 = loop (%2: i32 = %0) {\n"
            "    %3 = ne bool %2, %0\n"
            "    %4 = not bool %3\n"
            "    break_if %4 (%2)\n"
            "    %5 = neg i32 %2\n"
            "    %6 = eq bool %5, %0\n"
            "    break_if %6 (%5)\n"
            "    %7 = not i32 %5\n"
            "    next (%7)\n"
            "  }\n"
            "  %8 = result i32 %1 0\n"
            "  return (%8)\n"
            "}\n");
}

TEST(Trace, ALoopInALoopGoesOnFromTheOuterValues) {
  EXPECT_EQ(record<i32>(1,
                        [](std::vector<i32>& p) {
                          i32 n = p[0];
                          While([&] { return n < p[0]; },
                                [&] {
                                  i32 own = n;
                                  While([&] { return own < n; }, [&] { own = -own; });
                                  n = own;
                                });
                          return n;
                        }),
            "function f(%0: i32) -> (i32) {\n"
            "  %1 = loop (%2: i32 = %0) {\n"
            "    %3 = lt bool %2, %0\n"
            "    %4 = not bool %3\n"
            "    break_if %4 (%2)\n"
            "    %5 = loop (%6: i32 = %2) {\n"
            "      %7 = lt bool %6, %2\n"
            "      %8 = not bool %7\n"
            "      break_if %8 (%6)\n"
            "      %9 = neg i32 %6\n"
            "      next (%9)\n"
            "    }\n"
            "    %10 = result i32 %5 0\n"
            "    next (%10)\n"
            "  }\n"
            "  %11 = result i32 %1 0\n"
            "  return (%11)\n"
            "}\n");
}

TEST(Trace, LiteralsTakeTheTypeOfTheVariable) {
  EXPECT_EQ(record<f32>(1, [](std::vector<f32>& p) { return p[0] * 0.1; }),
            "function f(%0: f32) -> (f32) {\n"
            "  %1 = constant f32 0.1\n"
            "  %2 = mul f32 %0, %1\n"
            "  return (%2)\n"
            "}\n");
}

TEST(Trace, CompoundAssignmentIsTheOperatorAndAnAssignment) {
  EXPECT_EQ(record<i32>(2,
                        [](std::vector<i32>& p) {
                          p[0] -= p[1];
                          p[0] <<= p[1];
                          return p[0];
                        }),
            "function f(%0: i32, %1: i32) -> (i32) {\n"
            "  %2 = sub i32 %0, %1\n"
            "  %3 = shl i32 %2, %1\n"
            "  return (%3)\n"
            "}\n");
}

TEST(Trace, SelectAndCastRecordTheirOps) {
  EXPECT_EQ(record<f64>(2,
                        [](std::vector<f64>& p) {
                          return cast<std::int32_t>(select(p[0] < p[1], p[0], p[1]));
                        }),
            "function f(%0: f64, %1: f64) -> (i32) {\n"
            "  %2 = lt bool %0, %1\n"
            "  %3 = select f64 %2, %0, %1\n"
            "  %4 = convert i32 %3\n"
            "  return (%4)\n"
            "}\n");
}

TEST(Trace, EveryFunctionRecordsItsRow) {
  const auto op = [](auto function) {
    const std::string text = record<f64>(1, [&](std::vector<f64>& p) { return function(p[0]); });
    const auto begin = text.find("%1 = ") + 5;
    return text.substr(begin, text.find(' ', begin) - begin);
  };
  EXPECT_EQ(op([](f64& x) { return abs(x); }), "abs");
  EXPECT_EQ(op([](f64& x) { return sqrt(x); }), "sqrt");
  EXPECT_EQ(op([](f64& x) { return floor(x); }), "floor");
  EXPECT_EQ(op([](f64& x) { return ceil(x); }), "ceil");
  EXPECT_EQ(op([](f64& x) { return trunc(x); }), "trunc");
  EXPECT_EQ(op([](f64& x) { return round(x); }), "round");
  EXPECT_EQ(op([](f64& x) { return sin(x); }), "sin");
  EXPECT_EQ(op([](f64& x) { return cos(x); }), "cos");
  EXPECT_EQ(op([](f64& x) { return -x; }), "neg");
  EXPECT_EQ(op([](f64& x) { return min(x, x); }), "min");
  EXPECT_EQ(op([](f64& x) { return max(x, x); }), "max");
  EXPECT_EQ(op([](f64& x) { return copysign(x, x); }), "copysign");
  EXPECT_EQ(op([](f64& x) { return fma(x, x, x); }), "fma");
}

TEST(Trace, FunctionsAreFoundWithAndWithoutTheirNamespaceAndTakeLiterals) {
  static_assert(!std::is_invocable_v<decltype([](auto a, auto b) -> decltype(lw::pow(a, b)) {
                                       return lw::pow(a, b);
                                     }),
                                     f32, f64>,
                "types are not mixed");
  EXPECT_EQ(record<f32>(1,
                        [](std::vector<f32>& p) {
                          const f32 sine = lw::sin(p[0]);
                          const f32 power = lw::pow(2, sine);
                          return fma(power, 3, sine);
                        }),
            "function f(%0: f32) -> (f32) {\n"
            "  %1 = sin f32 %0\n"
            "  %2 = constant f32 2\n"
            "  %3 = pow f32 %2, %1\n"
            "  %4 = constant f32 3\n"
            "  %5 = fma f32 %3, %4, %1\n"
            "  return (%5)\n"
            "}\n");
}

TEST(Trace, NothingIsFoldedSoThatAConditionOnALiteralStaysALoop) {
  Trace trace("f");
  i32 n = 0;
  While([&] { return n < 10; }, [&] { n = n + 1; });
  const ir::Function f = trace.finish(std::vector{n.read()});
  int loops = 0;
  int comparisons = 0;
  ir::for_each(f, [&](ir::ValueId id, int) {
    loops += f[id].op == ir::Op::Loop;
    comparisons += f[id].op == ir::Op::Lt;
  });
  EXPECT_EQ(loops, 1);
  EXPECT_EQ(comparisons, 1);
}

TEST(Trace, ATraceThatFailsLeavesTheThreadFree) {
  EXPECT_THROW(
      {
        const Trace trace("f");
        throw std::runtime_error("the user's own");
      },
      std::runtime_error);
  const Trace again("f");
  EXPECT_EQ(&Trace::current(), &again);
}

}  // namespace
}  // namespace lw::trace
