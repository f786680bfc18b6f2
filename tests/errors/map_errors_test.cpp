// Bad input to a map: every message a caller can cause, by its words.
#include <gtest/gtest.h>

#include "lanewise/lanewise.h"
#include "lanewise/runtime/compile_queue.h"
#include "tests/support/message_of.h"
#include "tests/support/programs.h"

namespace lw {
namespace {

using test::message_of;

f32 difference(f32 x, f32 y) { return x - y; }

const std::vector<float> kThree = {1, 2, 3};

class MapErrors : public testing::Test {
 protected:
  /// The words of the UsageError of a call into `out`.
  template <class... A>
  std::string refusal(const Output& out, const A&... arguments) {
    return message_of<UsageError>([&] { f_.into(out, {}, arguments...); });
  }

  void TearDown() override { EXPECT_EQ(f_(kThree, kThree).at<float>(0), 0) << "usable afterwards"; }

  Vectorized<decltype(&difference)> f_ = vectorize(&difference);
  std::vector<float> out_ = std::vector<float>(3);
};

TEST_F(MapErrors, SizesThatDisagree) {
  EXPECT_EQ(message_of<UsageError>([&] { f_(kThree, std::vector<float>(4)); }),
            "map: arguments disagree on the mapped size; got 3 (argument 0) and 4 (argument 1), "
            "expected one size. Pass a plain number to share it between elements.");
  EXPECT_EQ(refusal(out_, std::vector<float>(), kThree),
            "map: arguments disagree on the mapped size; got 0 (argument 0) and 3 (argument 1), "
            "expected one size. Pass a plain number to share it between elements.");
}

TEST_F(MapErrors, ArgumentsOfAnotherType) {
  EXPECT_EQ(message_of<UsageError>([&] { f_(kThree, std::vector<double>(3)); }),
            "map: argument 1 has another element type; got f64, expected f32, as the function "
            "declares. Convert the array, or declare the parameter as lw::f64.");
  EXPECT_EQ(message_of<UsageError>([&] { f_(std::int32_t{1}, kThree); }),
            "map: argument 0 has another element type; got i32, expected f32, as the function "
            "declares. Convert the array, or declare the parameter as lw::i32.");
}

TEST_F(MapErrors, NothingToMapOver) {
  EXPECT_EQ(message_of<UsageError>([&] { f_(1.0f, 2.0f); }),
            "map: nothing to map over; got only shared numbers, expected at least one array, or a "
            "count of elements.");
}

TEST_F(MapErrors, NullDataWithASize) {
  const Input null(DType::F32, nullptr, 3);
  EXPECT_EQ(refusal(out_, kThree, null),
            "map: argument 1 has no data; got a null pointer with size 3, expected memory for its "
            "elements. Check that the array is allocated.");
  EXPECT_EQ(refusal(Output(DType::F32, nullptr, 3), kThree, kThree),
            "map: output 0 has no data; got a null pointer with size 3.");
  EXPECT_EQ(refusal(out_, Strided<const float>{nullptr, 3, 0}, kThree),
            "map: argument 0 has no data; got a null pointer with size 3, expected memory for its "
            "elements. Check that the array is allocated.");
  EXPECT_EQ(refusal(Strided<float>{nullptr, 3, -2}, kThree, kThree),
            "map: output 0 has no data; got a null pointer with size 3.");
}

TEST_F(MapErrors, TypesThatAreNotOfElementsDoNotCompile) {
  EXPECT_TRUE((std::is_convertible_v<std::vector<float>, Input>));
  EXPECT_FALSE((std::is_convertible_v<std::vector<long double>, Input>));
  EXPECT_FALSE((std::is_convertible_v<std::vector<std::string>, Input>));
  EXPECT_FALSE((std::is_convertible_v<std::vector<bool>, Input>)) << "has no array of bools";
  EXPECT_FALSE((std::is_convertible_v<std::vector<bool>&, Output>));
  EXPECT_FALSE((std::is_convertible_v<const std::vector<float>&, Output>)) << "not to be written";
  EXPECT_FALSE((std::is_convertible_v<Strided<const float>, Output>));
  EXPECT_FALSE((std::is_convertible_v<long double, Input>));
  EXPECT_FALSE((std::is_convertible_v<const char*, Input>));
}

TEST_F(MapErrors, ANegativeSize) {
  const Input negative(DType::F32, kThree.data(), -3);
  EXPECT_EQ(refusal(out_, kThree, negative),
            "map: argument 1 has a negative size; got -3, expected 0 or more.");
  EXPECT_EQ(refusal(out_, negative, kThree),
            "map: argument 0 has a negative size; got -3, expected 0 or more.");
}

TEST_F(MapErrors, OutputsThatOverlapArguments) {
  const std::string words =
      "map: output 0 overlaps argument 1; got shared memory, expected separate arrays. "
      "Give another out, or none.";
  std::vector<float> memory(5);
  EXPECT_EQ(refusal(std::span(memory).first(3), kThree, std::span<const float>(memory).first(3)),
            words);
  EXPECT_EQ(refusal(std::span(memory).first(3), kThree, std::span<const float>(memory).last(3)),
            words);
  EXPECT_EQ(refusal(std::span(memory).last(3), kThree, std::span<const float>(memory).first(3)),
            words);
  EXPECT_EQ(memory, std::vector<float>(5));
}

TEST_F(MapErrors, OutputsOfAnotherTypeSizeOrNumber) {
  EXPECT_EQ(refusal(Tensor(DType::F64, 3), kThree, kThree),
            "map: output 0 has another type; got f64, expected f32.");
  EXPECT_EQ(refusal(Tensor(DType::F32, 4), kThree, kThree),
            "map: output 0 has another size; got 4, expected 3, the mapped size.");
  const std::array<Input, 2> inputs = {Input(kThree), Input(kThree)};
  EXPECT_EQ(message_of<UsageError>([&] { f_.element_function().call_into({}, inputs, {}); }),
            "map: wrong number of outputs; got 0, expected 1.");
  std::array<Tensor, 2> two;
  EXPECT_EQ(message_of<UsageError>([&] { f_.element_function().call(two, inputs, {}); }),
            "map: wrong number of outputs; got 2, expected 1.");
}

TEST_F(MapErrors, OutputsThatOverlapEachOther) {
  auto pair = vectorize([](f32 x) { return std::tuple<f32, f32>(x, -x); });
  std::vector<float> memory(5);
  const std::array<Output, 2> outputs = {Output(std::span(memory).first(3)),
                                         Output(std::span(memory).last(3))};
  const std::array<Input, 1> inputs = {Input(kThree)};
  EXPECT_EQ(message_of<UsageError>([&] { pair.element_function().call_into(outputs, inputs, {}); }),
            "map: outputs 0 and 1 overlap.");
}

TEST_F(MapErrors, TooManyOrTooFewArguments) {
  const std::vector<Input> many(65, Input(kThree));
  std::array<Tensor, 1> results;
  EXPECT_EQ(message_of<UsageError>([&] { f_.element_function().call(results, many, {}); }),
            "map: too many arguments; got 65, expected at most 64.");
  const std::array<Input, 1> one = {Input(kThree)};
  EXPECT_EQ(message_of<UsageError>([&] { f_.element_function().call(results, one, {}); }),
            "map: wrong number of arguments; got 1, expected 2.");
}

TEST_F(MapErrors, FunctionsWithoutResultsOrWithTooMany) {
  const auto returning = [](int count) {
    return [count](std::span<const Input> inputs) {
      trace::Trace trace("f");
      const ir::ValueId x = trace.builder().param("x", inputs[0].type, inputs[0].kind);
      return trace.finish(std::vector<ir::ValueId>(static_cast<std::size_t>(count), x));
    };
  };
  const std::array<Input, 1> one = {Input(kThree)};
  for (const int count : {0, 17}) {
    ElementFunction f(returning(count), {});
    EXPECT_EQ(message_of<UsageError>([&] { f.call({}, one, {}); }),
              "map: the function returns " + std::to_string(count) + " values; expected 1 to 16.");
  }
}

TEST_F(MapErrors, NegativeNumbersAsOptions) {
  const auto refused = [&](const MapOptions& options) {
    return message_of<UsageError>([&] { f_.with(options, kThree, kThree); });
  };
  const std::string words =
      "map: max_steps is negative; got -1, expected 0 for no limit or a number of steps.";
  EXPECT_EQ(refused({.max_steps = -1}), words);
  f_.with({.max_steps = 5}, kThree, kThree);
  EXPECT_EQ(refused({.max_steps = -1}), words) << "also after a good limit";
  EXPECT_EQ(refused({.threads = -2}),
            "map: threads is negative; got -2, expected 0 for all that the process may use or a "
            "number of threads.");
  EXPECT_EQ(refused({.chunk = -64}),
            "map: chunk is negative; got -64, expected 0 for the library's choice or a number of "
            "elements.");
}

TEST_F(MapErrors, SenselessOptionsAreRefusedByEverythingThatTakesThem) {
  const std::string words =
      "map: chunk is negative; got -1, expected 0 for the library's choice or a number of "
      "elements.";
  const MapOptions senseless{.chunk = -1};
  EXPECT_EQ(message_of<UsageError>([&] { map(&difference, kThree, kThree, senseless); }), words);
  EXPECT_EQ(message_of<UsageError>([&] { f_.into(out_, senseless, kThree, kThree); }), words);
  EXPECT_EQ(message_of<UsageError>([&] { f_.explain(kThree, kThree, senseless); }), words);
  EXPECT_EQ(message_of<UsageError>([&] { f_.lower(kThree, kThree, senseless); }), words);
}

TEST_F(MapErrors, MoreThreadsAndLargerChunksThanThereAreElementsAreFine) {
  const auto mapped = f_.with({.threads = 1000000, .chunk = 1}, kThree, 1.0f);
  EXPECT_EQ(mapped.at<float>(2), 2);
  EXPECT_EQ(f_.with({.chunk = INT64_MAX}, kThree, 1.0f).at<float>(2), 2);
}

TEST_F(MapErrors, SenselessSchedulesReachTheCallerThatCompilesNow) {
  auto f = vectorize(&difference, {.name = "f", .schedule = {.isa = plan::Isa::V3, .steps = 0}});
  EXPECT_EQ(
      message_of<UsageError>([&] { f.with({.compile = Compile::Now}, kThree, kThree); }),
      "plan: a senseless schedule was asked for; got packets, 8 lanes x 4 registers, 0 steps a "
      "look, x86-64-v3.");
  auto g = vectorize(&difference, {.name = "f", .schedule = {.refill = true}});
  EXPECT_EQ(message_of<UsageError>([&] { g.with({.compile = Compile::Now}, kThree, kThree); }),
            "plan: refill was asked for; got a program or lane count it does not fit, expected "
            "one top-level loop that elements leave at different steps, and at most 8 lanes below "
            "AVX-512. Leave the schedule to the planner.");
}

TEST_F(MapErrors, AnErrorOfTheTracedFunctionPassesThroughAndTheNextCallWorks) {
  bool broken = true;
  auto f = vectorize([&](f32 x) {
    if (broken) throw std::runtime_error("the user's own");
    return x;
  });
  EXPECT_EQ(message_of<std::runtime_error>([&] { f(kThree); }), "the user's own");
  broken = false;
  EXPECT_EQ(f(kThree).at<float>(1), 2);
}

}  // namespace
}  // namespace lw
