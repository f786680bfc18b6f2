#include "lanewise/runtime/program_cache.h"

#include <gtest/gtest.h>

#include <thread>

#include "lanewise/ir/parse.h"
#include "tests/support/fake_backend.h"

namespace lw::runtime {
namespace {

using test::FakeCode;

Status do_nothing(Context*, std::int64_t, std::int64_t) { return Status::Done; }

std::shared_ptr<Program> make() {
  const Backend backend = {
      .interpret = test::make_tile_machine,
      .compile = [](const kernel::Kernel&, const plan::Schedule&) -> std::unique_ptr<Code> {
        return std::make_unique<FakeCode>(&do_nothing);
      }};
  auto program =
      std::make_shared<Program>(ir::parse("function f(%0: f32) -> (f32) {\n  return (%0)\n}\n"),
                                false, plan::Wish{}, backend);
  program->compile({});
  return program;
}

class RuntimeProgramCache : public testing::Test {
 protected:
  void SetUp() override {
    clear_cache();
    size_ = cache_info().most_entries;
  }
  void TearDown() override {
    clear_cache();
    set_cache_size(size_);
  }

 private:
  std::size_t size_ = 0;
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

TEST_F(RuntimeProgramCache, BeyondItsBoundTheLeastRecentlyUsedGoes) {
  set_cache_size(2);
  const std::weak_ptr<Program> a = cached_program("a", make);
  const std::weak_ptr<Program> b = cached_program("b", make);
  cached_program("a", make);
  const std::weak_ptr<Program> c = cached_program("c", make);
  EXPECT_FALSE(a.expired());
  EXPECT_TRUE(b.expired());
  EXPECT_FALSE(c.expired());
  EXPECT_EQ(cache_info().entries, 2u);
}

TEST_F(RuntimeProgramCache, CodeIsFreedWithTheLastUserOfAnEvictedProgram) {
  const int before = FakeCode::alive();
  auto used = cached_program("a", make);
  cached_program("b", make);
  EXPECT_EQ(FakeCode::alive(), before + 2);
  set_cache_size(0);
  EXPECT_EQ(cache_info().entries, 0u);
  EXPECT_EQ(FakeCode::alive(), before + 1);
  EXPECT_EQ(used->code(), &do_nothing);
  used.reset();
  EXPECT_EQ(FakeCode::alive(), before);
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
