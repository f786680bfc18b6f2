// Machine code that outlives its process, and code that is freed: through the whole library.
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <cstdlib>
#include <sstream>
#include <thread>

#include "lanewise/base/error.h"
#include "lanewise/runtime/compile_queue.h"
#include "lanewise/runtime/disk_store.h"
#include "tests/support/cached_job.h"
#include "tests/support/code_bytes.h"
#include "tests/support/fork.h"
#include "tests/support/message_of.h"
#include "tests/support/programs.h"
#include "tests/support/temporary_directory.h"

namespace lw {
namespace {

using runtime::CodeSource;
using runtime::RunStats;

class CpuDiskCache : public testing::Test {
 protected:
  void SetUp() override {
    setenv("LANEWISE_CACHE_DIR", (directory_.path() + "/cache").c_str(), 1);
    setenv("LANEWISE_DISK_CACHE", "1", 1);
    forget();
    most_bytes_ = cache_info().most_bytes;
  }
  void TearDown() override {
    setenv("LANEWISE_DISK_CACHE", "0", 1);
    setenv("LANEWISE_CACHE_DIR", "/nonexistent/lanewise", 1);
    forget();
    set_cache_bytes(most_bytes_);
  }
  /// As a new process would find it.
  static void forget() {
    runtime::wait_for_compiles();
    clear_cache();
    runtime::reopen_disk_store();
  }
  std::vector<std::string> files() const { return directory_.files("/cache"); }

  test::TemporaryDirectory directory_;
  test::Points points_ = test::mandelbrot_points(64, true);

  struct Result {
    RunStats stats;
    std::vector<std::int32_t> steps;
  };
  Result map(Compile compile = Compile::Now, std::size_t count = ~std::size_t{0}) {
    auto f = vectorize(&test::mandelbrot, {.name = "m", .schedule = {}});
    count = std::min(count, points_.a.size());
    Result result{.stats = {}, .steps = std::vector<std::int32_t>(count)};
    result.stats = f.into(result.steps, {.threads = 1, .compile = compile},
                          std::span<const float>(points_.a).first(count),
                          std::span<const float>(points_.b).first(count));
    return result;
  }

 private:
  std::size_t most_bytes_ = 0;
};

TEST_F(CpuDiskCache, AnotherProcessFindsTheCodeAndGetsTheSameBits) {
  const std::string cold = test::run_cached_job();
  const std::string warm = test::run_cached_job();
  std::istringstream cold_lines(cold);
  std::istringstream warm_lines(warm);
  int functions = 0;
  for (std::string name, source, elements, digest; cold_lines >> name && name != "object";) {
    cold_lines >> source >> elements >> digest;
    EXPECT_EQ(source, "compiled");
    std::string again[4];
    for (std::string& word : again) warm_lines >> word;
    EXPECT_EQ(again[0], name);
    EXPECT_EQ(again[1], "disk");
    EXPECT_EQ(again[2], "0");
    EXPECT_EQ(again[3], digest);
    ++functions;
  }
  EXPECT_EQ(functions, 2);
  // Objects hold no address: they are the same wherever the process lies.
  EXPECT_EQ(cold.substr(cold.find("object ")), warm.substr(warm.find("object ")));
}

TEST_F(CpuDiskCache, TheFirstCallUsesItAndNothingIsCounted) {
  const Result cold = map(Compile::Now);
  EXPECT_EQ(cold.stats.code, CodeSource::Compiled);
  forget();
  const Result warm = map(Compile::Auto);
  EXPECT_EQ(warm.stats.code, CodeSource::Disk);
  EXPECT_GT(warm.stats.load_ms, 0);
  EXPECT_EQ(warm.stats.tier0_elements, 0);
  EXPECT_EQ(warm.steps, cold.steps);
  EXPECT_EQ(warm.steps, points_.steps);
  EXPECT_EQ(map(Compile::Auto).stats.code, CodeSource::Memory);
  EXPECT_EQ(cache_info().disk_hits, 1u);
}

TEST_F(CpuDiskCache, ThePlanIsKeptWithItsReason) {
  auto f = vectorize(&test::mandelbrot, {.name = "m", .schedule = {}});
  f.with({.compile = Compile::Now}, points_.a, points_.b);
  const auto from_schedule = [&] {  // what stands before it is about the run
    const std::string text = f.explain(points_.a, points_.b).str();
    return text.substr(text.find("  schedule  "));
  };
  const std::string cold = from_schedule();
  EXPECT_TRUE(cold.starts_with("  schedule  refill, ")) << cold;
  forget();
  f.with({}, points_.a, points_.b);
  const std::string warm = from_schedule();
  EXPECT_EQ(warm.substr(0, warm.find("\n  from disk ")),
            cold.substr(0, cold.find("\n  compiled ")));
  EXPECT_NE(warm.find("; code: disk\n"), std::string::npos) << warm;
}

TEST_F(CpuDiskCache, APlanOfFewElementsIsMadeAnewForMany) {
  map(Compile::Now, 3);
  forget();
  EXPECT_EQ(map(Compile::Now, 3).stats.code, CodeSource::Disk);
  forget();
  EXPECT_EQ(map(Compile::Now).stats.code, CodeSource::Compiled);
  forget();
  EXPECT_EQ(map(Compile::Now).stats.code, CodeSource::Disk);
  forget();
  EXPECT_EQ(map(Compile::Now, 3).stats.code, CodeSource::Disk);
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(CpuDiskCache, APlanWithoutCountsIsNotKept) {
  auto f = vectorize(&test::mandelbrot, {.name = "m", .schedule = {}});
  const std::array<Input, 2> inputs = {Input(points_.a), Input(points_.b)};
  EXPECT_EQ(f.element_function().compile(inputs, {}).source, CodeSource::Compiled);
  EXPECT_TRUE(files().empty());
}

TEST_F(CpuDiskCache, TheCompileThreadKeepsItToo) {
  EXPECT_EQ(map(Compile::Auto, 100).stats.code, CodeSource::None);
  forget();
  EXPECT_EQ(files().size(), 1u);
  EXPECT_EQ(map(Compile::Auto, 100).stats.code, CodeSource::Disk);
}

TEST_F(CpuDiskCache, OptionsAndProgramsAreToldApart) {
  const std::vector<float> xs = {1, 2, 3};
  const auto source = [&](float factor, plan::Wish wish) {
    auto f = vectorize([&](f32 x) { return x * factor; }, {.name = "f", .schedule = wish});
    std::vector<float> out(3);
    const RunStats stats = f.into(out, {.compile = Compile::Now}, xs);
    EXPECT_EQ(out[2], 3 * factor);
    return stats.code;
  };
  EXPECT_EQ(source(2, {}), CodeSource::Compiled);
  EXPECT_EQ(source(3, {}), CodeSource::Compiled);
  EXPECT_EQ(source(2, {.interleave = 1}), CodeSource::Compiled);
  forget();
  EXPECT_EQ(source(2, {}), CodeSource::Disk);
  EXPECT_EQ(source(3, {}), CodeSource::Disk);
  EXPECT_EQ(source(2, {.interleave = 1}), CodeSource::Disk);
}

TEST_F(CpuDiskCache, WithoutMachineCodeNobodyLooks) {
  map(Compile::Now);
  forget();
  EXPECT_EQ(map(Compile::Never).stats.code, CodeSource::None);
  EXPECT_EQ(cache_info().disk_hits + cache_info().disk_misses, 0u);
}

TEST_F(CpuDiskCache, ADamagedFileIsCompiledAnew) {
  const Result cold = map();
  ASSERT_EQ(files().size(), 1u);
  const std::string file = files()[0];
  const std::string good = test::read_file(file);
  for (std::size_t i = 20; i < good.size(); i += good.size() / 7) {
    std::string bad = good;
    bad[i] = static_cast<char>(~bad[i]);
    test::write_file(file, bad);
    forget();
    const Result again = map();
    EXPECT_EQ(again.stats.code, CodeSource::Compiled) << i;
    EXPECT_EQ(again.steps, cold.steps);
    EXPECT_EQ(test::read_file(file).size(), good.size());
  }
}

TEST_F(CpuDiskCache, AnObjectThatDoesNotLinkIsCompiledAnewInSilence) {
  const Result cold = map();
  const std::string file = files().at(0);
  // The key stands in the file; whoever can write it can write anything, but it must not crash.
  const std::string good = test::read_file(file);
  std::uint64_t key_bytes = 0;
  std::memcpy(&key_bytes, good.data() + 24, sizeof(key_bytes));
  const std::string key = good.substr(48, key_bytes);
  const auto entry = runtime::disk_store()->load(key);
  ASSERT_TRUE(entry);
  std::string unknown = entry->object;  // calls a symbol that is not there
  for (auto at = unknown.find("lanewise_enter"); at != std::string::npos;
       at = unknown.find("lanewise_enter")) {
    unknown[at] = 'x';
  }
  ASSERT_NE(unknown, entry->object);
  for (const std::string& object : {std::string("no object"), std::string(), unknown}) {
    runtime::disk_store()->save(key, {.plan = entry->plan, .object = object});
    forget();
    testing::internal::CaptureStderr();
    const Result again = map();
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    EXPECT_EQ(again.stats.code, CodeSource::Compiled);
    EXPECT_EQ(again.steps, cold.steps);
  }
  runtime::disk_store()->save(key, {.plan = "nonsense", .object = entry->object});
  forget();
  EXPECT_EQ(map().stats.code, CodeSource::Compiled);
}

TEST_F(CpuDiskCache, CodeFromDiskFailsPollsAndCountsStepsLikeOther) {
  const auto collatz = [](i32 n, i32 d) {
    i32 steps = 0;
    While([&] { return n != 1; },
          [&] {
            n = select(n % 2 == 0, n / 2, 3 * n + 1) / d;
            steps = steps + 1;
          });
    return steps;
  };
  std::vector<std::int32_t> n(500);
  std::vector<std::int32_t> d(500, 1);
  for (int i = 0; i < 500; ++i) n[static_cast<std::size_t>(i)] = i + 1;
  const auto source = [&](MapOptions options) {
    auto f = vectorize(collatz);
    std::vector<std::int32_t> out(500);
    options.compile = Compile::Now;
    return f.into(out, options, n, d).code;
  };
  EXPECT_EQ(source({}), CodeSource::Compiled);
  EXPECT_EQ(source({.max_steps = 1000}), CodeSource::Compiled);
  forget();
  EXPECT_EQ(source({}), CodeSource::Disk);
  EXPECT_EQ(source({.max_steps = 1000}), CodeSource::Disk);
  EXPECT_TRUE(test::message_of<ElementError>([&] {
                source({.max_steps = 50});
              }).starts_with("map: element 26 took more loop steps than allowed"));
  d[300] = 0;
  EXPECT_TRUE(test::message_of<ElementError>([&] {
                source({});
              }).starts_with("map: element 300 divides an integer by zero"));
  n[3] = 0;  // never ends
  MapOptions options;
  options.interrupt = [] { return true; };
  EXPECT_THROW(source(options), Cancelled);
}

TEST_F(CpuDiskCache, EvictionFreesTheCodesPages) {
  set_cache_bytes(300'000);
  const std::vector<float> xs = {1, 2, 3};
  std::vector<float> out(3);
  std::size_t most_code = 0;
  std::size_t code_at_100 = 0;
  const std::uint64_t evictions = cache_info().evictions;
  // Functions that live on lose their code like those that are gone.
  std::vector<std::shared_ptr<ElementFunction>> alive;
  for (int i = 0; i < 500; ++i) {
    auto f = std::make_shared<ElementFunction>(
        [i](std::span<const Input> inputs) {
          const auto function = [i](f32 x) { return x * static_cast<float>(i) + 1; };
          return api::trace_function(function, "f", inputs);
        },
        VectorizeOptions{});
    if (i % 2 == 0) alive.push_back(f);
    const Input inputs[] = {xs};
    const Output outputs[] = {out};
    f->call_into(outputs, inputs, {.compile = Compile::Now});
    ASSERT_EQ(out[1], static_cast<float>(2 * i + 1));
    most_code = std::max(most_code, test::anonymous_code_bytes());
    if (i == 100) code_at_100 = most_code;
    ASSERT_LE(cache_info().bytes, 300'000u);
  }
  EXPECT_GT(code_at_100, 0u);
  EXPECT_LE(most_code, code_at_100 + 8192);
  EXPECT_GT(cache_info().evictions, evictions + 400);
  // The first one has lost its code; it comes back from the disk.
  const Input inputs[] = {xs};
  const Output outputs[] = {out};
  const RunStats stats = alive[0]->call_into(outputs, inputs, {.compile = Compile::Now});
  EXPECT_EQ(stats.code, CodeSource::Disk);
  EXPECT_EQ(out[1], 1.0f);
}

TEST_F(CpuDiskCache, ACallThatRunsKeepsItsCode) {
  auto f = vectorize(&test::mandelbrot, {.name = "m", .schedule = {}});
  std::atomic<bool> done = false;
  std::thread other([&] {
    while (!done) clear_cache();
  });
  std::vector<std::int32_t> out(points_.a.size());
  for (int i = 0; i < 50; ++i) {
    std::fill(out.begin(), out.end(), -1);
    f.into(out, {.threads = 2, .compile = i % 2 == 0 ? Compile::Auto : Compile::Now}, points_.a,
           points_.b);
    EXPECT_EQ(out, points_.steps);
  }
  done = true;
  other.join();
}

TEST_F(CpuDiskCache, AForkWhileOthersLoadWorks) {
  if (!test::kCanFork) GTEST_SKIP() << "the sanitizer does not follow";
  map();
  std::atomic<bool> done = false;
  std::thread other([&] {
    while (!done) {
      clear_cache();
      map();
    }
  });
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(test::holds_in_child([&] { return map().steps == points_.steps; }));
  }
  done = true;
  other.join();
}

/// A map whose code can be kept nowhere is compiled, twice, and right. In a process of its own, as
/// `prepare` may give up rights.
class CpuDiskCacheBroken : public CpuDiskCache {
 protected:
  std::string path() const { return directory_.path() + "/cache"; }

  template <class Prepare>
  bool is_compiled_each_time(const Prepare& prepare) {
    return test::holds_in_child([&] {
      if (!prepare()) return false;
      for (int i = 0; i < 2; ++i) {
        forget();
        const Result result = map();
        if (result.stats.code != CodeSource::Compiled || result.steps != points_.steps)
          return false;
      }
      return true;
    });
  }
  void SetUp() override {
    CpuDiskCache::SetUp();
    if (!test::kCanFork) GTEST_SKIP() << "the sanitizer does not follow";
  }
};

TEST_F(CpuDiskCacheBroken, ADirectoryThatCannotBeWritten) {
  constexpr uid_t kNobody = 65534;
  ASSERT_EQ(mkdir(path().c_str(), 0500), 0);
  ASSERT_EQ(chmod(directory_.path().c_str(), 0755), 0);
  const bool is_root = geteuid() == 0;
  if (is_root) {
    ASSERT_EQ(chown(path().c_str(), kNobody, kNobody), 0);
  }
  EXPECT_TRUE(is_compiled_each_time([&] { return !is_root || setuid(kNobody) == 0; }));
  EXPECT_TRUE(files().empty());
}

TEST_F(CpuDiskCacheBroken, ADirectoryOfAnotherUser) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  ASSERT_EQ(mkdir(path().c_str(), 0700), 0);
  ASSERT_EQ(chown(path().c_str(), 65534, 65534), 0);
  EXPECT_TRUE(is_compiled_each_time([] { return true; }));
  EXPECT_TRUE(files().empty());
}

TEST_F(CpuDiskCacheBroken, AFileInPlaceOfTheDirectory) {
  test::write_file(path(), "not a directory");
  EXPECT_TRUE(is_compiled_each_time([] { return true; }));
  EXPECT_EQ(test::read_file(path()), "not a directory");
}

TEST_F(CpuDiskCacheBroken, AFileThatMayNotGrow) {
  EXPECT_TRUE(is_compiled_each_time([] {
    const rlimit limit{.rlim_cur = 1000, .rlim_max = 1000};
    return setrlimit(RLIMIT_FSIZE, &limit) == 0;
  }));
  EXPECT_TRUE(files().empty());
}

TEST_F(CpuDiskCacheBroken, AFullDisk) {
  ASSERT_EQ(mkdir(path().c_str(), 0700), 0);
  if (mount("tmpfs", path().c_str(), "tmpfs", 0, "size=4k,mode=0700") != 0) {
    GTEST_SKIP() << "needs a file system of its own";
  }
  EXPECT_TRUE(is_compiled_each_time([] { return true; }));
  EXPECT_TRUE(files().empty());
  EXPECT_EQ(umount(path().c_str()), 0);
}

TEST_F(CpuDiskCacheBroken, FilesThatAllAreDamaged) {
  map();
  ASSERT_EQ(files().size(), 1u);
  const std::string good = test::read_file(files()[0]);
  for (const std::string& bad : {std::string(), std::string(good.size(), '\0'), good + good,
                                 good.substr(0, good.size() / 2)}) {
    test::write_file(files()[0], bad);
    forget();
    const Result result = map();
    EXPECT_EQ(result.stats.code, CodeSource::Compiled);
    EXPECT_EQ(result.steps, points_.steps);
    EXPECT_EQ(test::read_file(files()[0]), good);
  }
}

TEST_F(CpuDiskCache, ProcessesThatWriteTheSameAtOnceGetTheSameBits) {
  std::string alone = test::run_cached_job();
  ASSERT_FALSE(alone.empty());
  clear_disk_cache();
  std::vector<std::string> texts(4);
  {
    std::vector<std::jthread> threads;
    for (std::string& text : texts) {
      threads.emplace_back([&text] { text = test::run_cached_job(); });
    }
  }
  // Some find what others have written already.
  const auto without_sources = [](std::string text) {
    std::istringstream in(text);
    std::string kept;
    for (std::string line; std::getline(in, line);) {
      kept += line.substr(0, line.find(' ')) + line.substr(line.rfind(' ')) + "\n";
    }
    return kept;
  };
  for (const std::string& text : texts) EXPECT_EQ(without_sources(text), without_sources(alone));
  EXPECT_EQ(files().size(), 2u);
}

TEST_F(CpuDiskCache, ClearingTheDiskCacheRemovesItsFiles) {
  map();
  EXPECT_EQ(cache_info().disk_directory, directory_.path() + "/cache");
  EXPECT_EQ(cache_info().disk_writes, 1u);
  EXPECT_EQ(files().size(), 1u);
  clear_disk_cache();
  EXPECT_TRUE(files().empty());
  forget();
  EXPECT_EQ(map().stats.code, CodeSource::Compiled);
}

}  // namespace
}  // namespace lw
