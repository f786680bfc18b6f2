// Internal to the tile machine: the builder that build.cpp implements.
#pragma once

#include "lanewise/backend/tile/machine.h"

namespace lw::backend::tile {

class Machine::Builder {
 public:
  Builder(const kernel::Kernel& kernel, Machine& machine) : k_(kernel), m_(machine) {}
  void run();

 private:
  struct Use {
    std::uint32_t block = kernel::kNone;  // where it is first touched
    std::uint32_t last = 0;               // the last instruction of that block that touches it
    int assignments = 0;
    bool local = true;         // no other block touches it
    bool needs_lanes = false;  // uniform, and read by a varying instruction
  };

  /// How many instructions from `at` on add terms to one polynomial; 0: none does.
  int terms_at(kernel::BlockId block, std::uint32_t at) const;
  bool adds_term(const kernel::Instruction& in) const;
  void find_uses();
  void touch(kernel::RegisterId r, std::uint32_t block, std::uint32_t at, bool lanewise);
  void choose_lanes();
  bool is_long_lived(kernel::RegisterId r) const;
  std::uint32_t take(std::size_t bytes);
  std::uint32_t take_lanes();
  void place_long_lived();
  std::uint32_t place_short_lived(kernel::RegisterId r);
  void release(const kernel::Instruction& in, std::uint32_t block, std::uint32_t at);
  std::uint8_t size(kernel::RegisterId r) const {
    return static_cast<std::uint8_t>(types::size_of(k_.registers[r].type));
  }

  void emit_block(kernel::BlockId id, bool top);
  void emit(const kernel::Instruction& in, kernel::BlockId id, bool top);
  void emit_compute(const kernel::Instruction& in, std::vector<Step>& out);
  /// True when the result has the bits of the operand, which ends here: it takes over its place.
  bool emit_in_place(const kernel::Instruction& in, kernel::BlockId id, std::uint32_t at);
  void emit_read(const kernel::Instruction& in, std::vector<Step>& out);
  void emit_terms(kernel::BlockId id, std::uint32_t at, int count);
  void emit_copy(const kernel::Instruction& in, std::vector<Step>& out);
  void broadcast(kernel::RegisterId from, kernel::RegisterId to, std::vector<Step>& out);
  void emit_loop(const kernel::Instruction& in, kernel::BlockId id, bool top);
  void collect_packed(const kernel::Instruction& loop, LoopInfo& info);

  const kernel::Kernel& k_;
  Machine& m_;
  std::vector<Use> uses_;
  std::vector<int> reads_;             // by register: instructions that read it
  std::vector<std::uint32_t> value_;   // by register: offset of the one value
  std::vector<std::uint32_t> lanes_;   // by register: offset of the lanes
  std::vector<std::uint32_t> free_;    // slots of lanes that are over
  std::vector<std::uint32_t> arrays_;  // by array: offset
  std::uint32_t next_ = 0;
  bool has_counted_ = false;
};

}  // namespace lw::backend::tile
