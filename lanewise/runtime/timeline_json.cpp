// A timeline as the JSON that Chrome's and Perfetto's viewers read: complete events ("X") in
// microseconds, a track for each thread, counters ("C").
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>

#include "lanewise/base/json.h"
#include "lanewise/runtime/timeline.h"

namespace lw::runtime {
namespace {

const char* name_of(Happening what) {
  switch (what) {
    case Happening::Call:
      return "call";
    case Happening::Chunk:
      return "chunk";
    case Happening::TileMachine:
      return "tile machine";
    case Happening::MachineCode:
      return "machine code";
    case Happening::StageIn:
      return "stage in";
    case Happening::StageOut:
      return "stage out";
    case Happening::Fold:
      return "fold";
    case Happening::Wait:
      return "wait";
    case Happening::Sample:
      return "count trips";
    case Happening::Record:
      return "record";
    case Happening::Compile:
      return "compile";
    case Happening::Read:
      return "read from disk";
    case Happening::Emit:
      return "emit";
    case Happening::Passes:
      return "passes";
    case Happening::Code:
      return "code";
    case Happening::Link:
      return "link";
    case Happening::ScratchBytes:
      return "scratch bytes";
    case Happening::LiveLanes:
      return "live lanes";
  }
  return "";
}

/// Those that are one function's, and carry its name.
bool is_named(Happening what) { return what == Happening::Call || what == Happening::Compile; }

class Writer {
 public:
  explicit Writer(const Timeline& timeline) : timeline_(timeline), process_(getpid()) {}

  std::string write() {
    json_.begin_object().member("displayTimeUnit", "ns").key("traceEvents").begin_array();
    name("process_name", 0, "lanewise");
    std::int64_t dropped = 0;
    for (const Track* track : timeline_.tracks()) {
      name("thread_name", track->thread(), track->name());
      dropped += track->dropped();
      write(*track);
    }
    json_.end_array().key("otherData").begin_object();
    json_.member("dropped_events", dropped).end_object().end_object();
    return json_.text();
  }

 private:
  void name(const char* what, int thread, const std::string& name) {
    json_.begin_object().member("ph", "M").member("name", what);
    json_.member("pid", process_).member("tid", thread);
    json_.key("args").begin_object().member("name", name).end_object().end_object();
  }

  /// Those around others first.
  void write(const Track& track) {
    std::vector<std::size_t> order(track.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      const Event& x = track[a];
      const Event& y = track[b];
      if (x.start != y.start) return x.start < y.start;
      return x.end != y.end ? x.end > y.end : a > b;  // of equal ones, the outer ended last
    });
    for (const std::size_t i : order) write(track[i], track.thread());
  }

  void write(const Event& event, int thread) {
    const bool is_counter =
        event.what == Happening::ScratchBytes || event.what == Happening::LiveLanes;
    json_.begin_object().member("ph", is_counter ? "C" : "X");
    if (is_named(event.what) && event.function != nullptr) {
      const bool compiles = event.what == Happening::Compile;
      json_.member("name", (compiles ? "compile " : "") + event.function->name);
    } else {
      json_.member("name", name_of(event.what));
    }
    json_.member("cat", name_of(event.what)).member("pid", process_).member("tid", thread);
    const std::int64_t start = std::max(event.start, timeline_.start());  // a compile's was earlier
    time("ts", start - timeline_.start());
    if (!is_counter) time("dur", std::max<std::int64_t>(event.end - start, 0));
    json_.key("args").begin_object();
    if (event.what == Happening::LiveLanes) {
      json_.member("percent",
                   100 * static_cast<double>(event.count) / static_cast<double>(event.first));
    } else if (is_counter) {
      json_.member("bytes", event.count);
    } else {
      if (event.function != nullptr) json_.member("function", event.function->name);
      if (event.count > 0) json_.member("first", event.first).member("elements", event.count);
    }
    json_.end_object().end_object();
  }

  /// Microseconds, to the nanosecond: viewers nest by them.
  void time(const char* key, std::int64_t ns) {
    json_.key(key).number(fmt::format("{}.{:03}", ns / 1000, ns % 1000));
  }

  const Timeline& timeline_;
  int process_;
  base::Json json_;
};

}  // namespace

std::string Timeline::json() const { return Writer(*this).write(); }

}  // namespace lw::runtime
