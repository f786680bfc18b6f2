#include "lanewise/transform/streams.h"

#include <gtest/gtest.h>

#include <random>

#include "lanewise/ir/evaluate.h"
#include "lanewise/ir/parse.h"
#include "lanewise/ir/verify.h"
#include "lanewise/transform/passes.h"

namespace lw::transform {
namespace {

/// Rows of 70 are made of a row of 20 * 70 values; each is read by rows of another `each` with
/// `lines`, whose own row is %30 and place %31, and which keeps %40. Then follow `more` lines.
ir::Function program(int rows, const std::string& lines, const std::string& more = "",
                     const std::string& result = "%44", int result_rows = 0) {
  return ir::parse(
      "function f(%0: f32[1400]) -> (f32[" +
      std::to_string((result_rows > 0 ? result_rows : rows) * 70) +
      "]) {\n  %1 = constant i32 70\n  %2 = constant f32 0.5\n  %3 = each 20 (%4: i32) {\n"
      "    %5 = each 70 (%6: i32) {\n      %7 = mul i32 %4, %1\n      %8 = add i32 %7, %6\n"
      "      %9 = table_read f32 %0, %8 unchecked\n      %10 = div f32 %9, %2\n"
      "      %11 = sqrt f32 %10\n      collect keep %11\n    }\n    %12 = result f32 %5 0\n"
      "    collect keep %12\n  }\n  %13 = result f32 %3 0\n  %29 = each " +
      std::to_string(rows) + " (%30: i32) {\n    %32 = each 70 (%31: i32) {\n" + lines +
      "      collect keep %40\n    }\n    %43 = result f32 %32 0\n    collect keep %43\n  }\n"
      "  %44 = result f32 %29 0\n" +
      more + "  return (" + result + ")\n}\n");
}

/// The k-th row from its own on, times a number.
std::string read(int k, int at) {
  const std::string n[5] = {std::to_string(at), std::to_string(at + 1), std::to_string(at + 2),
                            std::to_string(at + 3), std::to_string(at + 4)};
  return "      %" + n[0] + " = constant i32 " + std::to_string(k) + "\n      %" + n[1] +
         " = add i32 %30, %" + n[0] + "\n      %" + n[2] + " = mul i32 %" + n[1] + ", %1\n      %" +
         n[3] + " = add i32 %" + n[2] + ", %31\n      %" + n[4] + " = array_read f32 %13, %" +
         n[3] + " unchecked\n";
}

const std::string kFourApart = read(0, 50) + read(2, 60) + read(4, 70) +
                               "      %80 = sub f32 %54, %64\n      %40 = sub f32 %80, %74\n";

std::size_t array_places(const ir::Function& f) {
  std::size_t sum = 0;
  ir::for_each(f, [&](ir::ValueId id, int) { sum += f[id].op == ir::Op::Array ? f[id].index : 0; });
  return sum;
}

/// In streams, it gives what it gave.
void expect_same(const ir::Function& f) {
  std::mt19937 random(1);
  std::vector<float> row(1400);
  for (float& x : row) x = std::uniform_real_distribution<float>(0, 9)(random);
  const types::Table table{row.data(), std::ssize(row)};
  const ir::Function streamed = serialize(f, {.keeps_inner = true, .large = 0});
  ir::verify(streamed);
  const auto results = [&](const ir::Function& g) {
    return ir::evaluate(g, {}, {.tables = std::span(&table, 1)}).results;
  };
  EXPECT_EQ(results(f), results(streamed));
}

TEST(Streams, RowsThatAreReadSomeRowsLaterAreKeptInARing) {
  const ir::Function f = program(16, kFourApart);
  const Streams found = find_streams(f, 0);
  ASSERT_EQ(found.streams.size(), 1u);
  EXPECT_EQ(found.streams[0].steps, 20u);
  EXPECT_EQ(found.streams[0].members[0].delay, 0u);
  EXPECT_EQ(found.streams[0].members[1].delay, 4u);
  ASSERT_EQ(found.rings.size(), 1u);
  EXPECT_EQ(found.rings.begin()->second.depth, 8u);
  const ir::Function streamed = serialize(f, {.keeps_inner = true, .large = 0});
  EXPECT_EQ(array_places(streamed), std::size_t{16 * 70 + 8 * 80});
  expect_same(f);
}

TEST(Streams, OfItsOwnRowOneIsKept) {
  const ir::Function f = program(20, read(0, 50) + "      %40 = mul f32 %54, %54\n");
  EXPECT_EQ(find_streams(f, 0).rings.begin()->second.depth, 1u);
  expect_same(f);
}

TEST(Streams, AReaderMayHaveFewerRowsOrLaterOnes) {
  expect_same(program(3, read(0, 50) + read(1, 60) + "      %40 = sub f32 %54, %64\n"));
  expect_same(program(5, read(15, 50) + read(9, 60) + "      %40 = sub f32 %54, %64\n"));
}

/// Rows of what was kept, less those two further.
const std::string kTwoApart =
    "  %90 = each 14 (%91: i32) {\n    %92 = each 70 (%93: i32) {\n"
    "      %94 = mul i32 %91, %1\n      %95 = add i32 %94, %93\n      %96 = constant i32 140\n"
    "      %97 = add i32 %95, %96\n      %98 = array_read f32 %44, %95 unchecked\n"
    "      %99 = array_read f32 %44, %97 unchecked\n      %100 = sub f32 %98, %99\n"
    "      collect keep %100\n    }\n    %101 = result f32 %92 0\n    collect keep %101\n  }\n"
    "  %102 = result f32 %90 0\n";

TEST(Streams, SeveralFollowOneAnother) {
  const ir::Function f = program(16, kFourApart, kTwoApart, "%102", 14);
  const Streams found = find_streams(f, 0);
  ASSERT_EQ(found.streams.size(), 1u);
  EXPECT_EQ(found.streams[0].members.size(), 3u);
  EXPECT_EQ(found.streams[0].members[2].delay, 6u);
  EXPECT_EQ(found.rings.size(), 2u);
  expect_same(f);
}

TEST(Streams, AResultIsKeptAsAWhole) {
  const ir::Function f = program(16, kFourApart, kTwoApart);
  EXPECT_EQ(find_streams(f, 0).rings.size(), 1u);
  expect_same(f);
}

TEST(Streams, WhatIsReadElsewhereIsKeptAsAWhole) {
  EXPECT_TRUE(find_streams(program(16, kFourApart), 1 << 20).rings.empty()) << "not large";
  // By columns.
  const std::string across =
      "      %50 = mul i32 %31, %1\n      %51 = add i32 %50, %30\n      %52 = constant i32 15\n"
      "      %53 = min i32 %31, %52\n      %54 = mul i32 %53, %1\n      %55 = add i32 %54, %30\n"
      "      %40 = array_read f32 %13, %55 unchecked\n";
  EXPECT_TRUE(find_streams(program(16, across), 0).rings.empty());
  expect_same(program(16, across));
}

TEST(Streams, PlacesThatAreReadByRowsAreGoneThroughByRows) {
  const ir::Function f = ir::parse(R"(function f(%0: f32[1400]) -> (f32[1330]) {
    %1 = each 1400 (%2: i32) {
      %3 = table_read f32 %0, %2 unchecked
      %4 = sqrt f32 %3
      %5 = div f32 %4, %3
      collect keep %5
    }
    %6 = result f32 %1 0
    %7 = each 19 (%8: i32) {
      %9 = each 70 (%10: i32) {
        %11 = constant i32 70
        %12 = mul i32 %8, %11
        %13 = add i32 %12, %10
        %14 = add i32 %13, %11
        %15 = array_read f32 %6, %13 unchecked
        %16 = array_read f32 %6, %14 unchecked
        %17 = sub f32 %15, %16
        collect keep %17
      }
      %18 = result f32 %9 0
      collect keep %18
    }
    %19 = result f32 %7 0
    return (%19)
  })");
  EXPECT_TRUE(find_streams(f, 0).rings.empty());
  EXPECT_EQ(find_streams(in_rows(f, 0), 0).rings.size(), 1u);
  expect_same(f);
}

}  // namespace
}  // namespace lw::transform
