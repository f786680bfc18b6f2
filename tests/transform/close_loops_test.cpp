// What becomes of loops that are linear, which loops stay, and that all results are the same.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "lanewise/ir/builder.h"
#include "lanewise/ir/evaluate.h"
#include "lanewise/transform/passes.h"
#include "tests/support/edge_values.h"
#include "tests/support/expect_pass.h"
#include "tests/support/programs.h"

namespace lw::transform {
namespace {

using ir::Op;
using ir::ValueId;
using test::expect_pass;

ir::Function closed(const ir::Function& f) { return remove_dead(close_loops(f)); }

int loops(const ir::Function& f) {
  int found = 0;
  ir::for_each(f, [&](ValueId id, int) { found += f[id].op == Op::Loop; });
  return found;
}

/// All values of types of one byte, telling ones of others.
std::vector<Scalar> values_of(DType type) {
  if (types::size_of(type) > 1) return test::edge_values(type);
  std::vector<Scalar> values;
  for (int i = 0; i < 256; ++i) values.push_back(types::scalar_of_bits(type, i));
  return values;
}

void expect_same(const ir::Function& before, const ir::Function& after,
                 std::span<const Scalar> arguments) {
  const ir::Evaluation expected = ir::evaluate(before, arguments);
  const ir::Evaluation got = ir::evaluate(after, arguments);
  EXPECT_EQ(got.results, expected.results) << ir::print(before) << ir::print(after);
  EXPECT_EQ(got.failure, expected.failure);
}

/// Expects that no loop is left of the program, of one or two parameters, and that its results are
/// those of the loop.
void expect_closed(const ir::Function& f) {
  const ir::Function g = closed(f);
  EXPECT_NO_THROW(ir::verify(g));
  EXPECT_EQ(loops(g), 0) << ir::print(f) << ir::print(g);
  for (const Scalar& x : values_of(f.params[0].type)) {
    if (f.params.size() == 1) {
      expect_same(f, g, std::array{x});
      continue;
    }
    for (const Scalar& y : test::edge_values(f.params[1].type)) {
      expect_same(f, g, std::array{x, y});
    }
  }
}

void expect_closed(const std::string& text) { expect_closed(ir::parse(text)); }

void expect_kept(const std::string& text) {
  const ir::Function f = ir::parse(text);
  EXPECT_EQ(ir::print(close_loops(f)), ir::print(f));
}

/// s = start; for i below `steps`: s = body(s, x, i). Parameters x and y of `type`, counter i32.
using Body = std::function<ValueId(ir::Builder&, ValueId s, ValueId x, ValueId y, ValueId i)>;
ir::Function accumulation(DType type, int steps, const Body& body) {
  ir::Builder build("f");
  const ValueId x = build.param("x", type);
  const ValueId y = build.param("y", type);
  const ValueId zero = build.constant(std::int32_t{0});
  const ValueId end = build.constant(std::int32_t{steps});
  const ValueId loop = build.begin_loop(std::array{y, zero});
  const ValueId s = build.arguments(loop)[0];
  const ValueId i = build.arguments(loop)[1];
  build.break_if(build.op(Op::Ge, {i, end}), std::array{s, i});
  const ValueId sum = body(build, s, x, y, i);
  build.end_loop(std::array{sum, build.op(Op::Add, {i, build.constant(std::int32_t{1})})});
  build.ret(std::array{build.result(loop, 0), build.result(loop, 1)});
  return build.take();
}

const std::vector<DType> kIntegers = {DType::I8, DType::I16, DType::I32, DType::I64,
                                      DType::U8, DType::U16, DType::U32, DType::U64};

TEST(TransformCloseLoops, ASumOfMultiplesIsAMultiple) {
  expect_pass(closed, R"(
function f(%0: i32) -> (i32) {
  %1 = constant i32 0
  %2 = constant i32 1
  %3 = constant i32 100
  %4 = loop (%5: i32 = %1, %6: i32 = %1) {
    %7 = ge bool %6, %3
    break_if %7 (%5, %6)
    %8 = mul i32 %0, %6
    %9 = add i32 %5, %8
    %10 = add i32 %6, %2
    next (%9, %10)
  }
  %11 = result i32 %4 0
  return (%11)
}
)",
              R"(
function f(%0: i32) -> (i32) {
  %1 = constant i32 4950
  %2 = mul i32 %0, %1
  return (%2)
}
)");
}

TEST(TransformCloseLoops, ConstantsVanishWhereTheyAreZeroAndFactorsWhereTheyAreOne) {
  expect_pass(closed, R"(
function f(%0: u8, %1: u8) -> (u8, u8, u8) {
  %2 = constant u8 0
  %3 = constant u8 1
  %4 = constant u8 128
  %5 = loop (%6: u8 = %2, %7: u8 = %0, %8: u8 = %0) {
    %9 = eq bool %6, %4
    break_if %9 (%7, %8, %6)
    %10 = add u8 %7, %1
    %11 = add u8 %10, %1
    %12 = add u8 %8, %3
    %13 = add u8 %6, %3
    next (%13, %11, %12)
  }
  %14 = result u8 %5 0
  %15 = result u8 %5 1
  %16 = result u8 %5 2
  return (%14, %15, %16)
}
)",
              R"(
function f(%0: u8, %1: u8) -> (u8, u8, u8) {
  %2 = constant u8 128
  %3 = add u8 %0, %2
  return (%0, %3, %2)
}
)");
}

TEST(TransformCloseLoops, SumsAndProductsWrapAsInTheLoop) {
  for (const DType type : kIntegers) {
    for (const int steps : {0, 1, 2, 7, 31, 64, 257}) {
      expect_closed(accumulation(type, steps, [&](auto& b, auto s, auto x, auto, auto i) {
        return b.op(Op::Sub, {b.op(Op::Neg, {s}), b.op(Op::Mul, {b.convert(i, type), x})});
      }));
      expect_closed(accumulation(type, steps, [&](auto& b, auto s, auto x, auto, auto) {
        const auto odd = b.constant(types::scalar_of_bits(type, -77));
        return b.op(Op::Add, {b.op(Op::Mul, {s, odd}), x});
      }));
      expect_closed(accumulation(type, steps, [&](auto& b, auto s, auto x, auto, auto) {
        const auto by = b.constant(types::scalar_of_bits(type, 3));
        return b.op(Op::Add, {b.op(Op::Shl, {s, by}), x});
      }));
    }
  }
}

TEST(TransformCloseLoops, WhatIsTheSameInEveryStepMayBeAnything) {
  const ir::Function f = accumulation(DType::I8, 9, [](auto& b, auto s, auto x, auto y, auto) {
    const auto three = b.constant(std::int8_t{3});
    const auto square = b.op(Op::Mul, {x, x});
    const auto quotient = b.op(Op::Div, {b.op(Op::Xor, {square, y}), three});
    return b.op(Op::Add, {b.op(Op::Mul, {s, three}), quotient});
  });
  expect_closed(f);
}

TEST(TransformCloseLoops, WhatDependsOnTheCounterAloneMayBeAnything) {
  for (const DType type : {DType::U8, DType::I64}) {
    expect_closed(accumulation(type, 50, [&](auto& b, auto s, auto x, auto, auto i) {
      const auto seven = b.constant(std::int32_t{7});
      const auto rest = b.op(Op::Rem, {b.op(Op::Mul, {i, i}), seven});
      const auto is_odd = b.convert(b.op(Op::And, {i, b.constant(std::int32_t{1})}), DType::Bool);
      const auto factor = b.convert(b.op(Op::Max, {rest, b.op(Op::Shr, {i, seven})}), type);
      return b.op(Op::Select,
                  {is_odd, b.op(Op::Add, {s, b.op(Op::Mul, {factor, x})}), b.op(Op::Sub, {x, s})});
    }));
  }
}

TEST(TransformCloseLoops, CarriedValuesThatChangePlacesAreFollowed) {
  for (const DType type : kIntegers) {
    ir::Builder build("fibonacci");
    const ValueId a = build.param("a", type);
    const ValueId b = build.param("b", type);
    const ValueId loop = build.begin_loop(std::array{a, build.constant(std::uint8_t{20}), b});
    const auto carried = build.arguments(loop);
    const ValueId first = carried[0];
    const ValueId left = carried[1];
    const ValueId second = carried[2];
    const ValueId one = build.constant(std::uint8_t{1});
    build.break_if(build.op(Op::Lt, {left, one}), std::array{first, left, second});
    const ValueId sum = build.op(Op::Add, {first, second});
    build.end_loop(std::array{second, build.op(Op::Sub, {left, one}), sum});
    build.ret(std::array{build.result(loop, 2), build.result(loop, 0)});
    expect_closed(build.take());
  }
}

/// A loop that is left in its middle, with values of that step; the exit condition is `leave`.
std::string left_in_the_middle(const std::string& leave) {
  return R"(
function f(%0: i16) -> (i16, i16) {
  %1 = constant i16 1
  %2 = constant i16 13
  %3 = loop (%4: i16 = %1, %5: i16 = %0) {
    %6 = add i16 %4, %1
    %7 = add i16 %5, %5
    )" + leave +
         R"(
    break_if %8 (%6, %7)
    %9 = sub i16 %7, %0
    next (%6, %9)
  }
  %10 = result i16 %3 0
  %11 = result i16 %3 1
  return (%10, %11)
}
)";
}

TEST(TransformCloseLoops, ALoopLeftInItsMiddleGivesTheValuesOfTheExit) {
  expect_closed(left_in_the_middle("%8 = eq bool %6, %2"));
}

TEST(TransformCloseLoops, OfSeveralExitsTheFirstThatIsTakenCounts) {
  expect_closed(R"(
function f(%0: i8) -> (i8) {
  %1 = constant i8 0
  %2 = constant i8 1
  %3 = constant i8 90
  %4 = constant i8 30
  %5 = loop (%6: i8 = %1, %7: i8 = %1) {
    %8 = gt bool %6, %3
    break_if %8 (%6, %7)
    %9 = add i8 %7, %0
    %10 = mul i8 %6, %6
    %11 = eq bool %10, %4
    break_if %11 (%6, %1)
    %12 = add i8 %6, %2
    %13 = gt bool %12, %4
    break_if %13 (%12, %9)
    next (%12, %9)
  }
  %14 = result i8 %5 1
  return (%14)
}
)");
}

TEST(TransformCloseLoops, FloatsAndBoolsFromOutsideMayBeCarriedAndSwapped) {
  expect_pass(closed, R"(
function f(%0: f32, %1: bool) -> (f32, f32, bool) {
  %2 = constant i32 0
  %3 = constant i32 1
  %4 = constant i32 5
  %5 = constant f32 -0
  %6 = loop (%7: i32 = %2, %8: f32 = %0, %9: f32 = %5, %10: bool = %1) {
    %11 = ge bool %7, %4
    break_if %11 (%7, %8, %9, %10)
    %12 = add i32 %7, %3
    next (%12, %9, %8, %10)
  }
  %13 = result f32 %6 1
  %14 = result f32 %6 2
  %15 = result bool %6 3
  return (%13, %14, %15)
}
)",
              R"(
function f(%0: f32, %1: bool) -> (f32, f32, bool) {
  %2 = constant f32 -0
  return (%2, %0, %1)
}
)");
}

TEST(TransformCloseLoops, AResultThatNobodyUsesMayBeAnything) {
  expect_pass(closed, R"(
function f(%0: i32, %1: f32) -> (i32) {
  %2 = constant i32 0
  %3 = constant i32 1
  %4 = constant i32 40
  %5 = loop (%6: i32 = %2, %7: i32 = %0, %8: f32 = %1, %9: i32 = %2) {
    %10 = ge bool %6, %4
    break_if %10 (%6, %7, %8, %9)
    %11 = add i32 %6, %3
    %12 = mul i32 %7, %0
    %13 = mul f32 %8, %1
    %14 = add i32 %9, %0
    next (%11, %12, %13, %14)
  }
  %15 = result i32 %5 1
  %16 = result f32 %5 2
  %17 = result i32 %5 3
  return (%17)
}
)",
              R"(
function f(%0: i32, %1: f32) -> (i32) {
  %2 = constant i32 40
  %3 = mul i32 %0, %2
  return (%3)
}
)");
}

constexpr const char* kNested = R"(
function f(%0: i8, %1: i8) -> (i8) {
  %2 = constant i8 0
  %3 = constant i8 1
  %4 = constant i8 10
  %5 = loop (%6: i8 = %2, %7: i8 = %1) {
    %8 = ge bool %6, %4
    break_if %8 (%6, %7)
    %9 = loop (%10: i8 = %2, %11: i8 = %7) {
      %12 = ge bool %10, %4
      break_if %12 (%10, %11)
      %13 = mul i8 %10, %6
      %14 = add i8 %13, %0
      %15 = add i8 %11, %14
      %16 = add i8 %10, %3
      next (%16, %15)
    }
    %17 = result i8 %9 1
    %18 = add i8 %6, %3
    next (%18, %17)
  }
  %19 = result i8 %5 1
  return (%19)
}
)";

TEST(TransformCloseLoops, TheLoopAroundALoopIsClosedToo) {
  std::string text = kNested;
  const std::string product = "mul i8 %10, %6";
  text.replace(text.find(product), product.size(), "mul i8 %10, %0");
  expect_closed(text);
  expect_closed(accumulation(DType::U16, 9, [](auto& b, auto s, auto x, auto y, auto) {
    const auto zero = b.constant(std::uint16_t{0});
    const auto inner = b.begin_loop(std::array{zero, s});
    const auto count = b.arguments(inner)[0];
    const auto sum = b.arguments(inner)[1];
    const auto end = b.op(Op::Eq, {count, b.constant(std::uint16_t{6})});
    b.break_if(end, std::array{count, sum});
    const auto next = b.op(Op::Add, {count, b.constant(std::uint16_t{1})});
    b.end_loop(std::array{next, b.op(Op::Add, {sum, b.op(Op::Mul, {x, y})})});
    return b.result(inner, 1);
  }));
}

TEST(TransformCloseLoops, ALoopThatIsLinearInTheCounterAroundItIsClosed) { expect_closed(kNested); }

TEST(TransformCloseLoops, ALoopThatBeginsWithTheResultsOfAnotherIsClosed) {
  expect_closed(R"(
function f(%0: i8) -> (i8) {
  %1 = constant i8 0
  %2 = constant i8 1
  %3 = constant i8 9
  %4 = loop (%5: i8 = %1, %6: i8 = %0) {
    %7 = ge bool %5, %3
    break_if %7 (%5, %6)
    %8 = add i8 %5, %2
    %9 = sub i8 %5, %6
    next (%8, %9)
  }
  %10 = result i8 %4 0
  %11 = result i8 %4 1
  %12 = loop (%13: i8 = %10, %14: i8 = %11) {
    %15 = eq bool %13, %1
    break_if %15 (%13, %14)
    %16 = sub i8 %13, %2
    %17 = add i8 %14, %11
    next (%16, %17)
  }
  %18 = result i8 %12 1
  return (%18)
}
)");
}

TEST(TransformCloseLoops, AFloatThatIsComputedKeepsTheLoop) {
  const ir::Function f = accumulation(
      DType::F32, 10, [](auto& b, auto s, auto x, auto, auto) { return b.op(Op::Add, {s, x}); });
  EXPECT_EQ(loops(closed(f)), 1);
  const ir::Function converted = accumulation(
      DType::F64, 10, [](auto& b, auto, auto, auto, auto i) { return b.convert(i, DType::F64); });
  EXPECT_EQ(loops(closed(converted)), 1);
}

TEST(TransformCloseLoops, WhatIsNotLinearKeepsTheLoop) {
  const auto kept = [](const Body& body) {
    return loops(closed(accumulation(DType::I32, 10, body))) == 1;
  };
  EXPECT_TRUE(kept([](auto& b, auto s, auto x, auto, auto) { return b.op(Op::Mul, {s, x}); }));
  EXPECT_TRUE(kept([](auto& b, auto s, auto x, auto, auto) { return b.op(Op::Xor, {s, x}); }));
  EXPECT_TRUE(kept([](auto& b, auto s, auto x, auto, auto i) {
    return b.op(Op::Add, {s, b.op(Op::Shl, {i, x})});
  }));
  EXPECT_TRUE(kept([](auto& b, auto s, auto x, auto y, auto) {
    return b.op(Op::Select, {b.op(Op::Lt, {x, y}), b.op(Op::Add, {s, x}), s});
  }));
}

TEST(TransformCloseLoops, ALoopWhoseStepsDifferBetweenElementsStays) {
  expect_kept(left_in_the_middle("%8 = eq bool %6, %0"));
  expect_kept(left_in_the_middle("%8 = gt bool %7, %2"));
}

TEST(TransformCloseLoops, ALoopInWhichAnElementMayFailStays) {
  const auto with = [](Op op, bool by_counter) {
    return accumulation(DType::I32, 10, [=](auto& b, auto s, auto x, auto, auto i) {
      b.op(op, {x, by_counter ? i : x});
      return b.op(Op::Add, {s, x});
    });
  };
  for (const Op op : {Op::Div, Op::Rem}) {
    for (const bool by_counter : {false, true}) {  // the counter begins with 0
      EXPECT_EQ(loops(closed(with(op, by_counter))), 1);
    }
  }
  const ir::Function failing =
      accumulation(DType::I32, 10, [](auto& b, auto s, auto x, auto y, auto) {
        b.fail_if(b.op(Op::Lt, {x, y}), ir::FailKind::Check);
        return b.op(Op::Add, {s, x});
      });
  EXPECT_EQ(loops(closed(failing)), 1);
}

TEST(TransformCloseLoops, ADivisorKnownNotToBeZeroIsNoFailure) {
  expect_closed(accumulation(DType::I32, 10, [](auto& b, auto s, auto x, auto, auto i) {
    const auto one = b.constant(std::int32_t{1});
    b.op(Op::Div, {s, b.op(Op::Add, {i, one})});  // unknown, unused
    return b.op(Op::Add, {s, x});
  }));
}

TEST(TransformCloseLoops, StepsAreTakenUpToABound) {
  const auto of_steps = [](int steps) {
    return accumulation(DType::I32, steps,
                        [](auto& b, auto s, auto x, auto, auto) { return b.op(Op::Add, {s, x}); });
  };
  EXPECT_EQ(loops(closed(of_steps(4095))), 0);
  EXPECT_EQ(loops(closed(of_steps(4096))), 1);
  EXPECT_EQ(loops(closed(of_steps(1'000'000'000))), 1);
  const auto long_body = [](int steps) {
    return accumulation(DType::I32, steps, [](auto& b, auto s, auto x, auto, auto) {
      for (int i = 0; i < 1000; ++i) s = b.op(Op::Add, {s, x});
      return s;
    });
  };
  EXPECT_EQ(loops(closed(long_body(90))), 0);
  EXPECT_EQ(loops(closed(long_body(110))), 1);
  expect_kept(R"(
function f(%0: i32) -> (i32) {
  %1 = constant bool false
  %2 = loop (%3: i32 = %0) {
    break_if %1 (%3)
    next (%3)
  }
  %4 = result i32 %2 0
  return (%4)
}
)");
}

TEST(TransformCloseLoops, AFormHasAtMostFourTerms) {
  const auto sum_of = [](int count) {
    ir::Builder build("f");
    std::vector<ValueId> params;
    for (int i = 0; i < count; ++i) params.push_back(build.param(fmt::format("p{}", i), DType::I8));
    const ValueId loop = build.begin_loop(std::array{build.constant(std::int8_t{0}), params[0]});
    const ValueId n = build.arguments(loop)[0];
    ValueId sum = build.arguments(loop)[1];
    const ValueId end = build.op(Op::Eq, {n, build.constant(std::int8_t{3})});
    build.break_if(end, std::array{n, sum});
    for (const ValueId param : params) sum = build.op(Op::Add, {sum, param});
    build.end_loop(std::array{build.op(Op::Add, {n, build.constant(std::int8_t{1})}), sum});
    build.ret(std::array{build.result(loop, 1)});
    return build.take();
  };
  EXPECT_EQ(loops(closed(sum_of(4))), 0);
  EXPECT_EQ(loops(closed(sum_of(5))), 1);
}

TEST(TransformCloseLoops, ProgramsWithOtherLoopsAreLeftAsTheyAre) {
  for (const ir::Function& f : {test::mandelbrot_program(), test::kepler_program()}) {
    EXPECT_EQ(ir::print(close_loops(f)), ir::print(f));
  }
}

TEST(TransformCloseLoops, WithALimitOfStepsTheLoopStaysToCountThem) {
  const ir::Function f = accumulation(
      DType::I32, 10, [](auto& b, auto s, auto x, auto, auto) { return b.op(Op::Add, {s, x}); });
  EXPECT_EQ(loops(run(f)), 0);
  EXPECT_EQ(loops(run(f, {.step_counter = DType::I32})), 1);
}

TEST(TransformCloseLoops, RandomLoopsGiveTheSameResults) {
  std::mt19937 random(1);
  const auto below = [&](std::size_t n) { return std::size_t{random()} % n; };
  const auto number = [&] { return static_cast<std::int64_t>(below(below(2) == 0 ? 9 : ~0ull)); };
  constexpr std::array kOps = {Op::Add, Op::Add, Op::Sub, Op::Sub, Op::Neg,   Op::Mul,
                               Op::Shl, Op::And, Op::Xor, Op::Max, Op::Select};
  int left = 0;
  constexpr int kPrograms = 400;
  for (int program = 0; program < kPrograms; ++program) {
    const DType type = kIntegers[below(kIntegers.size())];
    const int steps = static_cast<int>(below(20));
    const ir::Function f = accumulation(type, steps, [&](auto& b, auto s, auto x, auto y, auto i) {
      std::vector<ValueId> pool = {s, s, s, x, y, b.convert(i, type)};
      const auto any = [&] { return pool[below(pool.size())]; };
      for (std::size_t n = 1 + below(8); n > 0; --n) {
        pool.push_back(b.constant(types::scalar_of_bits(type, number())));
        const Op op = kOps[below(kOps.size())];
        if (op == Op::Select) {
          const auto two = b.constant(std::int32_t{2});
          pool.push_back(b.op(op, {b.op(Op::Lt, {i, two}), any(), any()}));
        } else if (ops::row(op).arity == 1) {
          pool.push_back(b.op(op, {any()}));
        } else {
          const ValueId first = any();
          pool.push_back(b.op(op, {first, op == Op::Mul || op == Op::Shl ? pool.back() : any()}));
        }
      }
      return pool.back();
    });
    const ir::Function g = closed(f);
    EXPECT_NO_THROW(ir::verify(g));
    left += loops(g);
    for (const Scalar& x : test::edge_values(type)) {
      for (const Scalar& y : test::edge_values(type)) expect_same(f, g, std::array{x, y});
    }
  }
  EXPECT_LT(left, kPrograms * 3 / 4);
  EXPECT_GT(left, kPrograms / 20);
}

}  // namespace
}  // namespace lw::transform
