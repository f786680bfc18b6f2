#include "lanewise/runtime/progress.h"

#include <fmt/core.h>

#include <cmath>
#include <cstdio>

namespace lw {

std::string to_string(const Progress& progress, const std::string& name) {
  const double share = progress.total == 0 ? 1
                                           : static_cast<double>(progress.done) /
                                                 static_cast<double>(progress.total);
  std::string text = fmt::format("{}: {:.1f} %", name, 100 * share);
  if (progress.rate > 0) text += fmt::format(", {:.3g} elements/s", progress.rate);
  if (progress.done < progress.total && std::isfinite(progress.left)) {
    text += fmt::format(", {:.0f} s left", std::ceil(progress.left));
  }
  return text;
}

std::function<void(const Progress&)> progress_line(std::string name) {
  return [name = std::move(name)](const Progress& progress) {
    const bool is_last = progress.done == progress.total;
    fmt::print(stderr, "\r{:<70}{}", to_string(progress, name), is_last ? "\n" : "");
    std::fflush(stderr);
  };
}

std::string to_string(const Silence& silence) {
  std::string text =
      fmt::format("map: {}: no element has ended for {:.1f} s", silence.function, silence.seconds);
  bool is_all_known = !silence.running.empty();
  if (silence.running.empty()) text += "; machine code is being made, or was waited for";
  for (const Running& one : silence.running) {
    text += fmt::format("; worker {} has been at elements {} to {} for {:.1f} s", one.worker,
                        one.elements.first, one.elements.last - 1, one.seconds);
    for (auto at = one.loops.rbegin(); at != one.loops.rend(); ++at) {
      text +=
          (at == one.loops.rbegin() ? ", in the loop of " : " in that of ") + base::to_string(*at);
    }
    is_all_known = is_all_known && !one.loops.empty();
  }
  text += ".";
  for (std::size_t i = 0; i < silence.loops.size() && !is_all_known; ++i) {
    text += fmt::format("{}{}", i == 0 ? " Loops: " : ", ", base::to_string(silence.loops[i]));
    if (i + 1 == silence.loops.size()) text += ".";
  }
  return text;
}

}  // namespace lw
