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

class ProfileTest : public testing::Test {
 protected:
  // What tests before left to be compiled would be seen too.
  void SetUp() override { runtime::wait_for_compiles(); }
};

/// The part of the trace behind "name":"...", for looking at without a parser; Python's tests read
/// it as JSON.
bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

int count_of(const std::string& text, const std::string& part) {
  int count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST_F(ProfileTest, SeesCallsChunksAndCompiles) {
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

/// The value of the first counter of live lanes.
double live_lanes(const std::string& json) {
  const std::size_t at = json.find("\"live lanes\"");
  if (at == std::string::npos) return -1;
  return std::stod(json.substr(json.find("\"percent\":", at) + 10));
}

TEST_F(ProfileTest, CountsLiveLanesOfTheTileMachineAndOfPackets) {
  const auto countdown = [](f64 x) {
    While([&] { return x > 0; }, [&] { x = x - 1; });
    return x;
  };
  std::vector<double> counts(3000, 2.0);  // two thirds of the lanes live on, which are not packed
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = i % 3 == 0 ? 2 : 90;
  auto on_tiles = vectorize(countdown, {.name = "on_tiles"});
  {
    Profile profile;
    on_tiles.with({.threads = 1, .compile = Compile::Never}, counts);
    profile.stop();
    EXPECT_GT(live_lanes(profile.json()), 60) << profile.json();
    EXPECT_LT(live_lanes(profile.json()), 75) << profile.json();
  }
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = 20 + static_cast<double>(i % 3);
  auto in_packets = vectorize(countdown, {.name = "in_packets"});
  Profile profile;
  in_packets.with({.threads = 1, .compile = Compile::Now}, counts);
  profile.stop();
  ASSERT_FALSE(in_packets.explain(counts).schedule.refill);
  EXPECT_GT(live_lanes(profile.json()), 80) << profile.json();
  EXPECT_LT(live_lanes(profile.json()), 100) << profile.json();
}

TEST_F(ProfileTest, LooksAtLanesThatAreRefilled) {
  auto f = vectorize(
      [](f64 x) {
        While([&] { return x > 0; }, [&] { x = x - 1; });
        return x;
      },
      {.name = "refilled"});
  std::vector<double> counts(200'000);
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = i % 8 == 0 ? 3e4 : 1e3;
  for (const int threads : {1, 2}) {
    const MapOptions options{.threads = threads, .compile = Compile::Now};
    Profile profile;
    f.with(options, counts);
    profile.stop();
    EXPECT_GT(live_lanes(profile.json()), 0) << profile.json();
    EXPECT_LE(live_lanes(profile.json()), 100) << profile.json();
    const Explanation e = f.explain(counts);
    ASSERT_TRUE(e.schedule.refill);
    ASSERT_TRUE(e.last_run);
    const runtime::LaneSteps& lanes = e.last_run->lanes;
    // Packets would use a fifth of their lanes; here few wait, but where a chunk ends.
    EXPECT_GT(lanes.live * 2, lanes.all);
    EXPECT_LE(lanes.live, lanes.all);
    EXPECT_GT(lanes.live, 0);
    EXPECT_TRUE(has(e.html(), " % were in use whenever the last run was looked at")) << e.html();
    EXPECT_TRUE(has(e.json(), "\"lanes\":{\"live\":"));
  }
}

TEST_F(ProfileTest, SeesTheTileMachineAndSmallCalls) {
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

TEST_F(ProfileTest, ShowsTheFirstBlocksThatAChunkStagesAndCountsAllElements) {
  constexpr std::int64_t kElements = 500'000;
  const std::vector<float> xs(3 * kElements, 1.0f);
  std::vector<float> out(kElements);
  auto f = vectorize([](f32 x) { return x + 3; }, {.name = "staged", .schedule = {}});
  const Strided<const float> apart{xs.data(), kElements, 3};
  for (const Compile compile : {Compile::Now, Compile::Never}) {
    Profile profile;
    f.into(out, {.threads = 1, .compile = compile, .chunk = kElements / 2}, apart);
    profile.stop();
    const std::string json = profile.json();
    const std::string code = compile == Compile::Now ? "machine code" : "tile machine";
    for (const std::string& name : {std::string("stage in"), code, std::string("stage out")}) {
      EXPECT_EQ(count_of(json, "\"name\":\"" + name + "\""), 2 * 8) << name;  // of two chunks
    }
    ASSERT_EQ(profile.summary().rows.size(), 1u);
    EXPECT_EQ(profile.summary().rows[0].elements, kElements);
  }
}

TEST_F(ProfileTest, CallsOutsideOfItAreNotInIt) {
  const std::vector<float> xs(10);
  auto f = vectorize([](f32 x) { return x + 2; }, {.name = "outside", .schedule = {}});
  f(xs);
  Profile profile;
  profile.stop();
  f(xs);
  EXPECT_TRUE(profile.summary().rows.empty());
}

TEST_F(ProfileTest, TracksOfWorkersAreNested) {
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

TEST_F(ProfileTest, WritesItsFileOnceAtTheEnd) {
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

TEST_F(ProfileTest, AFileThatCannotBeWrittenIsAnError) {
  Profile profile("/nowhere/of/this/name/trace.json");
  EXPECT_THROW(profile.stop(), ResourceError);
}

}  // namespace
}  // namespace lw
