// An explanation as JSON: one object, with the names that the struct has.
#include <fmt/core.h>

#include <fstream>

#include "lanewise/api/explain.h"
#include "lanewise/base/error.h"
#include "lanewise/base/json.h"

namespace lw {
namespace {

using base::Json;

template <class T>
void list(Json& json, const char* name, const std::vector<T>& values) {
  json.key(name).begin_array();
  for (const T& value : values) json.value(value);
  json.end_array();
}

void write_code(Json& json, const Explanation& e) {
  json.member("compiled", e.compiled).member("error", e.error);
  json.member("source", runtime::name_of(e.source)).member("code_bytes", e.code_bytes);
  const plan::Schedule& s = e.schedule;
  json.key("schedule").begin_object().member("text", plan::to_string(s));
  json.member("refill", s.refill).member("inner", s.inner).member("batched", s.batched);
  json.member("isa", plan::name_of(s.isa)).member("lanes", s.lanes);
  json.member("interleave", s.interleave).member("steps", s.steps);
  json.member("threshold", s.threshold).member("reason", e.reason).end_object();
  json.key("considered").begin_array();
  for (const plan::Considered& c : e.considered) {
    json.begin_object().member("what", c.what).member("chosen", c.chosen);
    json.member("ns", c.ns).member("why", c.why).end_object();
  }
  json.end_array();
  const runtime::CompileTimes& t = e.times;
  json.key("times_ms").begin_object().member("read", t.read_ms).member("emit", t.emit_ms);
  json.member("passes", t.passes_ms).member("code", t.code_ms);
  json.member("link", t.link_ms).end_object();
  json.key("trips").begin_object().member("samples", e.trips.samples);
  json.member("mean", e.trips.mean).member("most", e.trips.most);
  json.member("occupancy", e.trips.occupancy);
  list(json, "histogram", e.trips.histogram);
  json.end_object();
}

void write_run(Json& json, const runtime::RunStats& run) {
  json.begin_object().member("workers", run.workers).member("chunk", run.chunk);
  json.member("tier0_elements", run.tier0_elements).member("tier1_elements", run.tier1_elements);
  json.member("code", runtime::name_of(run.code)).member("scratch_bytes", run.scratch_bytes);
  json.member("peak_bytes", run.peak_bytes).member("load_ms", run.load_ms);
  json.key("lanes").begin_object().member("live", run.lanes.live).member("all", run.lanes.all);
  json.end_object().member("seconds", run.seconds).key("shares").begin_array();
  for (const runtime::WorkerShare& share : run.shares) {
    json.begin_object().member("chunks", share.chunks).member("elements", share.elements);
    json.member("seconds", share.seconds).end_object();
  }
  json.end_array().key("memory").begin_array();
  for (const runtime::MemoryUseAt& use : run.memory) {
    json.begin_object().member("seconds", use.seconds).member("bytes", use.bytes).end_object();
  }
  json.end_array().end_object();
}

void write_lines(Json& json, const std::vector<LineShare>& lines) {
  json.key("lines").begin_array();
  for (const LineShare& line : lines) {
    json.begin_object().member("file", line.file).member("line", line.line);
    json.member("text", line.text).member("estimated_share", line.share).end_object();
  }
  json.end_array();
}

}  // namespace

std::string Explanation::json() const {
  Json json;
  json.begin_object().member("name", name);
  list(json, "answer", answer);
  json.member("math", math == Math::Fast ? "fast" : "strict");
  json.member("accuracy", accuracy == Accuracy::High ? "high" : "default");
  json.member("program", program).member("recorded", recorded);
  json.member("instructions", instructions).member("lane_instructions", lane_instructions);
  json.member("flops", flops).member("bytes_in", bytes_in).member("bytes_out", bytes_out);
  json.member("scratch_bytes", scratch_bytes).member("projected_bytes", projected_bytes);
  json.member("budget_bytes", budget_bytes).member("refusal", refusal);
  list(json, "copied", copied);
  write_code(json, *this);
  list(json, "numerics", numerics);
  list(json, "scalar", scalar);
  write_lines(json, lines);
  json.key("last_run");
  if (last_run) {
    write_run(json, *last_run);
  } else {
    json.number("null");
  }
  json.key("roofline");
  if (roofline) {
    json.begin_object().member("flops_a_byte", roofline->flops_a_byte);
    json.member("flops", roofline->flops).member("bytes", roofline->bytes);
    json.member("most_flops", roofline->most_flops);
    json.member("most_bytes", roofline->most_bytes).end_object();
  } else {
    json.number("null");
  }
  return json.end_object().text();
}

void Explanation::save(const std::string& path) const {
  std::ofstream file(path, std::ios::binary);
  file << (path.ends_with(".json") ? json() : html());
  file.close();
  if (!file) {
    throw ResourceError(fmt::format(
        "explain: the page cannot be written; got {}, expected a file that can be.", path));
  }
}

}  // namespace lw
