// Stores past the caches: the same results, whatever places rows begin at, and nothing beside them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>

#include "lanewise/ir/parse.h"
#include "lanewise/kernel/lower.h"
#include "lanewise/transform/passes.h"
#include "tests/backend/cpu/assembly.h"
#include "tests/support/run_kernel.h"

namespace lw::backend::cpu {
namespace {

using plan::Isa;

constexpr std::int64_t kRows = 5;

/// A row of twice the bytes of a row.
kernel::Kernel doubled(int size, std::string_view type) {
  const std::string text = fmt::format(R"(
function f(%0: u8[{0}]) -> ({1}[{0}]) {{
  %1 = each {0} (%2: i32) {{
    %3 = table_read u8 %0, %2 unchecked
    %4 = add u8 %3, %3
    %5 = convert {1} %4
    collect keep %5
  }}
  %6 = result {1} %1 0
  return (%6)
}}
)",
                                       size, type);
  const ir::Function f = transform::run(ir::parse(text));
  return kernel::lower(transform::serialize(f, {.keeps_inner = true}), {.inner = true});
}

plan::Schedule schedule_of(Isa isa, int lanes) {
  plan::Schedule schedule{.isa = isa, .lanes = lanes, .interleave = 3};
  schedule.inner = true;
  return schedule;
}

template <class T>
void expect_doubled(int size, std::string_view type) {
  const auto row = static_cast<std::size_t>(size);
  std::vector<std::uint8_t> in(row * kRows);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::uint8_t>(i * 7);
  for (const Isa isa : lw::test::fast_isas()) {
    for (const int lanes : {4, 8, 16}) {
      const auto code = compile(doubled(size, type), schedule_of(isa, lanes));
      for (const std::size_t offset : {0, 1, 4}) {
        alignas(64) static T memory[8192];
        std::memset(memory, 0x5a, sizeof memory);
        const T untouched = memory[8191];
        T* out = memory + 64 + offset;
        lw::test::Worker worker({{in.data()}, {out}});
        worker.streams = 1;
        ASSERT_EQ(code->run()(&worker, 0, kRows), runtime::Status::Done);
        for (std::size_t i = 0; i < in.size(); ++i) {
          ASSERT_EQ(out[i], static_cast<T>(static_cast<std::uint8_t>(2 * in[i])))
              << "rows of " << size << ", place " << i << ", " << lanes << " lanes, from "
              << offset;
        }
        EXPECT_EQ(out[-1], untouched);
        EXPECT_EQ(out[in.size()], untouched);
      }
    }
  }
}

TEST(Streaming, RowsOfAnyLengthFromAnyPlace) {
  for (const int size : {64, 100, 508, 509}) {
    expect_doubled<std::uint8_t>(size, "u8");
    expect_doubled<float>(size, "f32");
    expect_doubled<double>(size, "f64");
  }
}

TEST(Streaming, OnlyWhatNobodyReadsAgain) {
  const auto streams = [](const kernel::Kernel& kernel) {
    return test::count(test::instructions(assembly(kernel, schedule_of(Isa::V4, 16))),
                       [](const auto& in) { return in.name.starts_with("vmovnt"); }) > 0;
  };
  EXPECT_TRUE(streams(doubled(512, "f32")));
  EXPECT_FALSE(streams(doubled(512, "u8"))) << "small values";
  EXPECT_FALSE(streams(kernel::parse(R"(
kernel f(f32[512]; ; arrays f32 512 output 0 flat, f32 512 output 0 flat) -> (f32[512]) inner {
  u0: i32 = constant 0
  each 512 {
    v1: bool = active
    v2: f32 = row_read 0 u0, v1 step 1
    array_write 0 u0, v2, v1 step 1
    u3: f32 = collect 1 v2
  }
  each 512 {
    v4: bool = active
    v5: f32 = array_read 0 u0, v4 step 1
    v6: f32 = div v5, u3
    array_write 1 u0, v6, v4 step 1
  }
}
)")));
}

}  // namespace
}  // namespace lw::backend::cpu
