// Elements that are rows: every program gives what the evaluator gives, on both tiers and at every
// width.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "lanewise/api/function.h"
#include "lanewise/base/error.h"
#include "lanewise/ir/parse.h"
#include "tests/support/as_evaluated.h"

namespace lw {
namespace {

void expect_as_evaluated(const std::string& text, std::int64_t count, bool wild) {
  test::expect_as_evaluated(ir::parse(text), count, wild);
}

class RowSizes : public testing::TestWithParam<int> {
 protected:
  /// N is the size, N2 so many times that.
  std::string sized(std::string text, int times = 1) const {
    for (std::size_t at; (at = text.find("N2")) != std::string::npos;) {
      text.replace(at, 2, std::to_string(GetParam() * times));
    }
    for (std::size_t at; (at = text.find('N')) != std::string::npos;) {
      text.replace(at, 1, std::to_string(GetParam()));
    }
    return text;
  }
};

TEST_P(RowSizes, Softmax) {
  expect_as_evaluated(sized(R"(function softmax(%0: f32[N]) -> (f32[N]) {
    %1 = each N (%2: i32) {
      %3 = table_read f32 %0, %2 check
      collect max %3
    }
    %4 = result f32 %1 0
    %5 = each N (%6: i32) {
      %7 = table_read f32 %0, %6 check
      %8 = sub f32 %7, %4
      %9 = exp f32 %8
      collect keep %9
      collect sum %9
    }
    %10 = result f32 %5 0
    %11 = result f32 %5 1
    %12 = each N (%13: i32) {
      %14 = array_read f32 %10, %13 unchecked
      %15 = div f32 %14, %11
      collect keep %15
    }
    %16 = result f32 %12 0
    return (%16)
  })"),
                      37, false);
}

TEST_P(RowSizes, EveryWayToCombine) {
  for (const bool wild : {false, true}) {
    expect_as_evaluated(
        sized(R"(function all(%0: f64[N], %1: f64) -> (f64, f64, f64, f64, i32, i32) {
      %2 = each N (%3: i32) {
        %4 = table_read f64 %0, %3 check
        %5 = mul f64 %4, %1
        collect sum %4
        collect product %5
        collect min %4
        collect max %4
        collect argmin %4
        collect argmax %4
      }
      %6 = result f64 %2 0
      %7 = result f64 %2 1
      %8 = result f64 %2 2
      %9 = result f64 %2 3
      %10 = result i32 %2 4
      %11 = result i32 %2 5
      return (%6, %7, %8, %9, %10, %11)
    })"),
        33, wild);
  }
}

TEST_P(RowSizes, IntegersAndBools) {
  expect_as_evaluated(sized(R"(function ints(%0: u8[N], %1: i64) -> (u8, i64[N], bool, bool, i32) {
    %2 = each N (%3: i32) {
      %4 = table_read u8 %0, %3 check
      %5 = convert i64 %4
      %6 = mul i64 %5, %1
      %7 = gt bool %5, %1
      collect sum %4
      collect keep %6
      collect and %7
      collect or %7
      collect argmax %4
    }
    %8 = result u8 %2 0
    %9 = result i64 %2 1
    %10 = result bool %2 2
    %11 = result bool %2 3
    %12 = result i32 %2 4
    return (%8, %9, %10, %11, %12)
  })"),
                      70, false);
}

TEST_P(RowSizes, RowsOfRows) {
  expect_as_evaluated(sized(R"(function outer(%0: f32[N], %1: f32[3]) -> (f32[N], f32) {
    %2 = each N (%3: i32) {
      %4 = table_read f32 %0, %3 check
      %5 = each 3 (%6: i32) {
        %7 = table_read f32 %1, %6 check
        %8 = mul f32 %7, %4
        collect keep %8
        collect sum %8
      }
      %9 = result f32 %5 0
      %10 = result f32 %5 1
      collect keep %9
      collect keep %10
    }
    %11 = result f32 %2 0
    %12 = result f32 %2 1
    %13 = each N (%14: i32) {
      %15 = constant i32 2
      %16 = mul i32 %14, %15
      %17 = array_read f32 %11, %16 check
      collect sum %17
    }
    %18 = result f32 %13 0
    return (%12, %18)
  })"),
                      35, false);
}

/// Rows of a matrix, kept one behind the other: two and three dimensions.
TEST_P(RowSizes, Matrices) {
  expect_as_evaluated(sized(R"(function blur(%0: f32[N], %1: f32) -> (f32[N2]) {
    %2 = each 12 (%3: i32) {
      %4 = each N (%5: i32) {
        %6 = table_read f32 %0, %5 check
        %7 = convert f32 %3
        %8 = mul f32 %6, %7
        %9 = add f32 %8, %1
        collect keep %9
      }
      %10 = result f32 %4 0
      collect keep %10
    }
    %11 = result f32 %2 0
    return (%11)
  })",
                            12),
                      9, false);
  expect_as_evaluated(sized(R"(function three(%0: f32[N], %1: f32) -> (f32[N2], f32[24]) {
    %2 = each 4 (%3: i32) {
      %4 = each 6 (%5: i32) {
        %6 = each N (%7: i32) {
          %8 = table_read f32 %0, %7 check
          %9 = mul i32 %3, %5
          %10 = convert f32 %9
          %11 = mul f32 %10, %8
          collect keep %11
          collect sum %11
        }
        %12 = result f32 %6 0
        %13 = result f32 %6 1
        collect keep %12
        collect keep %13
      }
      %14 = result f32 %4 0
      %15 = result f32 %4 1
      collect keep %14
      collect keep %15
    }
    %16 = result f32 %2 0
    %17 = result f32 %2 1
    return (%16, %17)
  })",
                            24),
                      5, false);
}

/// What one `each` keeps is read inside of another, by an `each` in that.
TEST_P(RowSizes, Normalised) {
  expect_as_evaluated(sized(R"(function normalised(%0: f32[N2]) -> (f32[N2]) {
    %1 = constant i32 N
    %2 = each 5 (%3: i32) {
      %4 = mul i32 %3, %1
      %5 = each N (%6: i32) {
        %7 = add i32 %4, %6
        %8 = table_read f32 %0, %7 unchecked
        collect sum %8
      }
      %9 = result f32 %5 0
      collect keep %9
    }
    %10 = result f32 %2 0
    %11 = each 5 (%12: i32) {
      %13 = array_read f32 %10, %12 unchecked
      %14 = constant f32 N
      %15 = div f32 %13, %14
      collect keep %15
    }
    %16 = result f32 %11 0
    %17 = each 5 (%18: i32) {
      %19 = mul i32 %18, %1
      %20 = each N (%21: i32) {
        %22 = add i32 %19, %21
        %23 = table_read f32 %0, %22 unchecked
        %24 = array_read f32 %16, %18 unchecked
        %25 = sub f32 %23, %24
        collect keep %25
      }
      %26 = result f32 %20 0
      collect keep %26
    }
    %27 = result f32 %17 0
    return (%27)
  })",
                            5),
                      11, false);
}

/// Programs as they are recorded, an `each` for every operation.
TEST_P(RowSizes, ManySmallSteps) {
  expect_as_evaluated(sized(R"(function steps(%0: f32[N], %1: f32) -> (f32[N], f32, f32) {
    %2 = each N (%3: i32) {
      %4 = table_read f32 %0, %3 check
      collect max %4
    }
    %5 = result f32 %2 0
    %6 = each N (%7: i32) {
      %8 = table_read f32 %0, %7 check
      %9 = sub f32 %8, %5
      collect keep %9
    }
    %10 = result f32 %6 0
    %11 = each N (%12: i32) {
      %13 = array_read f32 %10, %12 unchecked
      %14 = exp f32 %13
      collect keep %14
    }
    %15 = result f32 %11 0
    %16 = each N (%17: i32) {
      %18 = array_read f32 %15, %17 unchecked
      collect sum %18
    }
    %19 = result f32 %16 0
    %20 = mul f32 %1, %1
    %21 = each N (%22: i32) {
      %23 = array_read f32 %15, %22 check
      %24 = mul f32 %23, %20
      collect sum %24
    }
    %25 = result f32 %21 0
    %26 = each N (%27: i32) {
      %28 = array_read f32 %15, %27 unchecked
      %29 = div f32 %28, %19
      collect keep %29
    }
    %30 = result f32 %26 0
    return (%30, %19, %25)
  })"),
                      23, false);
}

/// A loop that positions leave at different steps, inside of a branch.
TEST_P(RowSizes, LoopsInside) {
  expect_as_evaluated(sized(R"(function loops(%0: f32[N], %1: f32) -> (i32[N]) {
    %2 = each N (%3: i32) {
      %4 = table_read f32 %0, %3 check
      %5 = constant i32 0
      %6 = loop (%7: i32 = %5, %8: f32 = %4) {
        %9 = constant f32 4
        %10 = gt bool %8, %9
        %11 = constant i32 20
        %12 = ge bool %7, %11
        %13 = or bool %10, %12
        break_if %13 (%7, %8)
        %14 = mul f32 %8, %8
        %15 = add f32 %14, %1
        %16 = constant i32 1
        %17 = add i32 %7, %16
        next (%17, %15)
      }
      %18 = result i32 %6 0
      collect keep %18
    }
    %19 = result i32 %2 0
    return (%19)
  })"),
                      21, false);
}

/// An array of the element's own that begins as a copy.
TEST_P(RowSizes, Copies) {
  expect_as_evaluated(sized(R"(function copies(%0: f32[N], %1: f32) -> (f32[N], f32[N]) {
    %2 = each N (%3: i32) {
      %4 = table_read f32 %0, %3 check
      collect keep %4
    }
    %5 = result f32 %2 0
    %6 = array f32 %5 N
    %7 = constant i32 0
    array_write %6, %7, %1 check
    return (%5, %6)
  })"),
                      19, false);
}

INSTANTIATE_TEST_SUITE_P(Sizes, RowSizes, testing::Values(1, 2, 7, 8, 9, 16, 40, 64, 65, 100, 300));

/// A row whose places are named one by one: every place, every second one, or few.
std::string named_places(const std::string& type, int size, int apart) {
  std::string text = fmt::format("function named(%0: {0}[{1}]) -> ({0}) {{\n", type, size);
  int next = 1;
  int combined = -1;
  for (int place = size - 1; place >= 0; place -= apart) {
    text += fmt::format("%{} = constant i32 {}\n%{} = table_read {} %0, %{} check\n", next, place,
                        next + 1, type, next);
    const int value = next + 1;
    next += 2;
    if (combined >= 0) {
      text += fmt::format("%{} = sub {} %{}, %{}\n", next, type, value, combined);
      combined = next++;
    } else {
      combined = value;
    }
  }
  return text + fmt::format("return (%{})\n}}", combined);
}

TEST(Rows, PlacesNamedOneByOne) {
  for (const char* type : {"u8", "i16", "f32", "f64"}) {
    for (const int size : {2, 3, 7, 9, 15, 17, 33, 70}) {
      for (const int apart : {1, 2, 5}) {
        expect_as_evaluated(named_places(type, size, apart), 53, false);
      }
    }
  }
}

/// Elements whose arrays do not fit a stack.
TEST(Rows, LargeElements) {
  expect_as_evaluated(R"(function large(%0: f32[40000]) -> (f32[40000]) {
    %1 = each 40000 (%2: i32) {
      %3 = table_read f32 %0, %2 check
      %4 = sqrt f32 %3
      collect keep %4
    }
    %5 = result f32 %1 0
    %6 = each 40000 (%7: i32) {
      %8 = constant i32 39999
      %9 = sub i32 %8, %7
      %10 = array_read f32 %5, %9 unchecked
      %11 = array_read f32 %5, %7 unchecked
      %12 = add f32 %10, %11
      collect keep %12
    }
    %13 = result f32 %6 0
    return (%13)
  })",
                      3, false);
}

TEST(Rows, FailuresNameTheElementAndTheValue) {
  const ir::Function f = ir::parse(R"(function f(%0: i32[20]) -> (i32) {
    %1 = each 20 (%2: i32) {
      %3 = table_read i32 %0, %2 check
      %4 = table_read i32 %0, %3 check
      collect sum %4
    }
    %5 = result i32 %1 0
    return (%5)
  })");
  std::vector<std::int32_t> values(20 * 50, 3);
  values[20 * 31 + 5] = 20;
  for (const Compile compile : {Compile::Never, Compile::Now}) {
    ElementFunction function([&](std::span<const Input>) { return f; }, {.name = "f"});
    std::vector<Tensor> results(1);
    const std::vector<Input> inputs = {Input(values).in_rows(20)};
    try {
      function.call(results, inputs, {.compile = compile});
      FAIL() << "no error";
    } catch (const ElementError& e) {
      EXPECT_NE(std::string(e.what()).find("element 31"), std::string::npos) << e.what();
      EXPECT_NE(std::string(e.what()).find("got 20, expected 0 to 19"), std::string::npos)
          << e.what();
    }
  }
}

}  // namespace
}  // namespace lw
