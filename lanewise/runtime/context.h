// The one way into a kernel, for every tier and backend:
//
//   Status run(Context*, first, count)
//
// computes the elements [first, first + count) of a map. No exception passes through it. Generated
// code knows the layout of Context; runtime/context.cpp checks the offsets it uses.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "lanewise/types/table.h"

namespace lw::runtime {

enum class Status : std::int32_t {
  Done = 0,
  Stopped = 1,  // poll said stop; outputs of the range are unfinished
};

struct Context {
  const void* const* inputs;    // element 0 of each mapped input
  void* const* outputs;         // element 0 of each output
  const std::uint64_t* shared;  // the bits of each shared value, 8 bytes apiece
  /// Called at a back edge that finds `attention` set. Not 0: return Status::Stopped.
  std::int32_t (*poll)(Context*);
  /// Lanes of `lanes` hold elements first + ids[lane] that fail at `site`.
  void (*fail)(Context*, std::uint32_t site, std::uint64_t lanes, const std::int32_t* ids,
               std::int64_t first);
  std::atomic<std::int32_t> attention{0};
  /// The block of lane form whose back edge found that last; with kInterpreted on tier 0. 0: none.
  std::atomic<std::uint32_t> loop{0};
  const types::Table* tables = nullptr;
  std::int64_t first_element = 0;  // the number of element 0
  /// Not 0: outputs are larger than the caches, and stores may go past them.
  std::int32_t streams = 0;
  /// Machine code of a refilled loop: lanes that are in use, and 2^16 times those there are.
  std::uint32_t lanes = 0;
  std::byte* scratch = nullptr;  // memory of the worker for a kernel that asks for some
};

/// In Context::loop: the block is of the kernel that tier 0 runs.
inline constexpr std::uint32_t kInterpreted = 1u << 31;

/// Byte offsets of Context's members, for generated code.
struct ContextLayout {
  static constexpr int kInputs = 0;
  static constexpr int kOutputs = 8;
  static constexpr int kShared = 16;
  static constexpr int kPoll = 24;
  static constexpr int kFail = 32;
  static constexpr int kAttention = 40;
  static constexpr int kLoop = 44;
  static constexpr int kTables = 48;
  static constexpr int kFirstElement = 56;
  static constexpr int kStreams = 64;
  static constexpr int kLanes = 68;
  static constexpr int kScratch = 72;
};

using Run = Status (*)(Context*, std::int64_t first, std::int64_t count);

/// The largest `count` of one run: element numbers inside of it are 32-bit.
inline constexpr std::int64_t kMaxChunk = std::int64_t{1} << 30;

}  // namespace lw::runtime
