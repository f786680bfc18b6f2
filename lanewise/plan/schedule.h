// How a kernel is run as machine code.
#pragma once

#include <cstdint>
#include <string>

namespace lw::plan {

/// x86-64 micro-architecture levels: 128, 256 and 512 bit registers.
enum class Isa : std::uint8_t { V2, V3, V4 };

/// The highest level this machine runs.
Isa host_isa();
const char* name_of(Isa isa);
int register_bytes(Isa isa);

struct Schedule {
  /// Refill: a finished lane takes the next element inside the loop. Needs a kernel lowered for it.
  bool refill = false;
  /// Inner: lanes hold positions of one element. Needs a kernel lowered for it.
  bool inner = false;
  /// Products of rows with shared tables: so many positions go through their loops in step. Needs a
  /// program serialized for it.
  int batched = 0;
  Isa isa = Isa::V3;
  int lanes = 8;       // of one register-wide value
  int interleave = 2;  // registers in flight
  int steps = 1;       // of an innermost loop between two looks at its mask
  int threshold = 1;   // refill: finished lanes, of all, that start one

  bool operator==(const Schedule&) const = default;
};

/// One line, as "refill, 16 lanes x 4 registers, 8 steps a look, refill at 8, x86-64-v4".
std::string to_string(const Schedule& schedule);

}  // namespace lw::plan
