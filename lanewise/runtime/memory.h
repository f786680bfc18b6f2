// The one accounted allocator: every large allocation of ours is counted by what it is for. Results
// have a pool of their own (output_pool.h), which counts here too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace lw::runtime {

enum class Purpose : std::uint8_t {
  Outputs,   // large results that callers hold
  Pool,      // memory of results they dropped, kept for the next
  Scratch,   // of workers: registers of the tile machine, blocks of strided arrays
  Code,      // of programs: tables and machine code
  Compiler,  // its own, looked at after each phase
};

struct MemoryUse {
  std::size_t live = 0;  // bytes
  std::size_t peak = 0;  // the most there ever were
};

struct MemoryInfo {
  MemoryUse outputs;
  MemoryUse pool;
  MemoryUse scratch;
  MemoryUse code;
  MemoryUse compiler;
};

MemoryInfo memory_info();
/// A line for each purpose.
std::string to_string(const MemoryInfo& info);
/// Lets the peaks begin at what is live now.
void reset_memory_peaks();

/// Adds to what is live; for memory that somebody else allocates.
void count_memory(Purpose purpose, std::int64_t bytes);

/// Uninitialised memory that begins at a cache line, counted while it lives. Throws ResourceError.
class Block {
 public:
  Block() = default;
  Block(Purpose purpose, std::size_t bytes);
  Block(Block&& other) noexcept;
  Block& operator=(Block&& other) noexcept;
  ~Block();

  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  Purpose purpose_ = Purpose::Scratch;
};

/// For tests: the n-th allocation from now on fails, on any thread; 0: none does.
void fail_allocation(std::int64_t n);
/// To be asked before memory is allocated: true if this is the one to fail.
bool is_failing_allocation();

}  // namespace lw::runtime
