// Tier 0: interprets lane form over tiles of a few hundred elements that stay in the first-level
// cache. Each instruction is one vectorised loop (loops.h). It needs no compiler, so a new function
// gives its first result in microseconds; it also counts trips for the planner.
//
// A loop that lanes leave one by one runs over all lanes of the tile while at least half of them
// are live. Below that the live lanes are packed to the front, in order, and the loop goes on over
// those alone; what the others left with waits in a home copy until the loop ends.
#pragma once

#include "lanewise/backend/tile/loops.h"
#include "lanewise/runtime/backend.h"

namespace lw::backend::tile {

/// A kernel made ready for interpretation. Immutable: any number of threads may run it.
class Machine : public runtime::Interpreter {
 public:
  explicit Machine(const kernel::Kernel& kernel);
  Outcome run(runtime::Context* context, std::int64_t first, std::int64_t count,
              const Options& options) const override;
  std::size_t scratch_bytes() const override { return scratch_bytes_; }
  int tile_lanes() const { return lanes_; }

 private:
  enum class Kind : std::uint8_t {
    Compute,    // over the lanes, or over one value when uniform
    Terms,      // several terms of a polynomial
    Copy,       // lanes to lanes
    Broadcast,  // one value to all lanes
    Active,
    Load,
    Store,
    Loop,
    ExitIf,
    Fail,
    Element,
    TableRead,
    TableWrite,
    RowRead,
    RowLoad,
    Array,
    ArrayRead,
    ArrayWrite,
    RowStore,
  };
  struct Step {
    Kind kind = Kind::Compute;
    bool uniform = false;   // Compute, Copy, TableRead: over one value
    bool is_wide = false;   // Table..., ArrayRead, ArrayWrite: the index is an i64
    std::uint8_t size = 0;  // bytes of a value: Copy, Broadcast, Load, Store
    LaneLoop loop = nullptr;
    std::uint32_t dst = 0;  // offsets into the scratch
    std::uint32_t sources[3] = {0, 0, 0};
    std::uint32_t index = 0;  // Load, Store: array; Fail: site; ExitIf: further out; Element: word;
                              // Table...: table; RowRead: array; Array..., RowLoad, RowStore:
                              // offset; Loop, Terms: into their lists
    std::uint32_t length = 0;  // Array, Row...: values of an element
  };
  struct Terms {
    TermsLoop loop;
    bool from_one;  // the first value is the same for all lanes
    std::uint32_t first, x;
    std::vector<std::uint32_t> terms;
  };
  /// A register that is packed when few lanes are left.
  struct Packed {
    std::uint32_t offset;
    std::uint32_t home;
    std::uint8_t size;
    bool written;  // in the loop
  };
  struct LoopInfo {
    std::uint32_t block = 0;
    bool masked = false;
    bool once = false;
    bool counted = false;  // its trips are counted
    bool uniform = false;  // a branch that all lanes take, or none: the mask is one bool
    std::uint32_t mask = 0;
    std::uint32_t order = 0;  // offset of the original lane of each packed lane, 32-bit
    std::vector<Packed> packed;
  };
  struct Preset {
    Scalar value;
    std::uint32_t shared = kernel::kNone;  // a shared parameter instead of the literal
    std::uint32_t table = kernel::kNone;   // the size of a table instead
    std::uint8_t size = 0;
    std::uint32_t offset = 0;             // of the one value
    std::uint32_t lanes = kernel::kNone;  // of its broadcast, if any op needs it
  };
  class Builder;
  class Worker;

  const LoopTable* table_ = nullptr;
  int lanes_ = 256;
  std::size_t scratch_bytes_ = 0;
  std::vector<Preset> presets_;
  std::vector<std::vector<Step>> blocks_;
  std::vector<LoopInfo> loops_;
  std::vector<Terms> terms_;
  std::vector<std::vector<std::uint32_t>> cleared_;  // by fail site: offsets of the masks
  std::uint32_t ids_ = 0;                            // offset of the lanes' numbers, 32-bit
  bool needs_ids_ = false;                           // some instruction asks for them
};

}  // namespace lw::backend::tile
