// An explanation as one page: no other file, no script, no network. Bars are plain boxes; the
// roofline is an SVG.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "lanewise/api/explain.h"

namespace lw {
namespace {

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else {
      out += c;
    }
  }
  return out;
}

struct Bar {
  std::string label;
  double value;
  std::string text;
};

/// Bars beside each other's labels, the longest over the whole width.
std::string bars(const std::vector<Bar>& all) {
  double most = 0;
  for (const Bar& bar : all) most = std::max(most, bar.value);
  std::string html = "<table class=\"bars\">";
  for (const Bar& bar : all) {
    html += fmt::format(
        "<tr><th>{}</th><td><div class=\"bar\" style=\"width:{:.1f}%\"></div></td><td>{}</td></tr>",
        escaped(bar.label), most > 0 ? 100 * bar.value / most : 0, escaped(bar.text));
  }
  return html + "</table>\n";
}

std::string section(const std::string& title, const std::string& content) {
  if (content.empty()) return "";
  return fmt::format("<section><h2>{}</h2>\n{}</section>\n", title, content);
}

std::string list(const std::vector<std::string>& items) {
  if (items.empty()) return "";
  std::string html = "<ul>";
  for (const std::string& item : items) html += "<li>" + escaped(item) + "</li>";
  return html + "</ul>\n";
}

std::string pipeline(const Explanation& e) {
  const std::string code =
      e.compiled ? fmt::format("{} bytes, {}", e.code_bytes, runtime::name_of(e.source))
                 : "not there";
  const std::pair<const char*, std::string> stages[] = {
      {"recorded", fmt::format("{} instructions", e.recorded)},
      {"element program", fmt::format("{} instructions", e.instructions)},
      {"lane form", fmt::format("{} instructions", e.lane_instructions)},
      {"machine code", code}};
  std::string html = "<div class=\"stages\">";
  for (const auto& [name, text] : stages) {
    if (name != stages[0].first) html += "<span class=\"arrow\">&#8594;</span>";
    html += fmt::format("<span class=\"stage\"><b>{}</b><br>{}</span>", name, escaped(text));
  }
  return html + "</div>\n";
}

std::string schedule_section(const Explanation& e) {
  if (!e.compiled) {
    return "<p>tile machine" + (e.error.empty() ? "" : ": " + escaped(e.error)) + "</p>\n";
  }
  std::string html = fmt::format(
      "<p><b>{}</b><br>because: {}</p>\n<table><tr><th>schedule</th>"
      "<th>estimated ns an element</th><th></th></tr>",
      escaped(plan::to_string(e.schedule)), escaped(e.reason));
  for (const plan::Considered& c : e.considered) {
    html += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td></tr>", c.what,
                        c.ns > 0 ? fmt::format("{:.2f}", c.ns) : "&ndash;",
                        c.chosen ? "<b>chosen</b>" : escaped(c.why));
  }
  return html + "</table>\n";
}

std::string memory(const Explanation& e) {
  const auto bar = [](const char* label, std::int64_t bytes) {
    return Bar{label, static_cast<double>(bytes), fmt::format("{} bytes", bytes)};
  };
  std::vector<Bar> all = {bar("projected for such a call", e.projected_bytes)};
  if (e.last_run) {
    all.push_back(bar("last run, projected", e.last_run->scratch_bytes));
    all.push_back(bar("last run, used", e.last_run->peak_bytes));
  }
  return fmt::format(
             "<p>{} bytes in and {} out an element; scratch of workers, of a budget of {} "
             "bytes:</p>\n",
             e.bytes_in, e.bytes_out, e.budget_bytes) +
         bars(all) + (e.refusal.empty() ? "" : "<p>" + escaped(e.refusal) + "</p>\n");
}

std::string compiling(const Explanation& e) {
  if (!e.compiled) return "";
  const runtime::CompileTimes& t = e.times;
  const std::pair<const char*, double> phases[] = {{"read from disk", t.read_ms},
                                                   {"emit", t.emit_ms},
                                                   {"passes", t.passes_ms},
                                                   {"code", t.code_ms},
                                                   {"link", t.link_ms}};
  std::vector<Bar> all;
  for (const auto& [name, ms] : phases) {
    all.push_back({name, ms, fmt::format("{:.2f} ms", ms)});
  }
  return fmt::format("<p>code: {}</p>\n", runtime::name_of(e.source)) + bars(all);
}

std::string workers(const Explanation& e) {
  if (!e.last_run) return "";
  const runtime::RunStats& run = *e.last_run;
  std::string html = fmt::format(
      "<p>{} elements by the tile machine, {} by machine code; chunks of {}; code: {}</p>\n",
      run.tier0_elements, run.tier1_elements, run.chunk, runtime::name_of(run.code));
  std::vector<Bar> all;
  for (const runtime::WorkerShare& share : run.shares) {
    all.push_back({fmt::format("worker {}", all.size()), share.seconds,
                   fmt::format("{:.3f} ms, {} elements, {} chunks", 1e3 * share.seconds,
                               share.elements, share.chunks)});
  }
  return html + (all.empty() ? "" : bars(all));
}

std::string trip_section(const plan::TripCounts& trips) {
  if (trips.samples == 0) return "";
  std::vector<Bar> all;
  for (std::size_t i = 0; i < trips.histogram.size(); ++i) {
    const std::int64_t low = i == 0 ? 0 : std::int64_t{1} << (i - 1);
    const std::int64_t high = i == 0 ? 0 : (std::int64_t{1} << i) - 1;
    all.push_back({low == high ? fmt::format("{}", low) : fmt::format("{} to {}", low, high),
                   static_cast<double>(trips.histogram[i]), fmt::format("{}", trips.histogram[i])});
  }
  return fmt::format(
             "<p>{:.1f} in the mean, {} at most, of {} elements that were counted; packets "
             "would use {:.0f} % of their lanes</p>\n",
             trips.mean, trips.most, trips.samples, 100 * trips.occupancy) +
         bars(all);
}

/// Axes, and what is in them: 400 wide and 180 high.
std::string picture(const std::string& content, const std::string& below) {
  return fmt::format(
      "<svg viewBox=\"0 0 460 230\" width=\"460\" role=\"img\"><path d=\"M40 10V200H450\" "
      "class=\"axis\"/>{}<text x=\"150\" y=\"222\">{}</text></svg>\n",
      content, below);
}

/// How many lanes of a packet are still inside of the loop, by the trips that were counted. A lane
/// that is refilled takes the next element instead: so many were inside when the last run was
/// looked at.
std::string lane_section(const Explanation& e) {
  const std::vector<std::int64_t>& histogram = e.trips.histogram;
  if (e.trips.samples == 0 || histogram.size() < 2) return "";
  std::string path = "M40 20";
  std::int64_t inside = e.trips.samples;
  for (std::size_t i = 1; i < histogram.size(); ++i) {  // behind 2^(i-1) steps
    inside -= histogram[i - 1];
    path += fmt::format(
        "L{:.1f} {:.1f}",
        40 + 400.0 * static_cast<double>(i) / static_cast<double>(histogram.size()),
        200 - 180.0 * static_cast<double>(inside) / static_cast<double>(e.trips.samples));
  }
  path += "L440 200";
  std::string content = "<path class=\"roof\" d=\"" + path + "\"/>";
  std::string refilled;
  if (e.compiled && e.schedule.refill) {
    refilled = "; with refill (dashed) lanes that are done take the next elements";
    double share = 1;
    if (e.last_run && e.last_run->lanes.all > 0) {
      share =
          static_cast<double>(e.last_run->lanes.live) / static_cast<double>(e.last_run->lanes.all);
      refilled += fmt::format(", and {:.0f} % were in use whenever the last run was looked at",
                              100 * share);
    }
    content += fmt::format("<path class=\"limit\" d=\"M40 {:.1f}H440\"/>", 200 - 180 * share);
  }
  return fmt::format(
             "<p>Elements still in the loop after so many steps; 100 % is the top. A packet waits "
             "for its last one and uses "
             "{:.0f} % of its lanes{}</p>\n",
             100 * e.trips.occupancy, refilled) +
         picture(content, fmt::format("steps, by powers of 2, to {}", e.trips.most));
}

/// Scratch of the last run over its time, below the budget if that is near.
std::string memory_over_time(const Explanation& e) {
  if (!e.last_run || e.last_run->memory.empty() || e.last_run->peak_bytes == 0) return "";
  const runtime::RunStats& run = *e.last_run;
  const auto peak = static_cast<double>(run.peak_bytes);
  const auto budget = static_cast<double>(e.budget_bytes);
  const bool is_near = budget < 8 * peak;
  const double top = is_near ? std::max(budget, peak) : 1.25 * peak;
  const auto x = [&](double seconds) {
    return 40 + 400 * std::clamp(seconds / run.seconds, 0.0, 1.0);
  };
  const auto y = [&](double bytes) { return 200 - 180 * bytes / top; };
  std::string path = "M40 200";
  for (const runtime::MemoryUseAt& use : run.memory) {
    path += fmt::format("H{:.1f}V{:.1f}", x(use.seconds), y(static_cast<double>(use.bytes)));
  }
  std::string content = "<path class=\"roof\" d=\"" + path + "H440V200\"/>";
  if (is_near) content += fmt::format("<path class=\"limit\" d=\"M40 {0:.1f}H440\"/>", y(budget));
  return "<p>Over the time of the last run, " +
         std::string(is_near ? "with the budget (dashed)" : "far below the budget") + ":</p>\n" +
         picture(content,
                 fmt::format("{:.3f} ms; {} bytes at most", 1e3 * run.seconds, run.peak_bytes));
}

std::string line_section(const std::vector<LineShare>& lines) {
  std::vector<Bar> all;
  for (const LineShare& line : lines) {
    const std::size_t slash = line.file.rfind('/');
    all.push_back({fmt::format("{}:{}", line.file.substr(slash + 1), line.line), line.share,
                   fmt::format("{:.0f} %  {}", 100 * line.share, line.text)});
  }
  return all.empty() ? "" : bars(all);
}

/// Logarithmic on both axes, from 1/64 to 256 flops a byte and over five decades of flops.
std::string roofline_section(const Explanation& e) {
  if (!e.roofline || e.roofline->flops_a_byte <= 0 || e.roofline->most_flops <= 0) return "";
  const Roofline& r = *e.roofline;
  constexpr double kLeft = -6, kRight = 8;  // powers of 2
  const double top = std::log10(r.most_flops) + 0.3;
  const auto x = [&](double flops_a_byte) {
    const double at = std::clamp(std::log2(flops_a_byte), kLeft, kRight);
    return 40 + 400 * (at - kLeft) / (kRight - kLeft);
  };
  const auto y = [&](double flops) {
    return 20 + 180 * std::clamp((top - std::log10(std::max(flops, 1.0))) / 5, 0.0, 1.0);
  };
  std::string svg;
  if (r.most_bytes > 0) {
    const double ridge = r.most_flops / r.most_bytes;
    const double left = std::exp2(kLeft);
    svg += fmt::format("<path class=\"roof\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}L440 {:.1f}\"/>",
                       x(left), y(left * r.most_bytes), x(ridge), y(r.most_flops), y(r.most_flops));
  } else {
    svg += fmt::format("<path class=\"roof\" d=\"M40 {0:.1f}H440\"/>", y(r.most_flops));
  }
  svg +=
      fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\"/>", x(r.flops_a_byte), y(r.flops));
  return fmt::format(
             "<p>{:.2f} Gflop/s and {:.2f} GB/s at {:.2f} flops a byte; at most about {:.0f} "
             "Gflop/s (estimated){}</p>\n",
             1e-9 * r.flops, 1e-9 * r.bytes, r.flops_a_byte, 1e-9 * r.most_flops,
             r.most_bytes > 0
                 ? fmt::format(" and {:.1f} GB/s (measured, copying)", 1e-9 * r.most_bytes)
                 : "; the arrays may fit into caches") +
         picture(svg, "flops a byte of arrays");
}

constexpr const char* kStyle =
    "body{font:15px/1.45 system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 1em;"
    "color:#1c2733}h1{font-size:1.5em}h2{font-size:1.1em;margin:1.6em 0 .4em}"
    "table{border-collapse:collapse}td,th{padding:.15em .7em .15em 0;text-align:left;"
    "font-weight:normal;vertical-align:top}.bars{width:100%}.bars th{white-space:nowrap;width:1%}"
    ".bars td:nth-child(2){width:40%}.bar{background:#4c7fb0;height:1em;min-width:1px}"
    ".answer{background:#f2f5f8;padding:.7em 1em;border-left:4px solid #e0782f}"
    ".stage{display:inline-block;border:1px solid #9aa5b1;padding:.3em .7em;border-radius:4px}"
    ".arrow{margin:0 .5em}pre{background:#f2f5f8;padding:1em;overflow:auto}"
    ".axis{fill:none;stroke:#9aa5b1}.roof{fill:none;stroke:#4c7fb0;stroke-width:2}"
    ".limit{fill:none;stroke:#e0782f;stroke-dasharray:6 4}"
    "circle{fill:#e0782f}text{font-size:12px;fill:#1c2733}";

}  // namespace

std::string Explanation::html() const {
  std::string page = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title>"
      "<style>{1}</style></head>\n<body><h1>{0}</h1>\n<p class=\"answer\">",
      escaped(name), kStyle);
  for (const std::string& line : answer) page += escaped(line) + "<br>";
  page += "</p>\n";
  page += section("From function to code", pipeline(*this));
  page += section("Schedule", schedule_section(*this));
  page += section("The last run", workers(*this));
  page += section("Steps of loops", trip_section(trips));
  page += section("Lanes over time", lane_section(*this));
  page += section("Lines of the source, share of the time (estimated)", line_section(lines));
  page += section("Beside what the machine can do", roofline_section(*this));
  page += section("Memory", memory(*this) + memory_over_time(*this));
  page += section("Compiling", compiling(*this));
  page += section("Arithmetic", list(numerics));
  page += section("What lanes do one after the other", list(scalar));
  page += section("Arguments that were copied", list(copied));
  page += section("Program", "<pre>" + escaped(program) + "</pre>\n");
  return page + "</body></html>\n";
}

}  // namespace lw
