#include "lanewise/runtime/timeline.h"

#include <gtest/gtest.h>

#include <thread>

#include "lanewise/base/error.h"
#include "lanewise/runtime/compile_queue.h"
#include "tests/support/fork.h"

namespace lw::runtime {
namespace {

TEST(RuntimeTimeline, OneIsTakenAtATime) {
  EXPECT_EQ(Timeline::current(), nullptr);
  const auto first = Timeline::begin();
  EXPECT_EQ(Timeline::current(), first);
  EXPECT_THROW(Timeline::begin(), UsageError);
  first->end();
  EXPECT_EQ(Timeline::current(), nullptr);
  const auto second = Timeline::begin();
  EXPECT_NE(second, first);
  first->end();
  EXPECT_EQ(Timeline::current(), second) << "one that has ended ends no other";
  second->end();
}

TEST(RuntimeTimeline, EveryThreadHasATrackOfItsOwn) {
  const auto timeline = Timeline::begin();
  const auto add = [&] {
    const Span outer(timeline.get(), Happening::Chunk, nullptr, 3, 5);
    const Span inner(timeline.get(), Happening::Wait, nullptr);
  };
  add();
  std::thread(add).join();
  add();
  timeline->end();
  const auto tracks = timeline->tracks();
  ASSERT_EQ(tracks.size(), 2u);
  EXPECT_EQ(tracks[0]->size(), 4u);
  EXPECT_EQ(tracks[1]->size(), 2u);
  const Event& inner = (*tracks[1])[0];
  const Event& outer = (*tracks[1])[1];
  EXPECT_EQ(inner.what, Happening::Wait);
  EXPECT_EQ(outer.what, Happening::Chunk);
  EXPECT_EQ(outer.first, 3);
  EXPECT_EQ(outer.count, 5);
  EXPECT_LE(timeline->start(), outer.start);
  EXPECT_LE(outer.start, inner.start);
  EXPECT_LE(inner.end, outer.end);
}

TEST(RuntimeTimeline, WhatBeganEarlierBeginsWithTheTimeline) {
  const auto timeline = Timeline::begin();
  timeline->add({.start = timeline->start() - 1500, .end = timeline->start() + 2500}, nullptr);
  timeline->end();
  EXPECT_NE(timeline->json().find(R"("ts":0.000,"dur":2.500)"), std::string::npos)
      << timeline->json();
}

// The fork waits for a compile, which asks for the timeline when it ends.
TEST(RuntimeTimeline, AForkWaitsForNoThreadThatAsksForIt) {
  if (!test::kCanFork) GTEST_SKIP();
  const auto timeline = Timeline::begin();
  submit_compile([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_NE(Timeline::current(), nullptr);
  });
  EXPECT_TRUE(test::holds_in_child([] { return Timeline::current() == nullptr; }));
  EXPECT_EQ(Timeline::current(), timeline);
  timeline->end();
}

TEST(RuntimeTimeline, EventsBeyondTheBoundAreCountedOnly) {
  Track track;
  for (std::size_t i = 0; i < Track::kMost + 7; ++i) {
    track.add({.start = static_cast<std::int64_t>(i)});
  }
  EXPECT_EQ(track.size(), Track::kMost);
  EXPECT_EQ(track.dropped(), 7);
  EXPECT_EQ(track[Track::kMost - 1].start, static_cast<std::int64_t>(Track::kMost - 1));
}

TEST(RuntimeTimeline, TotalsOfAFunctionAreItsEventsAndElements) {
  const auto timeline = Timeline::begin();
  FunctionTotals& f = timeline->function("f");
  EXPECT_EQ(&f, &timeline->function("f"));
  timeline->add({.start = 10, .end = 30, .what = Happening::Call}, &f);
  timeline->add({.start = 11, .end = 16, .count = 7, .what = Happening::Chunk}, &f);
  timeline->add({.start = 11, .end = 16, .count = 7, .what = Happening::MachineCode}, &f);
  f.add_elements(2, 7);
  timeline->end();
  EXPECT_EQ(f.calls, 1);
  EXPECT_EQ(f.call_ns, 20);
  EXPECT_EQ(f.busy_ns, 5);
  EXPECT_EQ(f.code_elements, 7);
  EXPECT_EQ(f.tile_elements, 2);
}

}  // namespace
}  // namespace lw::runtime
