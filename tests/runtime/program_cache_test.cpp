#include "lanewise/runtime/program_cache.h"

#include <gtest/gtest.h>

#include <thread>

#include "lanewise/ir/parse.h"
#include "lanewise/runtime/compile_queue.h"
#include "tests/support/fake_backend.h"

namespace lw::runtime {
namespace {

using test::FakeCode;

Status do_nothing(Context*, std::int64_t, std::int64_t) { return Status::Done; }

std::shared_ptr<Program> make_program() {
  const Backend backend = {.interpret = test::make_tile_machine,
                           .compile = test::compile_nothing,
                           .link = [](const std::string&) -> std::unique_ptr<Code> {
                             return std::make_unique<FakeCode>(&do_nothing);
                           }};
  return std::make_shared<Program>(ir::parse("function f(%0: f32) -> (f32) {\n  return (%0)\n}\n"),
                                   plan::Wish{}, backend);
}

std::shared_ptr<Program> make() {
  auto program = make_program();
  program->compile({});
  return program;
}

class RuntimeProgramCache : public testing::Test {
 protected:
  void SetUp() override {
    wait_for_compiles();
    clear_cache();
    most_bytes_ = cache_info().most_bytes;
  }
  void TearDown() override {
    clear_cache();
    set_cache_bytes(most_bytes_);
  }

 private:
  std::size_t most_bytes_ = 0;
};

TEST_F(RuntimeProgramCache, AKeyIsMadeOnceAndFoundAfterwards) {
  const CacheInfo before = cache_info();
  const auto first = cached_program("a", make);
  const auto again = cached_program("a", [&]() -> std::shared_ptr<Program> {
    ADD_FAILURE() << "made twice";
    return make();
  });
  EXPECT_EQ(first, again);
  EXPECT_EQ(cache_info().misses, before.misses + 1);
  EXPECT_EQ(cache_info().hits, before.hits + 1);
  EXPECT_EQ(cache_info().entries, 1u);
  EXPECT_NE(cached_program("b", make), first);
}

/// The bytes of one entry of `make`'s.
std::size_t entry_bytes() {
  cached_program("x", make);
  const std::size_t bytes = cache_info().bytes;
  clear_cache();
  return bytes;
}

TEST_F(RuntimeProgramCache, CountsTheBytesOfTablesAndCode) {
  EXPECT_EQ(cache_info().bytes, 0u);
  const auto program = cached_program("a", [] { return make_program(); });
  const std::size_t tables = cache_info().bytes;
  EXPECT_GT(tables, sizeof(Program));
  program->compile({});
  EXPECT_GE(cache_info().bytes, tables + 4096);
  clear_cache();
  EXPECT_EQ(cache_info().bytes, 0u);
}

TEST_F(RuntimeProgramCache, BeyondItsBytesTheLeastRecentlyUsedGoes) {
  set_cache_bytes(entry_bytes() * 5 / 2);
  const std::uint64_t before = cache_info().evictions;
  const std::weak_ptr<Program> a = cached_program("a", make);
  const std::weak_ptr<Program> b = cached_program("b", make);
  cached_program("a", make);
  const std::weak_ptr<Program> c = cached_program("c", make);
  EXPECT_FALSE(a.expired());
  EXPECT_TRUE(b.expired());
  EXPECT_FALSE(c.expired());
  EXPECT_EQ(cache_info().entries, 2u);
  EXPECT_EQ(cache_info().evictions, before + 1);
  EXPECT_LE(cache_info().bytes, cache_info().most_bytes);
}

TEST_F(RuntimeProgramCache, ACallIsAUseToo) {
  set_cache_bytes(entry_bytes() * 5 / 2);
  const auto a = cached_program("a", make);
  const std::weak_ptr<Program> b = cached_program("b", make);
  {
    const Program::Use use(*a);
  }
  cached_program("c", make);
  EXPECT_NE(a->code(), nullptr);
  EXPECT_TRUE(b.expired());
}

TEST_F(RuntimeProgramCache, TheOneThatCameLastStaysHoweverLarge) {
  set_cache_bytes(1);
  const std::weak_ptr<Program> a = cached_program("a", make);
  EXPECT_FALSE(a.expired());
  const std::weak_ptr<Program> b = cached_program("b", make);
  EXPECT_TRUE(a.expired());
  EXPECT_FALSE(b.expired());
}

TEST_F(RuntimeProgramCache, EvictedProgramsLoseTheirCodeAndComeBackWithNewCode) {
  const int before = FakeCode::alive();
  const auto used = cached_program("a", make);
  cached_program("b", make);
  EXPECT_EQ(FakeCode::alive(), before + 2);
  set_cache_bytes(0);
  EXPECT_EQ(cache_info().entries, 0u);
  EXPECT_EQ(FakeCode::alive(), before);
  EXPECT_EQ(used->code(), nullptr);
  EXPECT_FALSE(used->report().compiled);
  set_cache_bytes(1 << 20);
  used->compile({});
  EXPECT_EQ(used->code(), &do_nothing);
  EXPECT_EQ(cache_info().entries, 1u);
  EXPECT_EQ(cached_program("a", make), used);
}

TEST_F(RuntimeProgramCache, AProgramThatRunsKeepsItsCode) {
  const auto program = cached_program("a", make);
  {
    const Program::Use use(*program);
    clear_cache();
    EXPECT_EQ(program->code(), &do_nothing);
    EXPECT_EQ(cache_info().entries, 1u);
  }
  clear_cache();
  EXPECT_EQ(program->code(), nullptr);
  EXPECT_EQ(cache_info().entries, 0u);
}

TEST_F(RuntimeProgramCache, AProgramThatIsDroppedWhileItCompilesStaysAway) {
  static std::atomic<int> stage = 0;
  stage = 0;
  const Backend backend = {.interpret = test::make_tile_machine,
                           .compile =
                               [](const kernel::Kernel&, const plan::Schedule&) {
                                 stage = 1;
                                 while (stage != 2) {
                                 }
                                 return ObjectCode();
                               },
                           .link = [](const std::string&) -> std::unique_ptr<Code> {
                             return std::make_unique<FakeCode>(&do_nothing);
                           }};
  const std::weak_ptr<Program> dropped = cached_program("a", [&] {
    return std::make_shared<Program>(
        ir::parse("function f(%0: f32) -> (f32) {\n  return (%0)\n}\n"), plan::Wish{}, backend);
  });
  dropped.lock()->compile_in_background({});
  while (stage != 1) {
  }
  clear_cache();
  EXPECT_EQ(cache_info().entries, 0u);
  stage = 2;
  wait_for_compiles();
  EXPECT_TRUE(dropped.expired());
  EXPECT_EQ(cache_info().entries, 0u);
}

TEST_F(RuntimeProgramCache, AMakerThatThrowsLeavesNothingBehind) {
  EXPECT_THROW(
      cached_program("a", []() -> std::shared_ptr<Program> { throw std::runtime_error("no"); }),
      std::runtime_error);
  EXPECT_EQ(cache_info().entries, 0u);
  EXPECT_NE(cached_program("a", make), nullptr);
}

TEST_F(RuntimeProgramCache, ThreadsThatAskAtOnceGetOneProgram) {
  std::vector<std::shared_ptr<Program>> got(8);
  std::vector<std::thread> threads;
  for (auto& program : got) {
    threads.emplace_back([&] { program = cached_program("a", make); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& program : got) EXPECT_EQ(program, got[0]);
  EXPECT_EQ(cache_info().entries, 1u);
}

}  // namespace
}  // namespace lw::runtime
