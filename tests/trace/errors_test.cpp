#include <gtest/gtest.h>

#include <optional>
#include <thread>

#include "lanewise/lanewise.h"
#include "tests/support/message_of.h"

namespace lw::trace {
namespace {

using test::message_of;

TEST(TraceErrors, VariablesOutsideOfATraceAreRefused) {
  const std::string words =
      "trace: a symbolic variable was used outside of a traced function. "
      "Create and use lw::f32 and its kind only inside the function given to lw::vectorize.";
  EXPECT_EQ(message_of<UsageError>([] { f32 x = 1; }), words);
  EXPECT_EQ(message_of<UsageError>([] { i64 n; }), words);
  EXPECT_EQ(message_of<UsageError>([] { While([] { return boolean(true); }, [] {}); }), words);
}

TEST(TraceErrors, AVariableThatOutlivesItsTraceIsRefused) {
  std::optional<f32> escaped;
  {
    const Trace trace("f");
    escaped.emplace(1);
  }
  EXPECT_EQ(message_of<UsageError>([&] { *escaped = *escaped + 1; }),
            "trace: a symbolic variable was used outside of a traced function. "
            "Create and use lw::f32 and its kind only inside the function given to lw::vectorize.");
  const std::string of_another =
      "trace: a symbolic variable of another trace was used. "
      "Create and use variables inside one traced function.";
  const Trace trace("g");
  f32 x = 1;
  EXPECT_EQ(message_of<UsageError>([&] { x = x + *escaped; }), of_another);
  EXPECT_EQ(message_of<UsageError>([&] { *escaped = 1; }), of_another);
}

TEST(TraceErrors, AVariableOfAnotherThreadIsRefused) {
  const Trace trace("f");
  f32 x = 1;
  std::string words;
  std::thread([&] { words = message_of<UsageError>([&] { f32 y = x; }); }).join();
  EXPECT_EQ(words,
            "trace: a symbolic variable was used outside of a traced function. "
            "Create and use lw::f32 and its kind only inside the function given to lw::vectorize.");
}

TEST(TraceErrors, AVectorizedFunctionInsideAnotherIsRefused) {
  const std::vector<float> xs = {1, 2};
  auto inner = vectorize([](f32 x) { return x + 1; });
  auto outer = vectorize([&](f32 x) {
    inner(xs);
    return x;
  });
  EXPECT_EQ(message_of<UsageError>([&] { outer(xs); }),
            "trace: a function is being traced on this thread already. "
            "Call the plain function, not its vectorized form, inside another.");
  EXPECT_EQ(inner(xs).at<float>(1), 3);
}

TEST(TraceErrors, BreakIfOutsideOfALoopIsRefused) {
  auto f = vectorize([](f32 x) {
    BreakIf(x < 1);
    return x;
  });
  EXPECT_EQ(message_of<UsageError>([&] { f(std::vector<float>{1}); }),
            "BreakIf: stands outside of any loop. Use it in the body of lw::While or lw::For.");
}

TEST(TraceErrors, BreakIfAfterALoopIsRefusedToo) {
  auto f = vectorize([](f32 x) {
    While([&] { return x < 1; }, [&] { x = x + 1; });
    BreakIf(x < 1);
    return x;
  });
  EXPECT_EQ(message_of<UsageError>([&] { f(std::vector<float>{1}); }),
            "BreakIf: stands outside of any loop. Use it in the body of lw::While or lw::For.");
}

TEST(TraceErrors, AnOpThatDoesNotFitItsTypeNamesTheUsersLine) {
  int line = 0;
  auto f = vectorize([&](f32 x) {
    line = __LINE__ + 1;
    return x & x;
  });
  const std::string words = message_of<UsageError>([&] { f(std::vector<float>{1}); });
  EXPECT_EQ(words,
            std::string(__FILE__) + ":" + std::to_string(line) +
                ": and: operands do not fit; got (f32, f32), expected 2 of one accepted type. "
                "Convert them first.");
}

TEST(TraceErrors, AVariableMadeInALoopAndUsedAfterItIsRefused) {
  auto f = vectorize([](f32 x) {
    std::optional<f32> inside;
    While([&] { return x < 1; },
          [&] {
            x = x + 1;
            inside.emplace(x + 2);
          });
    return *inside + 1;
  });
  EXPECT_THROW(f(std::vector<float>{1}), UsageError);
}

f32 factorial(const f32& n) {
  f32 result = 1;
  If(n > 1, [&] { result = n * factorial(n - 1); });
  return result;
}

TEST(TraceErrors, AFunctionThatCallsItselfIsRefused) {
  auto f = vectorize([](f32 n) { return factorial(n); });
  const std::vector<float> n = {3};
  EXPECT_EQ(message_of<UsageError>([&] { f(n); }),
            "trace: too deep; got 501 loops, branches and calls in one another, expected at most "
            "500. Does the function call itself? Write a loop with an lw::Array as its stack.");
}

}  // namespace
}  // namespace lw::trace
