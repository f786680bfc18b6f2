#include "lanewise/api/profile.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <thread>

#include "lanewise/lanewise.h"
#include "lanewise/runtime/compile_queue.h"
#include "lanewise/runtime/timeline.h"
#include "tests/support/programs.h"
#include "tests/support/temporary_directory.h"

namespace lw {
namespace {

/// The part of the trace behind "name":"...", for looking at without a parser; Python's tests read
/// it as JSON.
bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Profile, SeesCallsChunksAndCompiles) {
  const test::Points p = test::mandelbrot_points(300, true);
  auto f = vectorize(&test::mandelbrot, {.name = "profiled", .schedule = {}});
  Profile profile;
  f.with({.threads = 2, .compile = Compile::Now, .chunk = 16384}, p.a, p.b);
  profile.stop();
  const std::string json = profile.json();
  for (const char* name :
       {"\"profiled\"", "\"compile profiled\"", "\"chunk\"", "\"machine code\"", "\"count trips\"",
        "\"record\"", "\"wait\"", "\"scratch bytes\"", "\"dropped_events\":0"}) {
    EXPECT_TRUE(has(json, name)) << name;
  }
  const ProfileSummary summary = profile.summary();
  ASSERT_EQ(summary.rows.size(), 1u);
  const ProfileRow& row = summary.rows[0];
  EXPECT_EQ(row.name, "profiled");
  EXPECT_EQ(row.calls, 1);
  EXPECT_EQ(row.elements, 90000);
  EXPECT_EQ(row.machine_code, 1);
  EXPECT_GT(row.compile_seconds, 0);
  EXPECT_GT(row.workers, 0);
  EXPECT_LE(row.seconds, summary.seconds);
  EXPECT_TRUE(summary.str().starts_with("function ")) << summary;
  EXPECT_TRUE(has(summary.str(), "\nprofiled ")) << summary;
}

TEST(Profile, CountsLiveLanesOfTheTileMachineAndOfPackets) {
  std::vector<double> counts(3000, 2.0);
  for (std::size_t i = 0; i < counts.size(); i += 7) counts[i] = 90;
  for (const Compile compile : {Compile::Never, Compile::Now}) {
    auto f = vectorize(
        [](f64 x) {
          While([&] { return x > 0; }, [&] { x = x - 1; });
          return x;
        },
        {.name = "uneven", .schedule = {.refill = false}});
    Profile profile;
    f.with({.threads = 1, .compile = compile}, counts);
    profile.stop();
    const std::string json = profile.json();
    const std::size_t at = json.find("\"live lanes\"");
    ASSERT_NE(at, std::string::npos) << json;
    const double percent = std::stod(json.substr(json.find("\"percent\":", at) + 10));
    EXPECT_GT(percent, 10) << json;
    EXPECT_LT(percent, 95) << json;
  }
}

TEST(Profile, SeesTheTileMachineAndSmallCalls) {
  const std::vector<float> xs(10);
  auto f = vectorize([](f32 x) { return x + 1; }, {.name = "small", .schedule = {}});
  Profile profile;
  for (int i = 0; i < 5; ++i) f.with({.compile = Compile::Never}, xs);
  const ProfileSummary summary = profile.summary();
  ASSERT_EQ(summary.rows.size(), 1u);
  EXPECT_EQ(summary.rows[0].calls, 5);
  EXPECT_EQ(summary.rows[0].elements, 50);
  EXPECT_EQ(summary.rows[0].machine_code, 0);
}

TEST(Profile, CallsOutsideOfItAreNotInIt) {
  const std::vector<float> xs(10);
  auto f = vectorize([](f32 x) { return x + 2; }, {.name = "outside", .schedule = {}});
  f(xs);
  Profile profile;
  profile.stop();
  f(xs);
  EXPECT_TRUE(profile.summary().rows.empty());
}

TEST(Profile, TracksOfWorkersAreNested) {
  const test::Points p = test::mandelbrot_points(300, true);
  auto f = vectorize(&test::mandelbrot, {.name = "nested", .schedule = {}});
  const auto timeline = runtime::Timeline::begin();
  const auto call = [&] {
    for (int i = 0; i < 5; ++i) f.with({.threads = 2, .chunk = 4096}, p.a, p.b);
  };
  std::thread other(call);
  call();
  other.join();
  runtime::wait_for_compiles();
  timeline->end();
  EXPECT_GE(timeline->tracks().size(), 3u) << "two callers, the compiler and workers";
  for (const runtime::Track* track : timeline->tracks()) {
    ASSERT_GT(track->size(), 0u);
    // In the order of their ends, an event holds all before it that began no sooner.
    for (std::size_t i = 1; i < track->size(); ++i) {
      const runtime::Event& event = (*track)[i];
      ASSERT_LE(event.start, event.end);
      ASSERT_LE((*track)[i - 1].end, event.end);
      for (std::size_t j = i; j-- > 0 && (*track)[j].end > event.start;) {
        ASSERT_GE((*track)[j].start, event.start);
      }
    }
  }
}

TEST(Profile, WritesItsFileOnceAtTheEnd) {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path() + "/trace.json";
  std::string json;
  {
    Profile profile(path);
    json = profile.json();
    EXPECT_FALSE(std::ifstream(path).good());
  }
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(text.str(), json);
}

TEST(Profile, AFileThatCannotBeWrittenIsAnError) {
  Profile profile("/nowhere/of/this/name/trace.json");
  EXPECT_THROW(profile.stop(), ResourceError);
}

}  // namespace
}  // namespace lw
