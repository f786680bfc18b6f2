#include "lanewise/backend/cpu/announce.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "lanewise/backend/cpu/compiler.h"
#include "lanewise/kernel/lower.h"
#include "lanewise/plan/choose.h"
#include "tests/support/programs.h"

namespace lw::backend::cpu {
namespace {

runtime::ObjectCode object_code() {
  const ir::Function f = test::mandelbrot_program();
  return compile_object(kernel::lower(f), plan::choose(f, {.refill = false}, nullptr).schedule);
}

TEST(CpuAnnounce, AnObjectSaysTheNameOfItsFunction) {
  const std::string object = object_code().bytes;
  const auto symbols = find_symbols(object, "kernel", 0x5000);
  ASSERT_FALSE(symbols.empty());
  EXPECT_EQ(symbols[0].name, "lanewise_mandelbrot");
  EXPECT_EQ(symbols[0].address, 0x5000u);
  EXPECT_GT(symbols[0].size, 100u);
  EXPECT_LT(symbols[0].size, object.size());
  EXPECT_TRUE(find_symbols(object, "another", 0x5000).empty());
  EXPECT_TRUE(find_symbols("no object", "kernel", 0x5000).empty());
}

TEST(CpuAnnounce, ASymbolFileIsReadAsAnObject) {
  const std::vector<Symbol> symbols = {{"lanewise_f", 0x7000, 0x100},
                                       {"lanewise_f.part", 0x7100, 8}};
  const std::string file = symbol_file(symbols);
  EXPECT_TRUE(
      file.starts_with("\x7f"
                       "ELF"));
  // Absolute addresses, as it has; the name of a source it does not have.
  const auto found = find_symbols(file, "lanewise_f", 0x7000);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].name, "lanewise_");
  EXPECT_EQ(found[0].address, 0x7000u);
  EXPECT_EQ(found[0].size, 0x100u);
  EXPECT_EQ(found[1].name, "lanewise_.lanewise_f.part");
  EXPECT_EQ(found[1].address, 0x7100u);
}

TEST(CpuAnnounce, ThePerfMapNamesTheKernelAndItsAddress) {
  const std::string path = "/tmp/perf-" + std::to_string(getpid()) + ".map";
  std::filesystem::remove(path);
  const std::string object = object_code().bytes;
  const auto silent = link(object);
  EXPECT_FALSE(std::filesystem::exists(path)) << "not asked for";
  setenv("LANEWISE_PERF", "1", 1);
  const auto code = link(object);
  unsetenv("LANEWISE_PERF");
  std::ifstream map(path);
  std::string address, size, name;
  map >> address >> size >> name;
  EXPECT_EQ(name, "lanewise_mandelbrot");
  EXPECT_EQ(std::stoull(address, nullptr, 16), reinterpret_cast<std::uintptr_t>(code->run()));
  EXPECT_GT(std::stoull(size, nullptr, 16), 100u);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace lw::backend::cpu
