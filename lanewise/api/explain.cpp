#include "lanewise/api/explain.h"

#include <fmt/core.h>

#include <ostream>
#include <sstream>

namespace lw {
namespace {

std::string describe_code(const Explanation& e) {
  if (!e.compiled) {
    return e.error.empty() ? "tile machine; machine code is not there yet\n"
                           : "tile machine only; compiling failed: " + e.error + "\n";
  }
  const runtime::CompileTimes& t = e.times;
  const std::string phases =
      e.source == runtime::CodeSource::Disk
          ? fmt::format("from disk {:.2f} ms (read {:.2f}, link {:.2f})", t.total_ms(), t.read_ms,
                        t.link_ms)
          : fmt::format(
                "compiled  {:.1f} ms (emit {:.1f}, passes {:.1f}, code {:.1f}, link {:.1f})",
                t.total_ms(), t.emit_ms, t.passes_ms, t.code_ms, t.link_ms);
  return fmt::format("{}\n  because   {}\n  {}, {} bytes\n", plan::to_string(e.schedule), e.reason,
                     phases, e.code_bytes);
}

std::string indented(const std::string& lines) {
  std::istringstream in(lines);
  std::string text;
  for (std::string line; std::getline(in, line);) text += "    " + line + "\n";
  return text;
}

}  // namespace

std::string Explanation::str() const {
  std::string text = name + ": " + describe_code(*this);
  if (math == Math::Fast) text += "  math      fast: other bits than strict\n";
  if (last_run) {
    text += fmt::format(
        "  last run  {} elements by the tile machine, {} by machine code; {} workers, chunks of "
        "{}; code: {}\n",
        last_run->tier0_elements, last_run->tier1_elements, last_run->workers, last_run->chunk,
        runtime::name_of(last_run->code));
  }
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
  text += fmt::format("  program   {} instructions, from\n{}", instructions, indented(program));
  return text;
}

std::ostream& operator<<(std::ostream& out, const Explanation& explanation) {
  return out << explanation.str();
}

}  // namespace lw
