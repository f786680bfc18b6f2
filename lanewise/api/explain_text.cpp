// An explanation for a terminal: the answer first, then what was chosen, what happened, and the
// program.
#include <fmt/core.h>

#include <ostream>
#include <sstream>

#include "lanewise/api/explain.h"

namespace lw {
namespace {

std::string describe_code(const Explanation& e) {
  if (!e.compiled) {
    return e.error.empty() ? "  schedule  tile machine; machine code is not there yet\n"
                           : "  schedule  tile machine only; compiling failed: " + e.error + "\n";
  }
  const runtime::CompileTimes& t = e.times;
  const std::string phases =
      e.source == runtime::CodeSource::Disk
          ? fmt::format("from disk {:.2f} ms (read {:.2f}, link {:.2f})", t.total_ms(), t.read_ms,
                        t.link_ms)
          : fmt::format(
                "compiled  {:.1f} ms (emit {:.1f}, passes {:.1f}, code {:.1f}, link {:.1f})",
                t.total_ms(), t.emit_ms, t.passes_ms, t.code_ms, t.link_ms);
  std::string text =
      fmt::format("  schedule  {}\n  because   {}\n", plan::to_string(e.schedule), e.reason);
  for (const plan::Considered& other : e.considered) {
    if (other.chosen) continue;
    text += fmt::format("  not       {}: {}", other.what, other.why);
    if (other.ns > 0) text += fmt::format(" (about {:.1f} ns an element)", other.ns);
    text += '\n';
  }
  return text + fmt::format("  {}, {} bytes\n", phases, e.code_bytes);
}

std::string describe_run(const runtime::RunStats& run) {
  std::string text = fmt::format(
      "  last run  {} elements by the tile machine, {} by machine code; {} workers, chunks of "
      "{}; code: {}\n",
      run.tier0_elements, run.tier1_elements, run.workers, run.chunk, runtime::name_of(run.code));
  if (run.shares.size() < 2) return text;
  text += "  workers  ";
  for (const runtime::WorkerShare& share : run.shares) {
    text += fmt::format(" {} in {} chunks {:.2f} ms;", share.elements, share.chunks,
                        1e3 * share.seconds);
  }
  text.back() = '\n';
  return text;
}

std::string indented(const std::string& lines) {
  std::istringstream in(lines);
  std::string text;
  for (std::string line; std::getline(in, line);) text += "    " + line + "\n";
  return text;
}

}  // namespace

std::string Explanation::str() const {
  std::string text = name + ": ";
  for (const std::string& line : answer) text += (text.back() == '\n' ? "  " : "") + line + '\n';
  if (text.back() != '\n') text += '\n';
  text += describe_code(*this);
  if (math == Math::Fast) text += "  math      fast: other bits than strict\n";
  if (trips.samples > 0) {
    text += fmt::format("  trips     {:.1f} in the mean, {} at most, of {} elements\n", trips.mean,
                        trips.most, trips.samples);
  }
  if (last_run) text += describe_run(*last_run);
  text += fmt::format("  bytes     {} in and {} out an element\n", bytes_in, bytes_out);
  for (const std::string& argument : copied) text += "  copied    " + argument + '\n';
  text += fmt::format("  scratch   {} bytes a worker on the tile machine", scratch_bytes);
  if (projected_bytes > 0) text += fmt::format("; {} projected for such a call", projected_bytes);
  if (last_run) {
    text += fmt::format("; last run {} projected, {} used", last_run->scratch_bytes,
                        last_run->peak_bytes);
  }
  text += '\n';
  if (!refusal.empty()) text += "  refused   " + refusal + '\n';
  for (const std::string& note : scalar) text += "  scalar    " + note + '\n';
  text += fmt::format("  program   {} instructions, from\n{}", instructions, indented(program));
  return text;
}

std::ostream& operator<<(std::ostream& out, const Explanation& explanation) {
  return out << explanation.str();
}

}  // namespace lw
