#include "lanewise/runtime/stored_plan.h"

#include <fmt/core.h>

#include <sstream>

namespace lw::runtime {
namespace {

bool is_possible(const plan::Schedule& s) {
  constexpr int kMost = 64;
  const auto is_count = [](int n) { return n > 0 && n <= kMost; };
  return s.batched >= 0 && is_count(s.lanes) && is_count(s.interleave) && is_count(s.steps) &&
         s.threshold > 0;
}

}  // namespace

std::string print_plan(const StoredPlan& p) {
  const plan::Schedule& s = p.choice.schedule;
  return fmt::format("{} {} {} {} {} {} {} {} {}\n{}\n{}", int{s.refill}, int{s.inner}, s.batched,
                     static_cast<int>(s.isa), s.lanes, s.interleave, s.steps, s.threshold,
                     p.scratch, plan::print_trips(p.trips), p.choice.reason);
}

std::optional<StoredPlan> parse_plan(const std::string& text) {
  StoredPlan p;
  plan::Schedule& s = p.choice.schedule;
  int isa = 0;
  std::istringstream in(text);
  in.imbue(std::locale::classic());
  in >> s.refill >> s.inner >> s.batched >> isa >> s.lanes >> s.interleave >> s.steps >>
      s.threshold >> p.scratch;
  std::string trips;
  if (!in || in.get() != '\n' || !std::getline(in, trips) || in.eof()) return std::nullopt;
  s.isa = static_cast<plan::Isa>(isa);
  if (isa < 0 || isa > static_cast<int>(plan::Isa::V4) || !is_possible(s)) return std::nullopt;
  p.trips = plan::parse_trips(trips);
  p.choice.reason = text.substr(static_cast<std::size_t>(in.tellg()));
  return p;
}

}  // namespace lw::runtime
