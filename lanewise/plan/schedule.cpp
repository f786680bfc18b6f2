#include "lanewise/plan/schedule.h"

#include <fmt/core.h>

namespace lw::plan {

Isa host_isa() {
  static const Isa isa = [] {
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512cd")) {
      return Isa::V4;
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("bmi2")) {
      return Isa::V3;
    }
    return Isa::V2;
  }();
  return isa;
}

const char* name_of(Isa isa) {
  switch (isa) {
    case Isa::V2:
      return "x86-64-v2";
    case Isa::V3:
      return "x86-64-v3";
    case Isa::V4:
      return "x86-64-v4";
  }
  return "";
}

int register_bytes(Isa isa) { return 16 << static_cast<int>(isa); }

std::string to_string(const Schedule& s) {
  if (s.batched > 0) {
    return fmt::format("batched, {} lanes x {} registers, {} positions in step, {}", s.lanes,
                       s.interleave, s.batched, name_of(s.isa));
  }
  if (s.inner) {
    return fmt::format("inner, {} lanes x {} registers of one element, {}", s.lanes, s.interleave,
                       name_of(s.isa));
  }
  std::string text = fmt::format("{}, {} lanes x {} registers, {} steps a look",
                                 s.refill ? "refill" : "packets", s.lanes, s.interleave, s.steps);
  if (s.refill) text += fmt::format(", refill at {}", s.threshold);
  return text + ", " + name_of(s.isa);
}

}  // namespace lw::plan
